package threshold_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

func serially(f dataflow.Fold) bool { return f.Steps == dataflow.SerialStepEvaluation }

// stairs draws functions of a given number of steps over a type: even ones, or with any jumps.
func stairs(r *rand.Rand, n, steps int, in num.Type, even bool) (list []num.StepFunction) {
	values := in.Range()
	size := uint64(values.Hi) - uint64(values.Lo) // less one, which may be all of 64 bits
	for c := range n {
		var s num.StepFunction
		seen := map[int64]bool{}
		for len(s.At) < steps {
			if at := values.Lo + 1 + int64(r.Uint64N(size)); !seen[at] {
				seen[at], s.At = true, append(s.At, at)
			}
		}
		slices.Sort(s.At)
		s.Value = []int64{int64(c) - 3}
		for i := range s.At {
			jump := int64(2)
			if !even {
				jump = []int64{-3, -2, -1, 1, 2, 3}[r.IntN(6)]
			}
			s.Value = append(s.Value, s.Value[i]+jump)
		}
		list = append(list, s.RestrictedTo(values))
	}
	return list
}

// TestSerial has serial folds through the contract: functions of few and of many steps, one for all channels or one
// each, even ones and others, in LUTs and in block RAM.
func TestSerial(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(14, 4))
	var cases []layertest.Case
	for _, in := range []num.Type{uintN(9), intN(64)} {
		for _, steps := range []int{2, 3, 15, 40} {
			for _, channels := range []int{1, 6, 5} {
				for _, each := range []bool{false, true} {
					n := 1
					if each {
						n = channels
					}
					even := r.IntN(2) == 0
					cases = append(cases, layertest.Case{
						Name: fmt.Sprintf("%v to %d codes, %d functions of %d channels, even: %t", in, steps+1, n,
							channels, even),
						Op:    threshold.New(threshold.Params{Steps: stairs(r, n, steps, in, even)}),
						In:    []dataflow.StreamType{typ(in, 3, channels)},
						Only:  serially,
						Folds: 4,
						Loose: "functions of values that no frame has",
					})
				}
			}
		}
	}
	layertest.Check(t, cases...)
}

// TestSerialLoop checks the calls of a serial search. Every step but the last takes as many calls as there are clocks
// from one place in the memory to the next, at the target's clock. A single threshold is not searched for.
func TestSerialLoop(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 4))
	zcu, err := boards.FindBoard("zcu104")
	if err != nil {
		t.Fatal(err)
	}
	at := dataflow.Target{Board: zcu, ClockMHz: 200}
	fast := dataflow.Target{Board: zcu, ClockMHz: 450}
	for _, tt := range []struct {
		steps, channels, pe int
		target              dataflow.Target
		iterations          int // of 5 vectors
	}{
		{15, 12, 1, at, 5 * 12 * 7},
		{15, 12, 12, at, 5 * 1 * 7},
		{2, 12, 2, at, 5 * 6 * 3},
		{7, 12, 3, at, 5 * 4 * 5},
		{8, 12, 3, at, 5 * 4 * 7},
		{15, 12, 1, fast, 5 * 12 * 10},
		{1, 12, 1, at, 0},
	} {
		op := layertest.Bind(t, threshold.New(threshold.Params{Steps: stairs(r, 1, tt.steps, intN(16), true)}),
			typ(intN(16), 5, tt.channels))
		got := 0
		for f := range op.Folds() {
			if serially(f) && f.PE == tt.pe && f.Memory == dataflow.MemoryLUTRAM {
				got = op.Loop(f, tt.target).IterationsPerFrame()
			}
		}
		if got != tt.iterations {
			t.Errorf("%d thresholds, %d channels, PE %d, %v MHz: %d iterations, want %d", tt.steps, tt.channels, tt.pe,
				tt.target.ClockMHz, got, tt.iterations)
		}
		// Whatever latencies turn out to be, the C++ has so many calls.
		for f := range op.Folds() {
			slow := tt.target
			if slow.Bound = 1; serially(f) && op.Loop(f, slow).IterationsPerFrame() != op.Loop(f,
				tt.target).IterationsPerFrame() {
				t.Errorf("%+v: other iterations where latencies are long", f)
			}
		}
	}
}

// TestSerialCost checks that one comparator and one memory for each of PE cost less than a stage for each step.
func TestSerialCost(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 4))
	at := dataflow.Target{ClockMHz: 200}
	for _, steps := range []int{15, 255} {
		op := layertest.Bind(t, threshold.New(threshold.Params{Steps: stairs(r, 64, steps, intN(16), false)}),
			typ(intN(16), 64))
		least := map[dataflow.StepEvaluation]dataflow.Resources{}
		for f := range op.Folds() {
			if f.PE == 1 && f.Memory == dataflow.MemoryBRAM {
				least[f.Steps] = op.Cost(f, at).Total()
			}
		}
		s, p := least[dataflow.SerialStepEvaluation], least[dataflow.ParallelStepEvaluation]
		if s.LUT == 0 || s.LUT > p.LUT || s.BRAM >= p.BRAM {
			t.Errorf("%d steps: %+v serial, %+v parallel", steps, s, p)
		}
	}
}

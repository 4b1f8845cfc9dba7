package rtlsim

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
)

// TestEndsAreProcesses compares the clocks that ends add to a frame with a simulation in which the ends are layers,
// each beside a FIFO of two words for its register slice. Every frame reaches the host in the same clock, and the
// interval is the same. A layer that begins a frame without reading may do so while the first word still passes the
// input's end. The simulator does not assume that.
func TestEndsAreProcesses(t *testing.T) {
	t.Parallel()
	alike := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 90))
		depths := 2 + rng.IntN(4)
		target := dataflow.Target{ClockMHz: []float64{100, 200, 500}[rng.IntN(3)]}
		in, out := target.IOLatencyClocks()
		chain := func(process int) *dataflow.Design { // with ends of the given number of clocks as layers; 0 for none
			rng := rand.New(rand.NewPCG(seed, 91))
			n := &net{t: t, perWord: 1}
			words, periods := 1+rng.IntN(4), 1+rng.IntN(4)
			s := n.input(periods * words)
			if process > 0 {
				s = n.add("In", pass(periods*words, 1, 1, process), s)[0]
			}
			for range 1 + rng.IntN(4) {
				latency, next := 1+rng.IntN(6), 1+rng.IntN(6)
				switch rng.IntN(4) {
				case 0:
					s = n.add("Matrix", matrix(periods, next, words, latency), s)[0]
					words = next
				case 1:
					s = n.add("Regroup", regroup(periods, words, next, latency), s)[0]
					words = next
				case 2:
					s = n.add("Hold", hold(periods*words, latency), s)[0]
				default:
					s = n.add("Pass", pass(periods*words, 1, 1, latency), s)[0]
				}
			}
			if process > 0 {
				s = n.add("Out", pass(periods*words, 1, 1, process), s)[0]
			}
			d := n.design(depths, s)
			d.Target = target
			if process > 0 { // for the register slices
				d.FIFO[d.Model.Graph.In[0]] = dataflow.NewShiftRegisterFIFOs(2)[0]
				d.FIFO[s] = dataflow.NewShiftRegisterFIFOs(2)[0]
			}
			return d
		}
		// An output's process takes as long as an input's. The register slice in front of the input's process takes
		// the rest.
		process, slice := out, in-out
		bare := chain(0)
		reads := true // every layer reads before it does anything else
		for i := range bare.Model.Graph.Nodes {
			reads = reads && bare.LoopOfNode(i).MovesOfIteration(0).Read != 0
		}
		counted := run(t, bare, nil, Options{Frames: 6})
		walked := run(t, chain(process), nil, Options{Frames: 6})
		for f := range counted.Frames {
			c, w := counted.Frames[f], walked.Frames[f]
			for word, clocks := range []int{counted.ClocksFromFirstInputUntil(c.First),
				counted.ClocksFromFirstInputUntil(c.Last)} {
				as := slice + []int{w.First, w.Last}[word] - out + 1
				if ahead := clocks - as; ahead < 0 || ahead > process || ahead > 0 && reads {
					t.Fatalf("seed %d, frame %d: %d clocks, with layers at the ends %d", seed, f, clocks, as)
				}
			}
		}
		if reads {
			alike++
		}
		if counted.IntervalClocks() != walked.IntervalClocks() {
			t.Fatalf("seed %d: interval %v, with layers at the ends %v", seed, counted.IntervalClocks(),
				walked.IntervalClocks())
		}
	}
	if alike < 50 {
		t.Errorf("%d chains of layers that read first: they test too little", alike)
	}
}

// TestEndsCostLatencyAlone checks that a clock frequency with longer ends changes nothing in a run except the
// latency.
func TestEndsCostLatencyAlone(t *testing.T) {
	t.Parallel()
	latencies := map[int]bool{}
	for seed := range uint64(60) {
		d, _ := randomNet(t, seed, 92)
		d.Target.Backend = dataflow.BackendHLS
		var first *RunTrace
		for _, mhz := range []float64{100, 500, 1000} {
			d.Target.ClockMHz = mhz
			got, err := RunFrames(t.Context(), d, nil, Options{Frames: 5})
			if err != nil {
				break // a deadlock at one frequency is one at any
			}
			in, out := d.Target.IOLatencyClocks()
			latencies[in+out] = true
			frames := slices.Clone(got.Frames)
			for f := range frames {
				frames[f] = FrameOutputClocks{frames[f].First - out, frames[f].Last - out}
			}
			if got.Start != -in {
				t.Fatalf("seed %d: the first word is given in clock %d, its end takes %d", seed, got.Start, in)
			}
			bare := *got
			bare.Start, bare.Frames = 0, frames
			if first == nil {
				first = &bare
			}
			if !reflect.DeepEqual(first, &bare) {
				t.Fatalf("seed %d, %v MHz: %+v, at the first clock %+v", seed, mhz, bare, *first)
			}
		}
	}
	if len(latencies) < 2 {
		t.Errorf("ends take %v clocks: the clock has no effect", latencies)
	}
}

package rnn_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/hlslib/rnn"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
	"hlsgen/internal/testsupport/tier"
)

// fast is a clock at which latencies matter.
var fast = dataflow.Target{ClockMHz: 500}

// wired is the target with that clock in RTL.
var wired = dataflow.Target{ClockMHz: 500, Backend: dataflow.BackendRTL}

// field returns the value of the config field with the name. The test fails if there is none.
func field[T any](t *testing.T, config []dataflow.ConfigField, name string) T {
	t.Helper()
	i := slices.IndexFunc(config, func(f dataflow.ConfigField) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no field %s", name)
	}
	return config[i].Value.(T)
}

// A written word has the step that wrote it, -1 for a word that arrives, and the iteration.
type written struct{ step, at int }

// A walk goes through the iterations of a frame in the order of the package comment, and follows the words that are
// written to memories and read from there.
type walk struct {
	t                   *testing.T
	stores              []rnn.StoreOf
	pe, simd, turns, at int
	memory              map[[4]int]written // by store, half, turn and word
	least               []int              // by store, iterations from a write to a read
	tight               bool               // somewhere they are as few as may be
}

func (w *walk) write(s, half, turn, word, step int) {
	w.memory[[4]int{s, half, turn, word}] = written{step, w.at}
}

func (w *walk) read(s, half, turn, word, step int) {
	store, from := w.stores[s], w.memory[[4]int{s, half, turn, word}]
	want := step
	if store.State {
		if want--; want < 0 && !store.Arrives {
			return // a constant
		}
	}
	d := w.at - from.at
	if from.step != want || d <= store.Latency {
		w.t.Errorf("%s: step %d reads word %d of turn %d, written in step %d, %d iterations before; they take %d",
			store.Name, step, word, turn, from.step, d, store.Latency)
	}
	w.least[s], w.tight = min(w.least[s], d), w.tight || d == store.Latency+1
}

// arrive is the head clocks.
func (w *walk) arrive(head, rest int) {
	for clock := range head {
		for s, store := range w.stores {
			if n := store.Units / w.pe; store.Arrives && clock < w.turns*n {
				if word := clock % n * w.pe; !store.Vector || (word+w.pe)%store.Word == 0 {
					w.write(s, 0, clock/n, word/store.Word, -1)
				}
			}
		}
		w.at++
	}
	w.at += rest
}

// phase is the clocks of a phase.
func (w *walk) phase(step, phase, nf, sf int) {
	for turn := range w.turns {
		for n := range nf {
			for clock := range sf {
				for s, store := range w.stores {
					half, other := step%store.Halves, (step+1)%store.Halves
					if slices.Contains(store.Reads, phase) {
						if store.Vector {
							w.read(s, half, turn, clock*w.simd/store.Word, step)
						} else if clock == sf-1 {
							w.read(s, half, turn, n, step)
						}
					}
					if complete := (n+1)*w.pe%store.Word == 0; store.Writer == phase && clock == sf-1 && complete {
						w.write(s, other, turn, n*w.pe/store.Word, step)
					}
				}
				w.at++
			}
		}
	}
}

// TestMemories follows every word of the memories through some steps of random programs. A word that is read was
// written in the right step, long enough before to have arrived. It is read no later than necessary, and the distance
// in the C++ is the least possible one.
func TestMemories(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 19))
		p, in := randomtest.Program(r)
		p.Keeps = false
		in[0].Shape[0] = 4
		op := layertest.Bind(t, rnn.New(p), in...)
		for f := range op.Folds() {
			followMemories(t, seed, op, f, fast)
			if seed < 5 {
				followMemories(t, seed, op, f, wired)
			}
			if t.Failed() {
				return
			}
		}
	}
}

func followMemories(t *testing.T, seed uint64, op dataflow.Op, f dataflow.Fold, target dataflow.Target) {
	config := op.Emit(f, target).Config
	w := walk{t: t, stores: rnn.StoresOf(op, f, target), pe: f.PE, simd: f.SIMD, memory: map[[4]int]written{},
		turns: field[int](t, config, "turns")}
	const many = 1 << 30
	w.least = slices.Repeat([]int{many}, len(w.stores))
	rest := field[int](t, config, "rest")
	w.arrive(field[int](t, config, "head"), rest)
	idle, waits := field[[]int](t, config, "idle"), rest > 0
	for step := range 4 {
		for i, nf := range field[[]int](t, config, "nf") {
			w.phase(step, i, nf, field[[]int](t, config, "sf")[i])
			w.at, waits = w.at+idle[i], waits || idle[i] > 0
		}
	}
	if got, want := op.Loop(f, target).IterationsPerFrame(), w.at-idle[len(idle)-1]; got != want {
		t.Errorf("seed %d, %+v: %d iterations, want %d", seed, f, got, want)
	}
	if waits && !w.tight {
		t.Errorf("seed %d, %+v: it waits longer than it has to", seed, f)
	}
	for s, store := range w.stores {
		if w.least[s] != many && store.Distance != w.least[s] {
			t.Errorf("seed %d, %+v: %s states a distance of %d, it is %d", seed, f, store.Name, store.Distance,
				w.least[s])
		}
		if target.Backend.Stalls == dataflow.StallByCredit {
			if stages := op.(dataflow.HasCircuit).Circuit(f,
				target).WriteToReadIterations(store.Name); stages != store.Latency+1 {
				t.Errorf("seed %d, %+v: %s is read %d iterations after it is written, it takes %d", seed, f,
					store.Name, store.Latency+1, stages)
			}
		}
	}
}

// wide is an LSTM of many units whose weights are -1, 0 and 1.
func wide(t testing.TB, o recipe, steps int) dataflow.Op {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	o.sequence = true
	c := o.common(r)
	c.input.Multiplier, c.hidden.Multiplier = 1, 16
	p := rnn.Params{Sequence: true, Sequences: o.sequences}
	for range o.cells {
		cell := o.weights(r, c)
		for g := range cell.recurrent {
			cell.recurrent[g] = layertest.Weights(r, o.units, o.units, num.Range{Lo: -1, Hi: 1}, true)
		}
		p.Cells = append(p.Cells, cell.program())
	}
	p.Outputs = []rnn.ValueRef{p.Cells[0].States[0].Next}
	turns := max(1, o.sequences) * o.cells
	return layertest.Bind(t, rnn.New(p), layertest.FullType(layertest.Int(8), steps, turns*o.units*4))
}

// TestLoop checks the clocks. A step takes the clocks of its turns, or those of the first turn and the latency, less
// the clocks before the last word is read. The last step of a frame waits for nothing.
func TestLoop(t *testing.T) {
	t.Parallel()
	const steps = 5
	for _, tt := range []struct {
		cells, sequences, units, pe, simd int
		latency, iterations               int
	}{
		{2, 1, 128, 2, 128, 27, 5 * 128},       // FINN-L's W2A2: two cells of 64 clocks cover the latency
		{2, 1, 128, 1, 64, 26, 5 * 512},        // its W4A4
		{1, 1, 128, 2, 128, 27, 4*90 + 64},     // a cell alone waits for itself
		{1, 2, 128, 2, 128, 27, 5 * 128},       // two sequences do not
		{1, 4, 128, 8, 128, 27, 5 * 64},        // nor do four,
		{1, 2, 128, 8, 128, 27, 4*42 + 32},     // where two do: 2*16 clocks are less than 16+26
		{1, 1, 8, 8, 8, 23, 4*23 + 1},          // nothing but latency
		{3, 1, 8, 4, 2, 21, 4*26 + 24},         // 3*8 clocks are less than 8+20-2
		{1, 1, 12, 4, 3, 22, 4*(12+21) + 12},   // one word of 12
		{1, 1, 12, 2, 2, 21, 4*(36+20-5) + 36}, // words of 2: the last of 6 clocks waits for the last
	} {
		o := recipe{cells: tt.cells, sequences: tt.sequences, units: tt.units}
		op := wide(t, o, steps)
		l := op.Loop(dataflow.Fold{PE: tt.pe, SIMD: tt.simd}, fast)
		first := tt.units/tt.simd - 1 // the iteration of the first word
		if l.Latency != tt.latency || l.IterationsPerFrame() != tt.iterations ||
			l.FirstWriteClock(0) != first+tt.latency ||
			l.LastWriteClock(0) != tt.iterations-1+tt.latency {
			t.Errorf("%+v: %d iterations, latency %d, words from %d to %d", tt, l.IterationsPerFrame(), l.Latency,
				l.FirstWriteClock(0), l.LastWriteClock(0))
		}
	}
}

// TestRecurrences checks that the reported path to the state of a step is that of its values. A step that waits for
// nothing else takes the clocks of that path.
func TestRecurrences(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 1))
	o := recipe{kind: "gru, reset first", cells: 1, units: 8, sequence: true}
	gru := o.layer(r)
	for _, tt := range []struct {
		op   dataflow.Op
		want []string
	}{
		{wide(t, recipe{cells: 1, units: 8}, 5), []string{
			"state 0 -> sum -> linear -> steps -> product -> requant -> linear -> requant -> steps -> product -> " +
				"requant -> state 0: 23 clocks; a step has work for 1 of its 23: II 23, or interleave 23",
			"state 0 -> sum -> linear -> steps -> product -> requant -> linear -> requant -> " +
				"state 1: 18 clocks; a step has work for 1 of its 23: II 23, or interleave 23"}},
		{layertest.Bind(t, rnn.New(gru), o.inputs(r, gru, 5)...), []string{
			"state 0 -> phase 0 -> sum -> linear -> steps -> product -> linear -> requant -> " +
				"state 0: 32 clocks; a step has work for 2 of its 32: II 32, or interleave 16"}},
	} {
		list := tt.op.Describe().Recurrences(dataflow.Fold{PE: 8, SIMD: 8}, fast)
		longest := 0
		var got []string
		for _, x := range list {
			longest, got = max(longest, x.Clocks), append(got, x.String())
		}
		if !slices.Equal(got, tt.want) || longest != list[0].Step {
			t.Errorf("%q, want %q; a step takes %d clocks", got, tt.want, list[0].Step)
		}
	}
}

// TestLatency counts the clocks of operations.
func TestLatency(t *testing.T) {
	t.Parallel()
	shift := num.Requant{Multiplier: 4, Shift: 2, Mode: num.RoundingHalfEven, Lo: -8, Hi: 7}
	times := shift
	times.Multiplier = 5
	steps := []num.StepFunction{{At: []int64{-3, 0, 3}, Value: []int64{-4, 0, 2, 5}}}
	both := func(b *program, factors ...[]int64) int {
		return b.linear(nil, []int{b.input(0), b.sum(0)}, factors...)
	}
	for _, tt := range []struct {
		name    string
		product bool
		write   func(*program)
		want    int // beside 4 that decide, fetch, sum and write
	}{
		{"a sum", false, func(b *program) { b.input(0); b.requant(shift, b.sum(0)) }, 2},
		{"products requantised", true, func(b *program) { b.input(0); b.requant(shift, b.sum(0)) }, 3},
		{"times", false, func(b *program) { b.input(0); b.requant(times, b.sum(0)) }, 4},
		{"added", false, func(b *program) { b.requant(shift, both(b, one, one)) }, 4},
		{"added, times", false, func(b *program) { b.requant(times, both(b, one, one)) }, 6},
		{"shifted", false, func(b *program) { b.requant(shift, both(b, one, []int64{-8})) }, 4},
		{"multiplied", false, func(b *program) { b.requant(shift, both(b, one, []int64{3})) }, 5},
		{"multiplied aside", false, func(b *program) { b.requant(shift, both(b, []int64{3}, one)) }, 4},
		{"as it is", false, func(b *program) {
			b.input(0)
			b.requant(shift, b.linear(nil, []int{b.sum(0)}, one))
		}, 2},
		{"steps", false, func(b *program) { b.steps(steps, both(b, one, one)) }, 4}, // a table
		{"a product", false, func(b *program) { b.requant(shift, b.product(b.input(0), b.sum(0))) }, 3},
		{"not the longest", false, func(b *program) {
			b.product(both(b, []int64{3}, []int64{5}), b.sum(0)) // nothing depends on it
			b.requant(shift, b.sum(0))
		}, 2},
	} {
		b := &program{}
		tt.write(b)
		dot := rnn.CellMatrixProduct{Weights: [][]int64{{3}}}
		if tt.product {
			dot.Product = &num.Requant{Multiplier: 1, Mode: num.RoundingFloor, Lo: -9, Hi: 9}
		}
		last := rnn.ValueRef{Value: len(b.values) - 1}
		op := layertest.Bind(t, rnn.New(rnn.Params{Outputs: []rnn.ValueRef{last}, Cells: []rnn.Cell{{
			States: []rnn.StateDefinition{{Next: last}},
			Phases: []rnn.CellPhase{{Units: 1, State: new(int), Dots: []rnn.CellMatrixProduct{dot},
				Values: b.values}}}}}),
			layertest.FullType(layertest.Int(4), 3, 1))
		if l := op.Loop(dataflow.Fold{PE: 1, SIMD: 1}, fast); l.Latency != 4+tt.want {
			t.Errorf("%s: %d clocks, want %d", tt.name, l.Latency, 4+tt.want)
		}
	}
}

// TestArrivals checks that states of different lengths arrive side by side, and that the first step waits for the
// states that it reads.
func TestArrivals(t *testing.T) {
	t.Parallel()
	o := recipe{kind: "lstmp", cells: 1, units: 8, sequences: 2, sequence: true, arrive: true}
	r := rand.New(rand.NewPCG(2, 2))
	p := o.layer(r)
	op := layertest.Bind(t, rnn.New(p), o.inputs(r, p, 2)...)
	f := dataflow.Fold{PE: 2, SIMD: 4}
	l := op.Loop(f, fast)
	var reads []string
	for i := range 10 {
		reads = append(reads, fmt.Sprintf("%b", l.MovesOfIteration(i).Read))
	}
	// h has two words of a turn, c has four; then nothing arrives
	want := []string{"110", "110", "110", "110", "100", "100", "100", "100", "0", "0"}
	if !slices.Equal(reads, want) {
		t.Errorf("%v, want %v", reads, want)
	}
	if rest := field[int](t, op.Emit(f, fast).Config, "rest"); l.IterationOfRead(0, 0) != 8+rest || rest == 0 {
		t.Errorf("the first word is read in iteration %d, after %d of rest", l.IterationOfRead(0, 0), rest)
	}
}

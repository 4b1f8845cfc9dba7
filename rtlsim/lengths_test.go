package rtlsim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// A stretcher is a blender with one loop for each length of a sequence.
type stretcher struct {
	blender
	of func(steps int) dataflow.Loop
}

func newStretcher(kind string, steps, perWord int, of func(steps int) dataflow.Loop) stretcher {
	return stretcher{newBlender(kind, of(steps), perWord), of}
}

func (s stretcher) Bind(in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	_, out, err := s.blender.Bind(in)
	return s, out, err
}

func (s stretcher) Describe() dataflow.LayerDescription {
	return dataflow.LayerDescription{Stretch: s.stretch}
}

func (s stretcher) stretch(_, to int) (dataflow.Op, error) {
	return newStretcher(s.kind, to, s.perWord, s.of), nil
}

// A sequenceNet builds designs whose frames are sequences of 1 to longest steps.
type sequenceNet struct {
	net
	longest int
	timed   []int // per input
}

// input adds an input that is a sequence. Every time step has one word, from which a layer makes the given number
// of words.
func (n *sequenceNet) input(words int) int {
	n.timed = append(n.timed, 0)
	return n.add("Expand", func(steps int) dataflow.Loop { return regroup(steps, 1, words, 1) },
		n.net.input(n.longest))[0]
}

func (n *sequenceNet) add(kind string, of func(steps int) dataflow.Loop, in ...int) []int {
	n.t.Helper()
	out, err := n.b.BindAndAddLayer(newStretcher(kind, n.longest, n.perWord, of), in, nil, nil)
	if err != nil {
		n.t.Fatal(err)
	}
	return out
}

func (n *sequenceNet) design(depth int, out ...int) *dataflow.Design {
	d := n.net.design(depth, out...)
	d.Model.Lengths = &dataflow.SequenceLengths{Min: 1, Max: n.longest, In: n.timed}
	return d
}

// last returns loops that pass on only the words of the last step.
func last(words, latency int) func(int) dataflow.Loop {
	return func(n int) dataflow.Loop {
		return dataflow.Loop{Latency: latency, Body: dataflow.JoinLoopRuns(
			dataflow.LoopRun{Times: (n - 1) * words, Moves: dataflow.PortMoves{Read: 1}},
			dataflow.LoopRun{Times: words, Moves: dataflow.PortMoves{Read: 1, Write: 1}})}
	}
}

// blocks returns loops that read a step while they write the step before, as a reordering within steps does.
func blocks(words, latency int) func(int) dataflow.Loop {
	both := dataflow.PortMoves{Read: 1, Write: 1}
	return func(n int) dataflow.Loop {
		return dataflow.Loop{Latency: latency, Body: dataflow.JoinLoopRuns(slices.Concat(
			[]dataflow.LoopRun{{Times: words, Moves: dataflow.PortMoves{Read: 1}}},
			dataflow.RepeatLoopRuns(n-1, dataflow.LoopRun{Times: words, Moves: both}),
			[]dataflow.LoopRun{{Times: words, Moves: dataflow.PortMoves{Write: 1}}})...)}
	}
}

// odd returns loops that hold back sequences of some lengths and pass others on. So no loop of the one kind ends
// with a loop of the other kind.
func odd(words, latency int, holds func(steps int) bool) func(int) dataflow.Loop {
	return func(n int) dataflow.Loop {
		if holds(n) {
			return hold(n*words, latency)
		}
		return pass(n*words, 1, 1, latency)
	}
}

// randomSequences grows a network for sequences, with short FIFOs.
func randomSequences(t testing.TB, seed uint64) (*dataflow.Design, *rand.Rand) {
	rng := rand.New(rand.NewPCG(seed, 31))
	n := &sequenceNet{net: net{t: t, perWord: 1}, longest: 2 + rng.IntN(4)}
	words := 1 + rng.IntN(3)
	open := []int{n.input(words)}
	for step := range 4 + rng.IntN(7) {
		i := rng.IntN(len(open))
		in := open[i]
		open = slices.Delete(open, i, i+1)
		latency := 1 + rng.IntN(3)
		c := rng.IntN(9)
		switch {
		case c < 3 && len(open) < 3 || step == 0:
			open = append(open, n.add("Fork", func(p int) dataflow.Loop { return pass(p*words, 1, 2, latency) }, in)...)
		case c < 4 && len(open) > 0:
			with := open[0]
			open = append(open[1:], n.add("Join", func(p int) dataflow.Loop { return pass(p*words, 2, 1, latency) }, in,
				with)...)
		case c < 6:
			open = append(open, n.add("Hold", func(p int) dataflow.Loop { return hold(p*words, latency) }, in)...)
		case c == 6:
			open = append(open, n.add("Blocks", blocks(words, latency), in)...)
		case c == 7 && seed%2 == 0:
			at := 1 + rng.IntN(n.longest)
			open = append(open, n.add("Odd", odd(words, latency, func(p int) bool { return p == at }), in)...)
		default:
			nf := 1 + rng.IntN(2)
			open = append(open, n.add("Matrix", func(p int) dataflow.Loop {
				return dataflow.LoopNest{Trips: []int{p, words, nf}, Read: accesses("eef"), Write: accesses("eel"),
					Latency: latency}.AsLoop()
			}, in)...)
		}
	}
	for len(open) > 1 {
		open = append(open[2:], n.add("Join", func(p int) dataflow.Loop { return pass(p*words, 2, 1, 1) }, open[0],
			open[1])...)
	}
	var out []int
	for k, s := range open {
		if k == 0 && rng.IntN(2) == 0 {
			out = append(out, n.add("Last", last(words, 1), s)...)
			continue
		}
		out = append(out, n.add("Pass", func(p int) dataflow.Loop { return pass(p*words, 1, 1, 1) }, s)...)
	}
	d := n.design(1, out...)
	for s := range d.FIFO {
		d.FIFO[s].Depth = 1 + rng.IntN(4)
	}
	d.Target.Backend = backends[rng.IntN(2)]
	return d, rng
}

// everyLength does what Prove does, without its argument for shorter sequences: it executes every length.
func everyLength(t *testing.T, d *dataflow.Design) (stuck []int) {
	t.Helper()
	for n := d.Model.Lengths.Min; n <= d.Model.Lengths.Max; n++ {
		at, err := newPlan(d).sized(n)
		if err != nil {
			t.Fatal(err)
		}
		err = at.proved(t.Context())
		var dead *Deadlock
		if err != nil && !errors.As(err, &dead) {
			t.Fatal(err)
		}
		if err != nil {
			stuck = append(stuck, n)
		}
	}
	return stuck
}

// TestProveLengths compares what Prove says about sequences of different lengths with the execution of every
// length. If a design is proved, sequences come through in any mix, also with the depths of Size. Otherwise some
// length gets stuck if credits are counted.
func TestProveLengths(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	free, dead, executed, few, deeper := 0, 0, 0, 0, 0
	for seed := range uint64(600) {
		d, rng := randomSequences(t, seed)
		proof, err := ProveDeadlockFree(t.Context(), d)
		stuck := everyLength(t, d)
		if (err != nil) != (len(stuck) > 0) {
			t.Fatalf("seed %d: %v, %v; each length by itself: stuck %v\n%s", seed, proof, err, stuck,
				d.Model.Graph)
		}
		l := d.Model.Lengths
		if err != nil {
			dead++
			if !slices.Contains(stuck, l.Max) { // the longest comes through
				few++
				want := fmt.Sprintf("sequences of %d steps: deadlock", stuck[0])
				if !strings.HasPrefix(err.Error(), want) {
					t.Errorf("seed %d: %v, want %s", seed, err, want)
				}
			}
			runMixed(t, d, rng, stuck)
		} else {
			free++
			executed += len(proof.Executed)
		}
		for s := range d.FIFO {
			d.FIFO[s].Depth = MinFIFODepth
		}
		z, err := FindFIFODepths(t.Context(), d, FIFOSizingOptions{Minimal: seed%2 == 0, AllLengths: true, each: 1})
		if err != nil || !z.Feasible {
			t.Fatalf("seed %d: %v, %v", seed, z, err)
		}
		without, err := FindFIFODepths(t.Context(), d, FIFOSizingOptions{Minimal: seed%2 == 0, each: 1})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(without.Words, z.Words) {
			deeper++
		}
		for s, words := range z.Words {
			d.FIFO[s].Depth = words
		}
		if proof, err := ProveDeadlockFree(t.Context(), d); err != nil {
			t.Fatalf("seed %d: %v, %v with the depths of Size", seed, proof, err)
		}
		if seed%4 == 0 {
			runMixed(t, d, rng, nil)
		}
	}
	t.Logf("%d free, %d dead, %d lengths executed, %d of shorter sequences alone, %d deeper for them", free, dead,
		executed, few, deeper)
	if free < 200 || dead < 50 || executed < 50 || few < 3 || deeper < 10 {
		t.Errorf("%d free, %d dead, %d lengths executed, %d of shorter sequences alone, %d deeper for them: the "+
			"networks test too little", free, dead, executed, few, deeper)
	}
}

// runMixed runs sequences of all lengths in random order, each length twice. They deadlock if any length is in
// stuck.
func runMixed(t *testing.T, d *dataflow.Design, rng *rand.Rand, stuck []int) {
	t.Helper()
	var frames [][]dataflow.Tensor
	l := d.Model.Lengths
	lengths := append(rng.Perm(l.Max), rng.Perm(l.Max)...)
	for _, n := range lengths {
		at, err := d.AtSequenceLength(n + 1)
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, randomFrames(at, 1, rng)...)
	}
	_, err := RunFrames(t.Context(), d, frames, Options{In: HostSlowdown{Stall: rng.IntN(50), Seed: 1},
		Out: HostSlowdown{Stall: rng.IntN(50), Seed: 2}})
	var dead *Deadlock
	if err != nil && !errors.As(err, &dead) {
		t.Fatal(err)
	}
	credit := d.Target.Backend.Stalls == dataflow.StallByCredit
	if dead != nil && len(stuck) == 0 || dead == nil && len(stuck) > 0 && credit {
		t.Errorf("sequences %v: %v, want a deadlock at %v\n%s", lengths, err, stuck, d.Model.Graph)
	}
}

// TestShallowForOneLength checks a FIFO beside a layer that holds back only sequences of two steps. A shallow FIFO
// is deep enough for all other lengths.
func TestShallowForOneLength(t *testing.T) {
	t.Parallel()
	build := func(depth int) *dataflow.Design {
		n := &sequenceNet{net: net{t: t, perWord: 1}, longest: 5}
		fork := n.add("Fork", func(p int) dataflow.Loop { return pass(p*4, 1, 2, 1) }, n.input(4))
		held := n.add("Odd", odd(4, 1, func(p int) bool { return p == 2 }), fork[0])
		d := n.design(2, n.add("Join", func(p int) dataflow.Loop { return pass(p*4, 2, 1, 1) }, held[0], fork[1])...)
		d.FIFO[fork[1]].Depth = depth
		return d
	}
	if _, err := ProveDeadlockFree(t.Context(), build(2)); err == nil || !strings.HasPrefix(err.Error(),
		"sequences of 2 steps: deadlock: Fork_0 waits for room on s3 (depth 2)") {
		t.Errorf("%v", err)
	}
	if proof, err := ProveDeadlockFree(t.Context(), build(8)); err != nil || !slices.Equal(proof.Executed, []int{2}) {
		t.Errorf("%v, %v", proof, err)
	}
	for shorter, want := range map[bool]int{false: 2, true: 8} {
		z, err := FindFIFODepths(t.Context(), build(1), FIFOSizingOptions{Minimal: true, AllLengths: shorter, each: 2})
		if err != nil || !z.Feasible || z.Words[3] != want || (len(z.Needs) > 0) != shorter {
			t.Errorf("%v, %v: want %d", z, err, want)
		}
	}
}

// TestEnds checks ends with loops that end with another loop, and with some that do not.
func TestEnds(t *testing.T) {
	t.Parallel()
	r, w, rw := dataflow.PortMoves{Read: 1}, dataflow.PortMoves{Write: 1}, dataflow.PortMoves{Read: 1, Write: 1}
	run := func(times int, m dataflow.PortMoves) dataflow.LoopRun {
		return dataflow.LoopRun{Times: times, Moves: m}
	}
	rep := func(times int, body ...dataflow.LoopRun) dataflow.LoopRun {
		return dataflow.LoopRun{Times: times, Body: body}
	}
	for _, tt := range []struct {
		name        string
		short, long []dataflow.LoopRun
		want        bool
	}{
		{"the same", []dataflow.LoopRun{run(3, rw)}, []dataflow.LoopRun{run(3, rw)}, true},
		{"fewer", []dataflow.LoopRun{run(2, rw)}, []dataflow.LoopRun{run(3, rw)}, true},
		{"more", []dataflow.LoopRun{run(4, rw)}, []dataflow.LoopRun{run(3, rw)}, false},
		{"held", []dataflow.LoopRun{run(2, r), run(2, w)}, []dataflow.LoopRun{run(5, r), run(5, w)}, true},
		{"one step", []dataflow.LoopRun{run(2, r), run(1, w)}, []dataflow.LoopRun{rep(4, run(2, r), run(1, w))}, true},
		{"steps", []dataflow.LoopRun{rep(3, run(2, r), run(1, w))}, []dataflow.LoopRun{rep(4, run(2, r), run(1, w))},
			true},
		{"another order", []dataflow.LoopRun{run(1, w), run(2, r)}, []dataflow.LoopRun{rep(4, run(2, r), run(1, w))},
			false},
		{"held, not passed", []dataflow.LoopRun{run(2, r), run(2, w)}, []dataflow.LoopRun{run(4, rw)}, false},
		{"passed, not held", []dataflow.LoopRun{run(2, rw)}, []dataflow.LoopRun{run(4, r), run(4, w)}, false},
		{"a head", []dataflow.LoopRun{run(1, dataflow.PortMoves{Read: 2}), run(2, r)},
			[]dataflow.LoopRun{run(1, dataflow.PortMoves{Read: 2}), run(4, r)}, true},
		{"a head of the same port", []dataflow.LoopRun{run(3, r), run(1, rw), run(3, w)},
			[]dataflow.LoopRun{run(3, r), run(4, rw), run(3, w)}, true},
		{"another head of the same port", []dataflow.LoopRun{run(3, r), run(1, rw)},
			[]dataflow.LoopRun{run(3, r), rep(4, run(1, w), run(1, r)), run(1, rw)}, true},
		{"a head in two orders", []dataflow.LoopRun{run(2, r), run(1, w), run(1, rw)},
			[]dataflow.LoopRun{run(4, r), rep(4, run(1, w), run(1, r)), run(1, rw)}, false},
		{"a block that is read first", []dataflow.LoopRun{run(3, r), run(3, w)},
			[]dataflow.LoopRun{run(3, r), run(9, rw), run(3, w)}, true},
		{"a block that is read first, in blocks", []dataflow.LoopRun{run(3, r), run(1, w)},
			[]dataflow.LoopRun{run(3, r), rep(4, run(1, rw), run(2, r)), run(1, w)}, true},
	} {
		if got := ends(tt.short, tt.long); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

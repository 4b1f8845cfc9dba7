package rtlsim

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

func size(t testing.TB, d *dataflow.Design, opt FIFOSizingOptions) *FIFOSizing {
	t.Helper()
	z, err := FindFIFODepths(t.Context(), d, opt)
	if err != nil {
		t.Fatalf("%v in\n%s", err, d.Model.Graph)
	}
	return z
}

// keeps reports whether a design with the given depths has the interval, and is as free from deadlock as the
// options require.
func keeps(t testing.TB, d *dataflow.Design, depth []int, z *FIFOSizing, opt FIFOSizingOptions) bool {
	t.Helper()
	with := *d
	with.FIFO = dataflow.NewShiftRegisterFIFOs(depth...)
	if _, err := ProveDeadlockFree(t.Context(), &with); err != nil {
		return false
	}
	if opt.Minimal {
		return true
	}
	trace := run(t, &with, nil, Options{Frames: 600, In: opt.In, Out: opt.Out})
	if trace.Period.Frames == 0 { // parts that have nothing to do with each other
		return trace.Frames[599].Last-trace.Frames[399].Last == 200*z.Interval
	}
	credit := d.Target.Backend.Stalls == dataflow.StallByCredit
	return trace.Period.Clocks == z.Interval*trace.Period.Frames && (credit ||
		keepsPaced(t, &with, z, opt))
}

// keepsPaced is keeps for a host that gives a frame per interval.
func keepsPaced(t testing.TB, d *dataflow.Design, z *FIFOSizing, opt FIFOSizingOptions) bool {
	trials := &trials{plan: newPlan(d), ctx: t.Context(), in: opt.In, out: opt.Out, interval: z.Interval,
		left: math.MaxInt}
	return trials.keepsInterval(trials.paced(d.FIFODepthsWords(), 600))
}

// TestSizeOfSchedules checks that depths which hold a schedule keep the interval if pipelines freeze, with a paced
// host and with a host at full speed. In this case the schedule does not prove it.
func TestSizeOfSchedules(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 4))
		d := unevenNet(t, rng)
		if seed%2 > 0 {
			d = randomForks(t, rng)
		}
		d.Target.Backend = dataflow.BackendHLS
		opt := FIFOSizingOptions{Effort: 1, each: 1 + int(seed%3)}
		if z := size(t, d, opt); !z.Feasible || !keeps(t, d, z.Words, z, opt) {
			t.Errorf("seed %d: %+v does not keep the interval in\n%s", seed, z, d.Model.Graph)
		}
	}
}

// TestSize checks random networks with both rules of stalls. The depths keep the interval of unbounded FIFOs
// without deadlock, and no FIFO alone can be smaller. If pipelines freeze, a few can be smaller (see Sizing).
func TestSize(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	deep, minimal, loose := 0, 0, 0
	for seed := range uint64(300) {
		d, rng := randomNet(t, seed, 10)
		if seed%2 > 0 {
			d = randomForks(t, rng)
		}
		d.Target.Backend = backends[seed/2%2]
		opt := FIFOSizingOptions{Minimal: seed%8 < 2, each: 1 + int(seed%3)}
		if seed%8 > 5 {
			opt.In.Every, opt.Out.Every = rng.IntN(4), rng.IntN(4)
		}
		z := size(t, d, opt)
		if !z.Feasible || !z.Exact || !keeps(t, d, z.Words, z, opt) {
			t.Fatalf("seed %d: %+v does not keep the interval in\n%s", seed, z, d.Model.Graph)
		}
		for s, words := range z.Words {
			if words != stepAhead(words, opt.each, d.FIFOCapacityWords(s)-d.FIFO[s].Depth) {
				t.Errorf("seed %d: %d words", seed, words)
			}
			if words == MinFIFODepth {
				continue
			}
			deep++
			if opt.Minimal {
				minimal++
			}
			less := slices.Clone(z.Words)
			less[s] = max(MinFIFODepth, less[s]-opt.each)
			if !keeps(t, d, less, z, opt) {
				continue
			}
			if loose++; d.Target.Backend.Stalls == dataflow.StallByCredit || opt.Minimal {
				t.Errorf("seed %d: s%d needs no %d words in %v in\n%s", seed, s, words, z.Words, d.Model.Graph)
			}
		}
	}
	if loose > deep/100 {
		t.Errorf("%d of %d deep FIFOs need not be", loose, deep)
	}
	if deep < 150 || minimal < 20 {
		t.Errorf("%d deep FIFOs, %d for freedom from deadlock: the networks test too little", deep, minimal)
	}
}

// TestSizeFixed checks that given depths do not change, that the other FIFOs are sized beside them, and that Size
// says so if the given depths prevent the interval.
func TestSizeFixed(t *testing.T) {
	t.Parallel()
	d, past := forked(t, 1000, 100)
	given := make([]int, len(d.FIFO))
	for _, c := range []struct {
		words int
		kept  bool
	}{{200, true}, {128, true}, {90, false}} {
		given[past] = c.words
		z := size(t, d, FIFOSizingOptions{Fixed: given})
		if z.Feasible != c.kept || z.Words[past] != c.words {
			t.Errorf("%d words given: kept %t, %v", c.words, z.Feasible, z.Words)
		}
		if c.kept && !keeps(t, d, z.Words, z, FIFOSizingOptions{}) {
			t.Errorf("%d words given: %v do not keep the interval", c.words, z.Words)
		}
	}
}

// randomForks returns a chain of forks and joins. Layers in the branches have any latency and hold back words.
func randomForks(t testing.TB, rng *rand.Rand) *dataflow.Design {
	n := &net{t: t, perWord: 1}
	words := 4 * (1 + rng.IntN(8))
	s := n.input(words)
	branch := func(s int) int {
		for range rng.IntN(4) {
			latency := 1 + rng.IntN(9)
			switch rng.IntN(5) {
			case 0:
				s = n.add("Hold", hold(words, latency), s)[0]
			case 1:
				s = n.add("Window", held1(words, 1+rng.IntN(words-1)), s)[0]
			case 2:
				s = n.add("Matrix", matrix(words/4, 4, 4, latency), s)[0]
			case 3:
				s = n.add("Regroup", regroup(words/4, 1, 4, latency),
					n.add("Regroup", regroup(words/4, 4, 1, latency), s)[0])[0]
			default:
				s = n.add("Pass", pass(words, 1, 1, latency), s)[0]
			}
		}
		return s
	}
	for range 1 + rng.IntN(3) {
		fork := n.add("Fork", pass(words, 1, 2, 1+rng.IntN(3)), branch(s))
		s = n.add("Join", pass(words, 2, 1, 1+rng.IntN(3)), branch(fork[0]), branch(fork[1]))[0]
	}
	return n.design(2, n.add("Pass", pass(words, 1, 1, 1), branch(s))[0])
}

// forked returns a design with a branch that holds back words of a frame, and a branch past it.
func forked(t testing.TB, words, held int) (d *dataflow.Design, past int) {
	n := &net{t: t, perWord: 1}
	s := n.add("Pass", pass(words, 1, 1, 2), n.input(words))[0]
	fork := n.add("Fork", pass(words, 1, 2, 1), s)
	slow := n.add("Window", held1(words, held), n.add("Pass", pass(words, 1, 1, 5), fork[0])[0])[0]
	return n.design(2, n.add("Add", pass(words, 2, 1, 3), n.add("Matrix", pass(words, 1, 1, 4), slow)[0], fork[1])...),
		fork[1]
}

// held1 returns a loop that writes each word the given number of iterations after it read the word.
func held1(words, held int) dataflow.Loop {
	return dataflow.Loop{Latency: 2, Body: dataflow.JoinLoopRuns(dataflow.LoopRun{Times: held,
		Moves: dataflow.PortMoves{Read: 1}},
		dataflow.LoopRun{Times: words - held, Moves: dataflow.PortMoves{Read: 1, Write: 1}},
		dataflow.LoopRun{Times: held, Moves: dataflow.PortMoves{Write: 1}})}
}

func TestSizeReason(t *testing.T) {
	t.Parallel()
	d, past := forked(t, 1000, 100)
	z := size(t, d, FIFOSizingOptions{})
	want := "behind the fork Fork_0, words for the join Add_0 wait here for those that go by Pass_1, Window_0, Matrix_0"
	d.FIFO = slices.Clone(d.FIFO)
	for s, words := range z.Words {
		d.FIFO[s].Depth = words
	}
	if why := FIFODepthReasons(d); z.Interval != 1100 || why[past] != want || z.Words[past] != 128 {
		t.Errorf("interval %d, %+v, %q", z.Interval, z, why)
	}
	for s, words := range z.Words {
		if s != past && words != MinFIFODepth {
			t.Errorf("s%d: %d words", s, words)
		}
	}
	if m := size(t, d, FIFOSizingOptions{Minimal: true}); m.Words[past] > z.Words[past] || m.Interval != 0 {
		t.Errorf("minimal: %+v", m)
	}
	// The layer behind the fork is the slowest. Words come in bursts, at the pace of the host.
	n := &net{t: t, perWord: 1}
	burst := n.design(2, n.add("Slow", matrix(8, 1, 50, 1), n.add("Burst", hold(400, 1), n.input(400))[0])...)
	z = size(t, burst, FIFOSizingOptions{In: HostSlowdown{Every: 2}})
	burst.FIFO[0].Depth = z.Words[0]
	if why := FIFODepthReasons(burst); z.Interval != 800 || !strings.Contains(why[0], "the host is slow") {
		t.Errorf("interval %d, %q", z.Interval, why)
	}
}

func TestSizeRefuses(t *testing.T) {
	t.Parallel()
	d, _ := forked(t, 10, 3)
	for _, c := range []struct {
		opt  FIFOSizingOptions
		want string
	}{
		{FIFOSizingOptions{In: HostSlowdown{Stall: 3}}, "a host that does not stall"},
		{FIFOSizingOptions{Out: HostSlowdown{Every: -3}}, "every -3 clocks"},
		{FIFOSizingOptions{Fixed: []int{1}}, "1 depths are given"},
	} {
		if _, err := FindFIFODepths(t.Context(), d, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	d, _ = forked(t, 1000, 100)
	d.FIFO[0].Depth = 0
	if _, err := FindFIFODepths(t.Context(), d, FIFOSizingOptions{}); err == nil {
		t.Error("a depth of 0 passes")
	}
}

// TestSizeWords limits the words that sizing moves to a number of frames, as windows answer most questions and the
// whole design is seldom run. The count includes words that are skipped, so it does not depend on chance.
func TestSizeWords(t *testing.T) {
	t.Parallel()
	const most = 88 // frames; 94 where a FIFO that is lowered meets the whole at once
	moved, frame := 0, 0
	for seed := range uint64(60) {
		d := randomForks(t, rand.New(rand.NewPCG(seed, 21)))
		d.Target.Backend = dataflow.BackendHLS
		moved += size(t, d, FIFOSizingOptions{each: 1}).Moved
		frame += newPlan(d).words(nil)
	}
	if moved > most*frame {
		t.Errorf("%d words in trials, %d in frames: want at most %d times as many", moved, frame, most)
	}
}

// TestSizeWithoutEffort checks that the depths keep the interval without any effort, too, and that no depth is
// below the necessary minimum.
func TestSizeWithoutEffort(t *testing.T) {
	t.Parallel()
	deeper := 0
	for seed := range uint64(60) {
		d := randomForks(t, rand.New(rand.NewPCG(seed, 11)))
		d.Target.Backend = backends[seed%2]
		z := size(t, d, FIFOSizingOptions{Effort: 1, each: 4})
		if !z.Feasible || z.HitLimit {
			t.Fatalf("seed %d: %+v", seed, z)
		}
		if !z.Exact {
			deeper++
		}
		if again := size(t, d, FIFOSizingOptions{Fixed: z.Words, each: 4}); !again.Feasible ||
			again.Interval != z.Interval {
			t.Errorf("seed %d: %v do not keep %d clocks", seed, z.Words, z.Interval)
		}
	}
	if deeper < 5 {
		t.Errorf("%d were made without windows", deeper)
	}
}

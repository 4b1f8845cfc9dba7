package rtlsim

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
)

func size(t testing.TB, d *dataflow.Design, opt SizeOptions) *Sizing {
	t.Helper()
	z, err := Size(t.Context(), d, opt)
	if err != nil {
		t.Fatalf("%v in\n%s", err, d.Model.Graph)
	}
	return z
}

// keeps reports whether a design with such depths has the interval, and is as free from deadlock as asked.
func keeps(t testing.TB, d *dataflow.Design, depth []int, z *Sizing, opt SizeOptions) bool {
	t.Helper()
	with := *d
	with.FIFO = dataflow.ShiftRegisters(depth...)
	proof, err := Prove(t.Context(), &with)
	if err != nil || proof.Room > z.Room {
		return false
	}
	if opt.Minimal {
		return true
	}
	trace := run(t, &with, nil, Options{Frames: 600, In: opt.In, Out: opt.Out})
	if trace.Period.Frames == 0 { // parts that have nothing to do with each other
		return trace.Frames[599].Last-trace.Frames[399].Last == 200*z.Interval
	}
	return trace.Period.Clocks == z.Interval*trace.Period.Frames
}

// Over random networks: the depths found keep the interval of unbounded FIFOs without deadlock, no FIFO alone can be
// smaller, and none is deeper than its high-water mark.
func TestSize(t *testing.T) {
	t.Parallel()
	deep, minimal := 0, 0
	for seed := range uint64(250) {
		rng := rand.New(rand.NewPCG(seed, 10))
		d := randomNet(t, rng)
		if seed%2 > 0 {
			d = randomForks(t, rng)
		}
		opt := SizeOptions{Minimal: seed%8 < 2}
		if seed%8 > 5 {
			opt.In.Every, opt.Out.Every = rng.IntN(4), rng.IntN(4)
		}
		z := size(t, d, opt)
		words := make([]int, len(z.FIFOs))
		for s, f := range z.FIFOs {
			words[s] = f.Words
			if f.Stream != s || f.Depth != z.Depth[s] || f.Depth < f.Words || !opt.Minimal && cost.ImplementFIFO(f.High, f.Width).Depth < f.Depth {
				t.Errorf("seed %d: %+v", seed, f)
			}
		}
		if !z.Kept || !z.Exact || !keeps(t, d, words, z, opt) || !keeps(t, d, z.Depth, z, opt) {
			t.Fatalf("seed %d: %+v does not keep the interval in\n%s", seed, z, d.Model.Graph)
		}
		if bits, high := z.Bits(); bits > high && !opt.Minimal {
			t.Errorf("seed %d: %d bits, %d for high-water marks", seed, bits, high)
		}
		for s, f := range z.FIFOs {
			if f.Words == Least {
				continue
			}
			deep++
			if opt.Minimal {
				minimal++
			}
			less := slices.Clone(words)
			less[s]--
			if keeps(t, d, less, z, opt) {
				t.Errorf("seed %d: s%d needs no %d words in %v in\n%s", seed, s, f.Words, words, d.Model.Graph)
			}
		}
	}
	if deep < 150 || minimal < 20 {
		t.Errorf("%d deep FIFOs, %d for freedom from deadlock: the networks test too little", deep, minimal)
	}
}

// randomForks is a chain of forks and joins, with layers of any latency that hold back words in the branches.
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
				s = n.add("Regroup", regroup(words/4, 1, 4, latency), n.add("Regroup", regroup(words/4, 4, 1, latency), s)[0])[0]
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

// forked has a branch that holds back words of a frame, and one that goes past it.
func forked(t testing.TB, words, held int) (d *dataflow.Design, past int) {
	n := &net{t: t, perWord: 1}
	s := n.add("Pass", pass(words, 1, 1, 2), n.input(words))[0]
	fork := n.add("Fork", pass(words, 1, 2, 1), s)
	slow := n.add("Window", held1(words, held), n.add("Pass", pass(words, 1, 1, 5), fork[0])[0])[0]
	return n.design(2, n.add("Add", pass(words, 2, 1, 3), n.add("Matrix", pass(words, 1, 1, 4), slow)[0], fork[1])...), fork[1]
}

// held1 writes each word so many later than it read it.
func held1(words, held int) dataflow.Loop {
	return dataflow.Loop{Latency: 2, Body: dataflow.Join(dataflow.Run{Times: held, Moves: dataflow.Moves{Read: 1}},
		dataflow.Run{Times: words - held, Moves: dataflow.Moves{Read: 1, Write: 1}}, dataflow.Run{Times: held, Moves: dataflow.Moves{Write: 1}})}
}

func TestSizeReason(t *testing.T) {
	t.Parallel()
	d, past := forked(t, 1000, 100)
	z := size(t, d, SizeOptions{})
	f := z.FIFOs[past]
	want := "behind the fork Fork_0, words for the join Add_0 wait here for those that go by Pass_1, Window_0, Matrix_0"
	if z.Interval != 1100 || f.Reason != want || f.Words < 100 || f.Words > 115 || f.Depth != 128 || f.Memory != cost.Shift {
		t.Errorf("interval %d, %+v", z.Interval, f)
	}
	for s, f := range z.FIFOs {
		if s != past && f.Words != Least {
			t.Errorf("%+v", f)
		}
	}
	if m := size(t, d, SizeOptions{Minimal: true}); m.FIFOs[past].Words > f.Words || m.Interval != 0 || m.Room != 0 {
		t.Errorf("minimal: %+v", m)
	}
	// The layer behind the fork is the slowest: words in bursts, at the pace of the host.
	n := &net{t: t, perWord: 1}
	burst := n.design(2, n.add("Slow", matrix(8, 1, 50, 1), n.add("Burst", hold(400, 1), n.input(400))[0])...)
	z = size(t, burst, SizeOptions{In: Pace{Every: 2}})
	if z.Interval != 800 || !strings.Contains(z.FIFOs[0].Reason, "the host is slow") {
		t.Errorf("interval %d, %+v", z.Interval, z.FIFOs)
	}
}

func TestSizeRefuses(t *testing.T) {
	t.Parallel()
	d, _ := forked(t, 10, 3)
	for _, c := range []struct {
		opt  SizeOptions
		want string
	}{
		{SizeOptions{In: Pace{Stall: 3}}, "a host that does not stall"},
		{SizeOptions{Out: Pace{Every: -3}}, "every -3 clocks"},
	} {
		if _, err := Size(t.Context(), d, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	d, past := forked(t, 1000, 100)
	if z := size(t, d, SizeOptions{Effort: 1}); z.Kept || z.FIFOs[past].Words < Least {
		t.Errorf("%+v", z)
	}
	d.FIFO[0].Depth = 0
	if _, err := Size(t.Context(), d, SizeOptions{}); err == nil {
		t.Error("a depth of 0 passes")
	}
}

package rtlsim

import (
	"reflect"
	"slices"
	"sync"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// TestPeriods checks that skipping periods changes nothing. It compares random networks over many frames with a
// plain walk of every clock.
func TestPeriods(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	skipped, several := 0, 0
	for seed := range uint64(200) {
		d, rng := randomNet(t, seed, 8)
		opt := Options{Frames: 40 + rng.IntN(40), In: HostSlowdown{Every: rng.IntN(4)},
			Out: HostSlowdown{Every: rng.IntN(4)}}
		got, err := RunFrames(t.Context(), d, nil, opt)
		if err != nil {
			continue // TestRandomNetworks has deadlocks
		}
		want, stuck := oracle(d, opt.Frames, opt, rng)
		want.Period, want.Steady, want.Bottleneck = got.Period, got.Steady, got.Bottleneck
		if stuck || !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %+v\nthe plain walk: %+v, stuck %t\n%s", seed, got, want, stuck, d.Model.Graph)
		}
		p := got.Period
		beyond := opt.Frames + rng.IntN(100)
		if p.Frames == 0 {
			if _, ok := got.LastOutputClockOfFrame(beyond); ok {
				t.Errorf("seed %d: a frame beyond a run without a steady state is known", seed)
			}
			continue
		}
		more := opt
		more.Frames = beyond + 1
		out, ok := got.LastOutputClockOfFrame(beyond)
		if last := run(t, d, nil, more).Frames[beyond].Last; !ok || out != last {
			t.Errorf("seed %d: frame %d comes out in clock %d, by the steady state in %d", seed, beyond, last, out)
		}
		skipped++
		if p.Frames > 1 {
			several++
		}
		for i, n := range got.Steady {
			if n.Busy != p.Frames*d.LoopOfNode(i).IterationsPerFrame() || n.Busy+n.Starved+n.Blocked != p.Clocks {
				t.Errorf("seed %d: period %+v, %+v", seed, p, n)
			}
		}
		if last := opt.Frames - 1; got.Frames[last].Last-got.Frames[last-p.Frames].Last != p.Clocks {
			t.Errorf("seed %d: period %+v, frames %v", seed, p, got.Frames)
		}
	}
	if skipped < 80 || several < 3 {
		t.Errorf("%d steady states, %d of several frames: the networks test too little", skipped, several)
	}
}

// TestKnownRuns checks that a remembered result equals a new run, and is used only for the same design at the same
// depths and pace.
func TestKnownRuns(t *testing.T) {
	t.Parallel()
	var known RunCache
	differ := 0
	for seed := range uint64(60) {
		d, rng := randomNet(t, seed, 8)
		for range 3 {
			deeper := *d
			deeper.FIFO = slices.Clone(d.FIFO)
			deeper.FIFO[rng.IntN(len(d.FIFO))].Depth += rng.IntN(3)
			opt := Options{Frames: 1 + rng.IntN(3), In: HostSlowdown{Every: rng.IntN(2)},
				Out: HostSlowdown{Every: rng.IntN(2)}}
			want, stuck := RunFrames(t.Context(), &deeper, nil, opt)
			opt.Cache = &known
			for range 2 {
				if got, err := RunFrames(t.Context(), &deeper, nil, opt); !reflect.DeepEqual(got, want) ||
					!reflect.DeepEqual(err, stuck) {
					t.Errorf("seed %d: %+v, %v; a new run %+v, %v", seed, got, err, want, stuck)
				}
			}
			if want != nil && want.Cycles%2 == 0 {
				differ++
			}
		}
	}
	if differ < 20 {
		t.Errorf("%d of the runs have an even number of clocks: the networks test too little", differ)
	}
}

// TestKnownRunsTogether checks that a goroutine which needs a run that is under way waits for it.
func TestKnownRunsTogether(t *testing.T) {
	t.Parallel()
	d, _ := randomNet(t, 3, 8)
	var alone, known RunCache
	want, err := RunFrames(t.Context(), d, nil, Options{Frames: 400, Cache: &alone})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			got, err := RunFrames(t.Context(), d, nil, Options{Frames: 400, Cache: &known})
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, %v; a new run %+v", got, err, want)
			}
		})
	}
	if all.Wait(); known.WordsMoved() != alone.WordsMoved() {
		t.Errorf("%d words were moved for sixteen, %d for one", known.WordsMoved(), alone.WordsMoved())
	}
}

func TestBottleneck(t *testing.T) {
	t.Parallel()
	chain := func(loops ...dataflow.Loop) *dataflow.Design {
		n := &net{t: t, perWord: 1}
		s := n.input(loops[0].WordsRead(0))
		for _, l := range loops {
			s = n.add("Any", l, s)[0]
		}
		return n.design(2, s)
	}
	short := func(depth int) *dataflow.Design {
		n := &net{t: t, perWord: 1}
		fork := n.add("Fork", pass(12, 1, 2, 2), n.input(12))
		held := n.add("Hold", pass(12, 1, 1, 9), fork[0])
		d := n.design(2, n.add("Join", pass(12, 2, 1, 3), held[0], fork[1])...)
		d.FIFO[fork[1]].Depth = depth
		return d
	}
	for _, c := range []struct {
		d        *dataflow.Design
		opt      Options
		interval float64
		want     IntervalCause
	}{
		{chain(matrix(2, 3, 4, 2), matrix(2, 5, 3, 2)), Options{}, 30,
			IntervalCause{"Any_1", "Any_1 works in every clock"}},
		{chain(matrix(2, 3, 4, 2), pass(6, 1, 1, 1)), Options{}, 24, IntervalCause{"Any_0",
			"Any_0 works in every clock"}},
		{chain(regroup(4, 3, 1, 1), pass(4, 1, 1, 1)), Options{}, 12,
			IntervalCause{"Any_0", "Any_0 works in every clock"}},
		{chain(pass(4, 1, 1, 1), regroup(4, 1, 3, 1)), Options{}, 12,
			IntervalCause{"Any_1", "Any_1 works in every clock"}},
		{chain(pass(4, 1, 1, 1)), Options{In: HostSlowdown{Every: 3}}, 12,
			IntervalCause{"", "the host gives one word every 3 clocks on s0"}},
		{chain(pass(4, 1, 1, 1)), Options{Out: HostSlowdown{Every: 3}}, 12,
			IntervalCause{"", "the host takes one word every 3 clocks from s1"}},
		// A word comes back round the loop of Fork, Hold and Join after 9+2 clocks. As many words are under way as
		// s2 holds.
		{short(2), Options{}, 12. * 11 / 2,
			IntervalCause{"Fork_0", "Fork_0 waits for room on s2, which holds 2 words"}},
		{short(9), Options{}, 12. * 11 / 9, IntervalCause{"Fork_0",
			"Fork_0 waits for room on s2, which holds 9 words"}},
		{short(11), Options{}, 12, IntervalCause{"Fork_0", "Fork_0 works in every clock"}},
	} {
		c.opt.Frames = 30
		got := run(t, c.d, nil, c.opt)
		if got.Bottleneck != c.want || got.IntervalClocks() != c.interval || got.Period.Frames == 0 {
			t.Errorf("%+v, interval %v of %+v, want %+v, %v in\n%s", got.Bottleneck, got.IntervalClocks(), got.Period,
				c.want,
				c.interval, c.d.Model.Graph)
		}
	}
}

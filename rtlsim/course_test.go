package rtlsim

import (
	"reflect"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// TestCourses checks trials that follow the course of an earlier run of the whole design instead of running it. For
// random networks, after runs and trials of the same depths at other intervals, they give the same result as a run.
func TestCourses(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	followed, kept := 0, 0
	for seed := range uint64(400) {
		d, rng := randomNet(t, seed, 13)
		p := newPlan(d)
		depth := d.FIFODepthsWords()
		for s := range depth {
			depth[s] = max(depth[s], p.ports[s].Words*rng.IntN(3))
		}
		c := *d
		c.FIFO = dataflow.NewShiftRegisterFIFOs(depth...)
		known := &RunCache{}
		if seed%2 == 0 {
			if _, err := RunFrames(t.Context(), &c, nil, Options{Frames: 100, Cache: known}); err != nil {
				continue
			}
		}
		slowest, _ := d.BottleneckInterval()
		for range 6 {
			with := &trials{plan: p, ctx: t.Context(), known: known, left: 1e6,
				interval: max(1, slowest-3+rng.IntN(8))}
			alone := *with
			alone.known = &RunCache{}
			frames := 8 + rng.IntN(20)
			c, ok := known.courses.Load(courseKey(p, with.in, with.out, depth))
			if ok && !c.(*course).waits(with.interval) {
				followed++
			}
			got := with.tryWhole(depth, frames)
			var want tried
			e := alone.paced(depth, frames)
			want = ran(e, alone.keepsPaced(e))
			if d.Target.Backend.Stalls == dataflow.StallFreezesPipeline {
				e := alone.pressed(depth, frames)
				if keeps := alone.keepsPressed(e); keeps != want.keeps {
					want = ran(e, keeps)
				}
			}
			if got.keeps != want.keeps || with.left != alone.left || !reflect.DeepEqual(got.full, want.full) ||
				got.keeps && !reflect.DeepEqual(got.high, want.high) {
				t.Fatalf("seed %d, interval %d: %+v and %d words left, where all is run %+v and %d\n%s", seed,
					with.interval, got, with.left, want, alone.left, d.Model.Graph)
			}
			if got.keeps {
				kept++
			}
		}
	}
	if followed < 60 || kept < 600 {
		t.Errorf("%d trials followed a course, %d kept the interval: the networks test too little", followed, kept)
	}
}

// TestTrialsKeepWhatRunsShow checks that a trial of the whole design keeps every interval that a run with the host
// at full speed shows.
func TestTrialsKeepWhatRunsShow(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	shown := map[dataflow.StallRule]int{}
	seeds := []uint64{6188, 9711, 15006, 16589, 18378} // late for some frames, then no more
	for seed := range uint64(500) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		d, rng := randomNet(t, seed, 13)
		p := newPlan(d)
		for s := range d.FIFO {
			d.FIFO[s].Depth = max(MinFIFODepth, p.ports[s].Words*rng.IntN(5)/2)
		}
		r, err := RunFrames(t.Context(), d, nil, Options{Frames: 400})
		if err != nil || r.Period.Frames == 0 {
			continue
		}
		z := &trials{plan: p, ctx: t.Context(), known: &RunCache{}, left: 1e8,
			interval: (r.Period.Clocks + r.Period.Frames - 1) / r.Period.Frames}
		got := z.tryWhole(d.FIFODepthsWords(), trialFrames)
		if got.cut {
			continue
		}
		if shown[d.Target.Backend.Stalls]++; !got.keeps {
			t.Errorf("seed %d: a run shows %d clocks, and a trial does not keep them\n%s", seed, z.interval,
				d.Model.Graph)
		}
	}
	if shown[dataflow.StallFreezesPipeline] < 100 || shown[dataflow.StallByCredit] < 50 {
		t.Errorf("only %v networks", shown)
	}
}

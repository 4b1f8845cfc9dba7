package rtlsim

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
)

// scheduled returns the schedule whose pace a layer, or the host, sets.
func scheduled(z *trials, pace int) *schedule {
	all := numbers(len(z.loops))
	return z.pacedBy(pace, z.pacedBy(host, nil, all), all)
}

// TestScheduleKeeps checks with random networks that FIFOs keep the interval without trial, if they hold the words
// of any of the schedules and credits are counted.
func TestScheduleKeeps(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tried := 0
	for seed := range uint64(80) {
		d, rng := randomNet(t, seed, 77)
		if seed%2 > 0 {
			d = randomForks(t, rng)
		}
		d.Target.Backend = dataflow.BackendRTL
		opt := FIFOSizingOptions{each: 1, In: HostSlowdown{Every: int(seed % 3)},
			Out: HostSlowdown{Every: int(seed % 4)}}
		p := newPlan(d)
		z := &trials{plan: p, ctx: t.Context(), in: opt.In, out: opt.Out, left: 1e9}
		z.interval = fastest(p, opt.In, opt.Out)
		for pace := host; pace < len(d.Folds); pace++ {
			words := scheduled(z, pace).needs
			tried++
			if !keeps(t, d, words, &FIFOSizing{Interval: z.interval}, opt) {
				t.Fatalf("seed %d: paced by %d: %v words do not keep %d clocks in\n%s", seed, pace, words, z.interval,
					d.Model.Graph)
			}
		}
	}
	if tried < 200 {
		t.Errorf("%d schedules", tried)
	}
}

// TestScheduleFollowsTheSlowest checks that layers in front of the slowest layer do not run ahead of it, and that
// layers behind it do not wait for words to gather.
func TestScheduleFollowsTheSlowest(t *testing.T) {
	t.Parallel()
	n := &net{t: t, perWord: 1}
	layer := func(s, clocks int) int {
		return n.add("Pass", dataflow.Loop{Latency: 1, Body: []dataflow.LoopRun{{Times: 10, Body: []dataflow.LoopRun{
			{Times: 1, Moves: dataflow.PortMoves{Read: 1, Write: 1}}, {Times: clocks/10 - 1}}}}}, s)[0]
	}
	d := n.design(2, layer(layer(layer(n.input(10), 20), 100), 50))
	z := &trials{plan: newPlan(d), ctx: t.Context(), interval: 100}
	for _, c := range []struct {
		pace int
		want []int
	}{{host, []int{5, 8, 2, 2}}, {1, []int{2, 2, 2, 2}}} {
		if got := scheduled(z, c.pace).needs; !slices.Equal(got, c.want) {
			t.Errorf("paced by %d: FIFOs hold %v, want %v", c.pace, got, c.want)
		}
	}
}

// TestSchedulePeriodic checks that a schedule serves every frame: the next frame finds the same state an interval
// later.
func TestSchedulePeriodic(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		d := randomForks(t, rng)
		z := &trials{plan: newPlan(d), ctx: t.Context()}
		z.interval = fastest(z.plan, HostSlowdown{}, HostSlowdown{}) + rng.IntN(5)
		s := newSchedule(z)
		for i, node := range d.Model.Graph.Nodes {
			s.give(i)
			s.soonest(i)
			loop := s.loops[i]
			at := map[int]int{} // clocks by iteration
			for p, id := range node.In {
				for k, clock := range s.read[id] {
					at[loop.IterationOfRead(p, k)] = clock
					if clock < s.seen[id][k] {
						t.Fatalf("%s reads word %d of s%d in clock %d, before %d", node.Name, k, id, clock,
							s.seen[id][k])
					}
				}
			}
			for p, id := range node.Out {
				for k, clock := range s.seen[id] {
					at[loop.IterationOfWrite(p, k)] = clock - loop.Latency
				}
			}
			for a, x := range at {
				for b, y := range at {
					if a < b && (y-x < b-a || y-x > z.interval-loop.IterationsPerFrame()+b-a) {
						t.Fatalf("%s: iterations %d and %d of %d in clocks %d and %d of %d", node.Name, a, b,
							loop.IterationsPerFrame(), x, y, z.interval)
					}
				}
			}
		}
	}
}

// TestFilled checks frames that are too long for a schedule. They are run with FIFOs that never fill.
func TestFilled(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		d, _ := randomNet(t, seed, 5)
		d.Target.Backend = dataflow.BackendRTL
		p := newPlan(d)
		z := &sizer{trials: &trials{plan: p, ctx: t.Context(), known: &RunCache{}, left: 1e9}, depths: newDepths(p,
			FIFOSizingOptions{each: 1}), blocks: p.split()}
		z.begin()
		z.interval = fastest(p, HostSlowdown{}, HostSlowdown{})
		words := mostHeld(z)
		if words == nil {
			t.Fatalf("seed %d: nothing", seed)
		}
		for s := range words {
			words[s] = max(words[s], z.now[s])
		}
		if !keeps(t, d, words, &FIFOSizing{Interval: z.interval}, FIFOSizingOptions{}) {
			t.Errorf("seed %d: %v words do not keep %d clocks", seed, words, z.interval)
		}
	}
}

package folding

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/folding/goal"
	"hlsgen/folding/search"
	"hlsgen/folding/space"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/rtlsim"
)

// waiting returns the latency of a folding with unlimited FIFOs, by the simulator and by its critical path.
func waiting(t *testing.T, b *space.FoldedDesign) (clocks int, hops []space.CriticalPathWord) {
	t.Helper()
	d := *b.Design
	d.FIFO = slices.Repeat(dataflow.NewShiftRegisterFIFOs(1<<12), len(d.FIFO))
	trace, err := rtlsim.RunFrames(t.Context(), &d, nil, rtlsim.Options{Frames: 1})
	if err != nil {
		t.Fatal(err)
	}
	hops, clocks, err = space.FindCriticalPath(t.Context(), &d)
	if err != nil || clocks != trace.FirstFrameLatencyClocks() {
		t.Fatalf("%d clocks, simulated %d, %v", clocks, trace.FirstFrameLatencyClocks(), err)
	}
	return clocks, hops
}

// TestPaths checks an assumption of the bound of latencies: the longest path of one folding, with the clocks of another
// one, is no longer than the other one's latency.
func TestPaths(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	compared, met := 0, 0
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 40))
		m := randomNet(r, 1+r.IntN(4), 4)
		target := dataflow.Target{Board: tight(r, m.Graph), ClockMHz: 100}
		if seed%4 == 0 {
			p := newPainter()
			m = p.model("windows", p.conv(p.depthwise(p.image(4, 4, 4), 1), 1, 1, 2))
			target.Board = board("pynq-z1")
		}
		var told diag.List
		s := must(NewSpace(m, target, nil, FIFODepthPolicy{}, &told))
		if s == nil {
			continue
		}
		random := func() (*space.Folding, *space.FoldedDesign) {
			for range 20 {
				f := &space.Folding{}
				for _, l := range s.Layers {
					f.Options = append(f.Options, int32(r.IntN(len(l.Options))))
				}
				if b := s.BuildDesign(f); b != nil {
					return f, b
				}
			}
			return nil, nil
		}
		for range 6 {
			fa, a := random()
			if a == nil {
				break
			}
			own, hops := waiting(t, a)
			for _, known := range []int{own, 2 * own} {
				p := s.NewPathClocks(a, hops, known)
				for range 5 {
					fb, b := random()
					if b == nil {
						continue
					}
					is, _ := waiting(t, b)
					if sum := along(t, s, p, fb); is <= known && sum > int64(is) {
						t.Fatalf("seed %d: a path of %d clocks, the latency is %d", seed, sum, is)
					}
					compared++
				}
				if along(t, s, p, fa) == int64(own) {
					met++
				}
			}
		}
	}
	if compared < 500 || met < 100 {
		t.Errorf("%d compared, %d paths are as long as their own folding's latency", compared, met)
	}
}

// along returns the clocks that a folding takes on a path.
func along(t *testing.T, s *Space, p space.PathClocksByClass, f *space.Folding) int64 {
	t.Helper()
	r := space.FoldingRegion{Limit: goal.ClocksBeyondAnyInterval, Paths: []space.PathClocksByClass{p}}
	only := s.NewGivenClassesChoiceTree(&r, s.OptionClassesOf(f.Options), f.Options, search.AmountVector{},
		&search.StepCounter{})
	return must(only.FindAnySolutionWithinCaps(t.Context(), search.UnlimitedCaps)).Best.Paths[0]
}

// TestShortestLatency checks on real networks that the shortest latency is no longer than that of the design with the
// shortest interval, and that asking for a rate that it reaches changes nothing.
func TestShortestLatency(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	p := newPainter()
	s := p.conv(p.image(8, 8, 3), 3, 1, 4)
	f := p.fork(s, 2)
	residual := p.model("residual", p.classify(p.join(p.conv(f[0], 3, 1, 4), f[1]), 4))
	for _, c := range []struct {
		name string
		m    *dataflow.Model
		open float64 // the largest gap
	}{
		{"mlp", mlp(rand.New(rand.NewPCG(4, 1)), uint2, 2, 2, 64, 64, 64, 10), 0.1},
		{"residual", residual, 0.1},
		{"thresholds", withThresholds(rand.New(rand.NewPCG(4, 1)), 24, 6), 0},
	} {
		for _, use := range []MaxUseFractions{{}, all(0.3)} {
			fast, _ := on(t, c.m, board("pynq-z1"), Goal{MaxUse: use})
			best, _ := on(t, c.m, board("pynq-z1"), Goal{MaxUse: use, Latency: true})
			if fast == nil || best == nil || best.Clocks.Latency > fast.Clocks.Latency {
				t.Fatalf("%s, %s: %v, of the shortest interval %v", c.name, use, best, fast)
			}
			l := best.Certificate.Latency
			if l == nil || l.RelativeGap() > c.open {
				t.Errorf("%s, %s: %+v", c.name, use, l)
			}
			slow, _ := on(t, c.m, board("pynq-z1"), Goal{MaxUse: use, Latency: true, FPS: 10})
			if slow == nil || slow.Clocks.Latency != best.Clocks.Latency {
				t.Errorf("%s, %s: %d clocks, at a rate %v", c.name, use, best.Clocks.Latency, slow)
			}
			both, _ := on(t, c.m, board("pynq-z1"), Goal{MaxUse: use, Latency: true,
				Interval: float64(int(fast.Clocks.Interval))})
			if both == nil || both.Clocks.Latency < l.Least || both.Clocks.Interval > fast.Clocks.Interval {
				t.Errorf("%s, %s: %v", c.name, use, both)
			}
		}
	}
}

// TestMaxLatency checks that designs keep the latency that is asked for, and the rate, and are the cheapest of all if
// that keeps it. Where no design keeps it, the shortest latency is named, and one clock less than that is refused.
func TestMaxLatency(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	asked := 0
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 45))
		m := randomNet(r, 2+r.IntN(3), 8)
		target := dataflow.Target{Board: tight(r, m.Graph), ClockMHz: 100}
		if seed%2 == 0 {
			p := newPainter()
			m = p.model("image", p.classify(p.conv(p.image(4, 4, 4), 3, 1, 2), 3))
			target.Board, target.IO = board("zcu104"), dataflow.HostIOStream
			if seed%4 == 0 {
				target.Backend = dataflow.BackendRTL
			}
		}
		var told diag.List
		ask := func(g Goal) *Design {
			told = diag.List{}
			return must(FindBestDesign(t.Context(), m, target, g, &told))
		}
		short, cheap := ask(Goal{Latency: true}), ask(Goal{Interval: 1 << 20})
		if short == nil || cheap == nil {
			continue // no width converter joins the layers
		}
		asked++
		least, most := short.Clocks.Latency, cheap.Clocks.Latency
		if none := ask(Goal{MaxLatency: least - 1}); none != nil || len(told.Diags) != 1 ||
			told.Diags[0].Code != diag.LatencyUnreachable || told.Diags[0].Hint != fmt.Sprint("--max-latency ", least) {
			t.Errorf("seed %d: %d clocks are refused by %v", seed, least-1, told.Diags)
		}
		for _, clocks := range []int{least, (least + most) / 2, most} {
			made := ask(Goal{MaxLatency: clocks})
			if made == nil || made.Clocks.Latency > clocks {
				t.Fatalf("seed %d: of %d clocks: %+v, %v", seed, clocks, made, told.Diags)
			}
			if a, b := made.Estimate.Total, cheap.Estimate.Total; clocks == most && a != b {
				t.Errorf("seed %d: of %d clocks it takes %+v, the cheapest %+v", seed, clocks, a, b)
			}
			interval := math.Floor(short.Clocks.Interval)
			if fast := ask(Goal{MaxLatency: clocks, Interval: interval}); fast != nil &&
				(fast.Clocks.Latency > clocks || fast.Clocks.Interval > interval) {
				t.Errorf("seed %d: of %d clocks, at interval %v: %+v", seed, clocks, interval, fast.Clocks)
			}
		}
	}
	if asked < 5 {
		t.Errorf("%d networks of 8", asked)
	}
}

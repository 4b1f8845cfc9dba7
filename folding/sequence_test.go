package folding

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding/fit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/tier"
)

// part is a board with a share of another one's resources.
func part(b boards.Board, share float64) boards.Board {
	b.Name = "part"
	for _, n := range []*int{&b.LUT, &b.LUTRAM, &b.FF, &b.BRAM36, &b.URAM, &b.DSP} {
		*n = int(float64(*n) * share)
	}
	return b
}

// better reports whether one design is better than another in the order of a goal: by its latency where that is asked;
// else by its interval, unless one is asked; then by what it measures.
func better(a, b *Design, goal Goal) bool {
	if goal.Latency {
		return a.Clocks.Latency < b.Clocks.Latency
	}
	if goal.Interval == 0 && a.Clocks.Interval != b.Clocks.Interval {
		return a.Clocks.Interval < b.Clocks.Interval
	}
	for i, m := range a.Certificate.Bounds {
		if v := b.Certificate.Bounds[i].Value; math.Abs(m.Value-v) > rounding {
			return m.Value < v
		}
	}
	return false
}

// More steps never give a worse design, and what is said of it is true of those of more steps.
func TestSteps(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	steps := []int{1, 300_000, 3_000_000, 20_000_000}
	nets := map[string]func() *dataflow.Model{"mlp": tfc, "deep": func() *dataflow.Model { return deep(9) }}
	if tier.Long() {
		steps = []int{20_000_000, 40_000_000, 80_000_000, 160_000_000, 320_000_000, 640_000_000, 1_280_000_000}
		nets["unet"] = func() *dataflow.Model { return uNet(1, 1, 4) }
		nets["inception"] = func() *dataflow.Model { return inception(1) }
		nets["resnet"] = func() *dataflow.Model { return resNet(2, 8) }
	}
	for name, m := range nets {
		for _, share := range []float64{0.12, 0.5} {
			for _, goal := range []Goal{{}, {Interval: 3000}, {Latency: true}} {
				m := m()
				target := dataflow.Target{Board: part(board("zcu104"), share), ClockMHz: 200}
				if goal.Latency && tier.Long() && name != "mlp" {
					continue // its searches have no sizes of networks yet
				}
				t.Run(fmt.Sprintf("%s of %v: %d %t", name, share, goal.Interval, goal.Latency), func(t *testing.T) {
					t.Parallel()
					neverWorse(t, m, target, goal, steps)
				})
			}
		}
	}
}

// neverWorse holds designs of more and more steps against each other.
func neverWorse(t *testing.T, m *dataflow.Model, target dataflow.Target, goal Goal, steps []int) {
	t.Helper()
	var last *Design
	for _, n := range steps {
		goal := goal
		goal.Steps = n
		d, told := designed(t, m, target, goal)
		if d == nil {
			if last != nil {
				t.Fatalf("%d steps: no design, where fewer have one: %s", n, text(told))
			}
			continue
		}
		if last != nil && better(last, d, goal) {
			t.Errorf("%d steps: %v clocks, latency %d, %v; with fewer %v, %d, %v", n, d.Clocks.Interval,
				d.Clocks.Latency, d.Certificate.Bounds, last.Clocks.Interval, last.Clocks.Latency,
				last.Certificate.Bounds)
		}
		if last != nil && d.Clocks.Interval < float64(last.Certificate.Floor) {
			t.Errorf("%d steps: %v clocks, where none below %d was said to be", n, d.Clocks.Interval,
				last.Certificate.Floor)
		}
		last = d
	}
}

// Of forty networks of 5 to 120 layers: the design never gets worse, neither with more steps nor within one search.
func TestAnytime(t *testing.T) {
	t.Parallel()
	tier.NeedsLong(t)
	const nets, unit, times = 40, 20_000_000, 64
	for seed := range uint64(nets) {
		r := rand.New(rand.NewPCG(seed, 4))
		layers := 5 + 115*int(seed)/(nets-1)
		m := randomLarge(r, layers)
		target := dataflow.Target{Board: part(board("zcu104"), 0.2+0.6*r.Float64()), ClockMHz: 200}
		t.Run(fmt.Sprintf("%d: %d layers", seed, layers), func(t *testing.T) {
			t.Parallel()
			if seed%4 == 0 {
				var steps []int
				for n := 1; n <= times; n *= 2 {
					steps = append(steps, n*unit)
				}
				neverWorse(t, m, target, Goal{}, steps)
				return
			}
			last := Standing{Interval: math.Inf(1)}
			goal := Goal{Steps: times * unit, Tell: func(s Standing) {
				if s.Interval > last.Interval || s.Interval == last.Interval && s.Share > last.Share+rounding {
					t.Errorf("%+v after %+v", s, last)
				}
				last = s
			}}
			d, told := designed(t, m, target, goal)
			if d == nil && !math.IsInf(last.Interval, 1) {
				t.Errorf("no design, where %+v was found: %s", last, text(told))
			}
			if d != nil && d.Clocks.Interval > last.Interval {
				t.Errorf("%v clocks, where %+v was found", d.Clocks.Interval, last)
			}
		})
	}
}

// Asking for an interval at which the fastest design was looked for finds nothing faster than that.
func TestAskedBelow(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(35, 1))
	for _, share := range []float64{0.08, 0.2} {
		m := deep(8)
		target := dataflow.Target{Board: part(board("zcu104"), share), ClockMHz: 200}
		d, told := designed(t, m, target, Goal{})
		if d == nil {
			t.Fatal(text(told))
		}
		for range 3 {
			low, high := d.Certificate.Floor, int(d.Clocks.Interval)
			if low >= high {
				break
			}
			asked := low + r.IntN(high-low)
			if faster, _ := designed(t, m, target, Goal{Interval: asked}); faster != nil {
				t.Errorf("%v of the board: %d clocks asked for are met, the fastest is %v", share, asked,
					d.Clocks.Interval)
			}
		}
	}
}

// The work of a question grows with the network, and with nothing else.
func TestWork(t *testing.T) {
	t.Parallel()
	work := func(m *dataflow.Model, goal Goal) int {
		target := dataflow.Target{Board: board("alveo-u250"), ClockMHz: 200}
		s := must(List(m, target, nil, FIFO{}, nil))
		p := fit.Ask(s.Space, goal).Pursue(s.Intervals()[0])
		if err := p.First(t.Context()); err != nil {
			t.Fatal(err)
		}
		return p.Work()
	}
	small, large := work(deep(3), Goal{}), work(deep(12), Goal{})
	if small >= large || work(deep(3), Goal{Steps: 5}) != small {
		t.Errorf("%d and %d steps", small, large)
	}
}

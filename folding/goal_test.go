package folding

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"hlsgen/folding/ask"
	"hlsgen/internal/dataflow"
)

// A rate or an interval that a design has, asked for, gives the design again, with the same goal otherwise. A rate that
// is
// a little higher is no slower; what is asked for is met.
func TestAskedAgain(t *testing.T) {
	t.Parallel()
	m := mlp(rand.New(rand.NewPCG(3, 3)), uint2, 2, 2, 30, 14, 9)
	for _, goal := range []Goal{{}, {Least: LeastFF}, {Latency: true}, {MaxUse: ask.Even(0.2)}, {FIFO: FIFO{Words: 2}},
		{FPS: 123456.789}} {
		for _, clock := range []float64{100, 142.857, 333} {
			target := dataflow.Target{Board: board("pynq-z1"), ClockMHz: clock}
			first, told := designed(t, m, target, goal)
			if first == nil {
				t.Fatalf("%+v: %s", goal, text(told))
			}
			again := goal
			again.FPS, again.Interval = must(strconv.ParseFloat(ask.Exact(first.FPS()), 64)), 0
			same, _ := designed(t, m, target, again)
			again.FPS, again.Interval = 0, int(first.Clocks.Interval)
			too, _ := designed(t, m, target, again)
			for _, d := range []*Design{same, too} {
				if d == nil || d.Clocks.Interval != first.Clocks.Interval || goal.FPS == 0 && !sameDesign(d, first) {
					t.Errorf("%+v, %v MHz: %v clocks of %+v, asked again %v", goal, clock, first.Clocks.Interval,
						first.Estimate.Total, d)
				}
			}
		}
	}
}

// Each measure is no greater where it is asked for than where another one is.
func TestLeast(t *testing.T) {
	t.Parallel()
	m := tfc()
	for _, b := range []string{"pynq-z1", "vck190"} {
		designs := map[Measure]*Design{}
		for least := LeastLoad; least <= LeastDSP; least++ {
			d, told := on(t, m, board(b), Goal{Interval: 200, Least: least})
			if d == nil {
				t.Fatalf("%s, %s: %s", b, least, text(told))
			}
			if c := d.Certificate; c.Bounds[0].Measure != least || !c.Proved() {
				t.Errorf("%s, %s: %v", b, least, c.Lines())
			}
			designs[least] = d
		}
		for least, d := range designs {
			is := measure(least, &d.Budget, d.Estimate.Total)
			if v := d.Certificate.Bounds[0].Value; !near(v, is) {
				t.Errorf("%s, %s: %v, said to be %v", b, least, is, v)
			}
			for other, o := range designs {
				if v := measure(least, &o.Budget, o.Estimate.Total); v < is-rounding {
					t.Errorf("%s: %v of %s, for the least %s %v", b, is, least, other, v)
				}
			}
		}
	}
}

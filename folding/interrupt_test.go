package folding

import (
	"math/rand/v2"
	"testing"

	"hlsgen/folding/goal"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/tier"
)

// TestInterrupt checks that an interrupted search gives its best design, within the budget and as fast as asked, and
// that its bounds also hold for the design of the whole search.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	m := mlp(rand.New(rand.NewPCG(8, 8)), uint2, 2, 2, 784, 64, 64, 64, 10)
	target := dataflow.Target{Board: board("pynq-z1"), ClockMHz: 100}
	for _, wanted := range []Goal{{}, {FPS: 10_000}, {Interval: 3000, Least: ResourceMeasureLUT}, {Latency: true},
		{FIFO: FIFODepthPolicy{Words: 40}}} {
		best, told := designed(t, m, target, wanted)
		if best == nil {
			t.Fatal(text(told))
		}
		user, designs := new(SearchStopper), 0
		if user.TryStop() || user.WasStopped() {
			t.Error("there is no search")
		}
		wanted.Interrupt = user
		wanted.Tell = func(BestDesignSoFarSummary) {
			if designs++; !user.TryStop() && designs == 1 {
				t.Errorf("%+v: there is a design, and yet the search cannot be ended", wanted)
			}
		}
		got, told := designed(t, m, target, wanted)
		if got == nil {
			t.Fatal(text(told))
		}
		c, d := &got.Certificate, &best.Certificate
		if !c.Interrupted || !user.WasStopped() || d.Interrupted || got.Over ||
			!goal.IntervalMeetsLimit(got.Clocks.Interval, wanted.MaxIntervalClocks(100, 1)) || user.TryStop() {
			t.Errorf("%+v: %+v", wanted, c)
		}
		if !c.IsProvedBest() && c.Gap != "left open: the search was interrupted" {
			t.Errorf("%+v: %s", wanted, c.Gap)
		}
		if float64(c.Floor) > d.Interval || c.Latency != nil && c.Latency.Least > d.Latency.Clocks {
			t.Errorf("%+v: %v, and yet there is %v", wanted, c.DescribeInLines(), d.DescribeInLines())
		}
		if c.Interval == d.Interval && len(c.Bounds) > 0 && c.Spares == d.Spares &&
			c.Bounds[0].Least > d.Bounds[0].Value+rounding {
			t.Errorf("%+v: %v, and yet there is %v", wanted, c.DescribeInLines(), d.DescribeInLines())
		}
	}
}

// TestInterruptTooEarly checks that a search without a valid design does not end, and gives the usual diagnostics.
func TestInterruptTooEarly(t *testing.T) {
	t.Parallel()
	m := mlp(rand.New(rand.NewPCG(8, 8)), uint2, 2, 2, 784, 64, 64, 64, 10)
	user := new(SearchStopper)
	wanted := Goal{FPS: 90_000_000, Interrupt: user, Tell: func(BestDesignSoFarSummary) { user.TryStop() }}
	got, told := designed(t, m, dataflow.Target{Board: board("pynq-z1"), ClockMHz: 100}, wanted)
	if got != nil || user.WasStopped() || len(told.Diags) == 0 || told.Diags[0].Code != diag.FPSUnreachable {
		t.Errorf("%v, ended %t: %s", got, user.WasStopped(), text(told))
	}
}

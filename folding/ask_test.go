package folding

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding/fit"
	"hlsgen/folding/goal"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/rtlsim"
)

// designed calls Make and checks its guarantees: it returns a design, or nil with a diagnostic, and figures that agree
// with the design.
func designed(t testing.TB, m *dataflow.Model, target dataflow.Target, wanted Goal) (*Design, *diag.List) {
	t.Helper()
	var d diag.List
	made, err := FindBestDesign(context.Background(), m, target, wanted, &d)
	if err != nil {
		t.Fatalf("%+v: %v", wanted, err)
	}
	if (made == nil) != d.HasErrors() {
		t.Fatalf("%+v: design %v with %v", wanted, made, d.Diags)
	}
	if made != nil {
		consistent(t, made, wanted)
	}
	return made, &d
}

// on calls designed at 100 MHz.
func on(t testing.TB, m *dataflow.Model, b boards.Board, wanted Goal) (*Design, *diag.List) {
	t.Helper()
	return designed(t, m, dataflow.Target{Board: b, ClockMHz: 100}, wanted)
}

// consistent checks the figures of a design against the design.
func consistent(t testing.TB, d *Design, wanted Goal) {
	t.Helper()
	if err := d.Design.Verify(); err != nil {
		t.Fatalf("%+v: %v", wanted, err)
	}
	trace, err := rtlsim.RunFrames(context.Background(), d.Design, nil, fit.NewSteadyStateRunOptions(d.Design))
	if err != nil {
		t.Fatalf("%+v: %v", wanted, err)
	}
	if is := d.Clocks; is.Latency != trace.FirstFrameLatencyClocks() || is.Interval < trace.IntervalClocks() ||
		float64(is.Slowest) > is.Interval {
		t.Fatalf("%+v: %+v, simulated %d and %v", wanted, is, trace.FirstFrameLatencyClocks(), trace.IntervalClocks())
	}
	if s := d.Series; !s.Settled && trace.Period.Frames > 0 || s.First != d.Clocks.Latency ||
		s.Each != d.Clocks.Interval || len(s.DescribeInLines()) != 3 {
		t.Fatalf("%+v: %+v of %+v", wanted, s, d.Clocks)
	} else if s.Settled && d.Clocks.Interval == trace.IntervalClocks() {
		many, err := rtlsim.RunFrames(context.Background(), d.Design, nil, rtlsim.Options{Frames: s.Frames})
		if err != nil || many.ClocksFromFirstInputUntil(many.Frames[s.Frames-1].Last) != s.Clocks {
			t.Fatalf("%+v: %+v, simulated %+v", wanted, s, many.Frames[s.Frames-1])
		}
	}
	if whole := estimate.EstimateDesignResources(d.Design); whole.Total != d.Estimate.Total {
		t.Fatalf("%+v: %+v, estimated %+v", wanted, d.Estimate.Total, whole.Total)
	}
	unbound := wanted.MaxCycles > 0 || wanted.OverBudget
	if fits := d.Budget.AllowsResources(d.Estimate.Total); fits == d.Over || !fits && !unbound {
		t.Fatalf("%+v: over %t, takes %+v of %+v", wanted, d.Over, d.Estimate.Total, d.Budget)
	}
	limit := wanted.MaxIntervalClocks(d.ReachedClockMHz(), d.Model.Turns.SamplesPerFrame())
	if wanted.MaxCycles == 0 && !goal.IntervalMeetsLimit(d.Clocks.Interval, limit) {
		t.Fatalf("%+v: %v clocks", wanted, d.Clocks.Interval)
	}
	c := &d.Certificate
	for _, b := range c.Bounds {
		if b.Least > b.Value {
			t.Fatalf("%+v: %+v", wanted, b)
		}
		// Width converters may make the counters' address one bit longer, which is not priced.
		if v := measure(b.Measure, &d.Budget, d.Estimate.Total); !near(v, b.Value) && !d.Target.Counters {
			t.Fatalf("%+v: %v, where the design has %v: %+v", wanted, b, v, d.Estimate)
		}
	}
	if c.Interval != d.Clocks.Interval || float64(c.Floor) > c.Interval || c.Latency != nil &&
		c.Latency.Clocks != d.Clocks.Latency {
		t.Fatalf("%+v: %+v of %+v", wanted, c, d.Clocks)
	}
	if c.IsProvedBest() == (c.Gap != "") {
		t.Fatalf("%+v: proved %t, gap %q", wanted, c.IsProvedBest(), c.Gap)
	}
}

// codes returns one "severity code where" per diagnostic of a list.
func codes(d *diag.List) []string {
	var all []string
	for _, g := range d.Diags {
		where := strings.TrimPrefix(strings.TrimPrefix(g.Where, "folding file"), ", ")
		all = append(all, strings.TrimSpace(g.Level+" "+string(g.Code)+" "+where))
	}
	return all
}

// text returns a list's diagnostics as the terminal shows them.
func text(d *diag.List) string {
	var b strings.Builder
	d.Write(&b)
	return b.String()
}

// sameDesign reports whether two designs are equal, including all FIFOs.
func sameDesign(a, b *Design) bool {
	return slices.Equal(a.Folds, b.Folds) && slices.Equal(a.FIFO, b.FIFO) && a.Clocks.Interval == b.Clocks.Interval &&
		a.Clocks.Latency == b.Clocks.Latency && a.Estimate.Total == b.Estimate.Total
}

// deadlocked calls Make and expects a deadlock.
func deadlocked(t testing.TB, m *dataflow.Model, target dataflow.Target, wanted Goal) *rtlsim.Deadlock {
	t.Helper()
	var d diag.List
	made, err := FindBestDesign(context.Background(), m, target, wanted, &d)
	dead := new(rtlsim.Deadlock)
	if made != nil || !errors.As(err, &dead) {
		t.Fatalf("%+v: %v, %v, %v", wanted, made, err, d.Diags)
	}
	return dead
}

// withFile calls designed with a folding file, on the zcu104 at 200 MHz.
func withFile(t testing.TB, m *dataflow.Model, file string, wanted Goal) (*Design, *diag.List) {
	t.Helper()
	return withFileOn(t, m, dataflow.Target{Board: board("zcu104"), ClockMHz: 200}, file, wanted)
}

func withFileOn(t testing.TB, m *dataflow.Model, target dataflow.Target, file string, wanted Goal) (*Design,
	*diag.List) {
	t.Helper()
	var told diag.List
	if wanted.Fixed = ParseFoldingFile([]byte(file), &told); wanted.Fixed == nil {
		t.Fatalf("%s: %s", file, text(&told))
	}
	d, more := designed(t, m, target, wanted)
	told.Diags = append(told.Diags, more.Diags...)
	return d, &told
}

// TestAskedAgain checks that asking for the rate or interval of a design, with the same goal otherwise, gives the
// design again. A slightly higher rate gives no slower design, and requests are met.
func TestAskedAgain(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	m := mlp(rand.New(rand.NewPCG(3, 3)), uint2, 2, 2, 30, 14, 9)
	for _, wanted := range []Goal{{}, {Least: ResourceMeasureFF}, {Latency: true}, {MaxUse: all(0.2)},
		{FIFO: FIFODepthPolicy{Words: 2}},
		{FPS: 123456.789}} {
		for _, clock := range []float64{100, 142.857, 333} {
			target := dataflow.Target{Board: board("pynq-z1"), ClockMHz: clock}
			first, told := designed(t, m, target, wanted)
			if first == nil {
				t.Fatalf("%+v: %s", wanted, text(told))
			}
			again := wanted
			again.FPS, again.Interval = must(strconv.ParseFloat(goal.FormatAllDecimals(first.SamplesPerSecond()), 64)),
				0
			same, _ := designed(t, m, target, again)
			again.FPS, again.Interval = 0, first.Clocks.Interval
			too, _ := designed(t, m, target, again)
			for _, d := range []*Design{same, too} {
				if d == nil || d.Clocks.Interval != first.Clocks.Interval || wanted.FPS == 0 && !sameDesign(d, first) {
					t.Errorf("%+v, %v MHz: %v clocks of %+v, asked again %v", wanted, clock, first.Clocks.Interval,
						first.Estimate.Total, d)
				}
			}
		}
	}
}

// TestLeast checks that no goal has less of a measure than the goal that minimises it.
func TestLeast(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	uint4 := num.Type{Kind: num.KindUInt, Width: 4} // LUTs multiply fewer bits, whatever the load
	m := mlp(rand.New(rand.NewPCG(1, 2)), uint4, 4, 4, 784, 64, 64, 64, 10)
	for _, b := range []string{"pynq-z1", "vck190"} {
		designs := map[ResourceMeasure]*Design{}
		for least := ResourceMeasureLoad; least <= ResourceMeasureDSP; least++ {
			d, told := on(t, m, board(b), Goal{Interval: 200, Least: least})
			if d == nil {
				t.Fatalf("%s, %s: %s", b, least, text(told))
			}
			if c := d.Certificate; c.Bounds[0].Measure != least || !c.IsProvedBest() {
				t.Errorf("%s, %s: %v", b, least, c.DescribeInLines())
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

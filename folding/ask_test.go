package folding

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding/ask"
	"hlsgen/folding/fit"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/rtlsim"
)

// designed is Make, with what a caller may rely on held: a design or an error that is told, and figures that agree with
// it.
func designed(t testing.TB, m *dataflow.Model, target dataflow.Target, goal Goal) (*Design, *diag.List) {
	t.Helper()
	var d diag.List
	made, err := Make(context.Background(), m, target, goal, &d)
	if err != nil {
		t.Fatalf("%+v: %v", goal, err)
	}
	if (made == nil) != d.Failed() {
		t.Fatalf("%+v: design %v with %v", goal, made, d.Diags)
	}
	if made != nil {
		consistent(t, made, goal)
	}
	return made, &d
}

// on is designed at 100 MHz.
func on(t testing.TB, m *dataflow.Model, b boards.Board, goal Goal) (*Design, *diag.List) {
	t.Helper()
	return designed(t, m, dataflow.Target{Board: b, ClockMHz: 100}, goal)
}

// consistent holds what a design says of itself against the design.
func consistent(t testing.TB, d *Design, goal Goal) {
	t.Helper()
	if err := d.Design.Verify(); err != nil {
		t.Fatalf("%+v: %v", goal, err)
	}
	trace, err := rtlsim.Run(context.Background(), d.Design, nil, rtlsim.Options{Frames: fit.Frames(d.Design)})
	if err != nil {
		t.Fatalf("%+v: %v", goal, err)
	}
	if is := d.Clocks; is.Latency != trace.Latency() || is.Interval < trace.Interval() ||
		float64(is.Slowest) > is.Interval {
		t.Fatalf("%+v: %+v, simulated %d and %v", goal, is, trace.Latency(), trace.Interval())
	}
	if whole := estimate.Whole(d.Design); whole.Total != d.Estimate.Total {
		t.Fatalf("%+v: %+v, estimated %+v", goal, d.Estimate.Total, whole.Total)
	}
	unbound := goal.MaxCycles > 0 || goal.OverBudget
	if fits := d.Budget.Fits(d.Estimate.Total); fits == d.Over || !fits && !unbound {
		t.Fatalf("%+v: over %t, takes %+v of %+v", goal, d.Over, d.Estimate.Total, d.Budget)
	}
	if limit := goal.Limit(d.ClockMHz()); goal.MaxCycles == 0 && !ask.Reaches(d.Clocks.Interval, limit) {
		t.Fatalf("%+v: %v clocks", goal, d.Clocks.Interval)
	}
	c := &d.Certificate
	for _, b := range c.Bounds {
		if b.Least > b.Value {
			t.Fatalf("%+v: %+v", goal, b)
		}
	}
	if c.Interval != d.Clocks.Interval || float64(c.Floor) > c.Interval || c.Latency != nil &&
		c.Latency.Clocks != d.Clocks.Latency {
		t.Fatalf("%+v: %+v of %+v", goal, c, d.Clocks)
	}
	if c.Proved() == (c.Gap != "") {
		t.Fatalf("%+v: proved %t, gap %q", goal, c.Proved(), c.Gap)
	}
}

// codes is what a list says, one "severity code where" per diagnostic.
func codes(d *diag.List) []string {
	var all []string
	for _, g := range d.Diags {
		where := strings.TrimPrefix(strings.TrimPrefix(g.Where, "folding file"), ", ")
		all = append(all, strings.TrimSpace(g.Level+" "+string(g.Code)+" "+where))
	}
	return all
}

// text is what a list says, as the terminal has it.
func text(d *diag.List) string {
	var b strings.Builder
	d.Write(&b)
	return b.String()
}

// sameDesign reports whether two designs are the same to the last FIFO.
func sameDesign(a, b *Design) bool {
	return slices.Equal(a.Folds, b.Folds) && slices.Equal(a.FIFO, b.FIFO) && a.Clocks.Interval == b.Clocks.Interval &&
		a.Clocks.Latency == b.Clocks.Latency && a.Estimate.Total == b.Estimate.Total
}

// deadlocked asks for what deadlocks.
func deadlocked(t testing.TB, m *dataflow.Model, target dataflow.Target, goal Goal) *rtlsim.Deadlock {
	t.Helper()
	var d diag.List
	made, err := Make(context.Background(), m, target, goal, &d)
	dead := new(rtlsim.Deadlock)
	if made != nil || !errors.As(err, &dead) {
		t.Fatalf("%+v: %v, %v, %v", goal, made, err, d.Diags)
	}
	return dead
}

// withFile is designed with a folding file, on the zcu104 at 200 MHz.
func withFile(t testing.TB, m *dataflow.Model, file string, goal Goal) (*Design, *diag.List) {
	t.Helper()
	var told diag.List
	if goal.Fixed = ReadFile([]byte(file), &told); goal.Fixed == nil {
		t.Fatalf("%s: %s", file, text(&told))
	}
	d, more := designed(t, m, dataflow.Target{Board: board("zcu104"), ClockMHz: 200}, goal)
	told.Diags = append(told.Diags, more.Diags...)
	return d, &told
}

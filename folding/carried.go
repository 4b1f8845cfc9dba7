package folding

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"hlsgen/folding/goal"
	"hlsgen/internal/diag"
)

// betweens limits how many designs carried makes between the design of the shortest latency and the slowest design
// that the goal allows. Each try halves the remaining range of intervals.
const betweens = 4

// carried makes the design of a model whose states the host carries from frame to frame. A frame waits for the state of
// the frame before, so the clocks from frame to frame equal the latency (Design.ClocksBetweenFrames). A rate or an
// interval in the goal therefore limits the latency. carried then returns the design of the longest interval, among the
// intervals it tries, whose latency is within the limit. Without a limit it returns the design of the shortest latency,
// which has the highest rate.
func (l *Space) carried(ctx context.Context, wanted Goal, d *diag.List) (*Design, error) {
	wanted.Cure = false // cures shorten the interval, which does not set the rate here
	limit := wanted.MaxIntervalClocks(l.Clock, l.Model.Turns.SamplesPerFrame())
	if wanted.MaxCycles > 0 {
		return l.better(ctx, wanted, nil, d)
	}
	short, begun := wanted, time.Now()
	short.FPS, short.Interval, short.Latency = 0, 0, true
	if limit == nil {
		return l.better(ctx, short, nil, d)
	}
	meets := func(made *Design) bool {
		return made != nil && goal.IntervalMeetsLimit(float64(made.Clocks.Latency), limit)
	}
	if !wanted.Latency {
		var told diag.List
		made, err := l.better(ctx, wanted, nil, &told)
		if err != nil {
			return nil, err
		}
		if meets(made) {
			d.AddMissing(told.Diags)
			return made, nil
		}
	}
	var told diag.List
	best, err := l.better(ctx, left(short, begun), nil, &told)
	if err != nil || best == nil {
		d.AddMissing(told.Diags)
		return nil, err
	}
	if !meets(best) {
		l.comesBackLate(wanted, best, d)
		return nil, nil
	}
	list := l.IntervalsToTry()
	first, last := sort.SearchInts(list, int(best.Clocks.Interval)), sort.SearchInts(list,
		goal.CappedFloorOfRational(limit))
	for range betweens {
		if wanted.Latency || wanted.Interrupt.WasStopped() || last-first < 2 {
			break
		}
		middle := (first + last) / 2
		between := left(wanted, begun)
		between.FPS, between.Interval = 0, float64(list[middle])
		var more diag.List
		made, err := l.better(ctx, between, nil, &more)
		if err != nil {
			return nil, err
		}
		if !meets(made) {
			last = middle
			continue
		}
		best, told, first = made, more, middle
	}
	d.AddMissing(told.Diags)
	return best, nil
}

// comesBackLate adds the diagnostic that no design returns a state as soon as the goal asks.
func (l *Space) comesBackLate(wanted Goal, best *Design, d *diag.List) {
	samples := l.Model.Turns.SamplesPerFrame()
	rate, limit := goal.FormatAllDecimals(best.SamplesPerSecond()), wanted.MaxIntervalClocks(l.Clock, samples)
	asked := fmt.Sprintf("%s %s per second at %s MHz allow %s per frame", goal.FormatAllDecimals(wanted.FPS),
		goal.CountedUnitForSamplesPerFrame(samples),
		goal.FormatUpToSixDecimals(l.Clock), goal.FormatClocks(goal.CappedFloorOfRational(limit)))
	hint := "--fps " + rate
	if wanted.Interval > 0 {
		asked = "asked for: " + goal.FormatClocks(wanted.Interval) + " per frame"
		hint = fmt.Sprintf("--interval %d", best.Clocks.Latency)
	}
	of := l.Model.Feedback[0]
	d.Add(diag.Diag{Severity: diag.SeverityError, Code: diag.FPSUnreachable, Node: l.Model.In[of.In].Name, Op: "input",
		Msg: fmt.Sprintf("%s; its state comes back before the next frame begins, and the shortest latency found on %s "+
			"is %s, %s %s per second", asked, l.Target.Board.Name, goal.FormatClocks(best.Clocks.Latency), rate,
			goal.CountedUnitForSamplesPerFrame(samples)),
		Hint: hint + "; or --stateful, with which the device keeps the state, where the network allows that"})
}

// carriedFront makes the front of a model whose states the host carries. Its clocks from frame to frame equal its
// latency. So carriedFront orders the designs of front by latency, and keeps a design only if it measures less than
// every faster design.
func (l *Space) carriedFront(ctx context.Context, wanted Goal, most int, d *diag.List, step func(made int)) (
	list []*Design, whole bool, err error) {
	limit := wanted.MaxIntervalClocks(l.Clock, l.Model.Turns.SamplesPerFrame())
	quick, err := l.carried(ctx, wanted, d)
	if err != nil || quick == nil {
		return nil, false, err
	}
	wanted.FPS, wanted.Interval = 0, 0
	var told diag.List
	list, whole, err = l.front(ctx, wanted, most, &told, step)
	if err != nil {
		return nil, false, err
	}
	list = append(list, quick)
	slices.SortStableFunc(list, func(a, b *Design) int { return cmp.Compare(a.Clocks.Latency, b.Clocks.Latency) })
	var front []*Design
	for _, made := range list {
		late := !goal.IntervalMeetsLimit(float64(made.Clocks.Latency), limit)
		if n := len(front); late || n > 0 && !less(made, front[n-1]) {
			continue
		}
		front = append(front, made)
	}
	return front, whole, nil
}

// less reports whether the design made comes before the design than. A design that spares DSP slices comes before all
// that do not; otherwise the one that measures less comes first.
func less(made, than *Design) bool {
	switch a, b := &made.Certificate, &than.Certificate; {
	case len(a.Bounds) == 0:
		return false
	case len(b.Bounds) == 0:
		return true
	default:
		return (&span{design: made}).compare(&span{design: than}) < 0
	}
}

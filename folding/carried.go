package folding

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"sort"
	"time"

	"hlsgen/folding/goal"
	"hlsgen/internal/diag"
)

// betweens limits how many designs inTime makes from the interval of the design of the shortest latency on to that of
// the slowest design that the goal allows. After the first, each try halves the remaining range of intervals.
const betweens = 5

// inTime makes the design for a goal that limits the latency, by Goal.MaxLatency or because the host carries states of
// the model. It makes the slowest design that the goal allows otherwise. If that is too late, it returns the design of
// the longest interval, among those it tries, whose latency is within the limit.
//
// With states that the host carries, a frame waits for the state of the frame before. So the clocks from frame to frame
// equal the latency (Design.ClocksBetweenFrames), and a rate or an interval in the goal limits it. Without a limit
// inTime returns the design of the shortest latency, which has the highest rate.
func (l *Space) inTime(ctx context.Context, wanted Goal, d *diag.List) (*Design, error) {
	wanted.Cure = false // cures shorten the interval, and may make the latency longer
	if wanted.MaxCycles > 0 {
		return l.better(ctx, wanted, nil, d)
	}
	rate, most, list := wanted.MaxIntervalClocks(l.Clock, l.Model.Turns.SamplesPerFrame()), wanted.MaxLatency,
		l.IntervalsToTry()
	wanted.MaxLatency = 0
	short, begun := wanted, time.Now()
	short.Latency = true
	var limit *big.Rat
	if len(l.Model.Feedback) > 0 {
		short.FPS, short.Interval, limit = 0, 0, rate
	}
	if n := big.NewRat(int64(most), 1); most > 0 && (limit == nil || n.Cmp(limit) < 0) {
		limit = n
	}
	if limit == nil {
		return l.better(ctx, short, nil, d)
	}
	meets := func(made *Design) bool {
		return made != nil && goal.IntervalMeetsLimit(float64(made.Clocks.Latency), limit)
	}
	if !wanted.Latency {
		slow := wanted
		if rate == nil {
			slow.Interval = float64(list[len(list)-1])
		}
		var told diag.List
		made, err := l.better(ctx, slow, nil, &told)
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
	switch {
	case meets(best):
	case most > 0 && best.Clocks.Latency > most:
		l.tooLate(most, best, d)
		return nil, nil
	default:
		l.comesBackLate(wanted, best, d)
		return nil, nil
	}
	first, last := sort.SearchInts(list, int(best.Clocks.Interval)), len(list)-1
	if rate != nil {
		last = sort.SearchInts(list, goal.CappedFloorOfRational(rate))
	}
	middle := first
	for range betweens {
		if wanted.Latency || wanted.Interrupt.WasStopped() {
			break
		}
		between := left(wanted, begun)
		between.FPS, between.Interval = 0, float64(list[middle])
		var more diag.List
		made, err := l.better(ctx, between, nil, &more)
		if err != nil {
			return nil, err
		}
		if meets(made) {
			best, told, first = made, more, middle
		} else if middle > first {
			last = middle
		}
		if middle = (first + last) / 2; middle == first {
			break
		}
	}
	d.AddMissing(told.Diags)
	sampled := *best
	sampled.Certificate.Sampled = !wanted.Latency && most > 0
	return &sampled, nil
}

// tooLate adds the diagnostic that no design has a latency of at most the given clocks. best has the shortest latency
// that was found.
func (l *Space) tooLate(most int, best *Design, d *diag.List) {
	dg := diag.Diag{Severity: diag.SeverityError, Code: diag.LatencyUnreachable,
		Hint: fmt.Sprintf("--max-latency %d", best.Clocks.Latency)}
	found := "on"
	if c := best.Certificate.Latency; c != nil && c.Least < c.Clocks {
		found = "found on"
		dg.Notes = []string{fmt.Sprintf("none below %s is possible", goal.FormatClocks(c.Least))}
	}
	dg.Msg = fmt.Sprintf("asked for: a latency of %s; the shortest %s %s is %s, at %s MHz", goal.FormatClocks(most),
		found, l.Target.Board.Name, goal.FormatClocks(best.Clocks.Latency), goal.FormatUpToSixDecimals(l.Clock))
	d.Add(dg)
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
	quick, err := l.inTime(ctx, wanted, d)
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

package fit

import (
	"context"
	"errors"
	"slices"

	"hlsgen/folding/goal"
	"hlsgen/folding/search"
	"hlsgen/folding/space"
	"hlsgen/internal/dataflow"
	"hlsgen/rtlsim"
)

// sizingWords is the most words that trials may move to size the FIFOs of one folding. Each word counts as wordSteps
// steps of work.
const (
	sizingWords = 80_000_000
	wordSteps   = 2
)

// size returns the least FIFO depths with which the design keeps an interval of limit clocks. If the goal asks only for
// freedom from deadlock, they give just that. It returns nil if the design is slower than the goal allows, or
// deadlocks.
//
// If trust is true and a trial costs much, depths may be assumed to keep the interval (rtlsim.FIFOSizing.Unsimulated)
// until the whole design is simulated.
func (q *DesignSearch) size(ctx context.Context, b *space.FoldedDesign, limit int, trust bool) (*rtlsim.FIFOSizing,
	error) {
	fixed := q.GivenFIFODepths(b)
	opt := rtlsim.FIFOSizingOptions{Interval: limit, From: b.FIFODepthsWords(), Fixed: fixed, Effort: q.Words,
		Cache:      &q.Known,
		AllLengths: q.Shorter, TrustSchedule: trust}
	opt.Minimal = q.Goal.FIFO != goal.FIFODepthPolicy{}
	z, err := rtlsim.FindFIFODepths(ctx, b.Design, opt)
	if err != nil {
		return nil, err
	}
	q.Effort.Done += wordSteps * z.Moved
	if z.Feasible && !opt.Minimal || !z.Feasible && !q.FIFOsMayLimitInterval() {
		return z, nil
	}
	// FIFO depths that the user gives may be too small for the interval.
	d := *b.Design
	d.FIFO = slices.Clone(d.FIFO)
	for id, words := range z.Words {
		if d.FIFO[id].Depth = max(d.FIFO[id].Depth, words); fixed[id] > 0 {
			d.FIFO[id].Depth = fixed[id]
		}
	}
	clocks, err := q.SimulateIntervalClocks(ctx, &d)
	if err == nil && !z.Feasible {
		_, err = rtlsim.ProveDeadlockFree(ctx, &d)
		z.Feasible = true
	}
	if err != nil {
		if dead := new(rtlsim.Deadlock); errors.As(err, &dead) {
			err = nil
		}
		return nil, err
	}
	asked := q.MaxIntervalClocks()
	anySpeed := q.Goal.MaxCycles > 0 || q.Goal.Latency && asked == nil
	if !anySpeed && clocks > float64(limit) && (asked == nil || goal.CappedFloorOfRational(asked) != limit ||
		!goal.IntervalMeetsLimit(clocks,
			asked)) {
		return nil, nil
	}
	return z, nil
}

// NewSteadyStateRunOptions returns the options of a run that shows the interval of a design: more frames than the
// design can hold at a time. If these move more than 1e8 words, the run has only the frames that are in flight after
// the first, and a few more (rtlsim.Options.Words). It needs even fewer if frames come out at a constant distance.
func NewSteadyStateRunOptions(d *dataflow.Design) rtlsim.Options {
	const words = 1e8
	return rtlsim.Options{Frames: 16 + 2*len(d.Model.Graph.Nodes), Words: words}
}

// MaxTimelineFrames returns the largest number of frames, from the first on, that a timeline shows of the design. It is
// at most 64, and 0 if a frame has too many words.
func MaxTimelineFrames(d *dataflow.Design) int {
	const most = 4 << 20 // words
	words := 0
	for s := range d.FIFO {
		words += d.PortOfStream(s).Words
	}
	return min(64, most/max(1, words))
}

// SimulateSteadyState simulates a design until its pipeline is full. The trace includes the clocks of each layer for
// the frames of a timeline. Callers must not change it. The error may be a *rtlsim.Deadlock.
func (q *DesignSearch) SimulateSteadyState(ctx context.Context, d *dataflow.Design) (*rtlsim.RunTrace, error) {
	opt := NewSteadyStateRunOptions(d)
	opt.Layers, opt.Cache = MaxTimelineFrames(d), &q.Known
	return rtlsim.RunFrames(ctx, d, nil, opt)
}

// SimulateIntervalClocks returns the clocks per frame of a design, by simulation. The error may be a *rtlsim.Deadlock.
func (q *DesignSearch) SimulateIntervalClocks(ctx context.Context, d *dataflow.Design) (float64, error) {
	t, err := q.SimulateSteadyState(ctx, d)
	if err != nil {
		return 0, err
	}
	return t.IntervalClocks(), nil
}

// assessNodes is the most nodes that assess looks at, and assessWork the steps of work that it may do. These do not
// depend on the remaining effort: a folding is built in the best way even if sizing its FIFOs took all of the effort.
const (
	assessNodes = 200
	assessWork  = 2_000_000
)

// assess returns the folding of the given classes that has the least of m within caps, with FIFOs as deep as the region
// says. If only is not nil, it names the option of each layer. The result is nil if nothing is within caps.
func (q *DesignSearch) assess(ctx context.Context, r *space.FoldingRegion, class, only []int32, m search.Objective,
	caps search.Caps) (*space.Folding, error) {
	effort := q.Effort.NewSeparateCounter(assessWork)
	own := *r
	own.Spares = q.Spares
	t := q.NewGivenClassesChoiceTree(&own, class, only, q.Around, &effort)
	if t == nil {
		return nil, nil
	}
	got, err := t.FindMinimalSolution(ctx, m, nil, caps, assessNodes)
	q.Effort.Done += effort.Done
	if err != nil || got.Best == nil {
		return nil, err
	}
	return q.FoldingOfSolution(r, got.Best), nil
}

// FoldingWithCanonicalFIFOs returns the folding f with its FIFOs built in one fixed way. A user who asks for these
// folds gets the same FIFOs. It returns f itself if that would raise a measure in order, if no such FIFOs are found,
// and with an error.
func (q *DesignSearch) FoldingWithCanonicalFIFOs(ctx context.Context, f *space.Folding, limit int,
	order []goal.ResourceMeasure) (*space.Folding,
	error) {
	r := f.RegionWithSameMinFIFODepths(limit)
	caps := q.CapsAtInterval(limit)
	if !f.Cost.IsWithin(&caps.AmountVector) {
		caps = search.UnlimitedCaps
	}
	var measures []search.Objective
	for _, m := range order {
		measures = append(measures, q.ObjectiveOfMeasure(m))
	}
	best := f
	for k, m := range append(measures, search.Objective{Kind: goal.KindFF}, search.Objective{Kind: goal.KindLUTRAM}) {
		g, err := q.assess(ctx, &r, q.OptionClassesOf(f.Options), f.Options, m, caps)
		if err != nil || g == nil || k < len(order) && g.MeasureOf(m) > f.MeasureOf(m) {
			return f, err
		}
		best, caps = g, g.CapsToMatch(m, caps, 0)
	}
	return best, nil
}

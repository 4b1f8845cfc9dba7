package folding

import (
	"context"
	"math"
	"sort"

	"hlsgen/folding/fit"
	"hlsgen/folding/goal"
	"hlsgen/folding/search"
)

// A BoundsForGoal holds lower bounds on all designs for a goal, whatever depth their FIFOs have. No design is built
// or simulated for it.
type BoundsForGoal struct {
	// Interval is a lower bound on the interval of any design within the budget. If the goal gives a rate or an
	// interval, it is the longest interval in clocks that reaches the goal. 0: no design within the budget is as fast,
	// or none fits at all.
	Interval int
	Measure  float64 // a lower bound on Goal.Least at this interval
	FPS      float64 // samples per second at this interval
}

// ComputeDesignBounds returns lower bounds on all designs for the goal, including folds that FindBestDesign leaves out.
// Goal.Latency, Goal.MaxLatency, Goal.MaxCycles and Goal.OverBudget have no effect.
func (l *Space) ComputeDesignBounds(ctx context.Context, wanted Goal) (BoundsForGoal, error) {
	return l.more(math.MaxInt).bound(ctx, wanted)
}

// bound computes the bounds of the designs in this space.
func (l *Space) bound(ctx context.Context, wanted Goal) (BoundsForGoal, error) {
	wanted.Latency, wanted.MaxLatency, wanted.MaxCycles, wanted.OverBudget = false, 0, 0, false
	if err := wanted.Verify(l.Target); err != nil {
		return BoundsForGoal{}, err
	}
	q := fit.NewDesignSearch(l.FoldingSpace, wanted)
	measure := q.ObjectiveOfMeasure(wanted.Least)
	at := func(layers, frame int) float64 {
		caps := q.CapsAtInterval(frame)
		key := boundKey{layers, caps, wanted.Least}
		if least, ok := l.made.bounds.Load(key); ok {
			return least.(float64)
		}
		least := q.NewFoldingTree(layers).LowerBoundOf(measure, caps)
		l.made.bounds.Store(key, least)
		return least
	}
	list := l.IntervalsToTry()
	var b BoundsForGoal
	if limit := q.MaxIntervalClocks(); limit != nil {
		asked := goal.CappedFloorOfRational(limit)
		// all intervals between two of the list have the same foldings
		n := sort.Search(len(list),
			func(i int) bool { return list[i] > asked })
		if n == 0 {
			return b, ctx.Err()
		}
		if b.Interval, b.Measure = asked, at(list[n-1], asked); math.IsInf(b.Measure, 1) {
			b = BoundsForGoal{}
		}
	} else {
		last := func(i int) int { // the longest interval at which layers take at most list[i]
			if i+1 < len(list) {
				return list[i+1] - 1
			}
			return list[i]
		}
		i := sort.Search(len(list), func(i int) bool { return !math.IsInf(at(list[i], last(i)), 1) })
		if i == len(list) {
			return b, ctx.Err()
		}
		b.Interval = list[i] + sort.Search(last(i)-list[i], func(n int) bool {
			return !math.IsInf(at(list[i], list[i]+n), 1)
		})
		b.Measure = at(list[i], b.Interval)
	}
	b.FPS = SamplesPerSecondForInterval(l.Clock, float64(b.Interval), l.Model.Turns.SamplesPerFrame())
	return b, ctx.Err()
}

// A boundKey is the key of a cached bound: everything that it depends on besides the space.
type boundKey struct {
	layers int // the most clocks of any layer
	caps   search.Caps
	least  ResourceMeasure
}

package folding

import (
	"context"
	"errors"
	"sort"
	"sync"

	"hlsgen/folding/fit"
	"hlsgen/folding/goal"
	"hlsgen/folding/search"
	"hlsgen/folding/space"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/rtlsim"
)

// An inquiry looks for the answer to a goal, and tells the user why there is none.
type inquiry struct {
	report
	made  *memory // the results of other inquiries
	told  *diag.List
	steps int // steps of work of the searches
	below int // if not 0: only designs with a shorter interval are of use
}

// A found is the answer to an inquiry: a folding with its proofs, and what is known of its interval.
type found struct {
	*fit.FoldingWithBounds
	clocks float64 // per frame; 0 if not computed
	// a lower bound on the interval of designs within the budget; 0 if the goal was not the shortest interval
	floor int
	below *FoldExclusionCounts
}

// answer returns the design for the goal. It returns nil after adding the reason to the diagnostics if there is none.
func (q *inquiry) answer(ctx context.Context) (*Design, error) {
	f, err := q.find(ctx)
	if err != nil || f == nil {
		return nil, err
	}
	if f.Useless {
		return nil, errNoBetter
	}
	made, err := q.design(ctx, f.Folding)
	if dead := new(rtlsim.Deadlock); errors.As(err, &dead) && q.Model.Lengths != nil && !q.Shorter {
		q.DesignSearch = q.WithNewStepCounter() // a sequence that is not the longest needs deeper FIFOs
		q.Shorter = true
		return q.answer(ctx)
	}
	if err != nil {
		return nil, err
	}
	made.Certificate = q.certificate(f, made)
	made.steps = q.steps
	q.tell(made)
	return made, q.tellSlowFIFOs(ctx, made)
}

// errNoBetter says that no design is better than the known one (fit.DesignSearch.Than).
var errNoBetter = errors.New("no design is better than the one that there is")

// find returns the folding for the goal. It returns nil after adding the reason to the diagnostics if there is none.
func (q *inquiry) find(ctx context.Context) (*found, error) {
	list := q.IntervalsToTry()
	last := list[len(list)-1]
	if !space.HasAnyFolding(q.FoldingSpace, last, &q.Effort) {
		q.unjoined()
		return nil, nil
	}
	s := q.sequence(ctx, list)
	defer s.close()
	limit := q.MaxIntervalClocks()
	if q.Goal.MaxCycles > 0 {
		first := sort.Search(len(list), func(i int) bool {
			return space.HasAnyFolding(q.FoldingSpace, list[i], &q.Effort)
		})
		// The last interval is for given FIFO depths that hold the design up.
		for _, clocks := range []int{max(q.Goal.MaxCycles, list[first]), last} {
			if f, err := s.asked(clocks); f != nil || err != nil {
				return f, err
			}
		}
		return nil, q.deadlocked(ctx, last)
	}
	clocks := last
	if limit != nil {
		clocks = goal.CappedFloorOfRational(limit)
	}
	if clocks >= list[0] {
		if q.Goal.Latency {
			f, err := q.FindShortestLatencyDesign(ctx, clocks, fit.LimitsAfterFirstDesign{Ctx: s.cut, Whole: &s.whole,
				Found: func() { q.Goal.Interrupt.SetStopFunc(s.cancel) }})
			if err != nil || f != nil {
				return &found{FoldingWithBounds: f}, err
			}
		} else if limit != nil {
			f, err := s.asked(clocks)
			if err != nil || f != nil {
				return f, err
			}
		}
	}
	if !q.Goal.Latency || limit != nil {
		f, err := s.fastest()
		if err != nil {
			return nil, err
		}
		switch {
		case q.below > 0:
			return f, nil
		case f == nil:
		case limit == nil:
			return f, nil
		case goal.IntervalMeetsLimit(f.clocks, limit):
			// The search at the requested interval was cut short, or this design's frames come at uneven distances.
			return q.slower(f, goal.CappedCeilingOfRational(limit)), nil
		default:
			if q.Goal.OverBudget && clocks >= list[0] {
				more, err := q.leastLoad(ctx, clocks)
				if more != nil || err != nil {
					return more, err
				}
			}
			return nil, q.unreachable(ctx, f)
		}
	}
	if q.FIFOsMayLimitInterval() {
		if err := q.deadlocked(ctx, last); err != nil {
			return nil, err
		}
	}
	return q.overBudget(ctx, list, max(clocks, list[0]))
}

// hopeless reports whether the search proves with little work that no design keeps an interval of the given clocks.
func (q *inquiry) hopeless(clocks int) bool {
	t := q.NewFoldingTree(clocks)
	defer t.Free()
	return t.IsProvedUnsolvable(q.CapsAtInterval(clocks))
}

// slower returns the design f as the answer at the longer interval limit, with the weaker bounds that hold there.
func (q *inquiry) slower(f *found, limit int) *found {
	g := &fit.FoldingWithBounds{Folding: f.Folding, Limit: limit, Spares: f.Spares}
	t := q.NewFoldingTree(limit)
	for _, b := range f.Bounds {
		b.Least = min(b.Value, t.LowerBoundOf(q.ObjectiveOfMeasure(b.Measure), q.CapsAtInterval(limit)))
		g.Bounds = append(g.Bounds, b)
	}
	return &found{FoldingWithBounds: g}
}

// words returns the number of words of a frame, summed over all streams of the design.
func words(d *dataflow.Design) (n int) {
	for s := range d.Model.Graph.Streams {
		n += d.PortOfStream(s).Words
	}
	return n
}

// deadlockNodes is the number of nodes that the search for a folding with a deadlock looks at.
const deadlockNodes = 200

// deadlocked returns the *rtlsim.Deadlock of the folding with the least load, or nil if there is none. FIFOs have the
// depths that the user gives; all others are as deep as can be of use.
func (q *inquiry) deadlocked(ctx context.Context, limit int) error {
	least, err := q.NewFoldingTree(limit).FindMinimalSolution(ctx, q.ObjectiveOfMeasure(ResourceMeasureLoad), nil,
		search.UnlimitedCaps, deadlockNodes)
	if err != nil || least.Best == nil {
		return err
	}
	b := q.BuildDesign(q.FoldingOfSolution(&space.FoldingRegion{Limit: limit}, least.Best))
	if b == nil {
		return nil
	}
	for id, words := range q.GivenFIFODepths(b) {
		if b.FIFO[id].Depth = words; words == 0 {
			b.FIFO[id].Depth = b.PortOfStream(id).Words
		}
	}
	_, err = rtlsim.ProveDeadlockFree(ctx, b.Design)
	return err
}

// A memory caches answers and bounds of a space, by what they depend on besides the space.
type memory struct{ answers, bounds sync.Map }

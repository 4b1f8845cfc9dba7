package search

import (
	"context"
	"math"
)

// An Objective is the quantity to minimise: the amount of one kind, the longest path (Path), or a load (Yard is not
// nil). A load is the largest share of Yard's amounts that any kind takes.
type Objective struct {
	Kind int           // the kind, if Yard is nil and Path is false
	Yard *AmountVector // per kind: the amount that counts as a share of 1; kinds with 0 do not count
	Path bool
}

// MeasureOfSolution returns what the objective measures of a solution: an amount, or for a load a share from 0 up.
func (m Objective) MeasureOfSolution(f *Solution) float64 {
	switch {
	case m.Path:
		return float64(f.longestPathLength())
	case m.Yard == nil:
		return float64(f.Cost[m.Kind])
	}
	v, _ := m.load(&f.Cost)
	return v
}

// load returns the largest share of Yard that cost takes, and of which kind.
func (m Objective) load(cost *AmountVector) (share float64, kind int) {
	for k := range cost {
		if m.Yard[k] > 0 {
			if f := float64(cost[k]) / float64(m.Yard[k]); f > share {
				share, kind = f, k
			}
		}
	}
	return share, kind
}

// prime returns the number of the kind that labels minimise: the objective's kind or, for a path or a load, 0.
func (m Objective) prime() int {
	if m.Yard == nil && !m.Path {
		return m.Kind
	}
	return 0
}

// capsForMeasureAtMost returns caps reduced so that only solutions that measure at most x are within them.
func (m Objective) capsForMeasureAtMost(x float64, caps Caps) Caps {
	switch {
	case m.Path:
		caps.Path = min(caps.Path, floor(x))
		return caps
	case m.Yard == nil:
		caps.AmountVector[m.Kind] = min(caps.AmountVector[m.Kind], floor(x))
		return caps
	}
	for k := range caps.AmountVector {
		if m.Yard[k] > 0 {
			caps.AmountVector[k] = min(caps.AmountVector[k], floor(x*float64(m.Yard[k])))
		}
	}
	return caps
}

func floor(x float64) int64 {
	switch x = math.Floor(x); {
	case x < -1:
		return -1
	case x > float64(NoCap):
		return NoCap
	}
	return int64(x)
}

// CapsToMatchSolution returns caps reduced so that only solutions that measure at most as much as f are within them.
// With less = 1, they must measure less.
func (m Objective) CapsToMatchSolution(f *Solution, caps Caps, less int64) Caps {
	switch {
	case m.Path:
		caps.Path = min(caps.Path, f.longestPathLength()-less)
		return caps
	case m.Yard == nil:
		caps.AmountVector[m.Kind] = min(caps.AmountVector[m.Kind], f.Cost[m.Kind]-less)
		return caps
	}
	_, kind := m.load(&f.Cost)
	if m.Yard[kind] == 0 { // no kind has a share
		if less > 0 {
			caps.AmountVector[kind] = -1
		}
		return caps
	}
	for k := range caps.AmountVector {
		if m.Yard[k] == 0 {
			continue
		}
		amount := m.Yard[k]*f.Cost[kind] - less
		if amount < 0 {
			amount -= m.Yard[kind] // round down
		}
		caps.AmountVector[k] = min(caps.AmountVector[k], amount/m.Yard[kind])
	}
	return caps
}

// A MinimiseResult is the result of a search. Best is the best solution found, or nil. No solution within the caps
// measures less than Bound. Proved reports that Best is a minimum, so that Bound is its measure; with a nil Best, it
// reports that there is no solution.
type MinimiseResult struct {
	Best   *Solution
	Bound  float64
	Proved bool
}

// FindAnySolutionWithinCaps looks for any solution within caps. The result's Bound has no meaning; its Proved with a
// nil Best says that there is no solution.
func (t *ChoiceTree) FindAnySolutionWithinCaps(ctx context.Context, caps Caps) (MinimiseResult, error) {
	found, err := t.within(ctx, caps, Objective{}, false, math.MaxInt)
	return MinimiseResult{Best: found.best, Proved: found.best != nil || found.exact}, err
}

// IsProvedUnsolvable reports whether prices prove, with the little work of one relaxation, that no solution is within
// caps.
func (t *ChoiceTree) IsProvedUnsolvable(caps Caps) bool {
	if !t.HasAnySolution() || t.Excludes(caps) {
		return true
	}
	t.LearnBestPrices(caps)
	return t.Excludes(caps)
}

// LowerBoundOf returns a lower bound on the measure of the solutions within caps, from the prices of one relaxation. It
// is weaker than the bound of FindMinimalSolution, and takes little work. It is infinite if the prices prove that there
// is no solution.
func (t *ChoiceTree) LowerBoundOf(m Objective, caps Caps) float64 {
	if t.IsProvedUnsolvable(caps) {
		return math.Inf(1)
	}
	best := t.leastOf(caps, m.prime())
	high := m.MeasureOfSolution(&Solution{Cost: t.dearest, Paths: t.longest})
	if best != nil {
		high = m.MeasureOfSolution(best)
		t.LearnBestPrices(m.capsForMeasureAtMost(t.excluded(m, caps, -1, high), caps))
	}
	return m.above(t.excluded(m, caps, -1, high))
}

// FindQuickSolution looks for a good solution within caps with little work. It returns the best known one, or else the
// first that a search of the given number of nodes finds; nil if it finds none. none reports that it is proved that no
// solution is within caps.
func (t *ChoiceTree) FindQuickSolution(ctx context.Context, m Objective, caps Caps, nodes int) (best *Solution,
	none bool,
	err error) {
	for _, f := range t.found {
		if f.isWithinCaps(&caps) && (best == nil || m.MeasureOfSolution(f) < m.MeasureOfSolution(best)) {
			best = f
		}
	}
	if best != nil || !t.HasAnySolution() {
		return best, best == nil, nil
	}
	found, err := t.within(ctx, caps, m, false, nodes)
	return found.best, found.best == nil && found.exact, err
}

// FindMinimalSolution first searches windows just above the excluded measures, where prices leave few choices. The
// first window reaches nearest of the way to the best known measure, and each takes at most nearNodes nodes. When the
// way is no longer than short (as a share of the measure), or windows find nothing, it searches everything.
const (
	nearest   = 1.0 / 16
	nearNodes = 20
	short     = 0.003
)

// FindMinimalSolution looks for the solution within caps that measures least by m. start is a known solution within
// caps, or nil. If the given number of nodes does not suffice, the result is not proved.
func (t *ChoiceTree) FindMinimalSolution(ctx context.Context, m Objective, start *Solution, caps Caps,
	nodes int) (MinimiseResult,
	error) {
	best := start
	if !t.HasAnySolution() {
		return MinimiseResult{Best: best, Proved: best == nil}, nil
	}
	if best == nil {
		found, err := t.within(ctx, caps, m, false, max(nodes, nearNodes))
		if err != nil || found.best == nil {
			return MinimiseResult{Bound: -1, Proved: found.exact}, err
		}
		best = found.best
	}
	bound := -1.0 // no measure is this small
	for part := nearest; part < 1; {
		high := m.MeasureOfSolution(best)
		below := m.CapsToMatchSolution(best, caps, 1)
		bound = t.excluded(m, caps, bound, high)
		if upTo := m.capsForMeasureAtMost(bound, caps); below.isWithin(&upTo) || t.Excludes(below) {
			return MinimiseResult{best, high, true}, nil
		}
		if high-bound <= short*max(high, 0) || t.effort.MustEndSearch() {
			break
		}
		middle := bound + (high-bound)*part
		found, err := t.within(ctx, m.capsForMeasureAtMost(middle, caps).minPerKind(below), m, false, nearNodes)
		switch {
		case err != nil:
			return MinimiseResult{}, err
		case found.best != nil:
			best = found.best
		case found.exact:
			bound = middle
		default:
			part *= 2
		}
	}
	found, err := t.within(ctx, m.CapsToMatchSolution(best, caps, 1), m, true, nodes)
	if err != nil {
		return MinimiseResult{}, err
	}
	if found.best != nil {
		best = found.best
	}
	if found.exact {
		return MinimiseResult{best, m.MeasureOfSolution(best), true}, nil
	}
	return MinimiseResult{best, m.above(t.excluded(m, caps, bound, m.MeasureOfSolution(best))), false}, nil
}

// above returns the least value above x that a solution can have: for amounts the next integer, for loads x itself. It
// is never negative.
func (m Objective) above(x float64) float64 {
	if m.Yard != nil {
		return max(0, x)
	}
	return max(0, math.Floor(x)+1)
}

// excluded returns the largest value between low and high for which prices prove that every solution within caps
// measures more by m.
func (t *ChoiceTree) excluded(m Objective, caps Caps, low, high float64) float64 {
	for range 40 {
		if middle := (low + high) / 2; t.Excludes(m.capsForMeasureAtMost(middle, caps)) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

package search

import (
	"context"
	"math"
)

// A Measure is what is minimised: the amount of one kind; or a load, the largest share of a yardstick that any kind
// takes; or the longest path.
type Measure struct {
	Kind int     // where neither is asked
	Yard *Vector // per kind: what is all of it; kinds of 0 do not count
	Path bool
}

// Value is what a cost measures: an amount, or a share from 0.
func (m Measure) Value(f *Solution) float64 {
	switch {
	case m.Path:
		return float64(f.Longest())
	case m.Yard == nil:
		return float64(f.Cost[m.Kind])
	}
	v, _ := m.load(&f.Cost)
	return v
}

// load is the largest share, and of which kind.
func (m Measure) load(cost *Vector) (share float64, kind int) {
	for k := range cost {
		if m.Yard[k] > 0 {
			if f := float64(cost[k]) / float64(m.Yard[k]); f > share {
				share, kind = f, k
			}
		}
	}
	return share, kind
}

// prime is the kind that labels minimise: the measure's, or the first.
func (m Measure) prime() int {
	if m.Yard == nil && !m.Path {
		return m.Kind
	}
	return 0
}

// UpTo is what may be taken within caps for the measure to be at most x.
func (m Measure) UpTo(x float64, caps Caps) Caps {
	switch {
	case m.Path:
		caps.Path = min(caps.Path, floor(x))
		return caps
	case m.Yard == nil:
		caps.Vector[m.Kind] = min(caps.Vector[m.Kind], floor(x))
		return caps
	}
	for k := range caps.Vector {
		if m.Yard[k] > 0 {
			caps.Vector[k] = min(caps.Vector[k], floor(x*float64(m.Yard[k])))
		}
	}
	return caps
}

func floor(x float64) int64 {
	switch x = math.Floor(x); {
	case x < -1:
		return -1
	case x > float64(Most):
		return Most
	}
	return int64(x)
}

// AsGood is what may be taken within caps for the measure to be at most a solution's, or less for less = 1.
func (m Measure) AsGood(f *Solution, caps Caps, less int64) Caps {
	switch {
	case m.Path:
		caps.Path = min(caps.Path, f.Longest()-less)
		return caps
	case m.Yard == nil:
		caps.Vector[m.Kind] = min(caps.Vector[m.Kind], f.Cost[m.Kind]-less)
		return caps
	}
	_, kind := m.load(&f.Cost)
	if m.Yard[kind] == 0 { // nothing counts
		if less > 0 {
			caps.Vector[kind] = -1
		}
		return caps
	}
	for k := range caps.Vector {
		if m.Yard[k] == 0 {
			continue
		}
		amount := m.Yard[k]*f.Cost[kind] - less
		if amount < 0 {
			amount -= m.Yard[kind] // round down
		}
		caps.Vector[k] = min(caps.Vector[k], amount/m.Yard[kind])
	}
	return caps
}

// A Minimum is what came of a search. Bound is what no solution within the caps measures less than; it is Best's own
// measure where Proved. Best is nil where none was found, and there is none where that is Proved.
type Minimum struct {
	Best   *Solution
	Bound  float64
	Proved bool
}

// Within looks for any solution within caps.
func (t *Tree) Within(ctx context.Context, caps Caps) (Minimum, error) {
	found, err := t.within(ctx, caps, Measure{}, false, math.MaxInt)
	return Minimum{Best: found.best, Proved: found.best != nil || found.exact}, err
}

// Hopeless reports whether prices prove that no solution is within caps, as far as one relaxation tells.
func (t *Tree) Hopeless(caps Caps) bool {
	if !t.Possible() || t.Excludes(caps) {
		return true
	}
	t.Relax(caps)
	return t.Excludes(caps)
}

// Bound is what prices prove that no solution within caps measures less than, as far as one relaxation tells: some of
// what Minimise finds for little of its work. It is infinite where nothing is within caps.
func (t *Tree) Bound(m Measure, caps Caps) float64 {
	if t.Hopeless(caps) {
		return math.Inf(1)
	}
	best := t.leastOf(caps, m.prime())
	high := m.Value(&Solution{Cost: t.dearest, Paths: t.longest})
	if best != nil {
		high = m.Value(best)
		t.Relax(m.UpTo(t.excluded(m, caps, -1, high), caps))
	}
	return m.above(t.excluded(m, caps, -1, high))
}

// Quick is a solution within caps that measures little, for little work: the best of those that relaxations turned up,
// or where none is within caps, of a search that looks at so many nodes. It is nil where these find none. none reports
// whether there is surely none.
func (t *Tree) Quick(ctx context.Context, m Measure, caps Caps, nodes int) (best *Solution, none bool, err error) {
	for _, f := range t.found {
		if f.Within(&caps) && (best == nil || m.Value(f) < m.Value(best)) {
			best = f
		}
	}
	if best != nil || !t.Possible() {
		return best, best == nil, nil
	}
	found, err := t.within(ctx, caps, m, false, nodes)
	return found.best, found.best == nil && found.exact, err
}

// Minimise first looks near what is excluded, in windows of a part of the way to the best that is known, where prices
// leave little; nearNodes is what one of these may take. Where the way is short, or windows do not help, it looks
// everywhere.
const (
	nearest   = 1.0 / 16
	nearNodes = 20
	short     = 0.003
)

// Minimise looks for the solution within caps of the least measure. start is a solution within caps that is known, or
// nil. It looks at so many nodes of the tree in the end; where these do not do, the result is not proved.
func (t *Tree) Minimise(ctx context.Context, m Measure, start *Solution, caps Caps, nodes int) (Minimum, error) {
	best := start
	if !t.Possible() {
		return Minimum{Best: best, Proved: best == nil}, nil
	}
	if best == nil {
		found, err := t.within(ctx, caps, m, false, max(nodes, nearNodes))
		if err != nil || found.best == nil {
			return Minimum{Bound: -1, Proved: found.exact}, err
		}
		best = found.best
	}
	bound := -1.0 // nothing measures so little
	for part := nearest; part < 1; {
		high := m.Value(best)
		below := m.AsGood(best, caps, 1)
		bound = t.excluded(m, caps, bound, high)
		if upTo := m.UpTo(bound, caps); below.Within(&upTo) || t.Excludes(below) {
			return Minimum{best, high, true}, nil
		}
		if high-bound <= short*max(high, 0) || t.effort.Spent() {
			break
		}
		middle := bound + (high-bound)*part
		found, err := t.within(ctx, m.UpTo(middle, caps).Least(below), m, false, nearNodes)
		switch {
		case err != nil:
			return Minimum{}, err
		case found.best != nil:
			best = found.best
		case found.exact:
			bound = middle
		default:
			part *= 2
		}
	}
	found, err := t.within(ctx, m.AsGood(best, caps, 1), m, true, nodes)
	if err != nil {
		return Minimum{}, err
	}
	if found.best != nil {
		best = found.best
	}
	if found.exact {
		return Minimum{best, m.Value(best), true}, nil
	}
	return Minimum{best, m.above(t.excluded(m, caps, bound, m.Value(best))), false}, nil
}

// above is the least that something can measure that measures more than x.
func (m Measure) above(x float64) float64 {
	if m.Yard != nil {
		return max(0, x)
	}
	return max(0, math.Floor(x)+1)
}

// excluded is the largest measure, between two, of which prices prove that no solution within caps measures so little.
func (t *Tree) excluded(m Measure, caps Caps, low, high float64) float64 {
	for range 40 {
		if middle := (low + high) / 2; t.Excludes(m.UpTo(middle, caps)) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

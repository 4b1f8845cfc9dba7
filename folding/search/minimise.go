package search

import (
	"context"
	"math"
)

// A Measure is what is minimised: the amount of one kind, or a load, the largest share of a yardstick that any kind takes.
type Measure struct {
	Kind int     // where Yard is nil
	Yard *Vector // per kind: what is all of it; kinds of 0 do not count
}

// Value is what a cost measures: an amount, or a share from 0.
func (m Measure) Value(cost *Vector) float64 {
	if m.Yard == nil {
		return float64(cost[m.Kind])
	}
	v, _ := m.load(cost)
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
	if m.Yard == nil {
		return m.Kind
	}
	return 0
}

// UpTo is what may be taken within caps for the measure to be at most x.
func (m Measure) UpTo(x float64, caps Vector) Vector {
	if m.Yard == nil {
		caps[m.Kind] = min(caps[m.Kind], floor(x))
		return caps
	}
	for k := range caps {
		if m.Yard[k] > 0 {
			caps[k] = min(caps[k], floor(x*float64(m.Yard[k])))
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

// AsGood is what may be taken within caps for the measure to be at most that of cost, or less for less = 1.
func (m Measure) AsGood(cost *Vector, caps Vector, less int64) Vector {
	if m.Yard == nil {
		caps[m.Kind] = min(caps[m.Kind], cost[m.Kind]-less)
		return caps
	}
	_, kind := m.load(cost)
	if m.Yard[kind] == 0 { // nothing counts
		if less > 0 {
			caps[kind] = -1
		}
		return caps
	}
	for k := range caps {
		if m.Yard[k] == 0 {
			continue
		}
		amount := m.Yard[k]*cost[kind] - less
		if amount < 0 {
			amount -= m.Yard[kind] // round down
		}
		caps[k] = min(caps[k], amount/m.Yard[kind])
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
func (t *Tree) Within(ctx context.Context, caps Vector) (Minimum, error) {
	found, err := t.within(ctx, caps, 0, false)
	return Minimum{Best: found.best, Proved: found.best != nil || found.exact}, err
}

// nearest is where Minimise looks first, as a part of the way from what is excluded: prices leave few labels there.
const nearest = 1.0 / 16

// Minimise looks for the solution within caps of the least measure, by bisection between what is excluded and what was
// found. start is a solution within caps that is known, or nil.
func (t *Tree) Minimise(ctx context.Context, m Measure, start *Solution, caps Vector) (Minimum, error) {
	best := start
	if !t.Possible() {
		return Minimum{Best: best, Proved: best == nil}, nil
	}
	if best == nil {
		found, err := t.within(ctx, caps, m.prime(), false)
		if err != nil || found.best == nil {
			return Minimum{Proved: found.exact}, err
		}
		best = found.best
	}
	low := -1.0  // the search has given up to find what measures so little
	bound := low // nothing measures so little
	part := nearest
	for first := true; ; first = false {
		high := m.Value(&best.Cost)
		below := m.AsGood(&best.Cost, caps, 1)
		bound = t.excluded(m, caps, bound, high)
		upTo := m.UpTo(bound, caps)
		if low = max(low, bound); below.Within(&upTo) || t.Excludes(below) {
			return Minimum{best, high, true}, nil
		}
		if t.effort.spent() {
			return Minimum{best, m.above(bound), false}, nil
		}
		middle := low + (high-low)*part
		lower := m.UpTo(low, caps)
		if upTo = m.UpTo(middle, caps); m.Yard == nil && first || below.Within(&upTo) || below.Within(&lower) {
			middle = high // the labels find the least of a kind at once; or all that is left lies above the middle
		}
		target := m.UpTo(middle, caps).Least(below)
		found, err := t.within(ctx, target, m.prime(), m.Yard == nil)
		switch {
		case err != nil:
			return Minimum{}, err
		case found.best != nil:
			part = nearest
			if best = found.best; found.exact && m.Yard == nil {
				return Minimum{best, m.Value(&best.Cost), true}, nil
			}
		case found.exact && middle == high:
			return Minimum{best, high, true}, nil
		case found.exact:
			low, bound, part = middle, middle, min(2*part, 0.5)
		default: // the effort is spent
			return Minimum{best, m.above(bound), false}, nil
		}
	}
}

// above is the least that something can measure that measures more than x.
func (m Measure) above(x float64) float64 {
	if m.Yard != nil {
		return max(0, x)
	}
	return max(0, math.Floor(x)+1)
}

// excluded is the largest measure, between two, of which prices prove that no solution within caps measures so little.
func (t *Tree) excluded(m Measure, caps Vector, low, high float64) float64 {
	for range 40 {
		if middle := (low + high) / 2; t.Excludes(m.UpTo(middle, caps)) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

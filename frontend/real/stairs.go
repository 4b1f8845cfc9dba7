package real

import (
	"math"
	"slices"
)

// A RoundingPlateauCache caches values of a function that rounds one of its variables, while the other variables are
// fixed. Between two points with the same rounded value all points have that value, so most need no evaluation. The
// zero value is an empty cache.
type RoundingPlateauCache struct {
	treads []tread // in increasing order
	last   int     // the index of the tread that the last call of CachedValueAt found
	found  bool    // whether none has been determined
	none   bool    // the rounded expression is not monotonic
}

// A tread is a range of the variable in which all points are rounded to one number.
type tread struct {
	from, to float64
	rounded  Interval // the number, which may be +0 or -0
	y        Interval
}

// maxTreads is the largest number of treads that a cache holds. Functions with more steps gain nothing from it.
const maxTreads = 1 << 8

// CachedValueAt returns the cached value of the function for a variable that lies in x. ok is false if the function
// must be evaluated.
func (s *RoundingPlateauCache) CachedValueAt(x Interval) (y Interval, ok bool) {
	if s.last < len(s.treads) {
		if t := &s.treads[s.last]; t.from <= x.Lo && x.Hi <= t.to {
			return t.y, true
		}
	}
	if i := s.before(x.Lo); i >= 0 && x.Hi <= s.treads[i].to {
		s.last = i
		return s.treads[i].y, true
	}
	return y, false
}

// before returns the index of the last tread that begins at or before x, or -1.
func (s *RoundingPlateauCache) before(x float64) int {
	lo, hi := 0, len(s.treads)
	for lo < hi {
		if mid := (lo + hi) / 2; s.treads[mid].from <= x {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

// AddValue records y, the result of the last evaluation of f, for which EvaluateInterval must have reported sure. v is
// the variable that is rounded: f.IsOnlyRoundedIn(v) must hold.
func (s *RoundingPlateauCache) AddValue(f *Func, v int, y Interval) {
	if !s.found {
		_, monotonic := f.moves(v)
		s.found, s.none = true, !monotonic
	}
	x := f.last[v]
	if s.none || !(math.Abs(x.Lo) < math.Inf(1) && math.Abs(x.Hi) < math.Inf(1)) {
		return
	}
	n := f.slots[f.rounds[0]]
	i := s.before(x.Lo)
	switch {
	case i >= 0 && s.treads[i].rounded.same(n):
		s.treads[i].to = max(s.treads[i].to, x.Hi)
	case i+1 < len(s.treads) && s.treads[i+1].rounded.same(n):
		t := &s.treads[i+1]
		t.from, t.to = x.Lo, max(t.to, x.Hi)
	case len(s.treads) == maxTreads:
		s.treads, s.none = nil, true
	default:
		s.treads = slices.Insert(s.treads, i+1, tread{x.Lo, x.Hi, n, y})
	}
}

// HasDiscreteOps reports whether f has an instruction with discrete values, such as a rounding.
func (f *Func) HasDiscreteOps() bool { return len(f.rounds) > 0 }

// IsOnlyRoundedIn reports whether f depends on variable v only through one rounding to integers, and has no other
// instruction with discrete values.
func (f *Func) IsOnlyRoundedIn(v int) bool {
	if len(f.rounds) != 1 || f.code[f.rounds[0]].op != round {
		return false
	}
	besides := make([]bool, len(f.code)) // whether an instruction depends on v without the rounding
	for i := range f.code {
		switch in := &f.code[i]; in.op {
		case constant, round:
		case variable:
			besides[i] = in.e.v == v
		default:
			besides[i] = besides[in.a] || in.e.args[1] != nil && besides[in.b]
		}
	}
	return !besides[len(f.code)-1]
}

// moves returns the direction in which f's rounded expression moves with variable v, as MonotonicDirection does. The
// other variables stay where they were in the last evaluation.
func (f *Func) moves(v int) (d int, ok bool) {
	at := f.code[f.rounds[0]].a
	of := make([]int, at+1)
	for i := range of {
		in := &f.code[i]
		switch {
		case in.op == variable && in.e.v == v:
			of[i] = 1
		case in.op == variable || in.op == constant:
		default:
			x, y := of[in.a], 0
			if in.e.args[1] != nil {
				y = of[in.b]
			}
			sign := func(arg int) (int, bool) { return f.slots[[]int{in.a, in.b}[arg]].sign() }
			if of[i], ok = in.e.moves(x, y, sign); !ok {
				return 0, false
			}
		}
	}
	return of[at], true
}

package real

import (
	"math"
	"slices"
)

// Stairs are what is known of a function that depends on one of its variables through a rounding alone, while the
// others stay where they are: places of the variable, and what the function gives there. Where what is rounded only
// rises or only falls, everything between two places that are rounded to the same number is rounded to it, too. So
// most places of a quantiser need no evaluation. The zero value knows nothing.
type Stairs struct {
	treads []tread // from the left to the right
	last   int     // where the last place was found
	found  bool    // whether what is rounded is known to be monotonic, or not
	none   bool    // it is not
}

// A tread is places from one to another that are rounded to one number.
type tread struct {
	from, to float64
	rounded  Interval // that number, which may be either zero
	y        Interval
}

// maxTreads bounds what is searched for a place: functions with more steps gain nothing.
const maxTreads = 1 << 8

// At is the function where its variable lies in x; ok is false where that has to be evaluated.
func (s *Stairs) At(x Interval) (y Interval, ok bool) {
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

// before is the last tread that begins at or before a place; -1 where none does.
func (s *Stairs) before(x float64) int {
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

// Add notes what f, of which RoundsOnce(v) holds, has given for sure in its last evaluation.
func (s *Stairs) Add(f *Func, v int, y Interval) {
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

// Decides reports whether f has an instruction that gives one of several values, such as a rounding.
func (f *Func) Decides() bool { return len(f.rounds) > 0 }

// RoundsOnce reports whether f depends on variable v through one rounding to whole numbers alone, and decides nothing
// else.
func (f *Func) RoundsOnce(v int) bool {
	if len(f.rounds) != 1 || f.code[f.rounds[0]].op != round {
		return false
	}
	besides := make([]bool, len(f.code)) // depends on v not through the rounding
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

// moves is how what f rounds moves with variable v while the others stay where they were in the last evaluation, as
// Direction tells it.
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

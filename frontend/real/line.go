package real

import "math"

// A line is the affine function that a function probably rounds. Most functions quantise a line, and the line tells
// where they step.
type line struct {
	x, y, slope float64
	mode        RoundingMode
}

// fit finds the line that the only rounding of a function rounds near one end of the integers from lo to hi. It returns
// nil if there is no such line.
func (b *searcher) fit(lo, hi int64) *line {
	if b.at != nil || len(b.f.rounds) != 1 || uint64(hi)-uint64(lo) < fewRounds {
		return nil
	}
	in := b.f.code[b.f.rounds[0]]
	if in.op != round || in.e.mode == RoundingModeAwayFromZero || in.e.mode == RoundingModeTowardsZero {
		return nil
	}
	slot := b.f.unclipped(in.a)
	inside := func(x int64) float64 {
		b.value(x, x)
		return b.f.slots[slot].Lo
	}
	for _, x := range []int64{hi, lo + 1} {
		y := inside(x)
		if slope := y - inside(x-1); slope != 0 && math.Abs(slope) < math.Inf(1) && math.Abs(y) < math.Inf(1) {
			return &line{float64(x), y, slope, in.e.mode}
		}
	}
	return nil
}

// unclipped returns the slot whose value the given slot clips by constant limits. It returns the given slot if that
// does not clip.
func (f *Func) unclipped(slot int) int {
	for in := &f.code[slot]; in.op == minimum || in.op == maximum; in = &f.code[slot] {
		switch {
		case f.code[in.a].of == first:
			slot = in.b
		case f.code[in.b].of == first:
			slot = in.a
		default:
			return slot
		}
	}
	return slot
}

// fewRounds is the number of integers whose evaluation takes about as long as fitting a line.
const fewRounds = 8

// count returns the number of integers from x on that the line rounds to v.
func (l *line) count(x, v int64) uint64 {
	from := float64(v) // the lower end of the reals that are rounded to v
	switch l.mode {
	case RoundingModeTowardsNegativeInf:
	case RoundingModeTowardsPositiveInf:
		from--
	default:
		from -= 0.5
	}
	if l.slope > 0 {
		from++
	}
	switch n := l.x + (from-l.y)/l.slope - float64(x); {
	case n >= 1<<53:
		return 1 << 53
	case n > 0:
		return uint64(n) + 1
	}
	return 1
}

// next returns the value to which the line rounds next after v when the integers grow: v+1 or, if the line falls, v-1.
func (l *line) next(v int64) int64 {
	if l.slope < 0 {
		return v - 1
	}
	return v + 1
}

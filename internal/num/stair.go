package num

// A LineFitTarget is a step function for which a line is sought that equals it: m*x+b over 2^shift, rounded and
// clipped.
//
// On a plateau at a limit, the line must only stay beyond the limit. Any other plateau with value v requires
// least(v) <= m*x+b < least(v+1) at both its ends. Here least(v) is the least integer that gives v when divided by
// 2^shift and rounded; the rounding mode matters only there. All these numbers are integers. So at slope m, some b
// satisfies two such bounds exactly if the bounds leave room.
type LineFitTarget struct {
	F      StepFunction // step function over X: every breakpoint lies inside and changes the value
	X, V   Range        // ranges of inputs and of values
	Limits Range        // range to which the line is clipped
}

// maxTerm limits the magnitude of m*x, and of a value times 2^shift.
const maxTerm = 1 << 61

// NewLineFitTargets returns a LineFitTarget for each step function and its range of inputs x, all with the same limits.
// A single step function, or a single range, is used for all. ok is false if there are none, or if a magnitude is too
// large for any shift.
func NewLineFitTargets(steps []StepFunction, x []Range) (stairs []LineFitTarget, ok bool) {
	if len(steps) == 0 || len(x) == 0 || len(steps) > 1 && len(x) > 1 && len(steps) != len(x) {
		return nil, false
	}
	stairs = make([]LineFitTarget, max(len(steps), len(x)))
	var limits Range
	for c := range stairs {
		in := x[min(c, len(x)-1)]
		s := LineFitTarget{F: steps[min(c, len(steps)-1)].RestrictedTo(in), X: in}
		if s.V = RangeOfValues(s.F.Value); max(s.X.Hi, s.V.Hi) >= maxTerm || min(s.X.Lo, s.V.Lo) <= -maxTerm {
			return nil, false
		}
		if stairs[c] = s; c == 0 {
			limits = s.V
		}
		limits = limits.Union(s.V)
	}
	for c := range stairs {
		stairs[c].Limits = limits
	}
	return stairs, true
}

// PlateauInputs returns the first and the last input at which the step function has its value number i.
func (s LineFitTarget) PlateauInputs(i int) [2]int64 {
	ends := [2]int64{s.X.Lo, s.X.Hi}
	if i > 0 {
		ends[0] = s.F.At[i-1]
	}
	if i < len(s.F.At) {
		ends[1] = s.F.At[i] - 1
	}
	return ends
}

// most returns the greatest multiplier for which products with inputs are small enough.
func (s LineFitTarget) most() int64 { return maxTerm / max(1, s.X.Hi, -s.X.Lo) }

// HasMatchingLine reports whether a line of some slope, over 2^shift and rounded by mode, equals the step function. If
// one does with a shift, another does with the next shift and twice the slope.
func (s LineFitTarget) HasMatchingLine(mode Rounding, shift int) bool {
	var room sums
	between, ok := s.corridor(mode, shift, &room)
	if ok {
		_, ok = between.steepest(1, s.most())
	}
	return ok
}

// MatchingSlopes returns the range of slopes m of lines that equal the step function with the given rounding and shift.
// ok is false if there are none.
func (s LineFitTarget) MatchingSlopes(mode Rounding, shift int) (m Range, ok bool) {
	var room sums
	between, ok := s.corridor(mode, shift, &room)
	if !ok {
		return m, false
	}
	up, ok := between.steepest(1, s.most())
	down, ok2 := between.steepest(-1, s.most())
	return Range{Lo: -down, Hi: up}, ok && ok2
}

// MatchesAtLargerShift reports whether lines that equal the step function with one shift do so with a larger one. They
// do, since twice the sum over twice the divisor is the same, unless a number becomes too large. m holds their
// MatchingSlopes with any rounding.
func (s LineFitTarget) MatchesAtLargerShift(m Range, shift, larger int) bool {
	least := max(m.Lo, -m.Hi, 0) // least magnitude of a slope
	return least <= s.most()>>(larger-shift) && s.fits(larger)
}

// fits reports whether values times 2^shift are small enough.
func (s LineFitTarget) fits(shift int) bool { return max(s.V.Hi+1, 1-s.V.Lo) <= maxTerm>>shift }

// MatchingBiases returns the range of b for lines m*x+b that equal the step function, where m must be one of
// MatchingSlopes.
func (s LineFitTarget) MatchingBiases(mode Rounding, shift int, m int64) Range {
	var room sums
	between, _ := s.corridor(mode, shift, &room)
	b, _, _ := between.biases(m)
	return b
}

// sums is memory for the floor and the ceiling of a corridor, to be used again. It suffices for functions of up to 256
// values.
type sums [2][256]int64

// A corridor holds the bounds within which lines m*x+b equal a step function. Per plateau, floor is the least sum m*x+b
// at both ends, and ceiling is the negative of the greatest sum. Both may be anything.
type corridor struct {
	at             []int64 // where plateaus begin, without the first
	x              Range
	floor, ceiling []int64
}

// anything is the bound that allows any sum. It never decides.
const anything = -3 * maxTerm

// corridor returns the bounds for lines with the given rounding and shift. It uses room as memory if that is large
// enough. ok is false if values times 2^shift are too large.
func (s LineFitTarget) corridor(mode Rounding, shift int, room *sums) (between corridor, ok bool) {
	if !s.fits(shift) {
		return corridor{}, false
	}
	n := len(s.F.Value)
	floor, ceiling := room[0][:], room[1][:]
	if n > len(floor) {
		floor, ceiling = make([]int64, n), make([]int64, n)
	}
	floor, ceiling = floor[:n], ceiling[:n]
	next, least := s.F.Value[0], mode.LeastDividendReaching(s.F.Value[0], shift) // least sum for the next value
	for i, v := range s.F.Value {
		if floor[i] = anything; v > s.Limits.Lo {
			if v != next {
				next, least = v, mode.LeastDividendReaching(v, shift)
			}
			floor[i] = least
		}
		if ceiling[i] = anything; v < s.Limits.Hi {
			next, least = v+1, mode.LeastDividendReaching(v+1, shift)
			ceiling[i] = 1 - least
		}
	}
	return corridor{s.F.At, s.X, floor, ceiling}, true
}

// A corner is a point at which a line meets a bound.
type corner struct{ x, sum int64 }

// biases returns the range of b for lines of slope m. If it is empty, floor and ceiling are the corners that are
// furthest apart. A rising line stays above a floor if it does so at the plateau's first input, and below a ceiling
// if it does so at the last.
func (between *corridor) biases(m int64) (b Range, floor, ceiling corner) {
	const low, high = -2 * maxTerm, 2*maxTerm - 1
	if m >= 0 {
		b.Lo, floor = between.firsts(between.floor, m, low)
		b.Hi, ceiling = between.lasts(between.ceiling, -m, -high)
	} else {
		b.Lo, floor = between.lasts(between.floor, m, low)
		b.Hi, ceiling = between.firsts(between.ceiling, -m, -high)
	}
	b.Hi, ceiling.sum = -b.Hi, -ceiling.sum
	return b, floor, ceiling
}

// firsts returns the greatest difference sum - m*x, where x is the first input of the sum's plateau, with its corner.
// It returns the argument most if no difference exceeds it.
func (between *corridor) firsts(sums []int64, m, most int64) (int64, corner) {
	var p corner
	if b := sums[0] - m*between.x.Lo; b > most {
		most, p = b, corner{between.x.Lo, sums[0]}
	}
	sums = sums[1:]
	for i, x := range between.at[:len(sums)] {
		if b := sums[i] - m*x; b > most {
			most, p = b, corner{x, sums[i]}
		}
	}
	return most, p
}

// lasts does what firsts does, for the last inputs of plateaus.
func (between *corridor) lasts(sums []int64, m, most int64) (int64, corner) {
	var p corner
	last := len(sums) - 1
	for i, x := range between.at[:last] {
		if b := sums[i] - m*(x-1); b > most {
			most, p = b, corner{x - 1, sums[i]}
		}
	}
	if b := sums[last] - m*between.x.Hi; b > most {
		most, p = b, corner{between.x.Hi, sums[last]}
	}
	return most, p
}

// steepest returns the greatest slope of the lines, searching from most down to -most. With sign -1 it mirrors the
// corridor. If a line is too steep for a floor and a later ceiling, the worst such pair gives the next slope. That
// is Newton's method for a ratio (Dinkelbach, Management Science 13, 1967), which takes few rounds. ok is false if
// some pair remains violated at every smaller slope.
func (between *corridor) steepest(sign, most int64) (m int64, ok bool) {
	for m = most; m >= -most; {
		b, floor, ceiling := between.biases(sign * m)
		if b.Lo <= b.Hi {
			return m, true
		}
		run := sign * (ceiling.x - floor.x)
		if run <= 0 {
			return 0, false
		}
		rise := ceiling.sum - floor.sum
		if m = rise / run; rise%run < 0 {
			m-- // round down, not toward 0
		}
	}
	return 0, false
}

package num

// A Stair is a step function that a line may equal: m*x+b over 2^shift, rounded and clipped.
//
// Of a plateau at a limit the line must only keep on the far side. Any other plateau of value v demands
// least(v) <= m*x+b < least(v+1) at both its ends, where least(v) is the least integer that, over 2^shift and rounded,
// comes to v; how it rounds shows in nothing else. All of these are integers, so that two such bounds leave room for
// some b just where they do at the slope m.
type Stair struct {
	F      Step  // over X: every breakpoint lies inside, and changes the value
	X, V   Range // inputs and values
	Limits Range // where the line is clipped
}

// maxTerm is the largest magnitude of m*x, and of a value times 2^shift.
const maxTerm = 1 << 61

// Stairs is step functions over inputs as Stairs, all with the limits of all; one of either serves all. ok is false
// where there are none, or a magnitude is too large for any shift.
func Stairs(steps []Step, x []Range) (stairs []Stair, ok bool) {
	if len(steps) == 0 || len(x) == 0 || len(steps) > 1 && len(x) > 1 && len(steps) != len(x) {
		return nil, false
	}
	stairs = make([]Stair, max(len(steps), len(x)))
	var limits Range
	for c := range stairs {
		in := x[min(c, len(x)-1)]
		s := Stair{F: steps[min(c, len(steps)-1)].Over(in), X: in}
		if s.V = Hull(s.F.Value); max(s.X.Hi, s.V.Hi) >= maxTerm || min(s.X.Lo, s.V.Lo) <= -maxTerm {
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

// Plateau is the first and the last input of value i.
func (s Stair) Plateau(i int) [2]int64 {
	ends := [2]int64{s.X.Lo, s.X.Hi}
	if i > 0 {
		ends[0] = s.F.At[i-1]
	}
	if i < len(s.F.At) {
		ends[1] = s.F.At[i] - 1
	}
	return ends
}

// most is the greatest multiplier.
func (s Stair) most() int64 { return maxTerm / max(1, s.X.Hi, -s.X.Lo) }

// Passes reports whether lines of some slope equal the stair. What one shift serves, the next serves with twice the
// slope.
func (s Stair) Passes(mode Rounding, shift int) bool {
	var room sums
	between, ok := s.corridor(mode, shift, &room)
	if ok {
		_, ok = between.steepest(1, s.most())
	}
	return ok
}

// Multipliers is the slopes of lines that equal the stair.
func (s Stair) Multipliers(mode Rounding, shift int) (m Range, ok bool) {
	var room sums
	between, ok := s.corridor(mode, shift, &room)
	if !ok {
		return m, false
	}
	up, ok := between.steepest(1, s.most())
	down, ok2 := between.steepest(-1, s.most())
	return Range{Lo: -down, Hi: up}, ok && ok2
}

// Lasts reports whether lines that equal the stair with a shift do so with a larger one, too: twice the sum over twice
// the divisor is the same, unless something becomes too large. m is their Multipliers, of any rounding.
func (s Stair) Lasts(m Range, shift, larger int) bool {
	least := max(m.Lo, -m.Hi, 0) // magnitude
	return least <= s.most()>>(larger-shift) && s.fits(larger)
}

// fits reports whether values times 2^shift are not too large.
func (s Stair) fits(shift int) bool { return max(s.V.Hi+1, 1-s.V.Lo) <= maxTerm>>shift }

// Biases is the b of the lines of slope m, one of Multipliers.
func (s Stair) Biases(mode Rounding, shift int, m int64) Range {
	var room sums
	between, _ := s.corridor(mode, shift, &room)
	b, _, _ := between.biases(m)
	return b
}

// sums is room for the bounds of most stairs, of codes of a byte: these are looked at again and again.
type sums [2][256]int64

// A corridor is where a stair's lines m*x+b pass through: what they come to at both ends of every plateau at least, and
// what they come to at most, with the other sign.
type corridor struct {
	at             []int64 // where plateaus begin, but for the first one
	x              Range
	floor, ceiling []int64
}

// anything is a bound of what may be anything: of no line it is the one that counts.
const anything = -3 * maxTerm

// corridor is that of the stair, in the room where that is enough. ok is false where values times 2^shift are too
// large.
func (s Stair) corridor(mode Rounding, shift int, room *sums) (between corridor, ok bool) {
	if !s.fits(shift) {
		return corridor{}, false
	}
	n := len(s.F.Value)
	floor, ceiling := room[0][:], room[1][:]
	if n > len(floor) {
		floor, ceiling = make([]int64, n), make([]int64, n)
	}
	floor, ceiling = floor[:n], ceiling[:n]
	next, least := s.F.Value[0], mode.Least(s.F.Value[0], shift) // of the next value
	for i, v := range s.F.Value {
		if floor[i] = anything; v > s.Limits.Lo {
			if v != next {
				next, least = v, mode.Least(v, shift)
			}
			floor[i] = least
		}
		if ceiling[i] = anything; v < s.Limits.Hi {
			next, least = v+1, mode.Least(v+1, shift)
			ceiling[i] = 1 - least
		}
	}
	return corridor{s.F.At, s.X, floor, ceiling}, true
}

// A corner is where a line comes to a bound.
type corner struct{ x, sum int64 }

// biases is the b of the lines of slope m. Where there are none, floor and ceiling are the corners that are furthest
// apart. A line that rises is above a floor where it is so at its first input, and below a ceiling where it is so at
// its last.
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

// firsts is the greatest sum less m times the first input of its plateau, and that corner, if it is more than some.
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

// lasts is that of the last inputs.
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

// steepest is the greatest slope of the lines, from most down to -most; sign is -1 for those of the mirrored corridor.
// As long as the line of a slope is too steep for a floor with a ceiling further along, the pair for which it is so by
// most gives the next slope. That is Newton's method for a ratio (Dinkelbach, Management Science 13, 1967), and takes a
// few rounds. ok is false where a pair comes up that no lesser slope puts right.
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
			m-- // down, not toward 0
		}
	}
	return 0, false
}

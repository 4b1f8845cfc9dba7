package num

import "math/big"

// maxEvaluations limits how many inputs FitRequant compares before it gives up.
const maxEvaluations = 1 << 21

// FitRequant finds the Requant that equals clip(round(x*scale)) for every integer x in in. It tries shifts in
// increasing order. With each shift it tries the two integers next to scale*2^Shift, the nearer first. A dyadic
// scale ends the search at the latest.
//
// The result is proved with exact rationals. Both functions are monotone. So they are equal everywhere if they are
// equal on both sides of every change of the wanted function. ok is false if no Requant within 63 bits is equal. It
// is also false if the function changes more than about a million times and the scale is no integer over a power of
// two.
func FitRequant(scale *big.Rat, mode Rounding, in Range, lo, hi int64) (q Requant, ok bool) {
	q = Requant{Mode: mode, Lo: lo, Hi: hi}
	if q.Verify() != nil || in.Lo > in.Hi || signedBits(in.Lo) > maxRequantBits || signedBits(in.Hi) > maxRequantBits {
		return Requant{}, false
	}
	w := wanted{num: scale.Num(), den: scale.Denom(), mode: mode, lo: lo, hi: hi}
	at, proof := w.decisive(in)
	for q.Shift = 0; q.Shift <= MaxRequantShift; q.Shift++ {
		scaled := new(big.Int).Lsh(w.num, uint(q.Shift))
		m := rounded(scaled, w.den, RoundingHalfAwayFromZero)
		if m.BitLen() >= maxRequantBits {
			break
		}
		q.Multiplier = m.Int64()
		side := int64(scaled.Cmp(m.Mul(m, w.den))) // side of the nearest integer on which the scale lies
		if side == 0 {
			_, ok = q.ProductRange(in)
			return q, ok
		}
		for range 2 {
			if _, fits := q.ProductRange(in); proof && fits && q.meets(at) {
				return q, true
			}
			q.Multiplier += side
		}
	}
	return Requant{}, false
}

// An evaluation is a point of a function: y is its value at x.
type evaluation struct{ x, y int64 }

// meets reports whether q has the values of all points in the list. It compares them from both ends inwards, because a
// scale that is slightly wrong shows first at large x.
func (q Requant) meets(at []evaluation) bool {
	for i, j := 0, len(at)-1; i <= j; i, j = i+1, j-1 {
		if q.Apply(at[i].x) != at[i].y || q.Apply(at[j].x) != at[j].y {
			return false
		}
	}
	return true
}

// A wanted is the function that FitRequant must match, with the scale num/den.
type wanted struct {
	num, den *big.Int // den is positive
	mode     Rounding
	lo, hi   int64
}

// at returns the function's value at x.
func (w wanted) at(x int64) int64 {
	v := big.NewInt(x)
	v = rounded(v.Mul(v, w.num), w.den, w.mode)
	switch {
	case v.IsInt64():
		return min(max(v.Int64(), w.lo), w.hi)
	case v.Sign() < 0:
		return w.lo
	}
	return w.hi
}

// decisive returns the points that decide equality, in order: the ends of the range and both sides of every change.
// ok is false if there are too many.
func (w wanted) decisive(in Range) (at []evaluation, ok bool) {
	first, last := w.at(in.Lo), w.at(in.Hi)
	changes := Range{min(first, last), max(first, last)}.ValueCount() - 1
	if in.ValueCount() <= min(changes, maxEvaluations) || in.ValueCount() <= 2 {
		for x := in.Lo; ; x++ {
			if at = append(at, evaluation{x, w.at(x)}); x == in.Hi {
				return at, true
			}
		}
	}
	if changes > maxEvaluations/2 {
		return nil, false
	}
	rising, v := w, first
	if first > last { // w falls below v where -w reaches 1-v
		rising, v = w.mirrored(), -first
	}
	at = append(at, evaluation{in.Lo, first})
	for range changes {
		v++
		x := rising.least(v)
		at = append(at, evaluation{x - 1, w.at(x - 1)}, evaluation{x, w.at(x)})
	}
	return append(at, evaluation{in.Hi, last}), true
}

// mirrored returns the negative of the function without its limits. Rounding up and down swap places.
func (w wanted) mirrored() wanted {
	w.num = new(big.Int).Neg(w.num)
	switch w.mode {
	case RoundingFloor:
		w.mode = RoundingCeil
	case RoundingCeil:
		w.mode = RoundingFloor
	case RoundingHalfUp:
		w.mode = halfDown
	}
	return w
}

// least returns the least x whose rounded value is at least v, for a rising function. At this x the product
// x*num/den reaches the boundary below v, or exceeds it if the boundary itself rounds down.
func (w wanted) least(v int64) int64 {
	halves, reached := w.mode.boundary(v)
	n := big.NewInt(v)
	n.Lsh(n, 1).Sub(n, big.NewInt(halves))
	n.Mul(n, w.den)
	d := new(big.Int).Lsh(w.num, 1)
	x, rest := n.DivMod(n, d, new(big.Int))
	if rest.Sign() > 0 || !reached {
		x.Add(x, big.NewInt(1))
	}
	return x.Int64() // lies within the range, since the value changes there
}

// rounded returns n/d as an integer, rounded by mode, for a positive d.
func rounded(n, d *big.Int, mode Rounding) *big.Int {
	floor, rest := new(big.Int).DivMod(n, d, new(big.Int))
	tie := rest.Lsh(rest, 1).Cmp(d) // compares twice the rest with d
	var up bool
	switch mode {
	case RoundingHalfEven:
		up = tie > 0 || tie == 0 && floor.Bit(0) == 1
	case RoundingHalfOdd:
		up = tie > 0 || tie == 0 && floor.Bit(0) == 0
	case RoundingHalfUp:
		up = tie >= 0
	case halfDown:
		up = tie > 0
	case RoundingHalfTowardZero:
		up = tie > 0 || tie == 0 && n.Sign() < 0
	case RoundingHalfAwayFromZero:
		up = tie > 0 || tie == 0 && n.Sign() >= 0
	case RoundingTowardZero:
		up = n.Sign() < 0 && rest.Sign() > 0
	case RoundingCeil:
		up = rest.Sign() > 0
	case RoundingAwayFromZero:
		up = n.Sign() >= 0 && rest.Sign() > 0
	}
	if up {
		floor.Add(floor, big.NewInt(1))
	}
	return floor
}

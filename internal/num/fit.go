package num

import "math/big"

// maxEvaluations is how many inputs FitRequant compares at most.
const maxEvaluations = 1 << 21

// FitRequant finds the Requant that equals clip(round(x*scale)) for every integer x in in. It tries shifts in
// increasing order, and with each the two integers around scale*2^Shift, the nearer one first; a dyadic scale ends this
// at the latest.
//
// The outcome is proved, on exact rationals: both functions are monotone, and so they are equal everywhere if they are
// on both sides of wherever the wanted one changes. ok is false where nothing within 63 bits is equal, and where there
// is more to compare than about a million changes and the scale is no integer over a power of two.
func FitRequant(scale *big.Rat, mode Rounding, in Range, lo, hi int64) (q Requant, ok bool) {
	q = Requant{Mode: mode, Lo: lo, Hi: hi}
	if q.Verify() != nil || in.Lo > in.Hi || signedBits(in.Lo) > maxRequantBits || signedBits(in.Hi) > maxRequantBits {
		return Requant{}, false
	}
	w := wanted{num: scale.Num(), den: scale.Denom(), mode: mode, lo: lo, hi: hi}
	at, proof := w.decisive(in)
	for q.Shift = 0; q.Shift <= MaxRequantShift; q.Shift++ {
		scaled := new(big.Int).Lsh(w.num, uint(q.Shift))
		m := rounded(scaled, w.den, HalfAway)
		if m.BitLen() >= maxRequantBits {
			break
		}
		q.Multiplier = m.Int64()
		side := int64(scaled.Cmp(m.Mul(m, w.den))) // of the nearest integer on which the scale lies
		if side == 0 {
			_, ok = q.Product(in)
			return q, ok
		}
		for range 2 {
			if _, fits := q.Product(in); proof && fits && q.meets(at) {
				return q, true
			}
			q.Multiplier += side
		}
	}
	return Requant{}, false
}

// An evaluation is what a function is at x.
type evaluation struct{ x, y int64 }

// meets compares with evaluations, from both ends inwards: a scale that is a little off shows first where x is large.
func (q Requant) meets(at []evaluation) bool {
	for i, j := 0, len(at)-1; i <= j; i, j = i+1, j-1 {
		if q.Apply(at[i].x) != at[i].y || q.Apply(at[j].x) != at[j].y {
			return false
		}
	}
	return true
}

// wanted is the function that is to be met, of the scale num/den.
type wanted struct {
	num, den *big.Int // den is positive
	mode     Rounding
	lo, hi   int64
}

// at is the function's value at x.
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

// decisive is the ends of the range and, in order, both sides of wherever the function changes. ok is false where these
// are too many.
func (w wanted) decisive(in Range) (at []evaluation, ok bool) {
	first, last := w.at(in.Lo), w.at(in.Hi)
	changes := Range{min(first, last), max(first, last)}.Count() - 1
	if in.Count() <= min(changes, maxEvaluations) || in.Count() <= 2 {
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
	if first > last { // w falls below v where -w comes to 1-v
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

// mirrored is minus the function, but for the limits: rounding up and down change places.
func (w wanted) mirrored() wanted {
	w.num = new(big.Int).Neg(w.num)
	switch w.mode {
	case Floor:
		w.mode = Ceil
	case Ceil:
		w.mode = Floor
	case HalfUp:
		w.mode = halfDown
	}
	return w
}

// least is the first x whose rounded value is at least v, of a rising function. That is where x*num/den comes to the
// boundary below v, or passes it where the boundary itself rounds down.
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
	return x.Int64() // within the range, for the value changes there
}

// rounded is n/d, of a positive d.
func rounded(n, d *big.Int, mode Rounding) *big.Int {
	floor, rest := new(big.Int).DivMod(n, d, new(big.Int))
	tie := rest.Lsh(rest, 1).Cmp(d) // of twice the rest with one
	var up bool
	switch mode {
	case HalfEven:
		up = tie > 0 || tie == 0 && floor.Bit(0) == 1
	case HalfUp:
		up = tie >= 0
	case halfDown:
		up = tie > 0
	case HalfTowardZero:
		up = tie > 0 || tie == 0 && n.Sign() < 0
	case HalfAway:
		up = tie > 0 || tie == 0 && n.Sign() >= 0
	case TowardZero:
		up = n.Sign() < 0 && rest.Sign() > 0
	case Ceil:
		up = rest.Sign() > 0
	case AwayFromZero:
		up = n.Sign() >= 0 && rest.Sign() > 0
	}
	if up {
		floor.Add(floor, big.NewInt(1))
	}
	return floor
}

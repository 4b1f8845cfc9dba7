package real

import (
	"math"
	"math/big"
)

// An Interval is a closed interval [Lo, Hi] of reals that certainly holds the true value. Every operation rounds
// outwards, and only if it is inexact. Error-free transformations compute the remainder of a sum, product, quotient or
// root exactly, and so tell on which side the truth lies. So models whose scales are powers of two stay points
// throughout, and their ties are recognised as ties.
type Interval struct{ Lo, Hi float64 }

// NewPointInterval returns the interval that holds v alone.
func NewPointInterval(v float64) Interval { return Interval{v, v} }

// IsPoint reports whether the interval holds one value alone.
func (x Interval) IsPoint() bool { return x.Lo == x.Hi }

// same reports whether two intervals have the same ends, bit by bit.
func (x Interval) same(y Interval) bool {
	return math.Float64bits(x.Lo) == math.Float64bits(y.Lo) && math.Float64bits(x.Hi) == math.Float64bits(y.Hi)
}

// sign returns -1 or 1, the sign of all numbers in x. ok is false if x holds 0.
func (x Interval) sign() (s int, ok bool) {
	switch {
	case x.Lo > 0:
		return 1, true
	case x.Hi < 0:
		return -1, true
	}
	return 0, false
}

// IntervalOfAllReals is the interval of all real numbers, for a value of which nothing is known.
var IntervalOfAllReals = Interval{math.Inf(-1), math.Inf(1)}

// tiny is the magnitude below which the remainder of a product may underflow, so that it no longer tells the direction
// of rounding.
const tiny = 0x1p-960

// up returns the next float64 above v, which is +Inf above the largest.
func up(v float64) float64 {
	switch {
	case v > 0 && v < math.Inf(1):
		return math.Float64frombits(math.Float64bits(v) + 1)
	case v < 0:
		return math.Float64frombits(math.Float64bits(v) - 1)
	}
	return math.Nextafter(v, math.Inf(1))
}

func down(v float64) float64 { return -up(-v) }

// outward returns the interval between v and its neighbour on the side of the truth. v is the rounded value, and rest
// has the sign of truth - v.
func outward(v, rest float64) Interval {
	switch {
	case rest > 0:
		return Interval{v, up(v)}
	case rest < 0:
		return Interval{down(v), v}
	}
	return Interval{v, v}
}

func addPt(a, b float64) Interval {
	s := a + b
	switch {
	case math.IsNaN(s): // infinities of both signs
		return IntervalOfAllReals
	case math.IsInf(s, 0):
		return overflow(s, a, b)
	}
	t := s - a
	rest := (a - (s - t)) + (b - t)
	if math.IsNaN(rest) { // an intermediate value overflowed, though the sum did not
		return around(new(big.Rat).Add(rat(a), rat(b)))
	}
	return outward(s, rest)
}

func mulPt(a, b float64) Interval {
	if a == 0 || b == 0 {
		return Interval{}
	}
	p := a * b
	if math.IsInf(p, 0) {
		return overflow(p, a, b)
	}
	if math.Abs(p) < tiny {
		return around(new(big.Rat).Mul(rat(a), rat(b)))
	}
	return outward(p, math.FMA(a, b, -p))
}

func divPt(a, b float64) Interval {
	if a == 0 {
		return Interval{}
	}
	q := a / b
	if math.IsInf(q, 0) {
		return overflow(q, a, b)
	}
	switch {
	case math.IsInf(b, 0) && math.IsInf(a, 0):
		return IntervalOfAllReals
	case math.IsInf(b, 0):
		return Interval{down(q), up(q)}
	case math.Abs(q) < tiny || math.Abs(a) < tiny:
		return around(new(big.Rat).Quo(rat(a), rat(b)))
	}
	rest := math.FMA(-q, b, a)
	if b < 0 {
		rest = -rest
	}
	return outward(q, rest)
}

func sqrtPt(a float64) Interval {
	if a <= 0 {
		return Interval{}
	}
	if math.IsInf(a, 0) {
		return Interval{a, a}
	}
	scale := 1.0
	if a < tiny {
		a, scale = a*0x1p600, 0x1p-300
	}
	s := math.Sqrt(a)
	return outward(s*scale, math.FMA(-s, s, a))
}

// rat returns the exact value of a finite float64.
func rat(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }

// overflow returns the interval of a result that is beyond float64. It begins at the largest float64, or at infinity if
// an operand was infinite.
func overflow(v, a, b float64) Interval {
	big := math.MaxFloat64
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		big = math.Inf(1)
	}
	if v > 0 {
		return Interval{big, math.Inf(1)}
	}
	return Interval{math.Inf(-1), -big}
}

// Add returns an interval that holds the sum of each number in x and each in y.
func (x Interval) Add(y Interval) Interval {
	if x.IsPoint() && y.IsPoint() {
		return addPt(x.Lo, y.Lo)
	}
	return Interval{addPt(x.Lo, y.Lo).Lo, addPt(x.Hi, y.Hi).Hi}
}

// neg returns the interval of the numbers of x with the opposite sign.
func (x Interval) neg() Interval { return Interval{-x.Hi, -x.Lo} }

// sub returns an interval that holds each number in x minus each in y.
func (x Interval) sub(y Interval) Interval { return x.Add(y.neg()) }

// Mul returns an interval that holds the product of each number in x and each in y.
func (x Interval) Mul(y Interval) Interval {
	if x.IsPoint() && y.IsPoint() {
		return mulPt(x.Lo, y.Lo)
	}
	if y.IsPoint() {
		return hull(mulPt(x.Lo, y.Lo), mulPt(x.Hi, y.Lo))
	}
	return hull(mulPt(x.Lo, y.Lo), mulPt(x.Lo, y.Hi), mulPt(x.Hi, y.Lo), mulPt(x.Hi, y.Hi))
}

// div returns an interval that holds each number in x divided by each in y. It returns IntervalOfAllReals if y holds
// zero.
func (x Interval) div(y Interval) Interval {
	if y.Lo <= 0 && y.Hi >= 0 {
		return IntervalOfAllReals
	}
	if y.IsPoint() && math.IsInf(y.Lo, 0) && !math.IsInf(x.Lo, 0) && !math.IsInf(x.Hi, 0) {
		return Interval{}
	}
	if x.IsPoint() && y.IsPoint() {
		return divPt(x.Lo, y.Lo)
	}
	if y.IsPoint() {
		return hull(divPt(x.Lo, y.Lo), divPt(x.Hi, y.Lo))
	}
	return hull(divPt(x.Lo, y.Lo), divPt(x.Lo, y.Hi), divPt(x.Hi, y.Lo), divPt(x.Hi, y.Hi))
}

// sqrt returns an interval that holds the square root of each number in x. It returns IntervalOfAllReals if x holds a
// negative number.
func (x Interval) sqrt() Interval {
	if x.Lo < 0 {
		return IntervalOfAllReals
	}
	return Interval{sqrtPt(x.Lo).Lo, sqrtPt(x.Hi).Hi}
}

// abs returns the interval of the magnitudes of the numbers in x.
func (x Interval) abs() Interval {
	switch {
	case x.Lo >= 0:
		return x
	case x.Hi <= 0:
		return x.neg()
	}
	return Interval{0, max(-x.Lo, x.Hi)}
}

// min returns the interval whose ends are the smaller ones of the ends of x and y.
func (x Interval) min(y Interval) Interval { return Interval{min(x.Lo, y.Lo), min(x.Hi, y.Hi)} }

// max returns the interval whose ends are the larger ones of the ends of x and y.
func (x Interval) max(y Interval) Interval { return Interval{max(x.Lo, y.Lo), max(x.Hi, y.Hi)} }

func hull(xs ...Interval) Interval {
	h := xs[0]
	for _, x := range xs[1:] {
		h.Lo, h.Hi = min(h.Lo, x.Lo), max(h.Hi, x.Hi)
	}
	return h
}

// atLeast returns 1 if certainly x >= y, 0 if certainly x < y, and [0, 1] otherwise.
func (x Interval) atLeast(y Interval) Interval {
	switch {
	case x.Lo >= y.Hi:
		return NewPointInterval(1)
	case x.Hi < y.Lo:
		return Interval{}
	}
	return Interval{0, 1}
}

// powerBelow returns an interval that holds the greatest power of two not above |v|, for each v in x.
func (x Interval) powerBelow() Interval {
	below := func(v float64) float64 {
		if v == 0 || math.IsInf(v, 0) {
			return v
		}
		_, e := math.Frexp(v)
		return math.Ldexp(1, e-1)
	}
	x = x.abs()
	return Interval{below(x.Lo), below(x.Hi)}
}

package real

import (
	"math"
	"math/big"
)

// An Interval is a set of reals [Lo, Hi] with float64 ends that surely holds the true value. Every operation rounds
// outwards, and only where it is inexact: error-free transformations (the remainder of a sum, product, quotient or
// root is itself computed exactly) tell on which side the truth lies. Models with power-of-two scales therefore stay
// points throughout, and their ties are seen as ties.
type Interval struct{ Lo, Hi float64 }

// Pt is the interval of one float64.
func Pt(v float64) Interval { return Interval{v, v} }

// Point reports whether the interval is one value.
func (x Interval) Point() bool { return x.Lo == x.Hi }

// same reports whether two intervals have the same ends, bit by bit.
func (x Interval) same(y Interval) bool {
	return math.Float64bits(x.Lo) == math.Float64bits(y.Lo) && math.Float64bits(x.Hi) == math.Float64bits(y.Hi)
}

// sign is the sign of what lies in an interval; ok is false where 0 may be among it.
func (x Interval) sign() (s int, ok bool) {
	switch {
	case x.Lo > 0:
		return 1, true
	case x.Hi < 0:
		return -1, true
	}
	return 0, false
}

// Everything is what is known of a value of which nothing is known.
var Everything = Interval{math.Inf(-1), math.Inf(1)}

// tiny is the magnitude below which the remainder of a product may itself be rounded away.
const tiny = 0x1p-960

// up is the next float64 above v.
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

// outward turns a rounded value and the sign of (truth - value) into the interval between neighbours.
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
		return Everything
	case math.IsInf(s, 0):
		return overflow(s, a, b)
	}
	t := s - a
	rest := (a - (s - t)) + (b - t)
	if math.IsNaN(rest) { // t went beyond float64, though the sum did not
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
		return Everything
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

// rat is the rational that a finite float64 is.
func rat(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }

// overflow is the interval of a result beyond float64: from the largest float64 on, or infinite where an end was.
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

// Add is x+y.
func (x Interval) Add(y Interval) Interval {
	if x.Point() && y.Point() {
		return addPt(x.Lo, y.Lo)
	}
	return Interval{addPt(x.Lo, y.Lo).Lo, addPt(x.Hi, y.Hi).Hi}
}

// Neg is -x.
func (x Interval) Neg() Interval { return Interval{-x.Hi, -x.Lo} }

// Sub is x-y.
func (x Interval) Sub(y Interval) Interval { return x.Add(y.Neg()) }

// Mul is x*y.
func (x Interval) Mul(y Interval) Interval {
	if x.Point() && y.Point() {
		return mulPt(x.Lo, y.Lo)
	}
	if y.Point() {
		return hull(mulPt(x.Lo, y.Lo), mulPt(x.Hi, y.Lo))
	}
	return hull(mulPt(x.Lo, y.Lo), mulPt(x.Lo, y.Hi), mulPt(x.Hi, y.Lo), mulPt(x.Hi, y.Hi))
}

// Div is x/y; Everything where y may be zero.
func (x Interval) Div(y Interval) Interval {
	if y.Lo <= 0 && y.Hi >= 0 {
		return Everything
	}
	if y.Point() && math.IsInf(y.Lo, 0) && !math.IsInf(x.Lo, 0) && !math.IsInf(x.Hi, 0) {
		return Interval{}
	}
	if x.Point() && y.Point() {
		return divPt(x.Lo, y.Lo)
	}
	if y.Point() {
		return hull(divPt(x.Lo, y.Lo), divPt(x.Hi, y.Lo))
	}
	return hull(divPt(x.Lo, y.Lo), divPt(x.Lo, y.Hi), divPt(x.Hi, y.Lo), divPt(x.Hi, y.Hi))
}

// Sqrt is the root of x; Everything where x may be negative.
func (x Interval) Sqrt() Interval {
	if x.Lo < 0 {
		return Everything
	}
	return Interval{sqrtPt(x.Lo).Lo, sqrtPt(x.Hi).Hi}
}

// Abs is |x|.
func (x Interval) Abs() Interval {
	switch {
	case x.Lo >= 0:
		return x
	case x.Hi <= 0:
		return x.Neg()
	}
	return Interval{0, max(-x.Lo, x.Hi)}
}

// Min and Max are taken of each end.
func (x Interval) Min(y Interval) Interval { return Interval{min(x.Lo, y.Lo), min(x.Hi, y.Hi)} }

// Max is described at Min.
func (x Interval) Max(y Interval) Interval { return Interval{max(x.Lo, y.Lo), max(x.Hi, y.Hi)} }

func hull(xs ...Interval) Interval {
	h := xs[0]
	for _, x := range xs[1:] {
		h.Lo, h.Hi = min(h.Lo, x.Lo), max(h.Hi, x.Hi)
	}
	return h
}

// atLeast is 1 where x >= y for sure, 0 where x < y for sure, and both where neither is.
func (x Interval) atLeast(y Interval) Interval {
	switch {
	case x.Lo >= y.Hi:
		return Pt(1)
	case x.Hi < y.Lo:
		return Interval{}
	}
	return Interval{0, 1}
}

// powerBelow is the greatest power of two at or below |x|.
func (x Interval) powerBelow() Interval {
	below := func(v float64) float64 {
		if v == 0 || math.IsInf(v, 0) {
			return v
		}
		_, e := math.Frexp(v)
		return math.Ldexp(1, e-1)
	}
	x = x.Abs()
	return Interval{below(x.Lo), below(x.Hi)}
}

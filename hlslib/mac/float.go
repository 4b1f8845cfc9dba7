package mac

import (
	"math/bits"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/num"
)

// floats reports whether weights or inputs are minifloats. Then a product is one of significands, shifted by the sum
// of the exponents.
func floats(u *Unit) bool { return u.Weight.IsFloat() || u.in.IsFloat() }

// rawBits returns the width of the largest magnitude of a product before it is requantised.
func rawBits(u *Unit) int { return num.NarrowestInt(num.Range{Hi: max(u.raw.Hi, -u.raw.Lo)}).Width }

// MinifloatFactors returns the parts of a product of minifloats for the cost formulas, or the zero value if it is one
// of integers.
func MinifloatFactors(u *Unit) cost.FloatFactors {
	if !floats(u) {
		return cost.FloatFactors{}
	}
	w, a := significand(u.Weight), significand(u.in)
	shift := shifts(u.Weight) + shifts(u.in)
	return cost.FloatFactors{Weight: w, Input: a, Product: min(rawBits(u), w+a+shift), Levels: bits.Len(uint(shift)),
		Exponents: exponent(u.Weight) + exponent(u.in), Signed: u.Weight.Kind == num.Float || u.in.Kind == num.Float}
}

// significand returns the width of the integer that is multiplied for an element of type t: the significand of a
// minifloat.
func significand(t num.Type) int {
	if t.IsFloat() {
		return t.Mantissa + 1
	}
	return t.Width
}

// shifts returns by how many bits the significand of type t is shifted at most; 0 for an integer.
func shifts(t num.Type) int {
	if t.IsFloat() {
		return max(0, 1<<t.Exponent()-2)
	}
	return 0
}

func exponent(t num.Type) int {
	if t.IsFloat() {
		return t.Exponent()
	}
	return 0
}

// integer returns the integer type that holds all values of t.
func integer(t num.Type) num.Type {
	if t.IsFloat() {
		return num.NarrowestInt(t.Range())
	}
	return t
}

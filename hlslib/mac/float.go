package mac

import (
	"math/bits"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/num"
)

// floats reports whether the unit's weights or inputs are minifloats. Then a product is one of significands, shifted by
// the sum of the exponents.
func floats(u *Unit) bool { return u.Weight.IsMinifloat() || u.in.IsMinifloat() }

// rawBits returns the width of the largest magnitude of a product before it is requantised.
func rawBits(u *Unit) int {
	return num.NarrowestIntTypeFor(num.Range{Hi: max(u.raw.Hi, -u.raw.Lo)}).Width
}

// MinifloatProductOf returns the parts of a product of minifloats for the cost formulas, or the zero value if it is one
// of integers.
func MinifloatProductOf(u *Unit) cost.MinifloatProduct {
	if !floats(u) {
		return cost.MinifloatProduct{}
	}
	w, a := significand(u.Weight), significand(u.in)
	shift := shifts(u.Weight) + shifts(u.in)
	return cost.MinifloatProduct{Weight: w, Input: a, Product: min(rawBits(u), w+a+shift),
		Levels:    bits.Len(uint(shift)),
		Exponents: exponent(u.Weight) + exponent(u.in), Signed: u.Weight.Kind == num.KindFloat ||
			u.in.Kind == num.KindFloat}
}

// significand returns the width of the integer that is multiplied for an element of type t: the significand of a
// minifloat.
func significand(t num.Type) int {
	if t.IsMinifloat() {
		return t.Mantissa + 1
	}
	return t.Width
}

// shifts returns the largest number of bits by which the significand of type t is shifted; 0 for an integer.
func shifts(t num.Type) int {
	if t.IsMinifloat() {
		return max(0, 1<<t.ExponentBits()-2)
	}
	return 0
}

func exponent(t num.Type) int {
	if t.IsMinifloat() {
		return t.ExponentBits()
	}
	return 0
}

// integer returns the integer type that holds all values of t.
func integer(t num.Type) num.Type {
	if t.IsMinifloat() {
		return num.NarrowestIntTypeFor(t.Range())
	}
	return t
}

package mac

import (
	"math/bits"

	"hlsgen/hlslib/cost"
	"hlsgen/internal/num"
)

// floats reports whether weights or inputs are minifloats: a product is one of significands, shifted by the sum of the
// exponents.
func floats(u *Unit) bool { return u.Weight.IsFloat() || u.in.IsFloat() }

// rawBits is the bits of the largest magnitude of a product.
func rawBits(u *Unit) int { return num.Smallest(num.Range{Hi: max(u.raw.Hi, -u.raw.Lo)}).Width }

// Factors is what a product of minifloats is made of; the zero value of one of integers.
func Factors(u *Unit) cost.Factors {
	if !floats(u) {
		return cost.Factors{}
	}
	w, a := significand(u.Weight), significand(u.in)
	shift := shifts(u.Weight) + shifts(u.in)
	return cost.Factors{Weight: w, Input: a, Product: min(rawBits(u), w+a+shift), Levels: bits.Len(uint(shift)),
		Exponents: exponent(u.Weight) + exponent(u.in), Signed: u.Weight.Kind == num.Float || u.in.Kind == num.Float}
}

// significand is the bits that are multiplied of an element of a type.
func significand(t num.Type) int {
	if t.IsFloat() {
		return t.Mantissa + 1
	}
	return t.Width
}

// shifts is the most that a minifloat's significand is shifted.
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

// integer is the integers that hold what a type holds.
func integer(t num.Type) num.Type {
	if t.IsFloat() {
		return num.Smallest(t.Range())
	}
	return t
}

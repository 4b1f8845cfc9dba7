package num

import (
	"fmt"
	"math/big"
	"slices"
)

// A Rounding is the name of a rule by which a number is rounded to an integer.
type Rounding string

// The roundings. The first four round to the nearest integer and differ only for ties.
const (
	RoundingHalfEven         Rounding = "half-even"
	RoundingHalfUp           Rounding = "half-up"
	RoundingHalfTowardZero   Rounding = "half-toward-zero"
	RoundingHalfAwayFromZero Rounding = "half-away"
	RoundingFloor            Rounding = "floor"
	RoundingTowardZero       Rounding = "toward-zero"
	RoundingCeil             Rounding = "ceil"
	RoundingAwayFromZero     Rounding = "away-from-zero"
)

// RoundingHalfOdd rounds to the nearest integer, and ties to the odd one. An odd number added behind RoundingHalfEven
// gives it. It occurs in exact quantisers only: no layer rounds so, and it is not among Roundings.
const RoundingHalfOdd Rounding = "half-odd"

// Roundings lists all roundings, in the order of their codes in hlslib/core/requant.hpp.
var Roundings = []Rounding{RoundingHalfEven, RoundingHalfUp, RoundingHalfTowardZero, RoundingHalfAwayFromZero,
	RoundingFloor,
	RoundingTowardZero, RoundingCeil,
	RoundingAwayFromZero}

// Verify returns an error if r is no rounding.
func (r Rounding) Verify() error {
	if !slices.Contains(Roundings, r) {
		return fmt.Errorf("unknown rounding %q", r)
	}
	return nil
}

// KernelCode returns the code of r in hlslib/core/requant.hpp, or -1 if r is no rounding.
func (r Rounding) KernelCode() int { return slices.Index(Roundings, r) }

// DivideByPowerOfTwo returns p/2^shift, rounded. p must fit into 63 bits, and shift must lie in 0..MaxRequantShift.
func (r Rounding) DivideByPowerOfTwo(p int64, shift int) int64 {
	if shift == 0 {
		return p
	}
	floor, half := p>>shift, int64(1)<<(shift-1)
	rest := p - floor<<shift
	var up bool
	switch r {
	case RoundingHalfEven:
		up = rest > half || rest == half && floor&1 != 0
	case RoundingHalfUp:
		up = rest >= half
	case RoundingHalfTowardZero:
		up = rest > half || rest == half && p < 0
	case RoundingHalfAwayFromZero:
		up = rest > half || rest == half && p >= 0
	case RoundingTowardZero:
		up = p < 0 && rest > 0
	case RoundingCeil:
		up = rest > 0
	case RoundingAwayFromZero:
		up = p >= 0 && rest > 0
	}
	if up {
		floor++
	}
	return floor
}

// DivideWideByPowerOfTwo returns p/2^shift, rounded. The shift must lie in 0..127.
func (r Rounding) DivideWideByPowerOfTwo(p Wide, shift int) Wide {
	if v, ok := p.Int64(); ok && v>>62 == v>>63 && shift <= MaxRequantShift {
		return WideOf(r.DivideByPowerOfTwo(v, shift))
	}
	if shift == 0 {
		return p
	}
	floor, half := p.Shifted(-shift), Wide{Lo: 1}.Shifted(shift-1)
	rest := p.Minus(floor.Shifted(shift))
	// Only the sign, the lowest bit of floor and the place of the rest beside 0 and a half decide. The number of
	// quarters has all of these in common with p.
	quarters := int64(floor.Lo&1) + 2*(p.Hi>>63)
	up := -quarters
	switch quarters *= 4; {
	case half.Less(rest):
		quarters += 3
	case rest == half:
		quarters += 2
	case rest != Wide{}:
		quarters++
	}
	up += r.DivideByPowerOfTwo(quarters, 2)
	return floor.Plus(WideOf(up))
}

// LeastDividendReaching returns the least p for which DivideByPowerOfTwo(p, shift) is at least v. Both v and v-1 times
// 2^shift must fit into 63 bits.
func (r Rounding) LeastDividendReaching(v int64, shift int) int64 {
	if shift == 0 {
		return v
	}
	halves, reached := r.boundary(v)
	p := v<<shift - halves<<(shift-1)
	if !reached {
		p++
	}
	return p
}

// LowerBoundaryOf returns the number from which on the rounded result is at least v. reached is false if the number
// itself still rounds to less.
func (r Rounding) LowerBoundaryOf(v int64) (at *big.Rat, reached bool) {
	halves, reached := r.boundary(v)
	at = new(big.Rat).SetInt64(v)
	return at.Sub(at, big.NewRat(halves, 2)), reached
}

// boundary returns, as a number of halves below v, the point from which on numbers round to v or more. reached is false
// if the point itself rounds to less.
func (r Rounding) boundary(v int64) (halves int64, reached bool) {
	switch r {
	case RoundingHalfEven:
		return 1, v&1 == 0
	case RoundingHalfOdd:
		return 1, v&1 != 0
	case halfDown:
		return 1, false
	case RoundingHalfTowardZero:
		return 1, v <= 0
	case RoundingHalfAwayFromZero:
		return 1, v >= 1
	case RoundingFloor:
		return 0, true
	case RoundingCeil:
		return 2, false
	case RoundingTowardZero:
		if v >= 1 {
			return 0, true
		}
		return 2, false
	case RoundingAwayFromZero:
		if v >= 1 {
			return 2, false
		}
		return 0, true
	}
	return 1, true // half up
}

// halfDown rounds to the nearest integer, and ties down: the mirror image of RoundingHalfUp. It occurs inside the
// package only.
const halfDown Rounding = "half-down"

// A Requant changes the scale of integers: x becomes x*Multiplier/2^Shift, rounded and clipped.
type Requant struct {
	Multiplier int64    `json:"multiplier"`
	Shift      int      `json:"shift"` // 0..MaxRequantShift
	Mode       Rounding `json:"mode"`
	Lo         int64    `json:"lo"` // least result; the least int64 means no clipping
	Hi         int64    `json:"hi"` // greatest result
}

// The limits of a Requant's parameters. Within them, products and rounding fit into int64.
const (
	MaxRequantShift = 62
	maxRequantBits  = 63 // of x*Multiplier in two's complement
)

// Verify returns an error if the shift or the mode is beyond its limits, or if Lo exceeds Hi. It allows any multiplier.
func (q Requant) Verify() error {
	err := q.Mode.Verify()
	switch {
	case q.Shift < 0 || q.Shift > MaxRequantShift:
		return fmt.Errorf("a shift by %d, want 0..%d", q.Shift, MaxRequantShift)
	case err != nil:
		return err
	case q.Lo > q.Hi:
		return fmt.Errorf("results from %d up to %d", q.Lo, q.Hi)
	}
	return nil
}

// Apply returns the result for x. The product x*Multiplier must fit into 63 bits.
func (q Requant) Apply(x int64) int64 {
	return min(max(q.Mode.DivideByPowerOfTwo(x*q.Multiplier, q.Shift), q.Lo), q.Hi)
}

// ProductRange returns the range of x*Multiplier over r. ok is false if it does not fit into 63 bits.
func (q Requant) ProductRange(r Range) (p Range, ok bool) {
	p, ok = r.TimesConstant(q.Multiplier)
	return p, ok && max(signedBits(p.Lo), signedBits(p.Hi)) <= maxRequantBits
}

// UnclippedRange returns the range of results before clipping. ok is false if a product does not fit into 63 bits.
func (q Requant) UnclippedRange(r Range) (c Range, ok bool) {
	p, ok := q.ProductRange(r)
	// rounding keeps the order
	return Range{q.Mode.DivideByPowerOfTwo(p.Lo, q.Shift), q.Mode.DivideByPowerOfTwo(p.Hi, q.Shift)}, ok
}

// ResultRange returns the range of results over r. Both of its ends occur. ok is false if a product does not fit into
// 63 bits.
func (q Requant) ResultRange(r Range) (c Range, ok bool) {
	c, ok = q.UnclippedRange(r)
	return Range{min(max(c.Lo, q.Lo), q.Hi), min(max(c.Hi, q.Lo), q.Hi)}, ok
}

// WithLeastShift returns the same function with the least shift, by removing common factors of two.
func (q Requant) WithLeastShift() Requant {
	if q.Multiplier == 0 {
		q.Shift = 0
	}
	for q.Shift > 0 && q.Multiplier&1 == 0 {
		q.Multiplier /= 2
		q.Shift--
	}
	return q
}

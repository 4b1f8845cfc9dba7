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
	HalfEven       Rounding = "half-even"
	HalfUp         Rounding = "half-up"
	HalfTowardZero Rounding = "half-toward-zero"
	HalfAway       Rounding = "half-away"
	Floor          Rounding = "floor"
	TowardZero     Rounding = "toward-zero"
	Ceil           Rounding = "ceil"
	AwayFromZero   Rounding = "away-from-zero"
)

// Roundings lists all roundings, in the order of their codes in hlslib/core/requant.hpp.
var Roundings = []Rounding{HalfEven, HalfUp, HalfTowardZero, HalfAway, Floor, TowardZero, Ceil,
	AwayFromZero}

// Verify returns an error if r is no rounding.
func (r Rounding) Verify() error {
	if !slices.Contains(Roundings, r) {
		return fmt.Errorf("unknown rounding %q", r)
	}
	return nil
}

// Code returns the code of r in hlslib/core/requant.hpp.
func (r Rounding) Code() int { return slices.Index(Roundings, r) }

// Quotient returns p/2^shift, rounded. p must fit into 63 bits, and shift must lie in 0..MaxRequantShift.
func (r Rounding) Quotient(p int64, shift int) int64 {
	if shift == 0 {
		return p
	}
	floor, half := p>>shift, int64(1)<<(shift-1)
	rest := p - floor<<shift
	var up bool
	switch r {
	case HalfEven:
		up = rest > half || rest == half && floor&1 != 0
	case HalfUp:
		up = rest >= half
	case HalfTowardZero:
		up = rest > half || rest == half && p < 0
	case HalfAway:
		up = rest > half || rest == half && p >= 0
	case TowardZero:
		up = p < 0 && rest > 0
	case Ceil:
		up = rest > 0
	case AwayFromZero:
		up = p >= 0 && rest > 0
	}
	if up {
		floor++
	}
	return floor
}

// LeastWithQuotient returns the least p whose Quotient is at least v. Both v and v-1 times 2^shift must fit into 63
// bits.
func (r Rounding) LeastWithQuotient(v int64, shift int) int64 {
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

// Boundary returns the number from which on the rounded result is at least v. reached is false if the number itself
// still rounds to less.
func (r Rounding) Boundary(v int64) (at *big.Rat, reached bool) {
	halves, reached := r.boundary(v)
	at = new(big.Rat).SetInt64(v)
	return at.Sub(at, big.NewRat(halves, 2)), reached
}

// boundary returns how many halves below v the numbers begin that round to v or more. reached is false if the
// boundary itself rounds to less.
func (r Rounding) boundary(v int64) (halves int64, reached bool) {
	switch r {
	case HalfEven:
		return 1, v&1 == 0
	case halfDown:
		return 1, false
	case HalfTowardZero:
		return 1, v <= 0
	case HalfAway:
		return 1, v >= 1
	case Floor:
		return 0, true
	case Ceil:
		return 2, false
	case TowardZero:
		if v >= 1 {
			return 0, true
		}
		return 2, false
	case AwayFromZero:
		if v >= 1 {
			return 2, false
		}
		return 0, true
	}
	return 1, true // half up
}

// halfDown is the mirror image of half-up.
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

// Verify returns an error if a parameter is beyond its limits.
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
	return min(max(q.Mode.Quotient(x*q.Multiplier, q.Shift), q.Lo), q.Hi)
}

// Product returns the range of x*Multiplier over r. ok is false if it does not fit into 63 bits.
func (q Requant) Product(r Range) (p Range, ok bool) {
	p, ok = r.Times(q.Multiplier)
	return p, ok && max(signedBits(p.Lo), signedBits(p.Hi)) <= maxRequantBits
}

// Rounded returns the range of results before clipping. ok is false if a product does not fit into 63 bits.
func (q Requant) Rounded(r Range) (c Range, ok bool) {
	p, ok := q.Product(r)
	return Range{q.Mode.Quotient(p.Lo, q.Shift), q.Mode.Quotient(p.Hi, q.Shift)}, ok // rounding keeps the order
}

// Range returns the range of results over r. Both of its ends occur. ok is false if a product does not fit into 63
// bits.
func (q Requant) Range(r Range) (c Range, ok bool) {
	c, ok = q.Rounded(r)
	return Range{min(max(c.Lo, q.Lo), q.Hi), min(max(c.Hi, q.Lo), q.Hi)}, ok
}

// Reduced returns the same function with the least shift, by removing common factors of two.
func (q Requant) Reduced() Requant {
	if q.Multiplier == 0 {
		q.Shift = 0
	}
	for q.Shift > 0 && q.Multiplier&1 == 0 {
		q.Multiplier /= 2
		q.Shift--
	}
	return q
}

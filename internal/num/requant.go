package num

import (
	"fmt"
	"slices"
)

// A Rounding says which integer takes the place of a number between two.
type Rounding string

// The roundings. The first four go to the nearest integer and differ in ties.
const (
	HalfEven       Rounding = "half-even"
	HalfUp         Rounding = "half-up"
	HalfTowardZero Rounding = "half-toward-zero"
	HalfAway       Rounding = "half-away"
	Floor          Rounding = "floor"
	TowardZero     Rounding = "toward-zero"
	Ceil           Rounding = "ceil"
)

// Roundings lists them all, in the order of their codes in hlslib/core/requant.hpp.
var Roundings = []Rounding{HalfEven, HalfUp, HalfTowardZero, HalfAway, Floor, TowardZero, Ceil}

// A Requant is a change of scale on integers: x becomes x*Multiplier/2^Shift, rounded and clipped.
type Requant struct {
	Multiplier int64    `json:"multiplier"`
	Shift      int      `json:"shift"` // 0..MaxRequantShift
	Mode       Rounding `json:"mode"`
	Lo         int64    `json:"lo"` // the least result; the least int64 clips nothing
	Hi         int64    `json:"hi"` // the greatest result
}

// Limits of a Requant's numbers, with which neither products nor what rounding adds leave an int64.
const (
	MaxRequantShift = 62
	maxRequantBits  = 63 // of x*Multiplier in two's complement
)

// Verify checks the parameters.
func (q Requant) Verify() error {
	switch {
	case q.Shift < 0 || q.Shift > MaxRequantShift:
		return fmt.Errorf("a shift by %d, want 0..%d", q.Shift, MaxRequantShift)
	case !slices.Contains(Roundings, q.Mode):
		return fmt.Errorf("unknown rounding %q", q.Mode)
	case q.Lo > q.Hi:
		return fmt.Errorf("results from %d up to %d", q.Lo, q.Hi)
	}
	return nil
}

// Apply is the result of x, where x*Multiplier stays within 63 bits.
func (q Requant) Apply(x int64) int64 { return min(max(q.round(x*q.Multiplier), q.Lo), q.Hi) }

// round is p/2^Shift, rounded.
func (q Requant) round(p int64) int64 {
	if q.Shift == 0 {
		return p
	}
	floor, half := p>>q.Shift, int64(1)<<(q.Shift-1)
	rest := p - floor<<q.Shift
	var up bool
	switch q.Mode {
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
	}
	if up {
		floor++
	}
	return floor
}

// Product is the range of x*Multiplier over r. ok is false where it leaves 63 bits.
func (q Requant) Product(r Range) (p Range, ok bool) {
	p, ok = r.Times(q.Multiplier)
	return p, ok && max(signedBits(p.Lo), signedBits(p.Hi)) <= maxRequantBits
}

// Rounded is the range of the results before they are clipped; ok is that of Product.
func (q Requant) Rounded(r Range) (c Range, ok bool) {
	p, ok := q.Product(r)
	return Range{q.round(p.Lo), q.round(p.Hi)}, ok // rounding keeps the order
}

// Range is the range of the results over r: its ends occur. ok is that of Product.
func (q Requant) Range(r Range) (c Range, ok bool) {
	c, ok = q.Rounded(r)
	return Range{min(max(c.Lo, q.Lo), q.Hi), min(max(c.Hi, q.Lo), q.Hi)}, ok
}

// Reduced is the same function with the least shift: no factor of two is multiplied and then divided by.
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

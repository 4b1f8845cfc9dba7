// Package num holds the two notions of integers on which all packages below the front end rest. A Range holds the
// values that occur, and a Type describes the bits that store them. Widths follow from bit lengths of integers,
// never from logarithms.
//
// In come integers, and scales as rational numbers; out come ranges, types and functions of integers.
//
//   - range.go, type.go: the two notions; wide.go: both with up to 128 bits, inside circuits
//   - float.go: minifloat types; format.go: formats of real inputs and outputs
//   - coding.go: codes with few bits for numbers from a small set
//   - step.go: step functions; compare.go: their evaluation in hardware
//   - requant.go: multiply and shift; fit.go finds its parameters; stair.go finds lines that equal step functions;
//     quantiser.go finds lines that equal a quantiser with any number of codes; quantiser_wide.go does so with numbers
//     beyond 64 bits; quantiser_steps.go computes its steps; remainder.go finds least remainders of progressions
//   - bounds.go: bounds of sums of products; digits.go: factors as sums of powers of two
package num

import (
	"fmt"
	"math/bits"
	"slices"
)

// A Range is a closed interval of integers with Lo <= Hi. The zero value holds only 0.
type Range struct{ Lo, Hi int64 }

// SingleValueRange returns the range that holds only v.
func SingleValueRange(v int64) Range { return Range{v, v} }

// RangeOfValues returns the smallest range that holds all the values. There must be at least one.
func RangeOfValues(values []int64) Range { return Range{slices.Min(values), slices.Max(values)} }

// Contains reports whether v lies in r.
func (r Range) Contains(v int64) bool { return r.Lo <= v && v <= r.Hi }

// IsWithin reports whether every value of r lies in o.
func (r Range) IsWithin(o Range) bool { return o.Lo <= r.Lo && r.Hi <= o.Hi }

// Union returns the smallest range that holds both.
func (r Range) Union(o Range) Range { return Range{min(r.Lo, o.Lo), max(r.Hi, o.Hi)} }

// Negated returns the range of -x. r.Lo must not be the least int64, which has no negative.
func (r Range) Negated() Range { return Range{-r.Hi, -r.Lo} }

// ValueCount returns the number of values in the range, or the largest int64 if it is greater.
func (r Range) ValueCount() int64 {
	n := uint64(r.Hi) - uint64(r.Lo)
	if n >= 1<<63-1 {
		return 1<<63 - 1
	}
	return int64(n) + 1
}

// TimesConstant returns the range of w*x. ok is false if a product does not fit into int64.
func (r Range) TimesConstant(w int64) (p Range, ok bool) {
	a, ok1 := mul(w, r.Lo)
	b, ok2 := mul(w, r.Hi)
	return Range{min(a, b), max(a, b)}, ok1 && ok2
}

// Plus returns the range of x+y for independent x and y. ok is false if a sum does not fit into int64.
func (r Range) Plus(o Range) (s Range, ok bool) {
	lo, ok1 := add(r.Lo, o.Lo)
	hi, ok2 := add(r.Hi, o.Hi)
	return Range{lo, hi}, ok1 && ok2
}

// String returns the range as "[Lo,Hi]".
func (r Range) String() string { return fmt.Sprintf("[%d,%d]", r.Lo, r.Hi) }

// mul returns a*b. The result is false if that does not fit into int64.
func mul(a, b int64) (int64, bool) {
	p := a * b
	if int64(int32(a)) == a && int64(int32(b)) == b { // a division would take longer than all else here
		return p, true
	}
	if a == 0 || b == 0 {
		return 0, true
	}
	if p/b != a || (a == -1 && b == -1<<63) || (b == -1 && a == -1<<63) {
		return 0, false
	}
	return p, true
}

// add returns a+b. The result is false if that does not fit into int64.
func add(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

// unsignedBits returns the number of bits that hold 0..v, at least one.
func unsignedBits(v int64) int { return max(1, bits.Len64(uint64(v))) }

// signedBits returns the number of bits that hold v in two's complement.
func signedBits(v int64) int {
	if v < 0 {
		v = ^v
	}
	return bits.Len64(uint64(v)) + 1
}

// Package num holds the two notions of integer that everything below the front end is made of: a Range is the values
// that occur, a Type is the bits that hold them. Widths come from bit lengths of integers, never from logarithms.
//
// In come integers, and rationals that scales are; out come widths, functions and circuits for them. It sees nothing of
// this module.
//
//   - range.go, type.go: the two notions; float.go has types that are minifloats;
//     format.go is the formats of real numbers that inputs and outputs have
//   - coding.go is numbers of which there are few, as codes of fewer bits
//   - step.go is step functions, compare.go how hardware compares
//   - requant.go is multiply and shift, fit.go finds its numbers; stair.go has lines that equal step functions,
//     quantiser.go those that equal a quantiser of any number of codes, and quantiser_steps.go its steps; remainder.go
//     is of progressions
//   - bounds.go bounds sums of products; digits.go is factors as sums of powers of two
package num

import (
	"fmt"
	"math/bits"
	"slices"
)

// A Range is a closed interval of integers: the values that occur. Lo <= Hi; the zero value is the constant 0.
type Range struct{ Lo, Hi int64 }

// Point is the range of one value.
func Point(v int64) Range { return Range{v, v} }

// Hull is the smallest range that holds the values, of which there is one at least.
func Hull(values []int64) Range { return Range{slices.Min(values), slices.Max(values)} }

// Contains reports whether v lies in r.
func (r Range) Contains(v int64) bool { return r.Lo <= v && v <= r.Hi }

// Within reports whether every value of r lies in o.
func (r Range) Within(o Range) bool { return o.Lo <= r.Lo && r.Hi <= o.Hi }

// Union is the smallest range that holds both.
func (r Range) Union(o Range) Range { return Range{min(r.Lo, o.Lo), max(r.Hi, o.Hi)} }

// Neg is the range of -x; r.Lo must have a negative, which the least int64 has not.
func (r Range) Neg() Range { return Range{-r.Hi, -r.Lo} }

// Count is the number of values, saturated at the largest int64.
func (r Range) Count() int64 {
	n := uint64(r.Hi) - uint64(r.Lo)
	if n >= 1<<63-1 {
		return 1<<63 - 1
	}
	return int64(n) + 1
}

// Times is the range of w*x; ok is false where a product leaves int64.
func (r Range) Times(w int64) (p Range, ok bool) {
	a, ok1 := mul(w, r.Lo)
	b, ok2 := mul(w, r.Hi)
	return Range{min(a, b), max(a, b)}, ok1 && ok2
}

// Plus is the range of x+y for independent x and y; ok is false where a sum leaves int64.
func (r Range) Plus(o Range) (s Range, ok bool) {
	lo, ok1 := add(r.Lo, o.Lo)
	hi, ok2 := add(r.Hi, o.Hi)
	return Range{lo, hi}, ok1 && ok2
}

func (r Range) String() string { return fmt.Sprintf("[%d,%d]", r.Lo, r.Hi) }

func mul(a, b int64) (int64, bool) {
	p := a * b
	if int64(int32(a)) == a && int64(int32(b)) == b { // a division takes longer than all else here
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

func add(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

// unsignedBits is the number of bits that hold 0..v; at least one.
func unsignedBits(v int64) int { return max(1, bits.Len64(uint64(v))) }

// signedBits is the number of two's complement bits that hold v.
func signedBits(v int64) int {
	if v < 0 {
		v = ^v
	}
	return bits.Len64(uint64(v)) + 1
}

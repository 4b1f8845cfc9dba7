package dataflow

import (
	"slices"

	"hlsgen/internal/num"
)

// NewRequantField returns the field of the C++ with a requantiser, for requantised of hlslib/core/requant.hpp: seven
// numbers, for inputs in the range x. q is one requantiser, or several that take turns in the kernel; if all are equal,
// the field holds one.
func NewRequantField(name, doc string, x num.Range, q ...num.Requant) ConfigField {
	if !slices.ContainsFunc(q,
		func(other num.Requant) bool { return other.WithLeastShift() != q[0].WithLeastShift() }) {
		q = q[:1]
	}
	var all []int64
	for _, one := range q {
		all = append(all, requantNumbers(one.WithLeastShift(), x)...)
	}
	return ConfigField{Name: name, Doc: doc, Value: all}
}

// requantNumbers returns the multiplier, the shift, the rounding mode, the two limits, a number that says which of them
// are reached (1 the lower, 2 the upper, 3 both), and the bits of the product. These are at least two more than the
// shift.
func requantNumbers(q num.Requant, x num.Range) []int64 {
	p, _ := q.ProductRange(x)
	codes, _ := q.UnclippedRange(x)
	results, _ := q.ResultRange(x)
	clips := int64(0)
	if codes.Lo < results.Lo {
		clips++
	}
	if codes.Hi > results.Hi {
		clips += 2
	}
	width := max(num.NarrowestIntTypeFor(p.Union(num.Range{Lo: -1})).Width, q.Shift+2)
	return []int64{q.Multiplier, int64(q.Shift), int64(q.Mode.KernelCode()), results.Lo, results.Hi, clips,
		int64(width)}
}

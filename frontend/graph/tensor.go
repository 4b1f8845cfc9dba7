package graph

import (
	"iter"
	"math"
	"slices"
)

// A ConstantTensor is a constant in row-major order. Its elements have one of four forms: real numbers in F, float32s
// in Singles, integers in I, or codes, where element i is Values[Codes[i]]. A code takes a byte, and a function of the
// elements needs at most 256 evaluations, so large constants should be codes. If codes have another meaning in each
// channel, Groups picks the channel, and Values holds 256 entries for each channel. The methods read any form. A tensor
// must not be changed once it is in use, because tensors share their elements.
//
// A float64 holds every ONNX float exactly, and an int64 every integer type except uint64 above 2^63.
type ConstantTensor struct {
	DType   DType
	Shape   []int // empty for a scalar
	F       []float64
	Singles []float32
	I       []int64
	Codes   []uint8
	Values  []float64
	Groups  ElementIndexMap // the zero value if all codes have the same meaning
}

// Len returns the number of elements, which is the product of Shape.
func (t *ConstantTensor) Len() int { return ElementCount(t.Shape) }

// FloatAt returns element i as a float64. It rounds an int64 beyond 2^53; such values occur only as shapes and indices,
// which are read with IntAt.
func (t *ConstantTensor) FloatAt(i int) float64 {
	if t.F != nil {
		return t.F[i]
	}
	return t.narrow(i)
}

// narrow implements FloatAt for elements that are not stored as float64s.
func (t *ConstantTensor) narrow(i int) float64 {
	switch {
	case t.Codes != nil:
		return t.Values[t.value(i)]
	case t.Singles != nil:
		return float64(t.Singles[i])
	}
	return float64(t.I[i])
}

// value returns the index in Values of element i of a tensor of codes.
func (t *ConstantTensor) value(i int) int {
	if t.Groups.Count == 0 {
		return int(t.Codes[i])
	}
	return t.Groups.ArgumentIndex(i)<<8 + int(t.Codes[i])
}

// CodeGroupCount returns the number of groups in each of which codes have their own meanings: 1 unless Groups is set.
func (t *ConstantTensor) CodeGroupCount() int { return max(1, t.Groups.Count) }

// IntAt returns element i of a tensor of integers.
func (t *ConstantTensor) IntAt(i int) int64 {
	if t.Codes != nil {
		return int64(t.Values[t.value(i)])
	}
	return t.I[i]
}

// Floats returns all elements, each as FloatAt returns it. The caller must not change the list.
func (t *ConstantTensor) Floats() []float64 {
	if t.F != nil {
		return t.F
	}
	out := make([]float64, t.Len())
	for i := range out {
		out[i] = t.FloatAt(i)
	}
	return out
}

// PossibleValues yields all elements as FloatAt returns them, in any order. Of elements stored as codes it yields each
// code's value once. If codes have several meanings, some of the yielded values may not occur.
func (t *ConstantTensor) PossibleValues() iter.Seq[float64] {
	return func(yield func(float64) bool) {
		if t.Codes != nil {
			used := t.UsedCodes()
			for g := range t.CodeGroupCount() {
				for _, c := range used {
					if !yield(t.Values[g<<8+int(c)]) {
						return
					}
				}
			}
			return
		}
		for _, v := range t.F {
			if !yield(v) {
				return
			}
		}
		for _, v := range t.Singles {
			if !yield(float64(v)) {
				return
			}
		}
		for _, v := range t.I {
			if !yield(float64(v)) {
				return
			}
		}
	}
}

// Ints returns the elements of a tensor of integers, or nil for a tensor of reals. The caller must not change the list.
func (t *ConstantTensor) Ints() []int64 {
	if t.Codes == nil || t.DType.IsReal() {
		return t.I
	}
	out := make([]int64, len(t.Codes))
	for i := range out {
		out[i] = t.IntAt(i)
	}
	return out
}

// Equal reports whether two tensors have the same type and hold equal elements, in whatever form. It does not compare
// their shapes.
func (t *ConstantTensor) Equal(o *ConstantTensor) bool {
	switch {
	case t == o:
		return true
	case t.DType != o.DType || t.Len() != o.Len():
		return false
	case t.sharesCodes(o) && t.Groups.HasSameRuns(&o.Groups) && slices.Equal(t.Values, o.Values):
		return true
	}
	for i := range t.Len() {
		if !t.IsElementEqualTo(o, i, i) {
			return false
		}
	}
	return true
}

// sharesCodes reports whether two tensors with equally many elements share one list of codes.
func (t *ConstantTensor) sharesCodes(o *ConstantTensor) bool {
	return len(t.Codes) > 0 && len(o.Codes) > 0 && &t.Codes[0] == &o.Codes[0]
}

// IsElementEqualTo reports whether element i of t equals element k of o.
func (t *ConstantTensor) IsElementEqualTo(o *ConstantTensor, i, k int) bool {
	switch real := t.DType.IsReal(); {
	case real != o.DType.IsReal():
		return false
	case real:
		return t.FloatAt(i) == o.FloatAt(k)
	}
	return t.IntAt(i) == o.IntAt(k)
}

// GatherElements returns a tensor with the given shape whose element i is element from(i) of t. It keeps the form of
// the elements, or uses F if groups of codes no longer come in regular runs. A nil from means all elements in order,
// which the result then shares with t.
func (t *ConstantTensor) GatherElements(shape []int, from func(i int) int) *ConstantTensor {
	out := *t
	if out.Shape = shape; from == nil {
		return &out
	}
	if t.Groups.Count > 0 && !out.regroup(from) {
		floats := &ConstantTensor{DType: t.DType, Shape: shape, F: make([]float64, ElementCount(shape))}
		for i := range floats.F {
			floats.F[i] = t.FloatAt(from(i))
		}
		return floats
	}
	n := ElementCount(shape)
	out.F, out.Singles = pickOf(t.F, n, from), pickOf(t.Singles, n, from)
	out.I, out.Codes = pickOf(t.I, n, from), pickOf(t.Codes, n, from)
	return &out
}

// regroup sets t.Groups and t.Values after elements were moved: element i came from element from(i). It returns false,
// without a change, if groups no longer come in regular runs.
func (t *ConstantTensor) regroup(from func(i int) int) bool {
	n, of := ElementCount(t.Shape), t.Groups
	group := func(i int) int { return of.ArgumentIndex(from(i)) }
	if n == 0 {
		return false
	}
	run := 1
	for run < n && group(run) == group(0) {
		run++
	}
	order := []int{group(0)}
	for i := run; i < n && group(i) != order[0]; i += run {
		order = append(order, group(i))
	}
	to := ElementIndexMap{Run: run, Count: len(order)}
	for i := range n {
		if group(i) != order[to.ArgumentIndex(i)] {
			return false
		}
	}
	values := make([]float64, 0, len(order)<<8)
	for _, g := range order {
		values = append(values, t.Values[g<<8:(g+1)<<8]...)
	}
	t.Groups, t.Values = to, values
	return true
}

func pickOf[E any](list []E, n int, from func(i int) int) []E {
	if list == nil {
		return nil
	}
	out := make([]E, n)
	for i := range out {
		out[i] = list[from(i)]
	}
	return out
}

// UsedCodes returns the codes that occur in a tensor of codes, in increasing order.
func (t *ConstantTensor) UsedCodes() (codes []uint8) {
	var seen [256]bool
	for _, c := range t.Codes {
		seen[c] = true
	}
	for c, is := range seen {
		if is {
			codes = append(codes, uint8(c))
		}
	}
	return codes
}

// WithCodeValues returns a tensor of type dt with the same codes, which stand for other values. values holds the value
// of each code in codes, in order, for one group after the other. groups maps elements to groups.
func (t *ConstantTensor) WithCodeValues(dt DType, groups ElementIndexMap, codes []uint8,
	values []float64) *ConstantTensor {
	out := &ConstantTensor{DType: dt, Shape: t.Shape, Codes: t.Codes, Groups: groups}
	out.Values = make([]float64, out.CodeGroupCount()<<8)
	for i, v := range values {
		out.Values[i/len(codes)<<8+int(codes[i%len(codes)])] = v
	}
	return out
}

// NewCodeValuesFunc returns a function that, given a base, returns the values by code of the elements at base +
// offsets. That function returns nil if t has no codes, or if they have no common meaning there. offsets must not be
// empty.
func (t *ConstantTensor) NewCodeValuesFunc(offsets []int32) func(base int32) []float64 {
	if t.Codes == nil {
		return func(int32) []float64 { return nil }
	}
	if t.Groups.Count == 0 {
		return func(int32) []float64 { return t.Values }
	}
	run, all := t.Groups.Run, t.Groups.Run*t.Groups.Count
	whole := !slices.ContainsFunc(offsets, func(o int32) bool { return int(o)%all != 0 })
	most := int(slices.Max(offsets))
	return func(base int32) []float64 {
		if g := t.Groups.ArgumentIndex(int(base)); whole || int(base)%run+most < run {
			return t.Values[g<<8 : (g+1)<<8]
		}
		return nil
	}
}

// IndexOfFirstWhere returns the index of the first element for which bad is true, or -1 if there is none. It does not
// look at integers stored in I, for which it returns -1.
func (t *ConstantTensor) IndexOfFirstWhere(bad func(v float64) bool) (i int) {
	if t.I != nil || t.Codes != nil && !slices.ContainsFunc(t.Values, bad) {
		return -1
	}
	for i := range t.Len() {
		if bad(t.FloatAt(i)) {
			return i
		}
	}
	return -1
}

// IsCertainlyFinite reports whether all elements are finite real numbers that are stored in F or Singles. If it reports
// false, they may be finite all the same. It uses that v-v is NaN for infinities and NaN, and that a sum keeps a NaN.
func (t *ConstantTensor) IsCertainlyFinite() bool {
	rest, single := 0.0, float32(0)
	for _, v := range t.F {
		rest += v - v
	}
	for _, v := range t.Singles {
		single += v - v
	}
	return (t.F != nil || t.Singles != nil) && rest == 0 && single == 0
}

// IsAllInfinite reports whether all elements are infinities with the given sign, above or below 0. It reports false if
// there are no elements.
func (t *ConstantTensor) IsAllInfinite(sign int) bool {
	return t.DType.IsReal() && t.Len() > 0 && t.IndexOfFirstWhere(func(v float64) bool {
		return !math.IsInf(v,
			sign)
	}) < 0
}

// NewFilledTensor returns a tensor of type dt in which all elements are v.
func NewFilledTensor(dt DType, shape []int, v float64) *ConstantTensor {
	return &ConstantTensor{DType: dt, Shape: shape, Codes: make([]uint8, ElementCount(shape)), Values: []float64{v}}
}

// MinElementsToCompress is the number of elements from which CompressedToCodes considers a tensor large.
const MinElementsToCompress = 1 << 12

// CompressedToCodes returns the tensor as codes, if it is large and has at most 256 different elements in F, as
// quantised weights have. Otherwise it returns the tensor itself.
func (t *ConstantTensor) CompressedToCodes() *ConstantTensor {
	if len(t.F) < MinElementsToCompress {
		return t
	}
	const slots = 1 << 10 // a hash table with linear probing, from numbers to codes
	var number [slots]uint64
	var code [slots]int16 // code + 1; 0 for a free slot
	codes, values := make([]uint8, len(t.F)), []float64(nil)
	for i, v := range t.F {
		bits := math.Float64bits(v)
		at := bits * 0x9e3779b97f4a7c15 >> (64 - 10)
		for code[at] != 0 && number[at] != bits {
			at = (at + 1) % slots
		}
		if code[at] == 0 {
			if len(values) == 256 {
				return t
			}
			values = append(values, v)
			number[at], code[at] = bits, int16(len(values))
		}
		codes[i] = uint8(code[at] - 1)
	}
	return &ConstantTensor{DType: t.DType, Shape: t.Shape, Codes: codes, Values: values}
}

// bits returns the binary representation of element i, for a checksum.
func (t *ConstantTensor) bits(i int) uint64 {
	if t.DType.IsReal() {
		return math.Float64bits(t.FloatAt(i))
	}
	return uint64(t.IntAt(i))
}

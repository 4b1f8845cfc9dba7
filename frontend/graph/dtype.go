package graph

import (
	"math"

	"hlsgen/internal/num"
)

// A DType is an ONNX tensor element type, with ONNX's own numbers.
type DType int32

// These are the element types of ONNX up to 1.18.
const (
	Undefined DType = iota
	Float32
	UInt8
	Int8
	UInt16
	Int16
	Int32
	Int64
	String
	Bool
	Float16
	Float64
	UInt32
	UInt64
	Complex64
	Complex128
	BFloat16
	Float8E4M3FN
	Float8E4M3FNUZ
	Float8E5M2
	Float8E5M2FNUZ
	UInt4
	Int4
	Float4E2M1
	Float8E8M0
	UInt2
	Int2
)

// elements lists, by DType, numpy's name, the kind of the values, and the bits of an element.
var elements = [...]struct {
	name string
	are  values
	bits int
}{
	{"undefined", others, 0}, {"float32", reals, 32}, {"uint8", naturals, 8}, {"int8", integers, 8},
	{"uint16", naturals, 16}, {"int16", integers, 16}, {"int32", integers, 32}, {"int64", integers, 64},
	{"string", others, 0}, {"bool", naturals, 1}, {"float16", reals, 16}, {"float64", reals, 64},
	{"uint32", naturals, 32}, {"uint64", naturals, 64}, {"complex64", others, 64}, {"complex128", others, 128},
	{"bfloat16", reals, 16}, {"float8e4m3fn", minifloats, 8}, {"float8e4m3fnuz", minifloats, 8},
	{"float8e5m2", minifloats, 8}, {"float8e5m2fnuz", minifloats, 8}, {"uint4", naturals, 4}, {"int4", integers, 4},
	{"float4e2m1", minifloats, 4}, {"float8e8m0", minifloats, 8}, {"uint2", naturals, 2}, {"int2", integers, 2},
}

// A values is the kind of the values that elements of a type have.
type values uint8

const (
	others values = iota
	reals
	minifloats // reals that models store, but do not compute with
	naturals
	integers
)

func (d DType) known() bool { return 0 <= d && int(d) < len(elements) }

func (d DType) values() values {
	if !d.known() {
		return others
	}
	return elements[d].are
}

// Float reports whether the values of d are real numbers. Those of other numeric types are integers, including
// booleans.
func (d DType) Float() bool { return d.values() == reals || d.values() == minifloats }

// IsMinifloat reports whether the values of d are minifloats: reals that models store, but do not compute with.
func (d DType) IsMinifloat() bool { return d.values() == minifloats }

// IsUnsigned reports whether the values of d are integers without a sign, including booleans.
func (d DType) IsUnsigned() bool { return d.values() == naturals }

// IsNumber reports whether models compute with values of d.
func (d DType) IsNumber() bool { return d.values() != others && d.values() != minifloats }

// Integer returns the integer type of package num with the values of d, for integer types of up to 16 bits. Otherwise
// it returns the zero Type.
func (d DType) Integer() num.Type {
	switch kind := d.values(); {
	case kind < naturals || elements[d].bits > 16:
		return num.Type{}
	case kind == naturals:
		return num.Type{Kind: num.UInt, Width: elements[d].bits}
	}
	return num.Type{Kind: num.Int, Width: elements[d].bits}
}

// Writable reports whether numpy has a type for values of d, so that .npy files can hold them.
func (d DType) Writable() bool { return d.IsNumber() }

// IntegerLimits returns the least and the greatest value of an integer type, within -2^53 and 2^53, up to which float64
// holds every integer. ok is false for other types.
func (d DType) IntegerLimits() (lo, hi float64, ok bool) {
	kind := d.values()
	if kind < naturals {
		return 0, 0, false
	}
	lo, hi = CodeLimits(float64(elements[d].bits), kind == integers, false)
	return max(lo, -0x1p53), min(hi, 0x1p53), true
}

// CodeLimits returns the least and the greatest code with the given number of bits. narrow leaves out the least if
// signed, and otherwise the greatest.
func CodeLimits(bits float64, signed, narrow bool) (lo, hi float64) {
	hi = math.Exp2(bits) - 1
	if signed {
		hi = math.Exp2(bits-1) - 1
		lo = -hi - 1
	}
	switch {
	case narrow && signed:
		lo++
	case narrow:
		hi--
	}
	return lo, hi
}

// String returns numpy's name of the type.
func (d DType) String() string {
	if !d.known() {
		return "unknown"
	}
	return elements[d].name
}

// Format returns the format to which values of a real type are rounded. For an integer type it returns that of float64.
func (d DType) Format() num.Format {
	if f, ok := num.FormatNamed(d.String()); ok {
		return f
	}
	return num.Float64
}

// small holds the formats of the minifloats that have a sign: OCP's, and the variants with a single zero.
var small = map[DType]num.Format{
	Float8E4M3FN: {Digits: 4, Least: -9, Max: 448}, Float8E4M3FNUZ: {Digits: 4, Least: -10, Max: 240},
	Float8E5M2: {Digits: 3, Least: -16, Max: 57344}, Float8E5M2FNUZ: {Digits: 3, Least: -17, Max: 57344},
	Float4E2M1: {Digits: 2, Least: -1, Max: 6},
}

// Round returns the value of a real type that is nearest to v. Beyond the largest value it returns that value if
// saturates is set, and otherwise an infinity if the type has one, or else NaN.
func (d DType) Round(v float64, saturates bool) float64 {
	f, is := small[d]
	if !is {
		return d.Format().Round(v)
	}
	y := f.Round(v)
	switch {
	case !math.IsInf(y, 0):
		return y
	case saturates:
		return math.Copysign(f.Max, v)
	case d == Float8E5M2:
		return y
	}
	return math.NaN()
}

// Bits returns the number of bits of an element, or 0 if it is not a number.
func (d DType) Bits() int {
	if !d.known() {
		return 0
	}
	return elements[d].bits
}

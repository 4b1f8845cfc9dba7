package graph

import (
	"math"

	"hlsgen/internal/num"
)

// A DType is an ONNX tensor element type, with ONNX's own numbers.
type DType int32

// These are the element types of ONNX up to 1.18.
const (
	DTypeUndefined DType = iota
	DTypeFloat32
	DTypeUInt8
	DTypeInt8
	DTypeUInt16
	DTypeInt16
	DTypeInt32
	DTypeInt64
	DTypeString
	DTypeBool
	DTypeFloat16
	DTypeFloat64
	DTypeUInt32
	DTypeUInt64
	DTypeComplex64
	DTypeComplex128
	DTypeBFloat16
	DTypeFloat8E4M3FN
	DTypeFloat8E4M3FNUZ
	DTypeFloat8E5M2
	DTypeFloat8E5M2FNUZ
	DTypeUInt4
	DTypeInt4
	DTypeFloat4E2M1
	DTypeFloat8E8M0
	DTypeUInt2
	DTypeInt2
)

// elements holds, by DType, numpy's name of the type, the kind of its values, and the number of bits of an element.
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

// A values is the kind of the values that elements of a type have: reals, minifloats, naturals, integers or others.
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

// IsReal reports whether the values of d are real numbers. Those of other numeric types are integers, including
// booleans.
func (d DType) IsReal() bool { return d.values() == reals || d.values() == minifloats }

// IsMinifloat reports whether the values of d are minifloats: reals that models store, but do not compute with.
func (d DType) IsMinifloat() bool { return d.values() == minifloats }

// IsUnsigned reports whether the values of d are integers that are never negative, including booleans.
func (d DType) IsUnsigned() bool { return d.values() == naturals }

// IsComputableNumber reports whether models compute with values of d: reals, integers and booleans, but neither
// minifloats nor strings.
func (d DType) IsComputableNumber() bool { return d.values() != others && d.values() != minifloats }

// StreamIntegerType returns the integer type of package num with the values of d, for integer types of up to 16 bits.
// Otherwise it returns the zero Type.
func (d DType) StreamIntegerType() num.Type {
	switch kind := d.values(); {
	case kind < naturals || elements[d].bits > 16:
		return num.Type{}
	case kind == naturals:
		return num.Type{Kind: num.KindUInt, Width: elements[d].bits}
	}
	return num.Type{Kind: num.KindInt, Width: elements[d].bits}
}

// IsNumPyWritable reports whether numpy has a type for values of d, so that .npy files can hold them.
func (d DType) IsNumPyWritable() bool { return d.IsComputableNumber() }

// IntegerLimits returns the least and the greatest value of an integer type. They are limited to -2^53 and 2^53,
// between which float64 holds every integer. ok is false for other types.
func (d DType) IntegerLimits() (lo, hi float64, ok bool) {
	kind := d.values()
	if kind < naturals {
		return 0, 0, false
	}
	lo, hi = CodeLimitsOfBits(float64(elements[d].bits), kind == integers, false)
	return max(lo, -0x1p53), min(hi, 0x1p53), true
}

// CodeLimitsOfBits returns the least and the greatest integer code with the given number of bits. If narrow is set, one
// code is left out: the least if signed is set, and otherwise the greatest.
func CodeLimitsOfBits(bits float64, signed, narrow bool) (lo, hi float64) {
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

// FloatFormat returns the format to which values of a real type are rounded. For an integer type it returns that of
// float64.
func (d DType) FloatFormat() num.FloatFormat {
	if f, ok := num.FloatFormatNamed(d.String()); ok {
		return f
	}
	return num.Float64Format
}

// small holds the formats of the minifloats that have a sign: those of the Open Compute Project (OCP), and the variants
// with a single zero.
var small = map[DType]num.FloatFormat{
	DTypeFloat8E4M3FN: {Digits: 4, Least: -9, Max: 448}, DTypeFloat8E4M3FNUZ: {Digits: 4, Least: -10, Max: 240},
	DTypeFloat8E5M2: {Digits: 3, Least: -16, Max: 57344}, DTypeFloat8E5M2FNUZ: {Digits: 3, Least: -17, Max: 57344},
	DTypeFloat4E2M1: {Digits: 2, Least: -1, Max: 6},
}

// RoundToType returns the value of a real type that is nearest to v; float8e8m0 counts as float64. Beyond the largest
// value of another minifloat it returns that value if saturates is set. Otherwise it returns an infinity if the type
// has one, or else NaN. Other types ignore saturates.
func (d DType) RoundToType(v float64, saturates bool) float64 {
	f, is := small[d]
	if !is {
		return d.FloatFormat().RoundToNearest(v)
	}
	y := f.RoundToNearest(v)
	switch {
	case !math.IsInf(y, 0):
		return y
	case saturates:
		return math.Copysign(f.Max, v)
	case d == DTypeFloat8E5M2:
		return y
	}
	return math.NaN()
}

// BitsPerElement returns the number of bits of an element, or 0 if it is not a number.
func (d DType) BitsPerElement() int {
	if !d.known() {
		return 0
	}
	return elements[d].bits
}

package num

import "math"

// A Format is a binary format of real numbers: those of at most Digits significant bits that are multiples of 2^Least
// and lie between -Max and Max.
type Format struct {
	Digits, Least int
	Max           float64
}

// The formats of a model's inputs and outputs: IEEE 754's binary64, binary32 and binary16, and bfloat16.
var (
	Float64  = Format{53, -1074, math.MaxFloat64}
	Float32  = Format{24, -149, math.MaxFloat32}
	Float16  = Format{11, -24, 65504}
	BFloat16 = Format{8, -133, 0x1.fep127}
)

// FormatNamed returns the format that numpy or ONNX calls so.
func FormatNamed(name string) (f Format, ok bool) {
	f, ok = map[string]Format{"float64": Float64, "float32": Float32, "float16": Float16, "bfloat16": BFloat16}[name]
	return f, ok
}

// Round returns the number of the format that is nearest to x, of two such the one whose last bit is 0. It is infinite
// where x lies beyond Max by at least half of what the last bit of Max counts.
func (f Format) Round(x float64) float64 {
	switch {
	case f == Float64 || math.IsInf(x, 0) || math.IsNaN(x):
		return x
	case f == Float32:
		return float64(float32(x))
	}
	_, exp := math.Frexp(x)
	unit := max(exp-f.Digits, f.Least)
	y := math.Ldexp(math.RoundToEven(math.Ldexp(x, -unit)), unit)
	if math.Abs(y) > f.Max {
		return math.Copysign(math.Inf(1), x)
	}
	return y
}

// Odd returns a number of float64 that every format of at most 51 digits rounds as it rounds a number near it, which
// is not zero. Nearest is the float64 nearest to that number, and above says on which side of it the number lies: 1
// above, -1 below, 0 where it is that number.
func Odd(nearest float64, above int) float64 {
	if above == 0 || math.IsInf(nearest, 0) || math.Float64bits(nearest)&1 == 1 {
		return nearest
	}
	return math.Nextafter(nearest, math.Inf(above))
}

// Key returns the place of x, a number of the format, in the order of all of them: 0 for zero, whatever its sign, 1 for
// the least above it, -1 for the greatest below.
func (f Format) Key(x float64) int64 {
	if x < 0 {
		return -f.Key(-x)
	}
	_, exp := math.Frexp(x)
	unit := max(exp-f.Digits, f.Least)
	if x == 0 {
		unit = f.Least
	}
	// Numbers of the least unit begin at 0; those of each unit above it at half of what Digits count.
	return int64(unit-f.Least)<<(f.Digits-1) + int64(math.Ldexp(x, -unit))
}

// At returns the number at a place.
func (f Format) At(key int64) float64 {
	if key < 0 {
		return -f.At(-key)
	}
	above := max(key>>(f.Digits-1)-1, 0)
	return math.Ldexp(float64(key-above<<(f.Digits-1)), f.Least+int(above))
}

// Keys returns the places of all numbers of the format that are finite.
func (f Format) Keys() Range { return Range{-f.Key(f.Max), f.Key(f.Max)} }

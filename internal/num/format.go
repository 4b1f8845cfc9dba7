package num

import "math"

// A FloatFormat is a binary format of real numbers. Its numbers have at most Digits significant bits, are multiples of
// 2^Least and lie between -Max and Max.
type FloatFormat struct {
	Digits, Least int
	Max           float64
}

// The formats of a model's inputs and outputs: IEEE 754's binary64, binary32 and binary16, and bfloat16.
var (
	Float64Format  = FloatFormat{53, -1074, math.MaxFloat64}
	Float32Format  = FloatFormat{24, -149, math.MaxFloat32}
	Float16Format  = FloatFormat{11, -24, 65504}
	BFloat16Format = FloatFormat{8, -133, 0x1.fep127}
)

// FloatFormatNamed returns the format with the given name in numpy or ONNX. ok is false if there is none.
func FloatFormatNamed(name string) (f FloatFormat, ok bool) {
	f, ok = map[string]FloatFormat{"float64": Float64Format, "float32": Float32Format, "float16": Float16Format,
		"bfloat16": BFloat16Format}[name]
	return f, ok
}

// RoundToNearest returns the number of the format that is nearest to x. A tie goes to the number whose last bit is 0.
// The result is infinite if x exceeds Max by at least half the weight of the last bit of Max.
func (f FloatFormat) RoundToNearest(x float64) float64 {
	switch {
	case f == Float64Format || math.IsInf(x, 0) || math.IsNaN(x):
		return x
	case f == Float32Format:
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

// RoundToOdd returns a float64 near a real number that rounds as this does to every format of at most 51 digits.
// nearest is the float64 nearest to the real number, which is not zero. above is 1 if the real number lies above
// nearest, -1 if below, and 0 if they are equal.
func RoundToOdd(nearest float64, above int) float64 {
	if above == 0 || math.IsInf(nearest, 0) || math.Float64bits(nearest)&1 == 1 {
		return nearest
	}
	return math.Nextafter(nearest, math.Inf(above))
}

// PositionOf returns the position of x among all numbers of the format: 0 for zero of either sign, 1 for the least
// positive number, -1 for the greatest negative one. The format must contain x.
func (f FloatFormat) PositionOf(x float64) int64 {
	if x < 0 {
		return -f.PositionOf(-x)
	}
	_, exp := math.Frexp(x)
	unit := max(exp-f.Digits, f.Least)
	if x == 0 {
		unit = f.Least
	}
	// Numbers with the least unit have positions from 0 on. Each larger unit takes half as many positions as Digits
	// bits can count.
	return int64(unit-f.Least)<<(f.Digits-1) + int64(math.Ldexp(x, -unit))
}

// NumberAtPosition returns the number of the format at the position key. It is the inverse of PositionOf.
func (f FloatFormat) NumberAtPosition(key int64) float64 {
	if key < 0 {
		return -f.NumberAtPosition(-key)
	}
	above := max(key>>(f.Digits-1)-1, 0)
	return math.Ldexp(float64(key-above<<(f.Digits-1)), f.Least+int(above))
}

// FinitePositions returns the range of the positions of all finite numbers of the format.
func (f FloatFormat) FinitePositions() Range { return Range{-f.PositionOf(f.Max), f.PositionOf(f.Max)} }

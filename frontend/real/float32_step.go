package real

import (
	"math"

	"hlsgen/internal/num"
)

// Float32Key numbers the float32 numbers that are finite, in their order: 0 for zero, whatever its sign, 1 for the
// smallest above it, -1 for the greatest below.
func Float32Key(x float32) int64 {
	if bits := math.Float32bits(x); bits>>31 == 1 {
		return -int64(bits &^ (1 << 31))
	}
	return int64(math.Float32bits(x))
}

// Float32At is the number of a key.
func Float32At(key int64) float32 {
	if key < 0 {
		return -math.Float32frombits(uint32(-key))
	}
	return math.Float32frombits(uint32(key))
}

// Float32Keys are those of all finite numbers.
var Float32Keys = num.Range{Lo: Float32Key(-math.MaxFloat32), Hi: Float32Key(math.MaxFloat32)}

// StepOverFloat32 evaluates f, an integer-valued expression in variable 0, at every finite float32, as StepOver does at
// integers: the step function is one of keys.
func (f *Func) StepOverFloat32(limit int) (num.Step, error) {
	b := &searcher{f: f.sharp(), limit: limit, endless: true,
		at: func(key int64) float64 { return float64(Float32At(key)) }}
	err := b.run(Float32Keys.Lo, Float32Keys.Hi)
	return b.step, err
}

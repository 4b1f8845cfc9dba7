package compiler

import (
	"math"
	"testing"
)

// TestFiniteFloats has a number that is not finite at every place of lists of many lengths.
func TestFiniteFloats(t *testing.T) {
	t.Parallel()
	ends := []float32{math.MaxFloat32, -math.MaxFloat32, 0, float32(math.Copysign(0, -1)), 1e-45, -1}
	for n := range 70 {
		x := make([]float32, n)
		for i := range x {
			x[i] = ends[i%len(ends)]
		}
		if !finiteFloats(x) {
			t.Errorf("%d finite numbers are not", n)
		}
		for i, was := range x {
			for _, v := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(math.NaN(), -1)} {
				if x[i] = float32(v); finiteFloats(x) {
					t.Errorf("element %d of %d is %v", i, n, v)
				}
			}
			x[i] = was
		}
	}
}

func BenchmarkFiniteFloats(b *testing.B) {
	x := make([]float32, 1<<16)
	b.SetBytes(int64(4 * len(x)))
	for b.Loop() {
		finiteFloats(x)
	}
}

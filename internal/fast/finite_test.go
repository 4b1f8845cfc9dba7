package fast

import (
	"math"
	"testing"
)

// TestFinite puts a number that is not finite at every place of lists of many lengths.
func TestFinite(t *testing.T) {
	t.Parallel()
	ends := []float32{math.MaxFloat32, -math.MaxFloat32, 0, float32(math.Copysign(0, -1)), 1e-45, -1}
	for _, k := range machines() {
		for n := range 140 {
			x := make([]float32, n)
			for i := range x {
				x[i] = ends[i%len(ends)]
			}
			if !k.finite(x) {
				t.Errorf("%s: %d finite numbers are not", k.name, n)
			}
			for i, was := range x {
				for _, v := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(math.NaN(), -1)} {
					if x[i] = float32(v); k.finite(x) {
						t.Errorf("%s: element %d of %d is %v", k.name, i, n, v)
					}
				}
				x[i] = was
			}
		}
	}
}

func BenchmarkFinite(b *testing.B) {
	x := make([]float32, 1<<16)
	k := machines()[0]
	b.SetBytes(int64(4 * len(x)))
	for b.Loop() {
		k.finite(x)
	}
}

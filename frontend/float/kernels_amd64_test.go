package float

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestVectorsGiveTheSameBytes holds the kernels of vectors against those of plain Go.
func TestVectorsGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	if !wide {
		t.Skip("this processor has no AVX2")
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		k, stride := r.IntN(40), 16+r.IntN(8)
		x, terms, weights := make([]float64, (k+1)*stride), make([]int, k), make([]float64, rowsAtOnce*k)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		for i := range weights {
			weights[i] = r.NormFloat64()
		}
		for i := range terms {
			terms[i] = i * stride
		}
		some, left := []int{1, 4}[r.IntN(2)], 4*(1+r.IntN(4))
		got := make([]float64, rowsAtOnce*mostLanes)
		lanes := sumWide(got, x, terms, weights, some, left)
		if lanes > left {
			t.Fatalf("%d lanes of %d", lanes, left)
		}
		want := make([]float64, 16)
		for l := 0; l < lanes; l += 4 {
			sumRow(want, x[l:], terms, weights)
			if some > 1 {
				sumRows(want, x[l:], terms, weights, 0)
				sumRows(want, x[l:], terms, weights, 2)
			}
			for row := range some {
				if one := got[row*lanes+l:][:4]; !slices.Equal(one, want[4*row:][:4]) {
					t.Fatalf("%d products, %d rows, lanes from %d: %v, want %v", k, some, l, one, want[4*row:][:4])
				}
			}
		}
	}
}

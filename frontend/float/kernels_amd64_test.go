package float

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestVectorsGiveTheSameBytes compares the vector kernels with those in plain Go, and these with plain sums.
func TestVectorsGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	if !wide {
		t.Skip("this processor has no AVX2")
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		k, stride := 1+r.IntN(40), 16+r.IntN(8)
		x, terms, weights := normal(r, (k+1)*stride), make([]int32, k), normal(r, rowsAtOnce*k)
		for i := range terms {
			terms[i] = int32(i * stride)
		}
		left := 4 * (1 + r.IntN(4))
		got := make([]float64, rowsAtOnce*mostLanes)
		lanes := sumWide(got, x, terms, weights, left)
		if lanes > left {
			t.Fatalf("%d lanes of %d", lanes, left)
		}
		want := make([]float64, 16)
		for l := 0; l < lanes; l += 4 {
			sumRows(want, x[l:], terms, weights, 0)
			sumRows(want, x[l:], terms, weights, 2)
			for row := range rowsAtOnce {
				one := make([]float64, 4)
				rowPlain(one, x[l:], walk{terms: terms, step: 1}, weights[row:])
				if got := got[row*lanes+l:][:4]; !slices.Equal(got, one) || !slices.Equal(want[4*row:][:4], one) {
					t.Fatalf("%d products, row %d, lanes from %d: %v, want %v", k, row, l, got, one)
				}
			}
		}
	}
}

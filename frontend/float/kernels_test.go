package float

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRowsGiveTheSameBytes compares the kernels of one row, in vectors and in plain Go, with plain sums: of lanes side
// by side and apart, as float64 and as float32, up to the last element.
func TestRowsGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	for range 3000 {
		k, n, step, first := r.IntN(30), 1+r.IntN(60), 1+r.IntN(4)*r.IntN(3), r.IntN(5)
		x, terms, weights := normal(r, 50+(n-1)*step), make([]int32, k), normal(r, rowsAtOnce*k+3)
		for i := range terms {
			if terms[i] = int32(r.IntN(50-first) + first); k%2 == 0 {
				terms[i] = int32(i + first)
			}
		}
		w := walkOf(terms, step)
		singles := make([]float32, len(x))
		for i, v := range x {
			singles[i] = float32(v)
		}
		weights = weights[r.IntN(4):]
		check := func(name string, at func(i int) float64, rows ...func(sums []float64)) {
			want := make([]float64, n)
			for l := range want {
				for i, t := range terms {
					want[l] += float64(at(int(t)+l*step) * weights[4*i])
				}
			}
			for _, f := range rows {
				got := normal(r, n)
				if f(got); !slices.Equal(got, want) {
					t.Fatalf("%s, %d products of %d lanes %d apart: %v, want %v", name, k, n, step, got, want)
				}
			}
		}
		check("float64", func(i int) float64 { return x[i] },
			func(sums []float64) { row(sums, x, w, weights) },
			func(sums []float64) { rowPlain(sums, x, w, weights) })
		check("float32", func(i int) float64 { return float64(singles[i]) },
			func(sums []float64) { row(sums, singles, w, weights) },
			func(sums []float64) { rowPlain(sums, singles, w, weights) })
	}
}

func normal(r *rand.Rand, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = r.NormFloat64()
	}
	return list
}

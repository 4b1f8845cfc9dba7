package operators_test

import (
	"hlsgen/frontend/graph"
	"hlsgen/internal/testsupport/graphtest"
)

// truths is every pair of truths.
var truths = []*graph.Tensor{graphtest.Ints(graph.Bool, []int{4}, 0, 0, 1, 1), graphtest.Ints(graph.Bool, []int{4}, 0,
	1, 0, 1)}

func values(t *graph.Tensor) []float64 {
	out := make([]float64, t.Len())
	for i := range out {
		out[i] = t.At(i)
	}
	return out
}

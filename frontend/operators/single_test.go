package operators_test

import (
	"hlsgen/frontend/graph"
	"hlsgen/internal/testsupport/graphtest"
)

// truths is every pair of truths.
var truths = []*graph.ConstantTensor{graphtest.Ints(graph.DTypeBool, []int{4}, 0, 0, 1, 1),
	graphtest.Ints(graph.DTypeBool,
		[]int{4}, 0,
		1, 0, 1)}

func values(t *graph.ConstantTensor) []float64 {
	out := make([]float64, t.Len())
	for i := range out {
		out[i] = t.FloatAt(i)
	}
	return out
}

package frontend_test

import (
	"math"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// TestChainsOfDimensions has shapes computed by the graph, as exporters write them: a flattening by Shape, Gather and
// Concat, and positions counted by Range that choose from a table. They are constants once the axis is bound; before,
// the hint says that it is to be bound.
func TestChainsOfDimensions(t *testing.T) {
	t.Parallel()
	n := newNet(13).Input("x", graph.DTypeFloat32, 1, "T", 2)
	n.op("Shape", "shape", "x").op("Gather", "t", "shape", n.i(1))
	scalar := n.name()
	n.op("Squeeze", scalar, "t", n.i(0))
	for name, v := range map[string]float64{"from": 0, "by": 1} {
		n.Init(name, graph.DTypeInt64, nil, v)
	}
	n.op("Range", "positions", "from", scalar, "by")
	n.op("Gather", "where", n.c([]int{8, 2}, 0, 1, 2, -1, 0.5, 3, -2, 1, 0, 0, 1, 1, 2, 2, -1, -1), "positions")
	n.op("Add", "placed", "x", "where")
	n.quant("placed", "q", "half", 0, 4, 1).Init("half", graph.DTypeFloat32, nil, 0.5)
	n.op("Concat", "to", n.i(1, -1), n.i(2)).Int("axis", 0)
	n.op("Reshape", "steps", "q", "to")
	n.op("MatMul", "y", "steps", n.c([]int{2, 3}, 1, -2, 3, 0, 2, -1))
	n.output(1, "T", 3)
	_, found := imported(t, n, frontend.Options{})
	if found[0].Code != diag.ShapeUnknown || !strings.Contains(found[0].Hint, "--dim") {
		t.Errorf("%v, want %s that says --dim", found, diag.ShapeUnknown)
	}
	im, found := imported(t, n, frontend.Options{Dims: map[string]int{"T": 5}})
	if im.Model == nil {
		t.Fatal(found)
	}
	table := []float64{0, 1, 2, -1, 0.5, 3, -2, 1, 0, 0}
	follows(t, im.Model, func(x [][]float64) (y []float64) {
		for step := range 5 {
			var q [2]float64
			for i := range q {
				k := 2*step + i
				q[i] = 0.5 * clip(math.RoundToEven(float64(float32(x[0][k]+table[k]))*2), -8, 7)
			}
			y = append(y, q[0], -2*q[0]+2*q[1], 3*q[0]-q[1])
		}
		return y
	})
}

package frontend_test

import (
	"math"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// TestBoundAxes builds networks whose constants are computed from the sizes of axes, as exporters of dynamic axes write
// them. Once an axis is bound, all of that is constant.
func TestBoundAxes(t *testing.T) {
	t.Parallel()
	value := func(x float64) float64 { return clip(math.RoundToEven(x*2), -8, 7) * 0.5 }
	table := count(24) // rows of 3
	for _, c := range []struct {
		name  string
		build func(n *net)
		want  func(x []float64) []float64
	}{
		{"Range, Gather of a table, and Reshape by Concat", func(n *net) {
			n.op("Shape", "s", "q").op("Gather", "n", "s", n.i(0)).op("Gather", "t", "s", one64(n, 1)).
				op("Range", "at", one64(n, 0), "t", one64(n, 1)).op("Gather", "row", n.c([]int{8, 3}, table...), "at").
				op("Add", "a", "q", "row").quant("a", "b", n.s(0.5), 0, 4, 1).
				op("Mul", "width", "t", one64(n, 3)).op("Unsqueeze", "w", "width", n.i(0)).
				op("Concat", "to", "n", "w").Int("axis", 0).op("Reshape", "flat", "b", "to")
		}, func(x []float64) []float64 {
			y := make([]float64, len(x))
			for i, v := range x {
				y[i] = value(value(v) + table[i])
			}
			return y
		}},
		{"Slice of a table, Expand by Where, and Flatten", func(n *net) {
			n.op("Shape", "s", "q").op("Slice", "t", "s", n.i(1), n.i(2)).op("Size", "axes", "s").
				op("Slice", "head", n.c([]int{8, 3}, table...), n.i(0), "t").
				op("ConstantOfShape", "ones", n.i(3)).last.Tensor("value", graph.DTypeInt64, []int{1}, 1)
			n.op("Mul", "minus", "ones", n.i(-1)).op("Equal", "keep", "minus", n.i(-1, 5, -1)).
				op("Where", "as", "keep", "s", "ones").op("Where", "to", "keep", "ones", "s").
				op("Expand", "wide", n.c([]int{1, 1, 1}, 0.5), "to").op("Mul", "m", "q", "wide").
				op("Add", "a", "m", "head").op("Tile", "tiles", n.c([]int{1, 3}, 1, 2, -1), n.i(1, 1)).
				op("Mul", "scaled", "a", "tiles").quant("scaled", "b", n.s(0.5), 0, 4, 1).
				op("Flatten", "flat", "b").Int("axis", 1)
		}, func(x []float64) []float64 {
			y := make([]float64, len(x))
			for i, v := range x {
				y[i] = value((value(v)*0.5 + table[i]) * []float64{1, 2, -1}[i%3])
			}
			return y
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := newNet(13).Input("x", graph.DTypeFloat32, "N", "T", 3).quant("x", "q", "half", 0, 4, 1)
			n.Init("half", graph.DTypeFloat32, nil, 0.5)
			c.build(n)
			n.op("MatMul", "y", "flat", n.c([]int{12, 2}, count(24)...)).output("N", 2)
			if im, found := imported(t, n, frontend.Options{}); im.Model != nil || found[0].Code != diag.ShapeUnknown ||
				!strings.Contains(found[0].Hint, "--dim") {
				t.Errorf("without a size: %v", found)
			}
			im, found := imported(t, n, frontend.Options{Dims: map[string]int{"T": 4}})
			if im.Model == nil {
				t.Fatal(found)
			}
			follows(t, im.Model, func(x [][]float64) []float64 { return product(c.want(x[0]), count(24)) })
		})
	}
}

// one64 is an integer without axes.
func one64(n *net, v float64) string {
	name := n.name()
	n.Init(name, graph.DTypeInt64, nil, v)
	return name
}

// TestOneElement has tensors without axes be one element of a row.
func TestOneElement(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(n *net){
		"truth": func(n *net) {
			n.op("Cast", "t", "m").Int("to", int64(graph.DTypeBool)).op("Cast", "y", "t").Int("to", 1)
		},
		"codes": func(n *net) { n.quant("m", "y", n.s(0.75), 0, 3, 1) },
		"a sum": func(n *net) {
			n.op("ReduceMax", "s", "q").Int("keepdims", 0).op("Add", "a", "m", "s").quant("a", "y", n.s(2), 0, 4, 1)
		},
		"a curve": func(n *net) { n.op("Sigmoid", "s", "m").quant("s", "y", n.s(0.125), 0, 4, 0) },
	} {
		for reduce, maps := range map[string]bool{"ReduceSum": true, "ReduceMax": false} {
			n := newNet(13).Input("x", graph.DTypeFloat32, 1, 3).quant("x", "q", "half", 0, 4, 1)
			n.Init("half", graph.DTypeFloat32, nil, 0.5)
			write(n.op(reduce, "m", "q").Int("keepdims", 0))
			im, d := imported(t, n.Output("y", graph.DTypeFloat32), frontend.Options{})
			if (im.Model != nil) != maps {
				t.Errorf("%s of %s: %v", name, reduce, d)
			} else if maps {
				agree(t, im.Model, 10)
			}
		}
	}
}

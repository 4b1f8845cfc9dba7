package axes_test

import (
	"math/rand/v2"

	"hlsgen/frontend/graph"
	"hlsgen/internal/testsupport/graphtest"
)

// What became of a fixed leading axis.
const (
	samples = "samples" // it counts them
	time    = "time"
	vectors = "vectors" // weights were multiplied with each alone, but it counts no samples
	none    = "nothing" // it was never like a batch
)

type (
	tensors = map[string]*graph.ConstantTensor
	nodes   = []*graph.Node
)

// batches are models of four samples, or what looks like it; the output is y.
var batches = []struct {
	name  string
	shape []int
	init  tensors // beside the weights w of 6 by 3 and v of 3
	nodes nodes
	want  string
	node  string // that is to blame
	mixes bool
}{
	{name: "a product", shape: []int{4, 6}, nodes: nodes{graphtest.Node("MatMul", nil, "y", "x", "w")}, want: samples},
	{name: "Gemm with a bias", shape: []int{4, 6}, want: samples,
		nodes: nodes{graphtest.Node("Gemm", nil, "y", "x", "w", "v")}},
	{name: "a matrix that arrives turned", shape: []int{4, 6}, want: samples,
		nodes: nodes{graphtest.Node("Transpose", nil, "t", "x"), graphtest.Node("Gemm", graphtest.Attrs{"transA": 1},
			"y", "t", "w")}},
	{name: "a vector per sample", shape: []int{4, 6}, want: samples,
		init:  tensors{"u": graphtest.Reals([]int{6}, 1, -2, 3, 1, 0, 2)},
		nodes: nodes{graphtest.Node("MatMul", nil, "y", "x", "u")}},
	{name: "flattened", shape: []int{4, 2, 3}, want: samples,
		nodes: nodes{graphtest.Node("Flatten", nil, "f", "x"), graphtest.Node("MatMul", nil, "y", "f", "w")}},
	{name: "a shape with the number in it", shape: []int{4, 2, 3}, init: tensors{"to": graphtest.Int64s(4, -1)},
		nodes: nodes{graphtest.Node("Reshape", nil, "f", "x", "to"), graphtest.Node("MatMul", nil, "y", "f", "w")},
		want:  samples},
	{name: "two shapes", shape: []int{4, 6}, want: samples,
		init: tensors{"to": graphtest.Int64s(4, 3, 2), "back": graphtest.Int64s(4, 6)}, nodes: nodes{
			graphtest.Node("Reshape", nil, "a", "x", "to"), graphtest.Node("Transpose",
				graphtest.Attrs{"perm": []int64{0, 2, 1}}, "b", "a"),
			graphtest.Node("Reshape", nil, "c", "b", "back"), graphtest.Node("MatMul", nil, "y", "c", "w"),
		}},
	{name: "a shape that holds the number twice", shape: []int{4, 16}, want: samples,
		init:  tensors{"to": graphtest.Int64s(4, 4, 4)},
		nodes: nodes{graphtest.Node("Reshape", nil, "y", "x", "to")}},
	{name: "a shape whose other entries are open", shape: []int{4, 6}, want: samples,
		init:  tensors{"to": graphtest.Int64s(0, 2, -1)},
		nodes: nodes{graphtest.Node("Reshape", nil, "y", "x", "to")}},
	{name: "a shape that is computed", shape: []int{4, 2, 3}, want: samples,
		init: tensors{"first": graphtest.Int64s(0), "open": graphtest.Int64s(-1)}, nodes: nodes{
			graphtest.Node("Shape", nil, "s", "x"), graphtest.Node("Gather", nil, "n", "s", "first"),
			graphtest.Node("Concat", graphtest.Attrs{"axis": 0}, "to", "n", "open"), graphtest.Node("Reshape", nil,
				"f", "x", "to"),
			graphtest.Node("MatMul", nil, "y", "f", "w"),
		}},
	{name: "samples and positions in one axis", shape: []int{4, 5, 6}, want: samples,
		init: tensors{"rows": graphtest.Int64s(20, 6), "back": graphtest.Int64s(4, 5, 3)}, nodes: nodes{
			graphtest.Node("Reshape", nil, "r", "x", "rows"), graphtest.Node("MatMul", nil, "m", "r", "w"),
			graphtest.Node("Reshape", nil, "y", "m", "back"),
		}},
	{name: "positions and samples in one axis", shape: []int{4, 5, 6}, want: samples,
		init: tensors{"rows": graphtest.Int64s(20, 6), "back": graphtest.Int64s(5, 4, 3)}, nodes: nodes{
			graphtest.Node("Transpose", graphtest.Attrs{"perm": []int64{1, 0, 2}}, "t", "x"), graphtest.Node("Reshape",
				nil, "r", "t", "rows"),
			graphtest.Node("MatMul", nil, "m", "r", "w"), graphtest.Node("Reshape", nil, "b", "m", "back"),
			graphtest.Node("Transpose", graphtest.Attrs{"perm": []int64{1, 0, 2}}, "y", "b"),
		}},
	{name: "an axis squeezed out", shape: []int{4, 6, 1}, want: samples,
		nodes: nodes{graphtest.Node("Squeeze", nil, "s", "x"), graphtest.Node("MatMul", nil, "y", "s", "w")}},
	{name: "an image", shape: []int{4, 2, 5, 5}, want: samples,
		init: tensors{"k": graphtest.FilledWith(rand.New(rand.NewPCG(1, 1)), 3, 2, 3, 3), "to": graphtest.Int64s(4, 3)},
		nodes: nodes{
			graphtest.Node("Conv", graphtest.Attrs{"pads": []int64{1, 1, 1, 1}, "strides": []int64{2, 2}}, "c", "x",
				"k"),
			graphtest.Node("MaxPool", graphtest.Attrs{"kernel_shape": []int64{2, 2}}, "m", "c"),
			graphtest.Node("GlobalAveragePool", nil, "p", "m"), graphtest.Node("Reshape", nil, "y", "p", "to"),
		}},
	{name: "constants beside the data", shape: []int{4, 3}, want: samples,
		init:  tensors{"side": graphtest.Reals([]int{4, 2}, 7, 8, 7, 8, 7, 8, 7, 8)},
		nodes: nodes{graphtest.Node("Concat", graphtest.Attrs{"axis": 1}, "y", "x", "side")}},
	{name: "the largest of each", shape: []int{4, 6}, want: samples,
		nodes: nodes{graphtest.Node("ArgMax", graphtest.Attrs{"axis": 1}, "y", "x")}},
	{name: "a reduction of each", shape: []int{4, 6}, want: samples,
		nodes: nodes{graphtest.Node("ReduceMean", graphtest.Attrs{"axes": []int64{1}, "keepdims": 0}, "y", "x")}},
	{name: "a loop that hands on nothing", shape: []int{4, 6}, want: samples, nodes: nodes{
		graphtest.ScanNode(graphtest.Attrs{}, graphtest.Body([]string{"e"}, []string{"f"}, nil, graphtest.Node("Neg",
			nil, "f", "e")),
			[]string{"x"}, []string{"y"}),
	}},
	{name: "a loop along another axis", shape: []int{4, 3, 2}, want: samples,
		init: tensors{"zero": graphtest.Reals([]int{4, 2}, make([]float64, 8)...)}, nodes: nodes{
			graphtest.ScanNode(graphtest.Attrs{"scan_input_axes": []int64{1}, "scan_output_axes": []int64{1}},
				graphtest.Running(),
				[]string{"zero", "x"}, []string{"last", "y"}),
		}},
	{name: "the last state of a loop", shape: []int{4, 3, 2}, want: samples,
		init: tensors{"zero": graphtest.Reals([]int{4, 2}, make([]float64, 8)...)}, nodes: nodes{
			graphtest.ScanNode(graphtest.Attrs{"scan_input_axes": []int64{1}}, graphtest.Running(), []string{"zero",
				"x"}, []string{"y", "all"}),
		}},

	{name: "a loop along it", shape: []int{4, 2}, want: time, node: "loop", mixes: true,
		init: tensors{"zero": graphtest.Reals([]int{2}, 0, 0)},
		nodes: nodes{graphtest.ScanNode(graphtest.Attrs{}, graphtest.Running(), []string{"zero", "x"}, []string{"last",
			"y"})}},
	{name: "a loop along it behind a product", shape: []int{4, 6}, want: time, node: "loop", mixes: true,
		init: tensors{"zero": graphtest.Reals([]int{3}, 0, 0, 0)}, nodes: nodes{
			graphtest.Node("MatMul", nil, "m", "x", "w"),
			graphtest.ScanNode(graphtest.Attrs{}, graphtest.Running(), []string{"zero", "m"}, []string{"last", "y"}),
		}},
	{name: "a mean over all, behind a product", shape: []int{4, 6}, want: vectors, node: "y", mixes: true,
		nodes: nodes{
			graphtest.Node("MatMul", nil, "m", "x", "w"), graphtest.Node("ReduceMean",
				graphtest.Attrs{"axes": []int64{0}}, "y", "m"),
		}},
	{name: "a mean over all", shape: []int{4, 6}, want: none, node: "y", mixes: true,
		nodes: nodes{graphtest.Node("ReduceMean", graphtest.Attrs{"axes": []int64{0}}, "y", "x")}},
	{name: "each with each", shape: []int{4, 6}, want: vectors, node: "y", mixes: true, nodes: nodes{
		graphtest.Node("MatMul", nil, "m", "x", "w"), graphtest.Node("Transpose", nil, "t", "m"),
		graphtest.Node("MatMul", nil, "y", "m", "t"),
	}},
	{name: "softmax over all", shape: []int{4, 6}, want: vectors, node: "y", mixes: true,
		nodes: nodes{graphtest.Node("MatMul", nil, "m", "x", "w"), graphtest.Node("Softmax",
			graphtest.Attrs{"axis": 0}, "y", "m")}},
	{name: "the order of all", shape: []int{4, 6}, want: none, node: "y", mixes: true,
		nodes: nodes{graphtest.Node("ArgMax", graphtest.Attrs{"axis": 0}, "y", "x")}},
	{name: "an image without samples", shape: []int{4, 5, 5}, want: none, node: "y", mixes: true,
		init:  tensors{"k": graphtest.FilledWith(rand.New(rand.NewPCG(1, 1)), 3, 4, 3, 3), "at": graphtest.Int64s(0)},
		nodes: nodes{graphtest.Node("Unsqueeze", nil, "u", "x", "at"), graphtest.Node("Conv", nil, "y", "u", "k")}},
	{name: "rows of a picture", shape: []int{4, 6}, want: none, node: "y", mixes: true,
		init:  tensors{"to": graphtest.Int64s(1, 24), "m": graphtest.FilledWith(rand.New(rand.NewPCG(1, 1)), 24, 2)},
		nodes: nodes{graphtest.Node("Reshape", nil, "r", "x", "to"), graphtest.Node("MatMul", nil, "y", "r", "m")}},
	{name: "something else for each", shape: []int{4, 6}, want: vectors, node: "y",
		init:  tensors{"each": graphtest.Reals([]int{4, 1}, 1, 2, 3, 4)},
		nodes: nodes{graphtest.Node("MatMul", nil, "m", "x", "w"), graphtest.Node("Mul", nil, "y", "m", "each")}},
	{name: "another first state for each", shape: []int{4, 3, 2}, want: none, node: "loop", mixes: true,
		init: tensors{"zero": graphtest.Reals([]int{4, 2}, 0, 0, 0, 0, 0, 0, 0, 1)}, nodes: nodes{
			graphtest.ScanNode(graphtest.Attrs{"scan_input_axes": []int64{1}, "scan_output_axes": []int64{1}},
				graphtest.Running(),
				[]string{"zero", "x"}, []string{"last", "y"}),
		}},
	{name: "the first alone", shape: []int{4, 6}, want: vectors, node: "y",
		init:  tensors{"zero": graphtest.Int64s(0)},
		nodes: nodes{graphtest.Node("MatMul", nil, "m", "x", "w"), graphtest.Node("Gather", nil, "y", "m", "zero")}},
	{name: "in another order", shape: []int{4, 6}, want: none, node: "y",
		init:  tensors{"order": graphtest.Int64s(1, 0, 3, 2)},
		nodes: nodes{graphtest.Node("Gather", nil, "y", "x", "order")}},
	{name: "moved by one", shape: []int{4, 3}, want: none, node: "c",
		init: tensors{
			"row":  graphtest.Reals([]int{1, 3}, 0, 0, 0),
			"from": graphtest.Int64s(0),
			"to":   graphtest.Int64s(4),
			"axis": graphtest.Int64s(0),
		}, nodes: nodes{
			graphtest.Node("Concat", graphtest.Attrs{"axis": 0}, "c", "row", "x"), graphtest.Node("Slice", nil, "s",
				"c", "from", "to", "axis"),
			graphtest.Node("Add", nil, "y", "s", "x"),
		}},
	{name: "features merged with samples", shape: []int{4, 6}, want: samples,
		init:  tensors{"to": graphtest.Int64s(8, 3)},
		nodes: nodes{graphtest.Node("Reshape", nil, "y", "x", "to")}},
	{name: "divided by their number", shape: []int{4, 6}, want: vectors, node: "y",
		init: tensors{"zero": graphtest.Int64s(0)}, nodes: nodes{
			graphtest.Node("MatMul", nil, "m", "x", "w"), graphtest.Node("Shape", nil, "s", "x"),
			graphtest.Node("Gather", nil, "n", "s", "zero"),
			graphtest.Node("Cast", graphtest.Attrs{"to": int(graph.DTypeFloat64)}, "f", "n"), graphtest.Node("Div", nil,
				"y", "m", "f"),
		}},
	{name: "outputs that lie across", shape: []int{4, 6}, want: vectors,
		nodes: nodes{graphtest.Node("MatMul", nil, "m", "x", "w"), graphtest.Node("Transpose", nil, "y", "m")}},
	{name: "an output that no sample has part in", shape: []int{4, 6}, want: none,
		init:  tensors{"c": graphtest.Reals([]int{1}, 3)},
		nodes: nodes{graphtest.Node("Identity", nil, "y", "c")}},
}

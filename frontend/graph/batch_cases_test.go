package graph_test

import (
	"math/rand/v2"

	"hlsgen/frontend/graph"
)

// What became of a fixed leading axis.
const (
	samples = "samples" // it counts them
	time    = "time"
	vectors = "vectors" // weights were multiplied with each alone, but it counts no samples
	none    = "nothing" // it was never like a batch
)

type (
	tensors = map[string]*graph.Tensor
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
	{name: "a product", shape: []int{4, 6}, nodes: nodes{node("MatMul", nil, "y", "x", "w")}, want: samples},
	{name: "Gemm with a bias", shape: []int{4, 6}, want: samples,
		nodes: nodes{node("Gemm", nil, "y", "x", "w", "v")}},
	{name: "a matrix that arrives turned", shape: []int{4, 6}, want: samples,
		nodes: nodes{node("Transpose", nil, "t", "x"), node("Gemm", attrs{"transA": 1}, "y", "t", "w")}},
	{name: "a vector per sample", shape: []int{4, 6}, want: samples,
		init:  tensors{"u": reals([]int{6}, 1, -2, 3, 1, 0, 2)},
		nodes: nodes{node("MatMul", nil, "y", "x", "u")}},
	{name: "flattened", shape: []int{4, 2, 3}, want: samples,
		nodes: nodes{node("Flatten", nil, "f", "x"), node("MatMul", nil, "y", "f", "w")}},
	{name: "a shape with the number in it", shape: []int{4, 2, 3}, init: tensors{"to": int64s(4, -1)},
		nodes: nodes{node("Reshape", nil, "f", "x", "to"), node("MatMul", nil, "y", "f", "w")}, want: samples},
	{name: "two shapes", shape: []int{4, 6}, want: samples,
		init: tensors{"to": int64s(4, 3, 2), "back": int64s(4, 6)}, nodes: nodes{
			node("Reshape", nil, "a", "x", "to"), node("Transpose", attrs{"perm": []int64{0, 2, 1}}, "b", "a"),
			node("Reshape", nil, "c", "b", "back"), node("MatMul", nil, "y", "c", "w"),
		}},
	{name: "a shape that holds the number twice", shape: []int{4, 16}, want: samples,
		init:  tensors{"to": int64s(4, 4, 4)},
		nodes: nodes{node("Reshape", nil, "y", "x", "to")}},
	{name: "a shape whose other entries are open", shape: []int{4, 6}, want: samples,
		init:  tensors{"to": int64s(0, 2, -1)},
		nodes: nodes{node("Reshape", nil, "y", "x", "to")}},
	{name: "a shape that is computed", shape: []int{4, 2, 3}, want: samples,
		init: tensors{"first": int64s(0), "open": int64s(-1)}, nodes: nodes{
			node("Shape", nil, "s", "x"), node("Gather", nil, "n", "s", "first"),
			node("Concat", attrs{"axis": 0}, "to", "n", "open"), node("Reshape", nil, "f", "x", "to"),
			node("MatMul", nil, "y", "f", "w"),
		}},
	{name: "samples and positions in one axis", shape: []int{4, 5, 6}, want: samples,
		init: tensors{"rows": int64s(20, 6), "back": int64s(4, 5, 3)}, nodes: nodes{
			node("Reshape", nil, "r", "x", "rows"), node("MatMul", nil, "m", "r", "w"),
			node("Reshape", nil, "y", "m", "back"),
		}},
	{name: "positions and samples in one axis", shape: []int{4, 5, 6}, want: samples,
		init: tensors{"rows": int64s(20, 6), "back": int64s(5, 4, 3)}, nodes: nodes{
			node("Transpose", attrs{"perm": []int64{1, 0, 2}}, "t", "x"), node("Reshape", nil, "r", "t", "rows"),
			node("MatMul", nil, "m", "r", "w"), node("Reshape", nil, "b", "m", "back"),
			node("Transpose", attrs{"perm": []int64{1, 0, 2}}, "y", "b"),
		}},
	{name: "an axis squeezed out", shape: []int{4, 6, 1}, want: samples,
		nodes: nodes{node("Squeeze", nil, "s", "x"), node("MatMul", nil, "y", "s", "w")}},
	{name: "an image", shape: []int{4, 2, 5, 5}, want: samples,
		init: tensors{"k": filledWith(rand.New(rand.NewPCG(1, 1)), 3, 2, 3, 3), "to": int64s(4, 3)},
		nodes: nodes{
			node("Conv", attrs{"pads": []int64{1, 1, 1, 1}, "strides": []int64{2, 2}}, "c", "x", "k"),
			node("MaxPool", attrs{"kernel_shape": []int64{2, 2}}, "m", "c"),
			node("GlobalAveragePool", nil, "p", "m"), node("Reshape", nil, "y", "p", "to"),
		}},
	{name: "constants beside the data", shape: []int{4, 3}, want: samples,
		init:  tensors{"side": reals([]int{4, 2}, 7, 8, 7, 8, 7, 8, 7, 8)},
		nodes: nodes{node("Concat", attrs{"axis": 1}, "y", "x", "side")}},
	{name: "the largest of each", shape: []int{4, 6}, want: samples,
		nodes: nodes{node("ArgMax", attrs{"axis": 1}, "y", "x")}},
	{name: "a reduction of each", shape: []int{4, 6}, want: samples,
		nodes: nodes{node("ReduceMean", attrs{"axes": []int64{1}, "keepdims": 0}, "y", "x")}},
	{name: "a loop that hands on nothing", shape: []int{4, 6}, want: samples, nodes: nodes{
		scanNode(attrs{}, body([]string{"e"}, []string{"f"}, nil, node("Neg", nil, "f", "e")),
			[]string{"x"}, []string{"y"}),
	}},
	{name: "a loop along another axis", shape: []int{4, 3, 2}, want: samples,
		init: tensors{"zero": reals([]int{4, 2}, make([]float64, 8)...)}, nodes: nodes{
			scanNode(attrs{"scan_input_axes": []int64{1}, "scan_output_axes": []int64{1}}, running(),
				[]string{"zero", "x"}, []string{"last", "y"}),
		}},
	{name: "the last state of a loop", shape: []int{4, 3, 2}, want: samples,
		init: tensors{"zero": reals([]int{4, 2}, make([]float64, 8)...)}, nodes: nodes{
			scanNode(attrs{"scan_input_axes": []int64{1}}, running(), []string{"zero", "x"}, []string{"y", "all"}),
		}},

	{name: "a loop along it", shape: []int{4, 2}, want: time, node: "loop", mixes: true,
		init:  tensors{"zero": reals([]int{2}, 0, 0)},
		nodes: nodes{scanNode(attrs{}, running(), []string{"zero", "x"}, []string{"last", "y"})}},
	{name: "a loop along it behind a product", shape: []int{4, 6}, want: time, node: "loop", mixes: true,
		init: tensors{"zero": reals([]int{3}, 0, 0, 0)}, nodes: nodes{
			node("MatMul", nil, "m", "x", "w"),
			scanNode(attrs{}, running(), []string{"zero", "m"}, []string{"last", "y"}),
		}},
	{name: "a mean over all, behind a product", shape: []int{4, 6}, want: vectors, node: "y", mixes: true,
		nodes: nodes{
			node("MatMul", nil, "m", "x", "w"), node("ReduceMean", attrs{"axes": []int64{0}}, "y", "m"),
		}},
	{name: "a mean over all", shape: []int{4, 6}, want: none, node: "y", mixes: true,
		nodes: nodes{node("ReduceMean", attrs{"axes": []int64{0}}, "y", "x")}},
	{name: "each with each", shape: []int{4, 6}, want: vectors, node: "y", mixes: true, nodes: nodes{
		node("MatMul", nil, "m", "x", "w"), node("Transpose", nil, "t", "m"),
		node("MatMul", nil, "y", "m", "t"),
	}},
	{name: "softmax over all", shape: []int{4, 6}, want: vectors, node: "y", mixes: true,
		nodes: nodes{node("MatMul", nil, "m", "x", "w"), node("Softmax", attrs{"axis": 0}, "y", "m")}},
	{name: "the order of all", shape: []int{4, 6}, want: none, node: "y", mixes: true,
		nodes: nodes{node("ArgMax", attrs{"axis": 0}, "y", "x")}},
	{name: "an image without samples", shape: []int{4, 5, 5}, want: none, node: "y", mixes: true,
		init:  tensors{"k": filledWith(rand.New(rand.NewPCG(1, 1)), 3, 4, 3, 3), "at": int64s(0)},
		nodes: nodes{node("Unsqueeze", nil, "u", "x", "at"), node("Conv", nil, "y", "u", "k")}},
	{name: "rows of a picture", shape: []int{4, 6}, want: none, node: "y", mixes: true,
		init:  tensors{"to": int64s(1, 24), "m": filledWith(rand.New(rand.NewPCG(1, 1)), 24, 2)},
		nodes: nodes{node("Reshape", nil, "r", "x", "to"), node("MatMul", nil, "y", "r", "m")}},
	{name: "something else for each", shape: []int{4, 6}, want: vectors, node: "y",
		init:  tensors{"each": reals([]int{4, 1}, 1, 2, 3, 4)},
		nodes: nodes{node("MatMul", nil, "m", "x", "w"), node("Mul", nil, "y", "m", "each")}},
	{name: "another first state for each", shape: []int{4, 3, 2}, want: none, node: "loop", mixes: true,
		init: tensors{"zero": reals([]int{4, 2}, 0, 0, 0, 0, 0, 0, 0, 1)}, nodes: nodes{
			scanNode(attrs{"scan_input_axes": []int64{1}, "scan_output_axes": []int64{1}}, running(),
				[]string{"zero", "x"}, []string{"last", "y"}),
		}},
	{name: "the first alone", shape: []int{4, 6}, want: vectors, node: "y",
		init:  tensors{"zero": int64s(0)},
		nodes: nodes{node("MatMul", nil, "m", "x", "w"), node("Gather", nil, "y", "m", "zero")}},
	{name: "in another order", shape: []int{4, 6}, want: none, node: "y",
		init:  tensors{"order": int64s(1, 0, 3, 2)},
		nodes: nodes{node("Gather", nil, "y", "x", "order")}},
	{name: "moved by one", shape: []int{4, 3}, want: none, node: "c",
		init: tensors{
			"row":  reals([]int{1, 3}, 0, 0, 0),
			"from": int64s(0),
			"to":   int64s(4),
			"axis": int64s(0),
		}, nodes: nodes{
			node("Concat", attrs{"axis": 0}, "c", "row", "x"), node("Slice", nil, "s", "c", "from", "to", "axis"),
			node("Add", nil, "y", "s", "x"),
		}},
	{name: "features merged with samples", shape: []int{4, 6}, want: samples,
		init:  tensors{"to": int64s(8, 3)},
		nodes: nodes{node("Reshape", nil, "y", "x", "to")}},
	{name: "divided by their number", shape: []int{4, 6}, want: vectors, node: "y",
		init: tensors{"zero": int64s(0)}, nodes: nodes{
			node("MatMul", nil, "m", "x", "w"), node("Shape", nil, "s", "x"), node("Gather", nil, "n", "s", "zero"),
			node("Cast", attrs{"to": int(graph.Float64)}, "f", "n"), node("Div", nil, "y", "m", "f"),
		}},
	{name: "outputs that lie across", shape: []int{4, 6}, want: vectors,
		nodes: nodes{node("MatMul", nil, "m", "x", "w"), node("Transpose", nil, "y", "m")}},
	{name: "an output that no sample has part in", shape: []int{4, 6}, want: none,
		init:  tensors{"c": reals([]int{1}, 3)},
		nodes: nodes{node("Identity", nil, "y", "c")}},
}

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

// batches are models of four samples, or what looks like it; the output is y.
var batches = []struct {
	name  string
	shape []int
	init  map[string]*graph.Tensor // beside the weights w of 6 by 3 and v of 3
	nodes []*graph.Node
	want  string
	node  string // that is to blame
	mixes bool
}{
	{name: "a product", shape: []int{4, 6}, nodes: []*graph.Node{node("MatMul", nil, "y", "x", "w")}, want: samples},
	{
		name:  "Gemm with a bias",
		shape: []int{4, 6},
		nodes: []*graph.Node{node("Gemm", nil, "y", "x", "w", "v")},
		want:  samples,
	},
	{
		name:  "a matrix that arrives turned",
		shape: []int{4, 6},
		nodes: []*graph.Node{node("Transpose", nil, "t", "x"), node("Gemm", attrs{"transA": 1}, "y", "t", "w")},
		want:  samples,
	},
	{
		name:  "a vector per sample",
		shape: []int{4, 6},
		init:  map[string]*graph.Tensor{"u": reals([]int{6}, 1, -2, 3, 1, 0, 2)},
		nodes: []*graph.Node{node("MatMul", nil, "y", "x", "u")},
		want:  samples,
	},
	{
		name:  "flattened",
		shape: []int{4, 2, 3},
		nodes: []*graph.Node{node("Flatten", nil, "f", "x"), node("MatMul", nil, "y", "f", "w")},
		want:  samples,
	},
	{name: "a shape with the number in it", shape: []int{4, 2, 3}, init: map[string]*graph.Tensor{"to": int64s(4, -1)},
		nodes: []*graph.Node{node("Reshape", nil, "f", "x", "to"), node("MatMul", nil, "y", "f", "w")}, want: samples},
	{
		name:  "two shapes",
		shape: []int{4, 6},
		init:  map[string]*graph.Tensor{"to": int64s(4, 3, 2), "back": int64s(4, 6)},
		nodes: []*graph.Node{
			node("Reshape", nil, "a", "x", "to"),
			node("Transpose", attrs{"perm": []int64{0, 2, 1}}, "b", "a"),
			node("Reshape", nil, "c", "b", "back"),
			node("MatMul", nil, "y", "c", "w"),
		},
		want: samples,
	},
	{
		name:  "a shape that holds the number twice",
		shape: []int{4, 16},
		init:  map[string]*graph.Tensor{"to": int64s(4, 4, 4)},
		nodes: []*graph.Node{node("Reshape", nil, "y", "x", "to")},
		want:  samples,
	},
	{
		name:  "a shape whose other entries are open",
		shape: []int{4, 6},
		init:  map[string]*graph.Tensor{"to": int64s(0, 2, -1)},
		nodes: []*graph.Node{node("Reshape", nil, "y", "x", "to")},
		want:  samples,
	},
	{
		name:  "a shape that is computed",
		shape: []int{4, 2, 3},
		init:  map[string]*graph.Tensor{"first": int64s(0), "open": int64s(-1)},
		nodes: []*graph.Node{
			node("Shape", nil, "s", "x"),
			node("Gather", nil, "n", "s", "first"),
			node("Concat", attrs{"axis": 0}, "to", "n", "open"),
			node("Reshape", nil, "f", "x", "to"),
			node("MatMul", nil, "y", "f", "w"),
		},
		want: samples,
	},
	{
		name:  "samples and positions in one axis",
		shape: []int{4, 5, 6},
		init:  map[string]*graph.Tensor{"rows": int64s(20, 6), "back": int64s(4, 5, 3)},
		nodes: []*graph.Node{
			node("Reshape", nil, "r", "x", "rows"),
			node("MatMul", nil, "m", "r", "w"),
			node("Reshape", nil, "y", "m", "back"),
		},
		want: samples,
	},
	{
		name:  "positions and samples in one axis",
		shape: []int{4, 5, 6},
		init:  map[string]*graph.Tensor{"rows": int64s(20, 6), "back": int64s(5, 4, 3)},
		nodes: []*graph.Node{
			node("Transpose", attrs{"perm": []int64{1, 0, 2}}, "t", "x"),
			node("Reshape", nil, "r", "t", "rows"),
			node("MatMul", nil, "m", "r", "w"),
			node("Reshape", nil, "b", "m", "back"),
			node("Transpose", attrs{"perm": []int64{1, 0, 2}}, "y", "b"),
		},
		want: samples,
	},
	{
		name:  "an axis squeezed out",
		shape: []int{4, 6, 1},
		nodes: []*graph.Node{node("Squeeze", nil, "s", "x"), node("MatMul", nil, "y", "s", "w")},
		want:  samples,
	},
	{
		name:  "an image",
		shape: []int{4, 2, 5, 5},
		init:  map[string]*graph.Tensor{"k": filledWith(rand.New(rand.NewPCG(1, 1)), 3, 2, 3, 3), "to": int64s(4, 3)},
		nodes: []*graph.Node{
			node("Conv", attrs{"pads": []int64{1, 1, 1, 1}, "strides": []int64{2, 2}}, "c", "x", "k"),
			node("MaxPool", attrs{"kernel_shape": []int64{2, 2}}, "m", "c"),
			node("GlobalAveragePool", nil, "p", "m"),
			node("Reshape", nil, "y", "p", "to"),
		},
		want: samples,
	},
	{
		name:  "constants beside the data",
		shape: []int{4, 3},
		init:  map[string]*graph.Tensor{"side": reals([]int{4, 2}, 7, 8, 7, 8, 7, 8, 7, 8)},
		nodes: []*graph.Node{node("Concat", attrs{"axis": 1}, "y", "x", "side")},
		want:  samples,
	},
	{
		name:  "the largest of each",
		shape: []int{4, 6},
		nodes: []*graph.Node{node("ArgMax", attrs{"axis": 1}, "y", "x")},
		want:  samples,
	},
	{
		name:  "a reduction of each",
		shape: []int{4, 6},
		nodes: []*graph.Node{node("ReduceMean", attrs{"axes": []int64{1}, "keepdims": 0}, "y", "x")},
		want:  samples,
	},
	{
		name:  "a loop that hands on nothing",
		shape: []int{4, 6},
		nodes: []*graph.Node{
			scanNode(
				attrs{},
				body([]string{"e"}, []string{"f"}, nil, node("Neg", nil, "f", "e")),
				[]string{"x"},
				[]string{"y"},
			),
		},
		want: samples,
	},
	{
		name:  "a loop along another axis",
		shape: []int{4, 3, 2},
		init:  map[string]*graph.Tensor{"zero": reals([]int{4, 2}, make([]float64, 8)...)},
		nodes: []*graph.Node{
			scanNode(
				attrs{"scan_input_axes": []int64{1}, "scan_output_axes": []int64{1}},
				running(),
				[]string{"zero", "x"},
				[]string{"last", "y"},
			),
		},
		want: samples,
	},
	{
		name:  "the last state of a loop",
		shape: []int{4, 3, 2},
		init:  map[string]*graph.Tensor{"zero": reals([]int{4, 2}, make([]float64, 8)...)},
		nodes: []*graph.Node{
			scanNode(attrs{"scan_input_axes": []int64{1}}, running(), []string{"zero", "x"}, []string{"y", "all"}),
		},
		want: samples,
	},

	{
		name:  "a loop along it",
		shape: []int{4, 2},
		init:  map[string]*graph.Tensor{"zero": reals([]int{2}, 0, 0)},
		nodes: []*graph.Node{
			scanNode(attrs{}, running(), []string{"zero", "x"}, []string{"last", "y"}),
		},
		want:  time,
		node:  "loop",
		mixes: true,
	},
	{
		name:  "a loop along it behind a product",
		shape: []int{4, 6},
		init:  map[string]*graph.Tensor{"zero": reals([]int{3}, 0, 0, 0)},
		nodes: []*graph.Node{
			node("MatMul", nil, "m", "x", "w"),
			scanNode(attrs{}, running(), []string{"zero", "m"}, []string{"last", "y"}),
		},
		want:  time,
		node:  "loop",
		mixes: true,
	},
	{
		name:  "a mean over all, behind a product",
		shape: []int{4, 6},
		nodes: []*graph.Node{
			node("MatMul", nil, "m", "x", "w"),
			node("ReduceMean", attrs{"axes": []int64{0}}, "y", "m"),
		},
		want:  vectors,
		node:  "y",
		mixes: true,
	},
	{
		name:  "a mean over all",
		shape: []int{4, 6},
		nodes: []*graph.Node{node("ReduceMean", attrs{"axes": []int64{0}}, "y", "x")},
		want:  none,
		node:  "y",
		mixes: true,
	},
	{
		name:  "each with each",
		shape: []int{4, 6},
		nodes: []*graph.Node{
			node("MatMul", nil, "m", "x", "w"),
			node("Transpose", nil, "t", "m"),
			node("MatMul", nil, "y", "m", "t"),
		},
		want:  vectors,
		node:  "y",
		mixes: true,
	},
	{
		name:  "softmax over all",
		shape: []int{4, 6},
		nodes: []*graph.Node{node("MatMul", nil, "m", "x", "w"), node("Softmax", attrs{"axis": 0}, "y", "m")},
		want:  vectors,
		node:  "y",
		mixes: true,
	},
	{
		name:  "the order of all",
		shape: []int{4, 6},
		nodes: []*graph.Node{node("ArgMax", attrs{"axis": 0}, "y", "x")},
		want:  none,
		node:  "y",
		mixes: true,
	},
	{
		name:  "an image without samples",
		shape: []int{4, 5, 5},
		init:  map[string]*graph.Tensor{"k": filledWith(rand.New(rand.NewPCG(1, 1)), 3, 4, 3, 3), "at": int64s(0)},
		nodes: []*graph.Node{
			node("Unsqueeze", nil, "u", "x", "at"),
			node("Conv", nil, "y", "u", "k"),
		},
		want:  none,
		node:  "y",
		mixes: true,
	},
	{
		name:  "rows of a picture",
		shape: []int{4, 6},
		init:  map[string]*graph.Tensor{"to": int64s(1, 24), "m": filledWith(rand.New(rand.NewPCG(1, 1)), 24, 2)},
		nodes: []*graph.Node{
			node("Reshape", nil, "r", "x", "to"),
			node("MatMul", nil, "y", "r", "m"),
		},
		want:  none,
		node:  "y",
		mixes: true,
	},
	{
		name:  "something else for each",
		shape: []int{4, 6},
		init:  map[string]*graph.Tensor{"each": reals([]int{4, 1}, 1, 2, 3, 4)},
		nodes: []*graph.Node{
			node("MatMul", nil, "m", "x", "w"),
			node("Mul", nil, "y", "m", "each"),
		},
		want: vectors,
		node: "y",
	},
	{
		name:  "another first state for each",
		shape: []int{4, 3, 2},
		init:  map[string]*graph.Tensor{"zero": reals([]int{4, 2}, 0, 0, 0, 0, 0, 0, 0, 1)},
		nodes: []*graph.Node{
			scanNode(
				attrs{"scan_input_axes": []int64{1}, "scan_output_axes": []int64{1}},
				running(),
				[]string{"zero", "x"},
				[]string{"last", "y"},
			),
		},
		want:  none,
		node:  "loop",
		mixes: true,
	},
	{
		name:  "the first alone",
		shape: []int{4, 6},
		init:  map[string]*graph.Tensor{"zero": int64s(0)},
		nodes: []*graph.Node{node("MatMul", nil, "m", "x", "w"), node("Gather", nil, "y", "m", "zero")},
		want:  vectors,
		node:  "y",
	},
	{
		name:  "in another order",
		shape: []int{4, 6},
		init:  map[string]*graph.Tensor{"order": int64s(1, 0, 3, 2)},
		nodes: []*graph.Node{node("Gather", nil, "y", "x", "order")},
		want:  none,
		node:  "y",
	},
	{
		name:  "moved by one",
		shape: []int{4, 3},
		init: map[string]*graph.Tensor{
			"row":  reals([]int{1, 3}, 0, 0, 0),
			"from": int64s(0),
			"to":   int64s(4),
			"axis": int64s(0),
		},
		nodes: []*graph.Node{
			node("Concat", attrs{"axis": 0}, "c", "row", "x"),
			node("Slice", nil, "s", "c", "from", "to", "axis"),
			node("Add", nil, "y", "s", "x"),
		},
		want: none,
		node: "c",
	},
	{
		name:  "features merged with samples",
		shape: []int{4, 6},
		init:  map[string]*graph.Tensor{"to": int64s(8, 3)},
		nodes: []*graph.Node{node("Reshape", nil, "y", "x", "to")},
		want:  samples,
	},
	{
		name:  "divided by their number",
		shape: []int{4, 6},
		init:  map[string]*graph.Tensor{"zero": int64s(0)},
		nodes: []*graph.Node{
			node("MatMul", nil, "m", "x", "w"),
			node("Shape", nil, "s", "x"),
			node("Gather", nil, "n", "s", "zero"),
			node("Cast", attrs{"to": int(graph.Float64)}, "f", "n"),
			node("Div", nil, "y", "m", "f"),
		},
		want: vectors,
		node: "y",
	},
	{
		name:  "outputs that lie across",
		shape: []int{4, 6},
		nodes: []*graph.Node{node("MatMul", nil, "m", "x", "w"), node("Transpose", nil, "y", "m")},
		want:  vectors,
	},
	{
		name:  "an output that no sample has part in",
		shape: []int{4, 6},
		init:  map[string]*graph.Tensor{"c": reals([]int{1}, 3)},
		nodes: []*graph.Node{node("Identity", nil, "y", "c")},
		want:  none,
	},
}

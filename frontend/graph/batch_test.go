package graph_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
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

// TestBatch tells samples from time and vectors, and holds that the model for one sample gives for each of them what
// the model of the file gives.
func TestBatch(t *testing.T) {
	t.Parallel()
	for _, c := range batches {
		r := rand.New(rand.NewPCG(3, 5))
		init := map[string]*graph.Tensor{"w": filledWith(r, 6, 3), "v": filledWith(r, 3)}
		for name, value := range c.init {
			init[name] = value
		}
		g := network(c.shape, init, c.nodes...)
		before := graph.Size(c.shape)
		b := (graph.Options{}).Batch(g, "m")
		if b == nil || b.Size != 4 || !slices.Equal(b.Inputs, []string{"x"}) {
			t.Errorf("%s: %+v", c.name, b)
			continue
		}
		got := none
		switch {
		case b.Sample != nil:
			got = samples
		case b.Time:
			got = time
		case b.Vectors:
			got = vectors
		}
		node := ""
		if b.Node != nil {
			node = b.Node.Label()
		}
		if got != c.want || node != c.node || b.Mixes != c.mixes {
			t.Errorf(
				"%s: %s because of %q, which mixes: %t; want %s because of %q, %t",
				c.name,
				got,
				node,
				b.Mixes,
				c.want,
				c.node,
				c.mixes,
			)
		}
		if b.Sample != nil {
			x := filledWith(r, before).F
			if err := apart(g, b, x); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// apart runs samples together by the model of the file, and one by one.
func apart(g *graph.Graph, b *graph.Batch, x []float64) error {
	all, err := run(g, x)
	if err != nil {
		return err
	}
	var each []float64
	for _, part := range slices.Collect(slices.Chunk(x, len(x)/b.Size)) {
		y, err := run(b.Sample, part)
		if err != nil {
			return err
		}
		each = append(each, y...)
	}
	if !slices.Equal(all, each) {
		return fmt.Errorf("one by one %v, together %v", each, all)
	}
	return nil
}

func run(g *graph.Graph, x []float64) ([]float64, error) {
	p := graph.Prepare(g, "m", graph.Options{}, new(diag.List))
	if p == nil {
		return nil, fmt.Errorf("the graph cannot be prepared")
	}
	return execute(p, x)
}

// TestBatchLSTM takes LSTMs apart whose first states are constants for all samples.
func TestBatchLSTM(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 2))
	for _, direction := range []string{"forward", "bidirectional"} {
		for _, states := range []bool{false, true} {
			dirs := map[string]int{"forward": 1, "bidirectional": 2}[direction]
			c := lstmCase{t: 3, n: 4, in: 2, hidden: 3, direction: direction, layout: 1}
			init := map[string]*graph.Tensor{
				"W":       filledWith(r, dirs, 12, 2),
				"R":       filledWith(r, dirs, 12, 3),
				"B":       filledWith(r, dirs, 24),
				"lengths": ints(graph.Int32, []int{4}, 3, 3, 3, 3),
			}
			if states {
				init["h0"], init["c0"] = reals(
					[]int{4, dirs, 3},
					make([]float64, 12*dirs)...), reals(
					[]int{4, dirs, 3},
					slices.Repeat(filledWith(r, dirs*3).F, 4)...)
			}
			g := lstmGraph(c, init)
			g.Nodes = append(g.Nodes, node("Identity", nil, "y", "Y"))
			g.Nodes[1].Index, g.Outputs = 1, []graph.Value{{Name: "y"}}
			b := (graph.Options{}).Batch(g, "m")
			if b == nil || b.Sample == nil {
				t.Errorf("%s, states %t: %+v", direction, states, b)
				continue
			}
			if err := apart(g, b, filledWith(r, 24).F); err != nil {
				t.Errorf("%s, states %t: %v", direction, states, err)
			}
		}
	}
	cell := quantCell(
		lstmCase{t: 2, n: 4, in: 3, hidden: 2, direction: "forward", layout: 1},
		map[string]*graph.Tensor{
			"W": filledWith(r, 1, 8, 3),
			"R": filledWith(r, 1, 8, 2),
			"B": filledWith(r, 1, 16),
		},
		someFormats(),
	)
	cell.Nodes = append(cell.Nodes, node("Identity", nil, "y", "Y"))
	cell.Nodes[1].Index, cell.Outputs = 1, []graph.Value{{Name: "y"}}
	b := (graph.Options{}).Batch(cell, "m")
	if b == nil || b.Sample == nil {
		t.Fatalf("a cell of Brevitas: %+v", b)
	}
	if err := apart(cell, b, filledWith(r, 24).F); err != nil {
		t.Errorf("a cell of Brevitas: %v", err)
	}
}

// TestBatchInputs has several inputs: those of a batch go together, others are the same for all samples.
func TestBatchInputs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		x, z   []int
		nodes  []*graph.Node
		size   int
		inputs []string
		batch  bool
	}{
		{"both", []int{4, 3}, []int{4, 3}, []*graph.Node{node("Add", nil, "y", "x", "z")}, 4, []string{"x", "z"}, true},
		{"one for all", []int{4, 3}, []int{1, 3}, []*graph.Node{node("Add", nil, "y", "x", "z")}, 4, []string{"x"}, true},
		{"other sizes", []int{4, 3}, []int{3, 2}, []*graph.Node{node("MatMul", nil, "y", "x", "z")}, 4, []string{"x"}, true},
		{"other sizes, the second counts", []int{3, 4}, []int{5, 3}, []*graph.Node{node("MatMul", nil, "y", "z", "x")}, 5, []string{"z"}, true},
		{"one size, but not one meaning", []int{4, 4}, []int{4, 4}, []*graph.Node{node("MatMul", nil, "y", "x", "z")}, 4, []string{"x", "z"}, false},
		{"no axis beside it", []int{4}, []int{1, 4}, []*graph.Node{node("Add", nil, "y", "x", "z")}, 0, nil, false},
		{"dynamic", []int{-1, 3}, []int{1, 3}, []*graph.Node{node("Add", nil, "y", "x", "z")}, 0, nil, false},
	} {
		g := network(c.x, nil, c.nodes...)
		z := dims(c.z...)
		z.Name, z.DType = "z", graph.Float64
		g.Inputs = append(g.Inputs, z)
		b := (graph.Options{}).Batch(g, "m")
		if (b == nil) != (c.size == 0) ||
			b != nil && (b.Size != c.size || !slices.Equal(b.Inputs, c.inputs) || (b.Sample != nil) != c.batch) {
			t.Errorf("%s: %+v", c.name, b)
		}
	}
}

// TestBound fixes dynamic axes of samples that the user binds, and leaves time to be bound by whoever prepares the graph.
func TestBound(t *testing.T) {
	t.Parallel()
	init := map[string]*graph.Tensor{"zero": reals([]int{2}, 0, 0)}
	for _, c := range []struct {
		name string
		node *graph.Node
		dims map[string]int
		size int // of the batch; 0: there is none
		left map[string]int
	}{
		{"samples", node("Neg", nil, "y", "x"), map[string]int{"N": 4}, 4, nil},
		{"one sample", node("Neg", nil, "y", "x"), map[string]int{"N": 1}, 0, map[string]int{"N": 1}},
		{"another axis", node("Neg", nil, "y", "x"), map[string]int{"M": 4}, 0, map[string]int{"M": 4}},
		{"time", scanNode(attrs{}, running(), []string{"zero", "x"}, []string{"last", "y"}), map[string]int{"N": 4}, 0, map[string]int{"N": 4}},
		{"nothing bound", node("Neg", nil, "y", "x"), nil, 0, nil},
	} {
		g := network([]int{-1, 2}, init, c.node)
		g.Inputs[0].Dims[0].Param = "N"
		fixed, left := graph.Options{Dims: c.dims}.Sequences(g, "m").Bound(g)
		b := left.Batch(fixed, "m")
		if (b == nil) != (c.size == 0) || b != nil && (b.Size != c.size || b.Sample == nil) {
			t.Errorf("%s: %+v", c.name, b)
		}
		if len(left.Dims) != len(c.left) || left.Dims["N"] != c.left["N"] || g.Inputs[0].Dims[0].Size != -1 {
			t.Errorf("%s: left are %v, the graph has %v", c.name, left.Dims, g.Inputs)
		}
	}
}

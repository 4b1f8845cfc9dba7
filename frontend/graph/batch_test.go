package graph_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

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
		b := graph.FindBatch((graph.Options{}), g, "m")
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
			g.Nodes[1].Index, g.Outputs = 1, []graph.ValueInfo{{Name: "y"}}
			b := graph.FindBatch((graph.Options{}), g, "m")
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
	cell.Nodes[1].Index, cell.Outputs = 1, []graph.ValueInfo{{Name: "y"}}
	b := graph.FindBatch((graph.Options{}), cell, "m")
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
		{"one for all", []int{4, 3}, []int{1, 3}, []*graph.Node{node("Add", nil, "y", "x", "z")}, 4, []string{"x"},
			true},
		{"other sizes", []int{4, 3}, []int{3, 2}, []*graph.Node{node("MatMul", nil, "y", "x", "z")}, 4, []string{"x"},
			true},
		{"other sizes, the second counts", []int{3, 4}, []int{5, 3}, []*graph.Node{node("MatMul", nil, "y", "z", "x")},
			5, []string{"z"}, true},
		{"one size, but not one meaning", []int{4, 4}, []int{4, 4}, []*graph.Node{node("MatMul", nil, "y", "x", "z")},
			4, []string{"x", "z"}, false},
		{"no axis beside it", []int{4}, []int{1, 4}, []*graph.Node{node("Add", nil, "y", "x", "z")}, 0, nil, false},
		{"dynamic", []int{-1, 3}, []int{1, 3}, []*graph.Node{node("Add", nil, "y", "x", "z")}, 0, nil, false},
	} {
		g := network(c.x, nil, c.nodes...)
		z := dims(c.z...)
		z.Name, z.DType = "z", graph.Float64
		g.Inputs = append(g.Inputs, z)
		b := graph.FindBatch((graph.Options{}), g, "m")
		if (b == nil) != (c.size == 0) ||
			b != nil && (b.Size != c.size || !slices.Equal(b.Inputs, c.inputs) || (b.Sample != nil) != c.batch) {
			t.Errorf("%s: %+v", c.name, b)
		}
	}
}

// TestBound fixes dynamic axes of samples that the user binds, and leaves time to be bound by whoever prepares the
// graph.
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
		{"time", scanNode(attrs{}, running(), []string{"zero", "x"}, []string{"last", "y"}), map[string]int{"N": 4}, 0,
			map[string]int{"N": 4}},
		{"nothing bound", node("Neg", nil, "y", "x"), nil, 0, nil},
	} {
		g := network([]int{-1, 2}, init, c.node)
		g.Inputs[0].Dims[0].Param = "N"
		fixed, left := graph.WithSequences(graph.Options{Dims: c.dims}, g, "m").Bound(g)
		b := graph.FindBatch(left, fixed, "m")
		if (b == nil) != (c.size == 0) || b != nil && (b.Size != c.size || b.Sample == nil) {
			t.Errorf("%s: %+v", c.name, b)
		}
		if len(left.Dims) != len(c.left) || left.Dims["N"] != c.left["N"] || g.Inputs[0].Dims[0].Size != -1 {
			t.Errorf("%s: left are %v, the graph has %v", c.name, left.Dims, g.Inputs)
		}
	}
}

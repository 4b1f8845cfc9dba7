package axes_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend/axes"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/testsupport/graphtest"
)

// TestBatch tells samples from time and vectors, and holds that the model for one sample gives for each of them what
// the model of the file gives.
func TestBatch(t *testing.T) {
	t.Parallel()
	for _, c := range batches {
		r := rand.New(rand.NewPCG(3, 5))
		init := map[string]*graph.ConstantTensor{"w": graphtest.FilledWith(r, 6, 3), "v": graphtest.FilledWith(r, 3)}
		for name, value := range c.init {
			init[name] = value
		}
		g := graphtest.Network(c.shape, init, c.nodes...)
		before := graph.ElementCount(c.shape)
		b := axes.FindBatchAxisCandidate((operators.Options{}), g, "m")
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
			x := graphtest.FilledWith(r, before).F
			if err := graphtest.RunApart(g, b, x); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
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
		{"both", []int{4, 3}, []int{4, 3}, []*graph.Node{graphtest.Node("Add", nil, "y", "x", "z")}, 4, []string{"x",
			"z"}, true},
		{"one for all", []int{4, 3}, []int{1, 3}, []*graph.Node{graphtest.Node("Add", nil, "y", "x", "z")}, 4,
			[]string{"x"},
			true},
		{"other sizes", []int{4, 3}, []int{3, 2}, []*graph.Node{graphtest.Node("MatMul", nil, "y", "x", "z")}, 4,
			[]string{"x"},
			true},
		{"other sizes, the second counts", []int{3, 4}, []int{5, 3}, []*graph.Node{graphtest.Node("MatMul", nil, "y",
			"z", "x")},
			5, []string{"z"}, true},
		{"one size, but not one meaning", []int{4, 4}, []int{4, 4}, []*graph.Node{graphtest.Node("MatMul", nil, "y",
			"x", "z")},
			4, []string{"x", "z"}, false},
		{"no axis beside it", []int{4}, []int{1, 4}, []*graph.Node{graphtest.Node("Add", nil, "y", "x", "z")}, 0, nil,
			false},
		{"dynamic", []int{-1, 3}, []int{1, 3}, []*graph.Node{graphtest.Node("Add", nil, "y", "x", "z")}, 0, nil, false},
	} {
		g := graphtest.Network(c.x, nil, c.nodes...)
		z := graphtest.Dims(c.z...)
		z.Name, z.DType = "z", graph.DTypeFloat64
		g.Inputs = append(g.Inputs, z)
		b := axes.FindBatchAxisCandidate((operators.Options{}), g, "m")
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
	init := map[string]*graph.ConstantTensor{"zero": graphtest.Reals([]int{2}, 0, 0)}
	for _, c := range []struct {
		name string
		node *graph.Node
		dims map[string]int
		size int // of the batch; 0: there is none
		left map[string]int
	}{
		{"samples", graphtest.Node("Neg", nil, "y", "x"), map[string]int{"N": 4}, 4, nil},
		{"one sample", graphtest.Node("Neg", nil, "y", "x"), map[string]int{"N": 1}, 0, map[string]int{"N": 1}},
		{"another axis", graphtest.Node("Neg", nil, "y", "x"), map[string]int{"M": 4}, 0, map[string]int{"M": 4}},
		{"time", graphtest.ScanNode(graphtest.Attrs{}, graphtest.Running(), []string{"zero", "x"}, []string{"last",
			"y"}), map[string]int{"N": 4}, 0,
			map[string]int{"N": 4}},
		{"nothing bound", graphtest.Node("Neg", nil, "y", "x"), nil, 0, nil},
	} {
		g := graphtest.Network([]int{-1, 2}, init, c.node)
		g.Inputs[0].Dims[0].Param = "N"
		fixed, left := axes.OptionsWithSequenceInputs(operators.Options{Dims: c.dims}, g, "m").BindLeadingAxes(g)
		b := axes.FindBatchAxisCandidate(left, fixed, "m")
		if (b == nil) != (c.size == 0) || b != nil && (b.Size != c.size || b.Sample == nil) {
			t.Errorf("%s: %+v", c.name, b)
		}
		if len(left.Dims) != len(c.left) || left.Dims["N"] != c.left["N"] || g.Inputs[0].Dims[0].Size != -1 {
			t.Errorf("%s: left are %v, the graph has %v", c.name, left.Dims, g.Inputs)
		}
	}
}

package operators_test

import (
	"slices"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/graphtest"
)

// TestAgain holds that what changes around a node that stays changes what becomes of it: the program is as if the graph
// were prepared anew, and what needs no change is kept.
func TestAgain(t *testing.T) {
	t.Parallel()
	zeros := func(shape ...int) *graph.ConstantTensor {
		return graphtest.Reals(shape, make([]float64, graph.ElementCount(shape))...)
	}
	conv := graphtest.Node("Conv", graphtest.Attrs{"pads": []int64{1, 1}}, "y", "a", "w")
	for _, c := range []struct {
		what string
		with []*graph.Node // in the place of the first node
		kept bool          // the convolution's sums
	}{
		{"nothing", nil, true},
		{"an equal node", []*graph.Node{graphtest.Node("Relu", nil, "a", "x")}, true},
		{"another shape", []*graph.Node{graphtest.Node("Concat", graphtest.Attrs{"axis": 2}, "a", "x", "x")}, false},
		{"a name that was made up", []*graph.Node{graphtest.Node("Relu", nil, "y.padded", "x"),
			graphtest.Node("Neg", nil, "a", "y.padded")}, false},
	} {
		relu := graphtest.Node("Relu", nil, "a", "x")
		g := graphtest.Network([]int{1, 1, 4}, map[string]*graph.ConstantTensor{"w": zeros(1, 1, 3)}, relu, conv)
		p := graphtest.Prepare(t, g)
		next := g.ShallowCopy()
		if c.with != nil {
			next.Nodes = append(c.with, conv)
		}
		var d diag.List
		again := operators.ReprepareProgram(p, next, &d)
		if again == nil {
			t.Fatalf("%s: %v", c.what, d.Diags)
		}
		var got, want []string
		for _, s := range again.Steps {
			got = append(got, s.Output)
		}
		for _, s := range graphtest.Prepare(t, next).Steps {
			want = append(want, s.Output)
		}
		if kept := again.ProducerOf("y") == p.ProducerOf("y"); !slices.Equal(got, want) || kept != c.kept {
			t.Errorf("%s: steps %q, want %q; kept %t, want %t", c.what, got, want, kept, c.kept)
		}
	}
}

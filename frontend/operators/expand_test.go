package operators_test

import (
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/graphtest"
)

// TestExpansion shows the steps that operators are written in.
func TestExpansion(t *testing.T) {
	t.Parallel()
	pixels, signal := graphtest.Reals([]int{1, 2, 3, 3}, graphtest.Count(18)...), graphtest.Reals([]int{1, 2, 4},
		graphtest.Count(8)...)
	kernel := graphtest.Reals([]int{2, 2, 2, 2}, graphtest.Count(16)...)
	bias := graphtest.Reals([]int{2}, 1, 2)
	pads := []int64{1, 1, 0, 0}
	for _, c := range []struct {
		op    string
		attrs graphtest.Attrs
		args  []*graph.ConstantTensor
		steps string
	}{
		{"Conv", nil, []*graph.ConstantTensor{pixels, kernel}, "Conv"},
		{"Conv", graphtest.Attrs{"pads": pads}, []*graph.ConstantTensor{pixels, kernel}, "hlsgen::Pad Conv"},
		{"Conv", graphtest.Attrs{"pads": pads}, []*graph.ConstantTensor{pixels, kernel, bias}, "hlsgen::Pad Conv Add"},
		{"ConvTranspose", nil, []*graph.ConstantTensor{pixels, kernel, bias}, "hlsgen::Spread Conv Add"},
		{"MaxPool", graphtest.Attrs{"kernel_shape": []int64{2, 2}, "pads": pads}, []*graph.ConstantTensor{pixels},
			"MaxPool"},
		{"AveragePool", graphtest.Attrs{"kernel_shape": []int64{2, 2}}, []*graph.ConstantTensor{pixels}, "Conv Div"},
		{"AveragePool", graphtest.Attrs{"kernel_shape": []int64{2, 2}, "pads": pads}, []*graph.ConstantTensor{pixels},
			"hlsgen::Pad Conv Div"},
		{"GlobalAveragePool", nil, []*graph.ConstantTensor{pixels}, "Conv Div"},
		{"GlobalMaxPool", nil, []*graph.ConstantTensor{signal}, "MaxPool"},
		{"ReduceMean", graphtest.Attrs{"axes": []int64{2, 3}}, []*graph.ConstantTensor{pixels}, "Conv Div"},
		{"ReduceMean", graphtest.Attrs{"axes": []int64{2}, "keepdims": 0}, []*graph.ConstantTensor{signal},
			"Conv Div Reshape"},
		{"ReduceMax", graphtest.Attrs{"axes": []int64{1}}, []*graph.ConstantTensor{signal}, channelsLast + "::MaxPool"},
		{"ReduceSum", graphtest.Attrs{"axes": []int64{2, 3}}, []*graph.ConstantTensor{pixels}, "hlsgen::Sum Reshape"},
		{"ReduceMax", graphtest.Attrs{"axes": []int64{0}}, []*graph.ConstantTensor{signal},
			"Reshape " + channelsLast + "::MaxPool Reshape"},
		{"ReduceMax", graphtest.Attrs{"axes": []int64{0, 2}}, []*graph.ConstantTensor{signal}, "hlsgen::Max Reshape"},
		{"Pad", nil, []*graph.ConstantTensor{signal, graphtest.Int64s(0, 0, 1, 0, 0, 0)}, "hlsgen::Pad"},
	} {
		g := graphtest.Single("", c.op, 12, c.attrs, func(i int) bool { return i == 0 }, c.args...)
		// Tensors of the model have the names that made-up ones would.
		for _, name := range []string{"y.padded", "y.sums", "y.zero", "y.spread", "y.turned", "y.ones", "y.counts",
			"y.reduced", "y.shape"} {
			g.Nodes = append(g.Nodes, &graph.Node{Index: 1, Op: "Relu", Inputs: []string{"x0"},
				Outputs: []string{name}})
		}
		var d diag.List
		p := operators.Prepare(g, "m", operators.Options{}, &d)
		if p == nil {
			t.Errorf("%s: %v", c.op, d.Diags)
			continue
		}
		var ops []string
		for _, s := range p.Steps {
			n := s.Node
			if n.Op == "Relu" {
				continue
			}
			if p.OriginOf(n) != g.Nodes[0] || n.Index != 0 || n.Name != "n" || n.QualifiedOpName() != c.op {
				t.Errorf("%s: made-up node %+v", c.op, n)
			}
			own := *n
			own.Was = ""
			ops = append(ops, own.QualifiedOpName())
		}
		if got := strings.Join(ops, " "); got != c.steps {
			t.Errorf("%s %v: steps %s, want %s", c.op, c.attrs, got, c.steps)
		}
	}
}

// TestTablesAreShared: layers of equal shapes have equal tables, once.
func TestTablesAreShared(t *testing.T) {
	t.Parallel()
	g := chain(3, func(_ int, in, out string) *graph.Node {
		return &graph.Node{Op: "Conv", Inputs: []string{in, "w"}, Outputs: []string{out},
			Attrs: graphtest.Attrs{"pads": []int64{1, 1, 1, 1}}.Graph()}
	})
	g.Inputs = []graph.ValueInfo{graphtest.Dims(1, 4, 8, 8)}
	g.Init["w"] = graphtest.Reals([]int{4, 4, 3, 3}, graphtest.Count(144)...)
	p := operators.Prepare(g, "m", operators.Options{}, nil)
	if p == nil {
		t.Fatal("refused")
	}
	var first *program.Dot
	for _, s := range p.Steps {
		d := s.Dot
		switch {
		case d == nil:
		case first == nil:
			first = d
		case d.ABase != first.ABase, d.BBase != first.BBase, &d.AOffset[0] != &first.AOffset[0],
			&d.BOffset[0] != &first.BOffset[0]:
			t.Error("a table is made twice")
		}
	}
}

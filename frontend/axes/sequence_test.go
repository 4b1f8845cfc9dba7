package axes_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend/axes"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/graphtest"
)

// TestSequences tells time from samples.
func TestSequences(t *testing.T) {
	t.Parallel()
	weights := map[string]*graph.ConstantTensor{"W": graphtest.FilledWith(rand.New(rand.NewPCG(1, 2)), 1, 4, 2),
		"R": graphtest.FilledWith(rand.New(rand.NewPCG(3, 2)), 1, 4, 1), "zero": graphtest.Reals([]int{2}, 0, 0)}
	lstm := func(layout int) []*graph.Node {
		return []*graph.Node{{Op: "LSTM", Name: "l", Inputs: []string{"x", "W", "R"}, Outputs: []string{"", "y"},
			Attrs: graphtest.Attrs{"layout": layout}.Graph()}}
	}
	for _, c := range []struct {
		name  string
		shape []int
		nodes []*graph.Node
		data  []int
		want  []int // nil: refused
		time  bool
	}{
		{"an LSTM over time", []int{-1, 1, 2}, lstm(0), []int{5, 1, 2}, []int{5, 1, 2}, true},
		{"many sequences", []int{-1, 1, 2}, lstm(0), []int{7, 5, 1, 2}, []int{5, 1, 2}, true},
		{"no data", []int{-1, 1, 2}, lstm(0), nil, nil, true},
		{"samples first", []int{-1, 3, 2}, lstm(1), []int{5, 3, 2}, []int{1, 3, 2}, false},
		{"a Scan along samples", []int{-1, 2}, []*graph.Node{graphtest.ScanNode(graphtest.Attrs{}, graphtest.Running(),
			[]string{"zero", "x"},
			[]string{"last", "y"})}, []int{5, 2}, []int{5, 2}, true},
		{"a Scan that hands on nothing", []int{-1, 2}, []*graph.Node{graphtest.ScanNode(graphtest.Attrs{},
			graphtest.Body([]string{"e"}, []string{"f"}, nil, graphtest.Node("Neg", nil, "f", "e")), []string{"x"},
			[]string{"y"})},
			[]int{5, 2}, []int{1, 2}, false},
		{"nothing recurrent", []int{-1, 2}, []*graph.Node{graphtest.Node("Neg", nil, "y", "x")}, []int{5, 2}, []int{1,
			2}, false},
	} {
		g := graphtest.Network(c.shape, weights, c.nodes...)
		g.Inputs[0].Dims[0].Param = "T"
		opt := operators.Options{}
		if c.data != nil {
			opt.Data = map[string][]int{"": c.data}
		}
		var d diag.List
		p := operators.Prepare(g, "m", axes.OptionsWithSequenceInputs(opt, g, "m"), &d)
		if p == nil {
			if c.want != nil || d.Diags[0].Code != diag.ShapeUnknown {
				t.Errorf("%s: %v", c.name, d.Diags)
			}
			continue
		}
		if !slices.Equal(p.Known["x"].Shape, c.want) || p.IsSequenceInput("x") != c.time {
			t.Errorf("%s: shape %v, time %t; want %v, %t", c.name, p.Known["x"].Shape, p.IsSequenceInput("x"), c.want,
				c.time)
		}
	}
	g := graphtest.Network([]int{-1, 1, 2}, weights, lstm(0)...)
	g.Inputs[0].Dims[0].Param = "T"
	opt := operators.Options{Dims: map[string]int{"T": 9}}
	if p := operators.Prepare(g, "m", axes.OptionsWithSequenceInputs(opt, g, "m"), new(diag.List)); p == nil ||
		p.Known["x"].Shape[0] != 9 {
		t.Error("--dim T=9 does not bind the axis")
	}
}

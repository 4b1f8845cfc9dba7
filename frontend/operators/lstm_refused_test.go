package operators_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/graphtest"
)

// someFormats are formats in which quantisation is visible.
func someFormats() operators.CellFormats {
	return formatsOf(operators.LSTMCellQuantiserNames[:]...)
}

// formatsOf are formats of these names in which quantisation is visible.
func formatsOf(names ...string) operators.CellFormats {
	f := operators.CellFormats{}
	for _, name := range names {
		f[name] = operators.CellQuantiserFormat{Scale: 0.0625, Bits: 6, Signed: !strings.Contains(name, "sigmoid"),
			Rounding: "ROUND", Narrow: name == "cell_state"}
		if name == "hidden_state_tanh" || name == "hidden_acc" {
			q := f[name]
			q.Rounding = "FLOOR"
			f[name] = q
		}
	}
	return f
}

// A refusal is a change of a node that is understood, and what is said of it.
type refusal struct {
	name   string
	change func(g *graph.Graph, n *graph.Node)
	code   diag.Code
	says   string
}

// TestLSTMRefusals gives LSTM nodes that contradict their definition or that have no meaning here.
func TestLSTMRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []refusal{
		{"a direction", func(_ *graph.Graph, n *graph.Node) {
			n.Attrs["direction"] = graph.Attr{Kind: graph.AttrKindString, S: "up"}
		}, diag.OpInvalid, `direction "up"`},
		{"hidden size", func(_ *graph.Graph, n *graph.Node) {
			n.Attrs["hidden_size"] = graph.Attr{Kind: graph.AttrKindInt, I: 1 << 40}
		}, diag.OpInvalid, "W and R have shapes"},
		{"unknown activation", func(_ *graph.Graph, n *graph.Node) {
			n.Attrs["activations"] = graph.Attr{Kind: graph.AttrKindStrings, Strings: []string{"Sigmoid", "Tanh",
				"Gelu"}}
		}, diag.OpUnsupported, `activation "Gelu"`},
		{"two activations", func(_ *graph.Graph, n *graph.Node) {
			n.Attrs["activations"] = graph.Attr{Kind: graph.AttrKindStrings, Strings: []string{"Sigmoid", "Tanh"}}
		}, diag.OpInvalid, "2 activations"},
		{"a parameter that is no number", func(_ *graph.Graph, n *graph.Node) {
			n.Attrs["activations"] = graph.Attr{Kind: graph.AttrKindStrings, Strings: []string{"Affine", "Tanh",
				"Tanh"}}
			n.Attrs["activation_alpha"] = graph.Attr{Kind: graph.AttrKindFloats, Floats: []float64{math.NaN()}}
		}, diag.OpInvalid, "NaN"},
		{"negative clip", func(_ *graph.Graph, n *graph.Node) {
			n.Attrs["clip"] = graph.Attr{Kind: graph.AttrKindFloat,
				F: -1}
		}, diag.OpInvalid, "clip is -1"},
		{"sequences that are too long", func(g *graph.Graph, n *graph.Node) {
			g.Init["lengths"], n.Inputs[4] = graphtest.Int64s(4),
				"lengths"
		}, diag.OpInvalid, "sequence_lens is [4]"},
		{"lengths of other samples", func(g *graph.Graph, n *graph.Node) {
			g.Init["lengths"], n.Inputs[4] = graphtest.Int64s(2, 2),
				"lengths"
		}, diag.OpInvalid, "2 entries for 1 samples"},
		{"weights of the wrong shape", func(g *graph.Graph, _ *graph.Node) {
			g.Init["R"] = graphtest.Reals([]int{1, 4, 2},
				graphtest.Count(8)...)
		}, diag.OpInvalid, "W and R have shapes"},
		{"integer weights", func(g *graph.Graph, _ *graph.Node) {
			g.Init["W"] = graphtest.Ints(graph.DTypeInt8, []int{1, 4, 2}, make([]int64, 8)...)
		}, diag.OpInvalid, "W is of type int8"},
		{"weights of data", func(g *graph.Graph, n *graph.Node) { n.Inputs[1] = "x" }, diag.OpUnsupported,
			"W is not constant"},
		{"a bias of the wrong shape", func(g *graph.Graph, n *graph.Node) {
			g.Init["B"],
				n.Inputs[3] = graphtest.Reals([]int{8}, graphtest.Count(8)...), "B"
		}, diag.OpInvalid, "B has shape [8]"},
		{"peepholes of the wrong shape", func(g *graph.Graph, n *graph.Node) {
			g.Init["P"],
				n.Inputs[7] = graphtest.Reals([]int{1, 4}, graphtest.Count(4)...), "P"
		}, diag.OpInvalid, "P has shape [1 4]"},
		{"a state of the wrong shape", func(g *graph.Graph, n *graph.Node) {
			g.Init["h"], n.Inputs[5] = graphtest.Scalar(1),
				"h"
		}, diag.OpInvalid, "initial state 5"},
		{"an old opset", func(g *graph.Graph, _ *graph.Node) { g.Opsets[""] = 1 }, diag.OpUnsupported,
			"before opset 7"},
		{"no output", func(g *graph.Graph, n *graph.Node) { n.Outputs, g.Outputs = []string{"", "", ""}, nil },
			diag.OpInvalid, "no output"},
		{"an output too many", func(g *graph.Graph, n *graph.Node) { n.Outputs = append(n.Outputs, "more") },
			diag.OpUnsupported, "output 3"},
	} {
		g := lstmGraph(lstmCase{t: 3, n: 1, in: 2, hidden: 1, direction: "forward"},
			map[string]*graph.ConstantTensor{"W": graphtest.Reals([]int{1, 4, 2}, graphtest.Count(8)...),
				"R": graphtest.Reals([]int{1, 4, 1}, graphtest.Count(4)...)})
		c.change(g, g.Nodes[0])
		graphtest.Refused(t, c.name, g, c.code, c.says)
	}
}

// TestQuantCellRefusals gives cells that lack something.
func TestQuantCellRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []refusal{
		{"an attribute is missing", func(_ *graph.Graph, n *graph.Node) { delete(n.Attrs, "cell_acc_signed") },
			diag.QuantiserInvalid, "cell_acc"},
		{"a scale per unit", func(g *graph.Graph, _ *graph.Node) {
			g.Init["output.s"] = graphtest.Reals([]int{2}, 1,
				2)
		},
			diag.QuantiserInvalid, "input 15"},
		{"a rounding mode", func(_ *graph.Graph, n *graph.Node) {
			n.Attrs["output_rounding_mode"] = graph.Attr{Kind: graph.AttrKindString, S: "SIDEWAYS"}
		}, diag.QuantiserInvalid, "SIDEWAYS"},
		{"a scale of zero", func(g *graph.Graph, _ *graph.Node) { g.Init["output.s"] = graphtest.Scalar(0) },
			diag.QuantiserInvalid,
			"scale 0"},
		{"weights of other units", func(g *graph.Graph, _ *graph.Node) {
			g.Init["R3"] = graphtest.Reals([]int{1, 2}, 1,
				2)
		},
			diag.OpInvalid, "gate c"},
		{"a bias of other units", func(g *graph.Graph, _ *graph.Node) {
			g.Init["B3"] = graphtest.Reals([]int{3}, 1, 2,
				3)
		},
			diag.OpInvalid, "bias of gate c"},
		{"weights of no axis", func(g *graph.Graph, _ *graph.Node) { g.Init["W0"] = graphtest.Scalar(1) },
			diag.OpInvalid,
			"gate i"},
		{"an initial state", func(g *graph.Graph, _ *graph.Node) {
			g.Init["zero"] = graphtest.Reals([]int{3}, 0, 0,
				0)
		},
			diag.OpInvalid, "initial state"},
		{"47 inputs", func(_ *graph.Graph, n *graph.Node) { n.Inputs = n.Inputs[:47] }, diag.OpInvalid, "47 inputs"},
	} {
		r := rand.New(rand.NewPCG(5, 6))
		init := map[string]*graph.ConstantTensor{"W": graphtest.FilledWith(r, 1, 8, 3), "R": graphtest.FilledWith(r, 1,
			8, 2),
			"B": graphtest.FilledWith(r, 1, 16)}
		g := quantCell(lstmCase{t: 2, n: 1, in: 3, hidden: 2, direction: "forward"}, init, someFormats())
		c.change(g, g.Nodes[0])
		graphtest.Refused(t, c.name, g, c.code, c.says)
	}
}

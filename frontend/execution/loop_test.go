package execution_test

import (
	"fmt"
	"slices"
	"testing"

	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/graphtest"
)

// A loopCase is a Loop over x, four vectors of two, whose body adds up what it gathers: s' = s + element, y = 2s'.
// index are the nodes that make the tensor "k" of the number of the run "i".
type loopCase struct {
	name   string
	runs   int
	index  []*graph.Node
	gather func(*graph.Node) // changes the Gather of x by k
	change func(g *graph.Graph, body *graph.Graph)
	want   func(t int) []float64 // what run t adds
}

// row is a row of x.
func row(t int) []float64 { return []float64{float64(2 * t), float64(2*t + 1)} }

func loopGraph(c loopCase) *graph.Graph {
	init := map[string]*graph.ConstantTensor{"one": graphtest.Ints(graph.DTypeInt64, nil, 1),
		"three": graphtest.Ints(graph.DTypeInt64,
			nil, 3),
		"axes": graphtest.Int64s(0), "yes": graphtest.Ints(graph.DTypeBool, nil, 1)}
	take := graphtest.Node("Gather", graphtest.Attrs{"axis": 0}, "e", "x", "k")
	if c.gather != nil {
		c.gather(take)
	}
	nodes := append(slices.Clone(c.index), take, graphtest.Node("Add", nil, "t", "s", "e"), graphtest.Node("Add", nil,
		"twice", "t", "t"),
		graphtest.Node("Identity", nil, "go on", "condition"))
	if c.index == nil {
		take.Inputs[1] = "i"
	}
	b := graphtest.Body([]string{"i", "condition", "s"}, []string{"go on", "t", "twice"}, init, nodes...)
	b.G.Inputs[0].DType, b.G.Inputs[1].DType = graph.DTypeInt64, graph.DTypeBool
	loop := &graph.Node{Name: "loop", Op: "Loop", Inputs: []string{"runs", "true", "zero"},
		Outputs: []string{"last", "y"}, Attrs: graphtest.Attrs{"body": b}.Graph()}
	g := graphtest.Network([]int{4, 2}, map[string]*graph.ConstantTensor{"runs": graphtest.Ints(graph.DTypeInt64, nil,
		int64(c.runs)),
		"true": graphtest.Ints(graph.DTypeBool, nil, 1), "zero": graphtest.Reals([]int{2}, 0, 0)}, loop)
	g.Outputs = []graph.ValueInfo{{Name: "y"}, {Name: "last"}}
	if c.change != nil {
		c.change(g, b.G)
	}
	return g
}

// TestLoop runs bodies that read a sequence by the number of the run.
func TestLoop(t *testing.T) {
	t.Parallel()
	for _, c := range []loopCase{
		{name: "in order", runs: 4, want: row},
		{name: "only the first ones", runs: 3, want: row},
		{name: "backwards", runs: 4, index: []*graph.Node{graphtest.Node("Sub", nil, "k", "three", "i")},
			want: func(t int) []float64 { return row(3 - t) }},
		{name: "from the second on", runs: 3, index: []*graph.Node{graphtest.Node("Add", nil, "k", "i", "one")},
			want: func(t int) []float64 { return row(t + 1) }},
		{name: "from the end", runs: 4, index: []*graph.Node{graphtest.Node("Neg", nil, "n", "i"),
			graphtest.Node("Sub", nil, "k", "n", "one")}, want: func(t int) []float64 { return row(3 - t) }},
		{name: "every other one", runs: 2, index: []*graph.Node{graphtest.Node("Add", nil, "n", "i", "i"),
			graphtest.Node("Identity", nil, "k", "n")}, want: func(t int) []float64 { return row(2 * t) }},
		{name: "with an axis", runs: 4, index: []*graph.Node{graphtest.Node("Cast",
			graphtest.Attrs{"to": int(graph.DTypeInt32)}, "n", "i"),
			graphtest.Node("Unsqueeze", nil, "k", "n", "axes")}, change: func(g, _ *graph.Graph) {
			g.Init["zero"] = graphtest.Reals([]int{1, 2}, 0, 0)
		}, want: row},
		{name: "columns", runs: 2, gather: func(n *graph.Node) { n.Attrs["axis"] = graph.NewIntAttr(-1) },
			change: func(g, _ *graph.Graph) { g.Init["zero"] = graphtest.Reals([]int{4}, 0, 0, 0, 0) },
			want: func(t int) []float64 {
				return []float64{float64(t), float64(2 + t), float64(4 + t), float64(6 + t)}
			}},
		{name: "the number itself", runs: 4, change: func(_, body *graph.Graph) {
			body.Nodes = slices.Insert(body.Nodes, 1, graphtest.Node("Cast",
				graphtest.Attrs{"to": int(graph.DTypeFloat32)},
				"real", "i"),
				graphtest.Node("Add", nil, "more", "e", "real"))
			body.Nodes[3].Inputs[1] = "more"
		}, want: func(t int) []float64 { return []float64{float64(3 * t), float64(3*t + 1)} }},
		{name: "the sequence as a state", runs: 4, gather: func(n *graph.Node) { n.Inputs[0] = "all" },
			change: func(g, body *graph.Graph) {
				loop := g.Nodes[0]
				loop.Inputs, loop.Outputs = append(loop.Inputs, "x"), []string{"last", "same", "y"}
				body.Inputs = append(body.Inputs, graph.ValueInfo{Name: "all", DType: graph.DTypeFloat64})
				body.Nodes = append(body.Nodes, graphtest.Node("Identity", nil, "still", "all"))
				body.Outputs = slices.Insert(body.Outputs, 2, graph.ValueInfo{Name: "still"})
			}, want: row},
		{name: "no condition", runs: 4, change: func(g, _ *graph.Graph) { g.Nodes[0].Inputs[1] = "" }, want: row},
		{name: "a fixed condition", runs: 4, change: func(_, body *graph.Graph) { body.Outputs[0].Name = "yes" },
			want: row},
		{name: "as many runs as there are", runs: 4, change: func(g, _ *graph.Graph) {
			g.Init["first"], g.Init["runs"] = graphtest.Ints(graph.DTypeInt64, nil, 0), nil
			delete(g.Init, "runs")
			g.Nodes = []*graph.Node{graphtest.Node("Shape", nil, "shape", "x"),
				graphtest.Node("Gather", graphtest.Attrs{"axis": 0}, "runs", "shape", "first"), g.Nodes[0]}
		}, want: row},
	} {
		p := graphtest.Prepare(t, loopGraph(c))
		part, err := execution.NewProgramPart(p, []string{"x"}, []string{"y", "last"})
		if err != nil {
			t.Fatal(c.name, err)
		}
		out, _, err := part.Run([]*program.Reals{program.NewExactReals([]int{4, 2}, graphtest.Count(8))})
		if err != nil {
			t.Fatal(c.name, err)
		}
		sum, y := make([]float64, len(c.want(0))), []float64{}
		for k := range c.runs {
			for i, v := range c.want(k) {
				sum[i] += v
				y = append(y, 2*sum[i])
			}
		}
		if !slices.Equal(out[0].Lo, y) || !slices.Equal(out[1].Lo, sum) || out[0].Shape[0] != c.runs {
			t.Errorf("%s: %v %v, want %v %v", c.name, out[0].Lo, out[1].Lo, y, sum)
		}
		r := p.LoopOfNode(p.Steps[len(p.Steps)-1].Node)
		if r == nil || r.States != 1 || r.Length != c.runs {
			t.Errorf("%s: it is %+v", c.name, r)
		}
	}
}

// TestLoopRefusals has loops that end when the data say so, and such that contradict themselves.
func TestLoopRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(g, body *graph.Graph)
		code   diag.Code
		says   string
	}{
		{"runs of data", func(g, _ *graph.Graph) { g.Nodes[0].Inputs[0] = "x" }, diag.ShapeUnknown, "number of runs"},
		{"no runs", func(g, _ *graph.Graph) { g.Init["runs"].I[0] = 0 }, diag.OpUnsupported, "0 runs"},
		{"no number of runs", func(g, _ *graph.Graph) { g.Nodes[0].Inputs[0] = "" }, diag.OpUnsupported,
			"no number of runs"},
		{"too many runs", func(g, _ *graph.Graph) { g.Init["runs"].I[0] = 1 << 40 }, diag.ModelTooLarge,
			"runs, at most"},
		{"a false condition", func(g, _ *graph.Graph) { g.Init["true"].I[0] = 0 }, diag.OpUnsupported, "condition"},
		{"a condition of data", func(_, body *graph.Graph) { body.Outputs[0].Name = "twice" }, diag.OpUnsupported,
			"computed in the body"},
		{"an element too many", func(g, _ *graph.Graph) { g.Init["runs"].I[0] = 5 }, diag.OpInvalid,
			"run 4 gathers element 4"},
		{"no body", func(g, _ *graph.Graph) { delete(g.Nodes[0].Attrs, "body") }, diag.OpInvalid, "no body"},
		{"a state too many", func(g, _ *graph.Graph) { g.Nodes[0].Inputs = append(g.Nodes[0].Inputs, "zero") },
			diag.OpInvalid, "the body has 3 inputs"},
		{"a state is missing", func(g, _ *graph.Graph) { g.Nodes[0].Inputs[2] = "" }, diag.OpInvalid,
			"input 2 is missing"},
	} {
		g := loopGraph(loopCase{runs: 4, change: c.change})
		graphtest.Refused(t, fmt.Sprint("loop: ", c.name), g, c.code, c.says)
	}
}

// Package graphtest builds small graphs for tests of the front end, and runs them.
package graphtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend/axes"
	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

// QONNX is the domain of the operators of QONNX.
const QONNX = "qonnx.custom_op.general"

// Reals returns a constant tensor of float32s with the given shape and values.
func Reals(shape []int, v ...float64) *graph.ConstantTensor {
	return &graph.ConstantTensor{DType: graph.DTypeFloat32, Shape: shape, F: v}
}

// Ints returns a constant tensor of integers with the given type, shape and values.
func Ints(dt graph.DType, shape []int, v ...int64) *graph.ConstantTensor {
	return &graph.ConstantTensor{DType: dt, Shape: shape, I: v}
}

// Int64s returns a constant vector of int64s.
func Int64s(v ...int64) *graph.ConstantTensor { return Ints(graph.DTypeInt64, []int{len(v)}, v...) }

// Scalar returns a constant float32 without axes.
func Scalar(v float64) *graph.ConstantTensor { return Reals(nil, v) }

// Count returns the numbers 0, 1 and so on to n-1.
func Count(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i)
	}
	return out
}

// An Attrs holds attributes of a node by name, as Go values.
type Attrs map[string]any

// Graph returns the attributes in the form in which a node of a graph has them.
func (a Attrs) Graph() map[string]graph.Attr {
	out := map[string]graph.Attr{}
	for name, v := range a {
		switch v := v.(type) {
		case int:
			out[name] = graph.Attr{Kind: graph.AttrKindInt, I: int64(v)}
		case int64:
			out[name] = graph.Attr{Kind: graph.AttrKindInt, I: v}
		case float64:
			out[name] = graph.Attr{Kind: graph.AttrKindFloat, F: v}
		case string:
			out[name] = graph.Attr{Kind: graph.AttrKindString, S: v}
		case []int64:
			out[name] = graph.Attr{Kind: graph.AttrKindInts, Ints: v}
		case []float64:
			out[name] = graph.Attr{Kind: graph.AttrKindFloats, Floats: v}
		case *graph.ConstantTensor:
			out[name] = graph.Attr{Kind: graph.AttrKindTensor, T: v}
		case graph.Attr:
			out[name] = v
		default:
			panic(fmt.Sprintf("attribute of type %T", v))
		}
	}
	return out
}

// Single returns a graph of one node. Argument i is an initializer unless data(i) is true, and a nil argument is an
// omitted input.
func Single(domain, op string, opset int64, a Attrs, data func(i int) bool,
	args ...*graph.ConstantTensor) *graph.Graph {
	g := &graph.Graph{Init: map[string]*graph.ConstantTensor{}, Opsets: map[string]int64{"": opset, domain: opset},
		Outputs: []graph.ValueInfo{{Name: "y"}}}
	n := &graph.Node{Name: "n", Op: op, Domain: domain, Outputs: []string{"y"}, Attrs: a.Graph()}
	for i, t := range args {
		name := fmt.Sprintf("x%d", i)
		switch {
		case t == nil:
			name = ""
		case data(i):
			v := graph.ValueInfo{Name: name, DType: t.DType, Known: true}
			for _, d := range t.Shape {
				v.Dims = append(v.Dims, graph.Dim{Size: d})
			}
			g.Inputs = append(g.Inputs, v)
		default:
			g.Init[name] = t
		}
		n.Inputs = append(n.Inputs, name)
	}
	g.Nodes = []*graph.Node{n}
	return g
}

// Execute runs a prepared graph on the values of its inputs, and returns the elements of its output y.
func Execute(p *program.Program, in ...[]float64) ([]float64, error) {
	var from []string
	var vals []*program.Reals
	for i, v := range p.Graph.Inputs {
		from = append(from, v.Name)
		vals = append(vals, program.NewExactReals(p.Known[v.Name].Shape, in[i]))
	}
	part, err := execution.NewProgramPart(p, from, []string{"y"})
	if err != nil {
		return nil, err
	}
	_, all, err := part.Run(vals)
	if err != nil {
		return nil, err
	}
	return part.RoundedOutput("y", all)
}

// Node returns a node with one output. Its domain is QONNX for the operator Quant, hlsgen's own for Code, and else that
// of ONNX.
func Node(op string, a Attrs, out string, in ...string) *graph.Node {
	n := &graph.Node{Name: out, Op: op, Inputs: in, Outputs: []string{out}, Attrs: a.Graph()}
	switch op {
	case "Quant":
		n.Domain = QONNX
	case "Code":
		n.Domain = operators.InternalDomain
	}
	return n
}

// Network returns a graph with the input x of float64s in the given shape. Its output y is that of the last node.
func Network(shape []int, init map[string]*graph.ConstantTensor, nodes ...*graph.Node) *graph.Graph {
	x := Dims(shape...)
	x.DType = graph.DTypeFloat64
	for i, n := range nodes {
		n.Index = i
	}
	return &graph.Graph{Inputs: []graph.ValueInfo{x}, Outputs: []graph.ValueInfo{{Name: "y"}}, Init: init, Nodes: nodes,
		Opsets: map[string]int64{"": 13, QONNX: 2}}
}

// Prepare returns the program of a graph. It ends the test if the graph is refused.
func Prepare(t *testing.T, g *graph.Graph) *program.Program {
	t.Helper()
	return onnxtest.Prepare(t, g)
}

// Dims returns the description of the input x, with axes of the given sizes.
func Dims(sizes ...int) graph.ValueInfo {
	v := graph.ValueInfo{Name: "x", DType: graph.DTypeFloat32, Known: true}
	for _, s := range sizes {
		v.Dims = append(v.Dims, graph.Dim{Size: s})
	}
	return v
}

// Body returns an attribute that is a graph, with inputs and outputs by name. These have no shapes, as in some files.
func Body(inputs, outputs []string, init map[string]*graph.ConstantTensor, nodes ...*graph.Node) graph.Attr {
	g := &graph.Graph{Init: init, Nodes: nodes, Opsets: map[string]int64{"": 13, QONNX: 2}}
	for _, in := range inputs {
		g.Inputs = append(g.Inputs, graph.ValueInfo{Name: in, DType: graph.DTypeFloat32})
	}
	for _, out := range outputs {
		g.Outputs = append(g.Outputs, graph.ValueInfo{Name: out, DType: graph.DTypeFloat32})
	}
	for i, n := range nodes {
		n.Index = i
	}
	return graph.Attr{Kind: graph.AttrKindGraph, G: g}
}

// ScanNode returns a Scan node with the given body. Unless an attribute says otherwise, it scans one input.
func ScanNode(a Attrs, body graph.Attr, inputs, outputs []string) *graph.Node {
	if _, ok := a["num_scan_inputs"]; !ok {
		a["num_scan_inputs"] = 1
	}
	a["body"] = body
	return &graph.Node{Name: "loop", Op: "Scan", Inputs: inputs, Outputs: outputs, Attrs: a.Graph()}
}

// Running returns the body of a Scan that adds up its inputs x in the state s: s' = s + x, y = 2s'.
func Running() graph.Attr {
	return Body([]string{"s", "e"}, []string{"t", "twice"}, nil, Node("Add", nil, "t", "s", "e"),
		Node("Add", nil, "twice", "t", "t"))
}

// FilledWith returns a constant tensor of random numbers.
func FilledWith(r *rand.Rand, shape ...int) *graph.ConstantTensor {
	t := Reals(shape, make([]float64, graph.ElementCount(shape))...)
	for i := range t.F {
		t.F[i] = math.Round(64*(2*r.Float64()-1)) / 64
	}
	if n := len(shape); n > 1 {
		onnxtest.ZeroRandomRowsAndColumns(r, t.F, shape[n-1])
	}
	return t
}

// Refused checks that hlsgen refuses a graph with one diagnostic, which has the code and contains the text says.
func Refused(t *testing.T, name string, g *graph.Graph, code diag.Code, says string) {
	t.Helper()
	var d diag.List
	p := operators.Prepare(g, "m", operators.Options{}, &d)
	if p != nil || len(d.Diags) != 1 || d.Diags[0].Code != code || !strings.Contains(d.Diags[0].Msg, says) {
		t.Errorf("%s: %v, want one %s that says %q", name, d.Diags, code, says)
	}
}

// RunApart runs x, the samples of a batch, by the graph g of the whole batch and one by one. It returns an error if the
// outputs differ.
func RunApart(g *graph.Graph, b *axes.BatchAxisCandidate, x []float64) error {
	all, err := Run(g, x)
	if err != nil {
		return err
	}
	var each []float64
	for _, part := range slices.Collect(slices.Chunk(x, len(x)/b.Size)) {
		y, err := Run(b.Sample, part)
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

// Run prepares a graph with one input, runs it on x and returns the elements of its output y.
func Run(g *graph.Graph, x []float64) ([]float64, error) {
	p := operators.Prepare(g, "m", operators.Options{}, new(diag.List))
	if p == nil {
		return nil, fmt.Errorf("the graph cannot be prepared")
	}
	return Execute(p, x)
}

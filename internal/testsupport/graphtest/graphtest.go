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

// QONNX is the domain of QONNX' operators.
const QONNX = "qonnx.custom_op.general"

// Reals returns a tensor of float32s.
func Reals(shape []int, v ...float64) *graph.Tensor {
	return &graph.Tensor{DType: graph.Float32, Shape: shape, F: v}
}

// Ints returns a tensor of integers.
func Ints(dt graph.DType, shape []int, v ...int64) *graph.Tensor {
	return &graph.Tensor{DType: dt, Shape: shape, I: v}
}

// Int64s returns a vector of int64s.
func Int64s(v ...int64) *graph.Tensor { return Ints(graph.Int64, []int{len(v)}, v...) }

// Scalar returns a constant without axes.
func Scalar(v float64) *graph.Tensor { return Reals(nil, v) }

// Count returns 0, 1 ... n-1.
func Count(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i)
	}
	return out
}

// Attrs holds attributes by name, as Go values.
type Attrs map[string]any

// Graph returns the attributes as a node has them.
func (a Attrs) Graph() map[string]graph.Attr {
	out := map[string]graph.Attr{}
	for name, v := range a {
		switch v := v.(type) {
		case int:
			out[name] = graph.Attr{Kind: graph.AttrInt, I: int64(v)}
		case int64:
			out[name] = graph.Attr{Kind: graph.AttrInt, I: v}
		case float64:
			out[name] = graph.Attr{Kind: graph.AttrFloat, F: v}
		case string:
			out[name] = graph.Attr{Kind: graph.AttrString, S: v}
		case []int64:
			out[name] = graph.Attr{Kind: graph.AttrInts, Ints: v}
		case []float64:
			out[name] = graph.Attr{Kind: graph.AttrFloats, Floats: v}
		case *graph.Tensor:
			out[name] = graph.Attr{Kind: graph.AttrTensor, T: v}
		case graph.Attr:
			out[name] = v
		default:
			panic(fmt.Sprintf("attribute of type %T", v))
		}
	}
	return out
}

// Single returns a graph of one node. Arguments are initializers unless data says otherwise; nil is an omitted slot.
func Single(domain, op string, opset int64, a Attrs, data func(i int) bool, args ...*graph.Tensor) *graph.Graph {
	g := &graph.Graph{Init: map[string]*graph.Tensor{}, Opsets: map[string]int64{"": opset, domain: opset},
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

// Execute runs the one output of a prepared graph on the given values of its inputs.
func Execute(p *program.Program, in ...[]float64) ([]float64, error) {
	var from []string
	var vals []*program.Reals
	for i, v := range p.Graph.Inputs {
		from = append(from, v.Name)
		vals = append(vals, program.NewExactReals(p.Known[v.Name].Shape, in[i]))
	}
	part, err := execution.NewPart(p, from, []string{"y"})
	if err != nil {
		return nil, err
	}
	_, all, err := part.Run(vals)
	if err != nil {
		return nil, err
	}
	return part.Rounded("y", all)
}

// Node returns a node of the core domain, or of QONNX if its operator is Quant.
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

// Network returns a graph with the input x of float64s. The output of the last node is y.
func Network(shape []int, init map[string]*graph.Tensor, nodes ...*graph.Node) *graph.Graph {
	x := Dims(shape...)
	x.DType = graph.Float64
	for i, n := range nodes {
		n.Index = i
	}
	return &graph.Graph{Inputs: []graph.ValueInfo{x}, Outputs: []graph.ValueInfo{{Name: "y"}}, Init: init, Nodes: nodes,
		Opsets: map[string]int64{"": 13, QONNX: 2}}
}

// Prepare returns the program of a graph. It ends the test if there is none.
func Prepare(t *testing.T, g *graph.Graph) *program.Program {
	t.Helper()
	return onnxtest.Prepare(t, g)
}

// Dims returns the input x with axes of the given sizes.
func Dims(sizes ...int) graph.ValueInfo {
	v := graph.ValueInfo{Name: "x", DType: graph.Float32, Known: true}
	for _, s := range sizes {
		v.Dims = append(v.Dims, graph.Dim{Size: s})
	}
	return v
}

// Body returns a graph attribute with inputs and outputs by name. They have no shapes, as in some files.
func Body(inputs, outputs []string, init map[string]*graph.Tensor, nodes ...*graph.Node) graph.Attr {
	g := &graph.Graph{Init: init, Nodes: nodes, Opsets: map[string]int64{"": 13, QONNX: 2}}
	for _, in := range inputs {
		g.Inputs = append(g.Inputs, graph.ValueInfo{Name: in, DType: graph.Float32})
	}
	for _, out := range outputs {
		g.Outputs = append(g.Outputs, graph.ValueInfo{Name: out, DType: graph.Float32})
	}
	for i, n := range nodes {
		n.Index = i
	}
	return graph.Attr{Kind: graph.AttrGraph, G: g}
}

// ScanNode returns a Scan node. By default it scans one input.
func ScanNode(a Attrs, body graph.Attr, inputs, outputs []string) *graph.Node {
	if _, ok := a["num_scan_inputs"]; !ok {
		a["num_scan_inputs"] = 1
	}
	a["body"] = body
	return &graph.Node{Name: "loop", Op: "Scan", Inputs: inputs, Outputs: outputs, Attrs: a.Graph()}
}

// Running returns a body that adds up: s' = s + x, y = 2s'.
func Running() graph.Attr {
	return Body([]string{"s", "e"}, []string{"t", "twice"}, nil, Node("Add", nil, "t", "s", "e"),
		Node("Add", nil, "twice", "t", "t"))
}

// FilledWith returns a tensor of random numbers.
func FilledWith(r *rand.Rand, shape ...int) *graph.Tensor {
	t := Reals(shape, make([]float64, graph.Size(shape))...)
	for i := range t.F {
		t.F[i] = math.Round(64*(2*r.Float64()-1)) / 64
	}
	if n := len(shape); n > 1 {
		onnxtest.ZeroRandomRowsAndColumns(r, t.F, shape[n-1])
	}
	return t
}

// Refused checks that a graph is refused with one diagnostic, which has the code and says the text.
func Refused(t *testing.T, name string, g *graph.Graph, code diag.Code, says string) {
	t.Helper()
	var d diag.List
	p := operators.Prepare(g, "m", operators.Options{}, &d)
	if p != nil || len(d.Diags) != 1 || d.Diags[0].Code != code || !strings.Contains(d.Diags[0].Msg, says) {
		t.Errorf("%s: %v, want one %s that says %q", name, d.Diags, code, says)
	}
}

// RunApart runs samples together by the model of the file, and one by one. It returns an error if the outputs differ.
func RunApart(g *graph.Graph, b *axes.Batch, x []float64) error {
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

// Run prepares a graph with one input, and runs its output y.
func Run(g *graph.Graph, x []float64) ([]float64, error) {
	p := operators.Prepare(g, "m", operators.Options{}, new(diag.List))
	if p == nil {
		return nil, fmt.Errorf("the graph cannot be prepared")
	}
	return Execute(p, x)
}

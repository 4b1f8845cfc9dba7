package graph_test

import (
	"fmt"

	"hlsgen/frontend/graph"
)

const qonnx = "qonnx.custom_op.general"

func reals(shape []int, v ...float64) *graph.Tensor {
	return &graph.Tensor{DType: graph.Float32, Shape: shape, F: v}
}

func ints(dt graph.DType, shape []int, v ...int64) *graph.Tensor {
	return &graph.Tensor{DType: dt, Shape: shape, I: v}
}

func int64s(v ...int64) *graph.Tensor { return ints(graph.Int64, []int{len(v)}, v...) }

// truths is every pair of truths.
var truths = []*graph.Tensor{ints(graph.Bool, []int{4}, 0, 0, 1, 1), ints(graph.Bool, []int{4}, 0, 1, 0, 1)}

// scalar is a constant without axes.
func scalar(v float64) *graph.Tensor { return reals(nil, v) }

func count(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i)
	}
	return out
}

type attrs map[string]any

func (a attrs) graph() map[string]graph.Attr {
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

// single is a graph of one node. Arguments are initializers unless data says otherwise; nil is an omitted slot.
func single(domain, op string, opset int64, a attrs, data func(i int) bool, args ...*graph.Tensor) *graph.Graph {
	g := &graph.Graph{Init: map[string]*graph.Tensor{}, Opsets: map[string]int64{"": opset, domain: opset},
		Outputs: []graph.ValueInfo{{Name: "y"}}}
	n := &graph.Node{Name: "n", Op: op, Domain: domain, Outputs: []string{"y"}, Attrs: a.graph()}
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

func values(t *graph.Tensor) []float64 {
	out := make([]float64, t.Len())
	for i := range out {
		out[i] = t.At(i)
	}
	return out
}

// execute runs the one output of a prepared graph on the given values of its inputs.
func execute(p *graph.Program, in ...[]float64) ([]float64, error) {
	var from []string
	var vals []*graph.Reals
	for i, v := range p.Graph.Inputs {
		from = append(from, v.Name)
		vals = append(vals, graph.NewExactReals(p.Known[v.Name].Shape, in[i]))
	}
	part, err := graph.NewPart(p, from, []string{"y"})
	if err != nil {
		return nil, err
	}
	_, all, err := part.Run(vals)
	if err != nil {
		return nil, err
	}
	return part.Rounded("y", all)
}

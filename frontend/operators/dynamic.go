package operators

import (
	"fmt"
	"math"
	"slices"

	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// A DynamicQuantisers holds the quantisers of a graph whose scales and zero points are computed from the data in each
// run (ONNX DynamicQuantizeLinear, com.microsoft DynamicQuantizeMatMul). RunOriginal executes the original model with
// them.
type DynamicQuantisers struct {
	nodes []dynamicQuantiser
	g     *graph.Graph // the original graph, in which the quantisers' outputs are inputs
}

// A dynamicQuantiser names the tensors of one quantiser: its input x, and its codes y, scale and zero point.
type dynamicQuantiser struct{ x, y, scale, zero string }

// RemoveDynamicQuantisers removes the dynamic quantisers from a graph, in place, and returns them; the tensors that
// they quantised stay real. It returns nil if there are none.
func RemoveDynamicQuantisers(g *graph.Graph) *DynamicQuantisers {
	f := freezing{taken: g.UsedTensorNames(), of: map[string]bool{}, DynamicQuantisers: &DynamicQuantisers{}}
	for _, n := range g.Nodes {
		f.node(n)
	}
	if len(f.nodes) == 0 {
		return nil
	}
	as := *g // the original model, with the quantisers' outputs as inputs
	as.Nodes = f.list
	f.g = as.ShallowCopy()
	var nodes []*graph.Node
	for _, q := range f.nodes {
		g.Init[q.scale], g.Init[q.zero] = graph.NewFilledTensor(graph.DTypeFloat32, nil, 1),
			graph.NewFilledTensor(graph.DTypeFloat32,
				nil, 0)
		nodes = append(nodes, &graph.Node{Index: -1, Op: OpIdentity, Inputs: []string{q.x}, Outputs: []string{q.y}})
	}
	g.Nodes = nil
	for _, n := range f.list {
		g.Nodes = append(g.Nodes, n)
		for i, q := range f.nodes {
			if slices.Contains(n.Outputs, q.x) {
				g.Nodes = append(g.Nodes, nodes[i])
			}
		}
	}
	for i, q := range f.nodes {
		if slices.Contains(graph.ValueNames(g.Inputs), q.x) {
			g.Nodes = append([]*graph.Node{nodes[i]}, g.Nodes...)
		}
	}
	return f.DynamicQuantisers
}

type freezing struct {
	*DynamicQuantisers
	taken graph.UsedTensorNames
	of    map[string]bool // the tensors that dynamic quantisers give
	list  []*graph.Node
}

func (f *freezing) node(n *graph.Node) {
	switch {
	case n.Op == "DynamicQuantizeLinear" && len(n.Outputs) == 3:
		f.quantiser(n, n.Inputs[0], n.Outputs[0], n.Outputs[1], n.Outputs[2])
	case n.Op == "DynamicQuantizeMatMul" && n.Domain == microsoft && len(n.Inputs) >= 3:
		out := n.Outputs[0]
		y, s, z := f.taken.TakeFreshName(out, "codes"), f.taken.TakeFreshName(out, "scale"), f.taken.TakeFreshName(out,
			"zero")
		f.quantiser(n, n.Inputs[0], y, s, z)
		f.product(n, y, n.Inputs[1], s, n.Inputs[2], z, n.InputName(3), n.InputName(4))
	case !f.of[n.InputName(0)]:
		f.list = append(f.list, n)
	case n.Op == "MatMulInteger":
		f.product(n, n.Inputs[0], n.Inputs[1], "", "", n.InputName(2), n.InputName(3), "")
	case n.Op == "MatMulIntegerToFloat" && n.Domain == microsoft:
		f.product(n, n.Inputs[0], n.Inputs[1], n.Inputs[2], n.Inputs[3], n.InputName(4), n.InputName(5), n.InputName(6))
	case n.Op == "ConvInteger":
		x := f.less(n, n.Inputs[0], n.InputName(2))
		w := f.add(n, "Cast", graph.AttributesByName{"to": graph.NewIntAttr(int(graph.DTypeFloat32))}, "", n.Inputs[1])
		f.add(n, "Conv", n.Attrs, n.Outputs[0], x, f.less(n, w, n.InputName(3)))
	default:
		f.list = append(f.list, n)
	}
}

func (f *freezing) quantiser(n *graph.Node, x, y, scale, zero string) {
	scale, zero = outputOr(f.taken, n, scale, "scale"), outputOr(f.taken, n, zero, "zero")
	f.nodes = append(f.nodes, dynamicQuantiser{x, y, scale, zero})
	f.of[y], f.of[zero] = true, true
}

// outputOr returns an output's name, or a new name if the node omits the output.
func outputOr(taken graph.UsedTensorNames, n *graph.Node, name, suffix string) string {
	if name == "" {
		return taken.TakeFreshName(n.Outputs[0], suffix)
	}
	return name
}

// product writes (a - az) * as times (b - bz) * bs, plus a bias. Operands with an empty name are omitted.
func (f *freezing) product(n *graph.Node, a, b, as, bs, az, bz, bias string) {
	a = f.less(n, a, az)
	b = f.add(n, "Cast", graph.AttributesByName{"to": graph.NewIntAttr(int(graph.DTypeFloat32))}, "", b)
	if bz != "" {
		bz = f.add(n, "Cast", graph.AttributesByName{"to": graph.NewIntAttr(int(graph.DTypeFloat32))}, "", bz)
	}
	b = f.less(n, b, bz)
	if bs != "" {
		b = f.add(n, "Mul", nil, "", b, bs)
	}
	last := func(more ...string) string {
		if !slices.ContainsFunc(more, func(s string) bool { return s != "" }) {
			return n.Outputs[0]
		}
		return ""
	}
	y := f.add(n, OpMatMul, nil, last(as, bias), a, b)
	if as != "" {
		y = f.add(n, "Mul", nil, last(bias), y, as)
	}
	if bias != "" {
		f.add(n, "Add", nil, n.Outputs[0], y, bias)
	}
}

// less writes a tensor minus its zero point, which may be empty.
func (f *freezing) less(n *graph.Node, x, zero string) string {
	if zero == "" {
		return x
	}
	return f.add(n, "Sub", nil, "", x, zero)
}

// add writes a node that computes part of n.
func (f *freezing) add(n *graph.Node, op string, attrs graph.AttributesByName, out string, inputs ...string) string {
	if out == "" {
		out = f.taken.TakeFreshName(n.Outputs[0], "part")
	}
	f.list = append(f.list, &graph.Node{Index: n.Index, Name: n.Name, Was: n.QualifiedOpName(), Op: op, Inputs: inputs,
		Outputs: []string{out}, Attrs: attrs})
	return out
}

// Count returns the number of quantisers that RemoveDynamicQuantisers has removed.
func (d *DynamicQuantisers) Count() int { return len(d.nodes) }

// OriginalGraph returns the original model, with the outputs of the quantisers as inputs. The function shape returns
// the shape of a tensor.
func (d *DynamicQuantisers) OriginalGraph(shape func(tensor string) []int) *graph.Graph {
	g := d.g.ShallowCopy()
	for _, q := range d.nodes {
		for _, in := range []struct {
			name  string
			shape []int
		}{{q.y, shape(q.x)}, {q.scale, nil}, {q.zero, nil}} {
			v := graph.ValueInfo{Name: in.name, DType: graph.DTypeFloat32, Known: true}
			for _, n := range in.shape {
				v.Dims = append(v.Dims, graph.Dim{Size: n})
			}
			g.Inputs = append(g.Inputs, v)
		}
	}
	return g
}

// RunOriginal executes p, the program of OriginalGraph, on a value for each input of the model, and returns the
// elements of each output. The dynamic quantisers compute in float32, as ONNX does. An error is that of executing a
// part of p.
func (d *DynamicQuantisers) RunOriginal(p *program.Program, in []*program.Reals) (out [][]float64, err error) {
	from := graph.ValueNames(p.Graph.Inputs[:len(in)])
	values := slices.Clone(in)
	for _, q := range d.nodes {
		x, err := runPart(p, from, []string{q.x}, values)
		if err != nil {
			return nil, err
		}
		y, scale, zero := dynamically(x[0])
		from = append(slices.Clip(from), q.y, q.scale, q.zero)
		values = append(values, program.NewExactReals(p.Known[q.y].Shape, y), program.NewExactReals(nil,
			[]float64{scale}),
			program.NewExactReals(nil, []float64{zero}))
	}
	return runPart(p, from, graph.ValueNames(p.Graph.Outputs), values)
}

func runPart(p *program.Program, from, to []string, values []*program.Reals) (out [][]float64, err error) {
	part, err := execution.NewProgramPart(p, from, to)
	if err != nil {
		return nil, err
	}
	_, all, err := part.Run(values)
	if err != nil {
		return nil, err
	}
	for _, name := range to {
		if all[name] == nil {
			return nil, fmt.Errorf("tensor %q depends on no data", name)
		}
		out = append(out, all[name].Lo)
	}
	return out, nil
}

// dynamically returns the outputs of DynamicQuantizeLinear for a tensor: codes from 0 to 255, their scale and zero
// point.
func dynamically(x []float64) (y []float64, scale, zero float64) {
	var lo, hi float32
	for _, v := range x {
		lo, hi = min(lo, float32(v)), max(hi, float32(v))
	}
	s := (hi - lo) / 255
	if s == 0 {
		s = 1
	}
	z := math.RoundToEven(float64(min(max(-lo/s, 0), 255)))
	y = make([]float64, len(x))
	for i, v := range x {
		y[i] = min(max(math.RoundToEven(float64(float32(v)/s))+z, 0), 255)
	}
	return y, float64(s), z
}

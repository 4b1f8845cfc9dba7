package convert

import (
	"maps"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// clean is a graph in which everything is computed that depends on no data and on no quantiser, nothing is left that no
// output depends on, and every shape is known. Weights stay behind their quantisers: their bit widths would be lost.
// Values are those of tensors between nodes. It is nil after errors were added.
//
// Where the model has dynamic axes, it is looked at with two sizes of these: constants and sizes that depend on them
// stay as they are.
func (c *conversion) clean(g *graph.Graph) (*graph.Graph, []graph.Value) {
	read := func() *graph.Graph {
		own := c.read(c.source, new(diag.List))
		graph.Decompose(own)
		return own
	}
	k := &known{one: c.prepare(read())}
	if k.one == nil {
		return nil, nil
	}
	if k.other = k.one; dynamic(g) {
		if k.other = c.sized(read(), c.size+1, c.list); k.other == nil {
			return nil, nil
		}
	}
	s := &scope{conversion: c, g: g.Copy(), taken: graph.Taken{}}
	held := map[string]bool{} // quantisers make it, or what depends on them
	var nodes []*graph.Node
	for _, n := range s.g.Nodes {
		keep := quantises(n) || k.bounds(n) || slices.ContainsFunc(n.Inputs, func(in string) bool { return held[in] })
		fold := !keep
		for _, o := range n.Outputs {
			held[o] = keep
			fold = fold && (o == "" || k.constant(o) != nil)
		}
		if !fold {
			nodes = append(nodes, n)
			continue
		}
		for _, o := range n.Outputs {
			if o != "" {
				s.g.Init[o] = k.constant(o)
			}
		}
	}
	s.g.Nodes = nodes
	live := s.live()
	s.g.Nodes = slices.DeleteFunc(s.g.Nodes, func(n *graph.Node) bool {
		return !slices.ContainsFunc(n.Outputs, func(o string) bool { return live[o] })
	})
	maps.DeleteFunc(s.g.Init, func(name string, _ *graph.Tensor) bool { return !live[name] })
	s.g.Opsets = maps.Clone(s.g.Opsets)
	s.domains()
	return s.g, k.values(s.g)
}

// quantises reports whether a node belongs to a quantiser: no other one may take its place.
func quantises(n *graph.Node) bool {
	return graph.Dialect(n.Domain) || n.Op == "QuantizeLinear" || n.Op == "DequantizeLinear"
}

// bounds reports whether a node bounds integers: that is how QCDQ says a bit width.
func (k *known) bounds(n *graph.Node) bool {
	return n.Op == "Clip" && n.Domain == "" && !k.one.Known[n.In(0)].DType.Float()
}

// known is what two preparations of a model agree about.
type known struct{ one, other *graph.Program }

// constant is a constant; nil where it is none, or depends on a dynamic axis.
func (k *known) constant(name string) *graph.Tensor {
	t, u := k.one.Known[name].Const, k.other.Known[name].Const
	if t == nil || u == nil || !alike(t, u) {
		return nil
	}
	return t
}

// values declares the tensors that nodes write, and fills in what the outputs leave open.
func (k *known) values(g *graph.Graph) (list []graph.Value) {
	outputs := map[string]int{}
	for i, o := range g.Outputs {
		outputs[o.Name] = i
	}
	for _, n := range g.Nodes {
		for _, o := range n.Outputs {
			at, is := outputs[o]
			v, ok := k.value(o)
			switch {
			case !ok:
			case !is:
				list = append(list, v)
			default:
				g.Outputs[at] = k.filled(g.Outputs[at], v)
			}
		}
	}
	return list
}

// value declares a tensor.
func (k *known) value(name string) (graph.Value, bool) {
	a, ok := k.one.Known[name]
	b := k.other.Known[name]
	if !ok || name == "" {
		return graph.Value{}, false
	}
	v := graph.Value{Name: name, DType: a.DType, Known: len(a.Shape) == len(b.Shape)}
	for i, d := range a.Shape {
		if v.Known && d != b.Shape[i] {
			d = -1
		}
		v.Dims = append(v.Dims, graph.Dim{Size: d})
	}
	return v, true
}

// filled is a declaration of the file with what is known besides: sizes where the file has none.
func (k *known) filled(v, with graph.Value) graph.Value {
	if !v.Known || len(v.Dims) != len(with.Dims) {
		v.Dims, v.Known = with.Dims, with.Known
		return v
	}
	v.Dims = slices.Clone(v.Dims)
	for i, d := range with.Dims {
		if d.Size >= 0 {
			v.Dims[i] = d
		}
	}
	return v
}

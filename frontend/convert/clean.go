package convert

import (
	"maps"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
)

// clean returns a graph with three changes. Everything that depends on no data and on no quantiser is computed,
// everything on which no output depends is removed, and every shape is known. Weights stay behind their quantisers,
// for otherwise their bit widths would be lost. The values are those of tensors between nodes. clean returns nil
// after adding errors.
//
// If the model has dynamic axes, clean examines it with two sizes of these axes. Constants and sizes that depend on
// them stay as they are.
func (c *conversion) clean(g *graph.Graph) (*graph.Graph, []graph.ValueInfo) {
	read := func() *graph.Graph {
		own := c.read(c.source, new(diag.List))
		operators.DecomposeOperators(own)
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
	s := &scope{conversion: c, g: g.ShallowCopy(), taken: graph.UsedTensorNames{}}
	held := map[string]bool{} // tensors that depend on a quantiser
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
	maps.DeleteFunc(s.g.Init, func(name string, _ *graph.ConstantTensor) bool { return !live[name] })
	s.g.Opsets = maps.Clone(s.g.Opsets)
	s.domains()
	return s.g, k.values(s.g)
}

// quantises reports whether a node belongs to a quantiser, so that its constant result must not replace it.
func quantises(n *graph.Node) bool {
	return operators.IsQuantisationDomain(n.Domain) || n.Op == "QuantizeLinear" || n.Op == "DequantizeLinear"
}

// bounds reports whether a node clips integers, which is how the dialect QCDQ expresses a bit width.
func (k *known) bounds(n *graph.Node) bool {
	return n.Op == "Clip" && n.Domain == "" && !k.one.Known[n.InputName(0)].DType.IsReal()
}

// A known holds two preparations of a model, with different sizes of its dynamic axes. Facts on which both agree do not
// depend on the sizes.
type known struct{ one, other *program.Program }

// constant returns the value of a tensor that is constant whatever the sizes of dynamic axes, or nil for other tensors.
func (k *known) constant(name string) *graph.ConstantTensor {
	t, u := k.one.Known[name].Const, k.other.Known[name].Const
	if t == nil || u == nil || !alike(t, u) {
		return nil
	}
	return t
}

// values returns the declarations of the tensors between g's nodes, and completes the declarations of g's outputs.
func (k *known) values(g *graph.Graph) (list []graph.ValueInfo) {
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

// value returns the declaration of a tensor, in which sizes that depend on dynamic axes are open. ok is false if its
// shape is not known.
func (k *known) value(name string) (graph.ValueInfo, bool) {
	a, ok := k.one.Known[name]
	b := k.other.Known[name]
	if !ok || name == "" {
		return graph.ValueInfo{}, false
	}
	v := graph.ValueInfo{Name: name, DType: a.DType, Known: len(a.Shape) == len(b.Shape)}
	for i, d := range a.Shape {
		if v.Known && d != b.Shape[i] {
			d = -1
		}
		v.Dims = append(v.Dims, graph.Dim{Size: d})
	}
	return v, true
}

// filled returns declaration v, with the sizes that v leaves open taken from with.
func (k *known) filled(v, with graph.ValueInfo) graph.ValueInfo {
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

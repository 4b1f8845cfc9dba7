package canon

import (
	"slices"

	"hlsgen/frontend/graph"
)

// foldConstants removes the nodes whose results do not depend on the model's inputs, and reports whether there were
// any. The constants that the remaining nodes read become initializers.
func foldConstants(m *PassState) bool {
	p, g := m.Program, m.Graph
	keep := map[*graph.Node]bool{}
	for _, s := range p.Steps {
		keep[p.OriginOf(s.Node)] = true
	}
	init := map[string]*graph.ConstantTensor{}
	use := func(name string) {
		if k, ok := p.Known[name]; ok && k.Const != nil {
			init[name] = k.Const
		}
	}
	e := edit(g)
	var nodes []*graph.Node
	for _, n := range g.Nodes {
		if !keep[n] {
			continue
		}
		n = e.without(n, func(o string) bool { return p.Known[o].Const != nil })
		nodes = append(nodes, n)
		for _, in := range n.Inputs {
			use(in)
		}
	}
	for _, o := range g.Outputs {
		use(o.Name)
	}
	changed := len(nodes) != len(g.Nodes)
	g.Nodes, g.Init = nodes, init
	return changed
}

// without returns a copy of node n in which outputs that are constant get new, unused names, since initializers have
// taken theirs. For example, only some outputs of a Split may be constant. It returns n itself if none is.
func (e *editor) without(n *graph.Node, constant func(output string) bool) *graph.Node {
	if !slices.ContainsFunc(n.Outputs, constant) {
		return n
	}
	with := *n
	with.Outputs = slices.Clone(n.Outputs)
	for i, o := range n.Outputs {
		if constant(o) {
			with.Outputs[i] = e.taken.TakeFreshName(o, "constant")
		}
	}
	return &with
}

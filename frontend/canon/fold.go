package canon

import (
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// foldConstants keeps the nodes that compute something from data and makes initializers of the constants they read.
func foldConstants(m *Model, d *diag.List) bool {
	p := graph.Prepare(m.Graph, m.File, m.Options, d)
	if p == nil {
		return false
	}
	keep := map[*graph.Node]bool{}
	for _, s := range p.Steps {
		keep[p.Origin(s.Node)] = true
	}
	g := m.Graph
	init := map[string]*graph.Tensor{}
	use := func(name string) {
		if k, ok := p.Known[name]; ok && k.Const != nil {
			init[name] = k.Const
		}
	}
	var nodes []*graph.Node
	for _, n := range g.Nodes {
		if !keep[n] {
			continue
		}
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

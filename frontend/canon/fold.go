package canon

import "hlsgen/frontend/graph"

// foldConstants keeps the nodes that compute something from data and makes initializers of the constants they read.
func foldConstants(m *Model) bool {
	p, g := m.Program, m.Graph
	keep := map[*graph.Node]bool{}
	for _, s := range p.Steps {
		keep[p.Origin(s.Node)] = true
	}
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

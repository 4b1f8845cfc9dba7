package canon

import (
	"fmt"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// loopsToScans writes every recurrent operator as a Scan whose body stands for itself.
func loopsToScans(m *Model, d *diag.List) bool {
	found := false
	for _, n := range m.Graph.Nodes {
		found = found || n.Recurrent()
	}
	if !found {
		return false
	}
	p := graph.Prepare(m.Graph, m.File, m.Options, d)
	if p == nil {
		return false
	}
	return edit(m.Graph).each(func(n *graph.Node) []*graph.Node {
		if !n.Recurrent() {
			return nil
		}
		nodes, constants := p.Written(n)
		for name, t := range constants {
			m.Graph.Init[name] = t
		}
		return nodes
	})
}

// inBodies makes a pass work in the bodies of loops too.
func inBodies(run func(*Model, *diag.List) bool) func(*Model, *diag.List) bool {
	return func(m *Model, d *diag.List) bool {
		changed := run(m, d)
		for _, n := range m.Graph.Nodes {
			if body := n.Attrs["body"].G; body != nil && n.Recurrent() && !d.Failed() {
				inner := &Model{Graph: body, File: fmt.Sprintf("%s, body of node %d", m.File, n.Index)}
				changed = run(inner, d) || changed
			}
		}
		return changed
	}
}

package canon

import (
	"maps"

	"hlsgen/frontend/canon/roll"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// loopsToScans writes every recurrent operator as a Scan whose body stands for itself.
func loopsToScans(m *Model) bool {
	return edit(m.Graph).each(func(n *graph.Node) []*graph.Node {
		if !n.Recurrent() {
			return nil
		}
		nodes, constants := m.Program.Written(n)
		maps.Copy(m.Graph.Init, constants)
		return nodes
	})
}

// Rolled is a program with loops in the place of recurrences that it has written out; p itself where it has none.
func Rolled(p *graph.Program) *graph.Program {
	g := p.Graph.Copy()
	if !roll.Up(p, g, nil) {
		return p
	}
	if q := p.Again(g, new(diag.List)); q != nil {
		return q
	}
	return p
}

// rollUpLoops makes loops of recurrences that are written out.
func rollUpLoops(m *Model) bool { return roll.Up(m.Program, m.Graph, m.Unroll) }

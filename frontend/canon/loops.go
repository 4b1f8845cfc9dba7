package canon

import (
	"maps"

	"hlsgen/frontend/canon/roll"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// loopsToScans replaces every recurrent operator by a Scan whose body is a complete graph.
func loopsToScans(m *PassState) bool {
	return edit(m.Graph).each(func(n *graph.Node) []*graph.Node {
		if !graph.IsRecurrent(n) {
			return nil
		}
		nodes, constants := graph.ExpandNode(m.Program, n)
		maps.Copy(m.Graph.Init, constants)
		return nodes
	})
}

// RollUpRecurrences returns a program with loops in place of the recurrences that p's graph has unrolled, or p itself
// if there are none.
func RollUpRecurrences(p *graph.Program) *graph.Program {
	g := p.Graph.Copy()
	if !roll.RollUp(p, g, nil) {
		return p
	}
	if q := graph.Reprepare(p, g, new(diag.List)); q != nil {
		return q
	}
	return p
}

// rollUpLoops replaces unrolled recurrences by loops.
func rollUpLoops(m *PassState) bool { return roll.RollUp(m.Program, m.Graph, m.Unroll) }

package canon

import (
	"maps"

	"hlsgen/frontend/canon/roll"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
)

// loopsToScans replaces every recurrent operator by a Scan whose body is a complete graph, and reports whether there
// was any.
func loopsToScans(m *PassState) bool {
	return edit(m.Graph).each(func(n *graph.Node) []*graph.Node {
		if !operators.IsRecurrent(n) {
			return nil
		}
		nodes, constants := operators.ExpandNode(m.Program, n)
		maps.Copy(m.Graph.Init, constants)
		return nodes
	})
}

// RollUpRecurrences returns a program with loops in place of the recurrences that p's graph has unrolled; p stays as it
// is. It returns p itself if there are none, or if the new graph cannot be prepared.
func RollUpRecurrences(p *program.Program) *program.Program {
	g := p.Graph.ShallowCopy()
	if !roll.RollUpInPlace(p, g, nil) {
		return p
	}
	if q := operators.ReprepareProgram(p, g, new(diag.List)); q != nil {
		return q
	}
	return p
}

// rollUpLoops replaces unrolled recurrences by loops, except those in m.Unroll, and reports whether there were any.
func rollUpLoops(m *PassState) bool {
	return roll.RollUpInPlace(m.Program, m.Graph, m.Unroll)
}

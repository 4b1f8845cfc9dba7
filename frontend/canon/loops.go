package canon

import (
	"maps"

	"hlsgen/frontend/canon/roll"
	"hlsgen/frontend/graph"
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

// rollUpLoops makes loops of recurrences that are written out.
func rollUpLoops(m *Model) bool { return roll.Up(m.Program, m.Graph, m.Unroll) }

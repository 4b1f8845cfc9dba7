package quantise

import (
	"hlsgen/frontend/graph"
)

// The steps of a recurrence share one grid. Its sums add products with several scales, and a layer adds integers. So
// each scale of activations in the body of a loop is a power of two times the scale of the loop's input. Scales of
// weights are powers of two.
//
// Minifloats apply to the inputs of weights: the loop's inputs and the states. Gates and cells are multiplied with each
// other, and products of the wider minifloats need more bits than a cell has. They keep the model's own quantisers.

// joinLoops gives the places and weights of each loop that must have one unit scales on a common grid.
func (n *QuantisableNetwork) joinLoops() {
	for _, s := range n.scopes {
		if s.loop == nil {
			continue
		}
		grid := 1.0
		for i, in := range s.node().Inputs {
			p := s.within.code[in]
			if p == nil {
				continue
			}
			s.code[s.g.Inputs[i].Name] = p
			switch {
			case p.stays && p.scale > 0:
				grid = p.scale
			case p.scope.loop != nil && p.grid > 0: // the place belongs to an earlier loop
				grid = p.grid
			default:
				p.grid = 1
			}
		}
		for i, out := range s.g.Outputs[:min(len(s.g.Outputs), len(s.g.Inputs))] {
			if in := s.g.Inputs[i].Name; i < n.scopes[0].prog.LoopOfNode(s.loop).States && s.code[in] == nil {
				s.code[in] = s.code[out.Name]
			}
		}
		s.follow()
		multiplied := map[*spot]bool{}
		for _, w := range n.weights {
			if w.scope == s {
				multiplied[s.code[w.data].lead()] = true
			}
		}
		for _, p := range n.spots {
			if p.scope == s {
				p.grid, p.inner = grid, !multiplied[p.lead()]
			}
		}
		for _, w := range n.weights {
			if w.scope == s {
				w.grid = 1
			}
		}
	}
}

// complete appends empty names to the outputs of loop m until it has one per output of the body. The last besides
// outputs are additional ones and stay the last.
func complete(m *graph.Node, body *graph.Graph, besides int) {
	for len(m.Outputs) < len(body.Outputs) {
		at := len(m.Outputs) - besides
		m.Outputs = append(m.Outputs[:at:at], append([]string{""}, m.Outputs[at:]...)...)
	}
}

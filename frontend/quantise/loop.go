package quantise

import "hlsgen/frontend/graph"

// The steps of a recurrence are those of one grid: its sums are of products of several scales, and a layer adds
// integers. So all scales of activations in the body of a loop are powers of two times the one of what arrives, and
// scales of weights are powers of two.
//
// Minifloats are for what weights multiply, the inputs and the states that come back. Gates and cells are products of
// each other: of the wider minifloats these need more bits than a cell has. They keep the model's own quantisers.

// joinLoops gives the places and weights of loops their grids.
func (n *Network) joinLoops() {
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
			case p.scope.loop != nil && p.grid > 0: // of a loop in front
				grid = p.grid
			default:
				p.grid = 1
			}
		}
		for i, out := range s.g.Outputs[:min(len(s.g.Outputs), len(s.g.Inputs))] {
			if in := s.g.Inputs[i].Name; i < n.scopes[0].prog.Loop(s.loop).States && s.code[in] == nil {
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

// complete names the outputs that a loop's node leaves out, up to those that it gives besides: these are the last.
func complete(m *graph.Node, body *graph.Graph, besides int) {
	for len(m.Outputs) < len(body.Outputs) {
		at := len(m.Outputs) - besides
		m.Outputs = append(m.Outputs[:at:at], append([]string{""}, m.Outputs[at:]...)...)
	}
}

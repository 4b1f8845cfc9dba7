package quantise

import "hlsgen/frontend/graph"

// The steps of a recurrence are those of one grid: its sums are of products of several scales, and a layer adds
// integers. So all scales of activations in the body of a loop are powers of two times the one of what arrives, and
// scales of weights are powers of two.

// joinLoops gives the places and weights of loops their grids.
func (n *Network) joinLoops() {
	for _, s := range n.scopes {
		if s.loop == nil {
			continue
		}
		grid := 1.0
		for i, in := range s.loop.Inputs {
			p := s.within.code[in]
			if p == nil {
				continue
			}
			s.code[s.g.Inputs[i].Name] = p
			if p.stays && p.scale > 0 {
				grid = p.scale
			} else {
				p.grid = 1
			}
		}
		for _, p := range n.spots {
			if p.scope == s {
				p.grid = grid
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

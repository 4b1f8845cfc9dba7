package quantise

import (
	"math"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
)

// A linear maps the tensors of a scope that are codes, between QuantizeLinear and DequantizeLinear, to their places. If
// the codes are to change, these tensors carry real values instead.
type linear struct{ of map[string]*spot }

// reads returns the name of the first of some tensors that holds codes, or "" if none does.
func (l *linear) reads(data []string) string {
	for _, d := range data {
		if l.of[d] != nil {
			return d
		}
	}
	return ""
}

// linear returns the items that replace a QuantizeLinear or a DequantizeLinear node.
func (n *QuantisableNetwork) linear(s *scope, node *graph.Node, lin *linear) ([]*item, error) {
	in, out := node.Inputs[0], node.Outputs[0]
	if operators.RoleOf(node) == operators.RoleDequantizeLinear {
		p := lin.of[in]
		if p == nil {
			s.code[out] = s.code[in]
			return []*item{{node: node}}, nil
		}
		if !sameParameters(s, p.node, node) {
			return nil, refuse(node, "export the model again", "its scale or zero point is not that of %q, whose "+
				"codes it reads", p.label)
		}
		s.code[out] = p
		return []*item{{node: p.identity(node)}}, nil
	}
	p := &spot{scope: s, label: node.Label(), node: node, from: in, to: out, given: in, stays: !n.replace || s.raw[in]}
	n.spots, s.code[out] = append(n.spots, p), p
	c := operators.SplitQuantiser(s.prog, node)
	p.lo, p.hi = c.Attrs["lo"].F, c.Attrs["hi"].F
	if zero := c.Inputs[2].Const; zero != nil && zero.Len() == 1 {
		p.lo, p.hi = p.lo-zero.FloatAt(0), p.hi-zero.FloatAt(0)
	}
	if !p.stays {
		if slices.ContainsFunc(s.g.Outputs, func(o graph.ValueInfo) bool { return o.Name == out }) {
			return nil, refuse(node, "export the model with real outputs", "its codes are an output of the model")
		}
		if lin.of == nil {
			lin.of = map[string]*spot{}
		}
		lin.of[out] = p
		p.bound(c.Inputs[1].Const, p.lo, p.hi)
	}
	return []*item{{spot: p}}, nil
}

// narrowed returns what replaces a Clip of codes: nodes that pass on the real values. The place's limits become
// narrower instead.
func (l *linear) narrowed(s *scope, node *graph.Node) []*item {
	p := l.of[node.Inputs[0]]
	c := operators.SplitQuantiser(s.prog, p.node)
	zero := 0.0
	if z := c.Inputs[2].Const; z != nil && z.Len() == 1 {
		zero = z.FloatAt(0)
	}
	for slot, limit := range []*float64{&p.lo, &p.hi} {
		if t := s.constant(node.InputName(slot + 1)); t != nil && t.Len() == 1 {
			*limit = t.FloatAt(0) - zero
		}
	}
	p.bound(c.Inputs[1].Const, p.lo, p.hi)
	p.had = QuantFormat{Bits: int(math.Ceil(math.Log2(p.hi - p.lo + 1)))}
	out := node.Outputs[0]
	l.of[out], s.code[out] = p, p
	return []*item{{node: p.identity(node)}}
}

// identity returns an Identity that passes on reals in place of a node that quantised or dequantised them.
func (p *spot) identity(node *graph.Node) *graph.Node {
	return &graph.Node{Index: node.Index, Name: node.Name, Op: operators.OpIdentity, Inputs: node.Inputs[:1],
		Outputs: node.Outputs}
}

// sameParameters reports whether two nodes have equal scales and zero points.
func sameParameters(s *scope, a, b *graph.Node) bool {
	for slot := 1; slot <= 2; slot++ {
		x, y := s.constant(a.InputName(slot)), s.constant(b.InputName(slot))
		switch {
		case x == nil && y == nil:
		case x == nil || y == nil || !x.Equal(y):
			return false
		}
	}
	return true
}

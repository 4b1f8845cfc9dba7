package quantise

import (
	"math"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
)

// The cell of a recurrence is quantised as in Brevitas. Quantisers stand at the sums that functions read, at the
// results of functions, at the inputs of weights, and at every state before the next step. Products of gates and states
// stay exact within their sum.

// These are the numbers of bits that places in a cell have beyond the width in the recipe. States have most, because a
// sum over the steps changes by less than a gate does.
const (
	moreOfGates  = 2
	moreOfSums   = 2
	moreOfStates = 6
)

// bitsOfGates is the width of the codes of gates and cells if the recipe has minifloats. Only the inputs of weights
// become minifloats.
const bitsOfGates = 8

// A line says from which tensor of a body another tensor follows, element by element, and how.
type line struct {
	base  string // the tensor of which it is a function; may be itself
	curve string // the last function on the way that is not linear, possibly moved; "" if there is none
	joint bool   // base combines several tensors
}

// A cell is the body of a loop in which places for quantisers are being found.
type cell struct {
	*scope
	lines map[string]line
	spots map[string]*spot
	order []*spot
}

// insertIn adds places for quantisers after the tensors of a loop's body that lack one.
func (n *QuantisableNetwork) insertIn(s *scope) {
	c := &cell{scope: s, lines: map[string]line{}, spots: map[string]*spot{}}
	for _, in := range s.g.Inputs {
		c.lines[in.Name] = line{base: in.Name}
	}
	for _, it := range s.items {
		c.visit(it)
	}
	for i, out := range s.g.Outputs {
		more := 0
		if i < s.states() {
			more = moreOfStates
		}
		c.codes(out.Name, more)
	}
	n.put(s, c.spots)
	n.spots = append(n.spots, c.order...)
	s.own()
	for i, out := range s.g.Outputs {
		if p := c.spots[out.Name]; p != nil {
			s.g.Outputs[i].Name = p.to
		}
	}
	s.follow()
	n.weigh(s, len(c.order) > 0)
}

// weigh marks the weights of a loop that stay unchanged. If got is set, the body got places and all its weights change.
// In a body with its own quantisers, only weights change that are not codes yet.
func (n *QuantisableNetwork) weigh(s *scope, got bool) {
	for _, w := range n.weights {
		if w.scope == s && !got && !w.stays {
			shaped, axis := w.shaped()
			w.stays = operators.HasCommonStepPerChannel(shaped, axis, math.Exp2(maxBits-1)-1)
		}
	}
}

// states returns the number of states of the loop to whose body s belongs.
func (s *scope) states() int { return s.within.prog.LoopOfNode(s.loop).States }

// scopeOf returns the scope of a loop's body, or nil for nodes that are not loops.
func (n *QuantisableNetwork) scopeOf(node *graph.Node) *scope {
	for _, s := range n.scopes[1:] {
		if s.loop == node {
			return s
		}
	}
	return nil
}

// node returns the loop's node in the current graph around it.
func (s *scope) node() *graph.Node {
	for _, it := range s.within.items {
		if it.node != nil && it.origin() == s.loop {
			return it.node
		}
	}
	return s.loop
}

// gives records in the graph around the loop which outputs of the loop are codes.
func (s *scope) gives() {
	for i, out := range s.loop.Outputs {
		if p := s.code[s.g.Outputs[i].Name]; p != nil && out != "" {
			s.within.code[out] = p
		}
	}
}

// joinDirections gives the states of both directions of an operator the same formats, because their outputs are
// concatenated.
func (n *QuantisableNetwork) joinDirections() {
	for i, a := range n.scopes[1:] {
		for _, b := range n.scopes[i+2:] {
			if a.loop.Index != b.loop.Index || a.loop.Index < 0 || len(a.g.Outputs) != len(b.g.Outputs) {
				continue
			}
			for k := range a.g.Outputs {
				p, q := a.code[a.g.Outputs[k].Name], b.code[b.g.Outputs[k].Name]
				if p != nil && q != nil && p.node == nil && q.node == nil {
					q.join(p)
				}
			}
		}
	}
}

// arrives calls want for the tensors around the loop that must be codes. These are the inputs that the body reads
// without quantising them, and the initial values of states that the body quantises.
func (s *scope) arrives(want func(string, wish)) {
	for i, in := range s.g.Inputs {
		tensor := s.loop.Inputs[i]
		c := s.within.constant(tensor)
		w := wish{by: s.loop}
		switch {
		case !s.within.prog.Known[tensor].DType.IsReal() || c != nil && allZero(c) || !s.readsReal(in.Name):
			continue
		case i < s.states() && s.g.Outputs[i].Name != in.Name:
			if w.as = s.code[s.g.Outputs[i].Name]; w.as == nil || w.as.stays {
				continue
			}
		case c != nil:
			continue
		}
		want(tensor, w)
	}
}

func allZero(t *graph.ConstantTensor) bool {
	return !slices.ContainsFunc(t.Floats(), func(v float64) bool { return v != 0 })
}

// readsReal reports whether a node of the body other than a quantiser reads the given input.
func (s *scope) readsReal(input string) bool {
	return slices.ContainsFunc(s.items, func(it *item) bool {
		return it.node != nil && operators.RoleOf(it.node) != operators.RoleQuantizeLinear &&
			slices.Contains(it.node.Inputs, input)
	})
}

// visit records how an item's output follows from its inputs, and requests places for the codes that the item needs.
func (c *cell) visit(it *item) {
	if it.spot != nil {
		c.lines[it.spot.to] = line{base: it.spot.to}
		return
	}
	node := it.node
	data := c.data(node)
	if len(data) == 0 {
		return
	}
	role := operators.RoleOf(node)
	out := line{base: node.Outputs[0], joint: true}
	switch {
	case role == operators.RoleWeightedSum || role == operators.RolePlainSum:
		for _, d := range data {
			c.codes(d, 0)
		}
	case role == operators.RoleMovesCodes && len(data) == 1 && !operators.IsNonlinear(node, data[0]):
		out = c.of(data[0])
	case role == operators.RoleMovesCodes && len(data) > 1:
		for _, d := range data {
			c.codes(d, 0)
		}
		out.joint = false
	case role == operators.RoleFakeQuantise || role == operators.RoleQuantizeLinear ||
		role == operators.RoleDequantizeLinear ||
		role == operators.RoleMultiThreshold:
		out.joint = false
	case c.alike(data):
		if out = c.of(data[0]); len(data) > 1 || operators.IsNonlinear(node, data[0]) {
			out.curve = node.Outputs[0]
		}
	default:
		for _, d := range data {
			if c.function(d); role != operators.RoleElementwise || node.Op == operators.OpMul {
				c.factor(d)
			}
		}
	}
	for _, o := range node.Outputs {
		c.lines[o] = out
		if out.joint && out.base == node.Outputs[0] {
			c.lines[o] = line{base: o, joint: true}
		}
	}
}

// of returns a line that says from which tensor the given one follows, element by element, and how. The output of a
// quantiser follows from itself.
func (c *cell) of(tensor string) line {
	if c.quantised(tensor) {
		return line{base: tensor}
	}
	return c.lines[tensor]
}

func (c *cell) quantised(tensor string) bool { return c.code[tensor] != nil || c.spots[tensor] != nil }

// alike reports whether all of the tensors are functions of one tensor, element by element.
func (c *cell) alike(data []string) bool {
	return !slices.ContainsFunc(data, func(d string) bool { return c.of(d).base != c.of(data[0]).base })
}

// function requests places after a tensor, a function that is combined with others, and after the sum that the function
// reads.
func (c *cell) function(tensor string) {
	if l := c.of(tensor); l.curve != "" {
		c.sum(l)
		c.want(l.curve, moreOfGates)
	}
}

// sum requests a place after the sum that a function reads.
func (c *cell) sum(l line) {
	if l.joint {
		c.want(l.base, moreOfSums)
	}
}

// factor requests a place after a sum that is multiplied with others.
func (c *cell) factor(tensor string) {
	if l := c.of(tensor); l.joint && l.curve == "" {
		c.want(l.base, moreOfSums)
	}
}

// codes requests a place after a tensor, with `more` bits than the recipe says.
func (c *cell) codes(tensor string, more int) {
	l := c.of(tensor)
	switch {
	case c.spots[tensor] != nil:
		c.spots[tensor].more = max(c.spots[tensor].more, more)
	case l.curve != "":
		c.sum(l)
		c.want(tensor, more)
	case l.joint:
		c.want(tensor, more)
	}
}

// want adds a place for a quantiser after a tensor, with `more` bits than the recipe says. It does nothing if the
// tensor has a place.
func (c *cell) want(tensor string, more int) {
	if c.quantised(tensor) || !c.prog.Known[tensor].DType.IsReal() {
		return
	}
	p := c.place(tensor, c.loop.Label())
	p.more = more
	c.spots[tensor] = p
	c.order = append(c.order, p)
}

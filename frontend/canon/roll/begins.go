package roll

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
)

// The first step of a recurrence often looks different. Its computations on the constant initial states have been
// folded, and sums with zeros, or the whole product with them, may be missing. It still is a step of the recurrence if
// the template gives the same results for some initial states.

// A beginning is a proof that a step, whose initial states no earlier step computes, matches the template.
type beginning struct {
	*recurrence
	step  int
	start map[output]int                   // the values of the initial states
	fixed map[output]*graph.ConstantTensor // the outputs that are constant in this step
	shown map[output]int
}

// begins reports whether nodes before the first step are a further step that starts from initial states. If so, it
// records that step.
func (r *recurrence) begins() bool {
	b := &beginning{recurrence: r, step: r.first - 1, start: map[output]int{}, shown: map[output]int{}}
	data := false
	for _, s := range r.states {
		v, ok := s.part.values[moment{b.step, s.slot}]
		if !ok {
			return false
		}
		data = data || r.numbers.values[v].constant == nil
		b.find(s, r.numbers.values[v].name)
	}
	if !data { // the step before gives only initial states
		return false
	}
	for _, s := range r.states {
		if _, ok := b.start[s]; !ok {
			k := r.known(r.any(s))
			if !k.DType.IsReal() {
				return false
			}
			b.start[s] = r.fixed(s.part.node.Outputs[s.slot], &graph.ConstantTensor{DType: k.DType, Shape: k.Shape,
				F: make([]float64, graph.ElementCount(k.Shape))})
		}
	}
	b.compute()
	for _, s := range r.states {
		if !b.gives(s, s.part.values[moment{b.step, s.slot}]) {
			return false
		}
	}
	for _, p := range r.parts {
		for _, in := range p.in {
			if in.part == nil || in.part.node != nil {
				continue
			}
			if _, ok := in.part.values[moment{b.step - p.delay(in), 0}]; !ok {
				return false
			}
		}
	}
	for _, s := range r.states {
		if !r.note(s, b.step-1, b.start[s]) {
			return false
		}
	}
	return true
}

// find records the values of the initial states. From the tensor name, which holds the value of o, it follows the nodes
// back as long as they match the template.
func (b *beginning) find(o output, name string) {
	n := b.numbers.writer(name)
	if n == nil || b.shown[o] == 1 || o.part.node == nil || !same(n, o.part.node) {
		return
	}
	b.shown[o] = 1
	for i, in := range o.part.in {
		switch {
		case in.part == nil || in.part.node == nil:
		case o.part.delay(in) == 0:
			b.find(in.output, n.Inputs[i])
		default:
			v := b.number(n.Inputs[i])
			if _, ok := b.start[in.output]; !ok && v != none && b.like(v, b.any(in.output)) {
				b.start[in.output] = v
			}
		}
	}
}

// compute records the outputs of parts that are constant in this step because the initial states are.
func (b *beginning) compute() {
	b.fixed, b.shown = map[output]*graph.ConstantTensor{}, map[output]int{}
	for again := true; again; {
		b.evaluate()
		again = false
		for _, p := range b.parts { // in order: the operands of a part come before it
			again = p.node != nil && b.absorb(p) || again
		}
	}
}

// evaluate executes the parts all of whose operands are constant, and records their outputs.
func (b *beginning) evaluate() {
	g := &graph.Graph{Init: map[string]*graph.ConstantTensor{}, Opsets: b.g.Opsets}
	taken, names := graph.UsedTensorNames{}, map[output]string{}
	for _, p := range b.parts {
		if p.node == nil {
			continue
		}
		n := *p.node
		n.Inputs, n.Outputs = slices.Clone(n.Inputs), slices.Clone(n.Outputs)
		known := true
		for i, in := range p.in {
			if n.Inputs[i] == "" {
				continue
			}
			name, made := names[in.output]
			if t := b.operand(p, in); t != nil {
				name, made = taken.TakeFreshName(n.Inputs[i], "constant"), true
				g.Init[name] = t
			}
			n.Inputs[i], known = name, known && made && (in.part == nil || p.delay(in) == 0 || g.Init[name] != nil)
		}
		if !known {
			continue
		}
		for slot, name := range n.Outputs {
			if name != "" {
				n.Outputs[slot] = taken.TakeFreshName(name, "value")
				names[output{p, slot}] = n.Outputs[slot]
				g.Outputs = append(g.Outputs, graph.ValueInfo{Name: n.Outputs[slot]})
			}
		}
		g.Nodes = append(g.Nodes, &n)
	}
	q := operators.Prepare(g, b.p.File, operators.Options{}, new(diag.List))
	if q == nil {
		return
	}
	for o, name := range names {
		if t := q.Known[name].Const; t != nil {
			b.fixed[o] = t
		}
	}
}

// operand returns the constant that part p reads in this step as operand in. It returns nil if that operand is not
// constant.
func (b *beginning) operand(p *part, in operand) *graph.ConstantTensor {
	switch {
	case in.part == nil:
		return b.numbers.values[in.fixed].constant
	case in.part.node == nil:
		return nil
	case p.delay(in) == 0:
		return b.fixed[in.output]
	}
	return b.numbers.values[b.start[in.output]].constant
}

// absorb reports whether part p multiplies by constant zeros. If so, it records zeros as p's output. It returns false
// if the output is known already.
func (b *beginning) absorb(p *part) (found bool) {
	o := output{p, 0}
	if p.node.Domain != "" || p.node.Op != operators.OpMul || b.fixed[o] != nil {
		return false
	}
	k := b.known(b.any(o))
	for _, in := range p.in {
		if t := b.operand(p, in); t != nil && all(t, 0) {
			b.fixed[o] = &graph.ConstantTensor{DType: k.DType, Shape: k.Shape, F: make([]float64,
				graph.ElementCount(k.Shape))}
			return true
		}
	}
	return false
}

func all(t *graph.ConstantTensor, v float64) bool {
	for i := range t.Len() {
		if t.FloatAt(i) != v {
			return false
		}
	}
	return true
}

// gives reports whether value v equals what the template computes for output o in this step. If so, and unless v is
// constant, it records v and the values from which it is computed.
func (b *beginning) gives(o output, v int) bool {
	if v == none {
		return false
	}
	if known, ok := b.shown[o]; ok {
		return known == v
	}
	is := b.numbers.values[v]
	if is.constant != nil {
		t := b.fixed[o]
		return t != nil && slices.Equal(t.Shape, is.constant.Shape) && t.Equal(is.constant)
	}
	if !b.try(func() bool { return b.alike(o, is) }) && !b.try(func() bool { return b.neutral(o, v) }) {
		return false
	}
	b.shown[o] = v
	return b.note(o, b.step, v)
}

// alike reports whether a value is computed by the operator of o's part, from operands that match the template. If so,
// it records the operands.
func (b *beginning) alike(o output, is value) bool {
	p := o.part
	if is.node == nil || is.slot != o.slot || !same(is.node, p.node) {
		return false
	}
	for i, in := range p.in {
		v := b.number(is.node.Inputs[i])
		switch {
		case in.part == nil:
			if v != in.fixed {
				return false
			}
		case in.part.node == nil:
			if !b.element(in.part, b.step-p.delay(in), v) {
				return false
			}
		case p.delay(in) == 0:
			if !b.gives(in.output, v) && !b.spreads(p, in.output, v) {
				return false
			}
		default:
			if v != b.start[in.output] {
				return false
			}
		}
	}
	b.doneWith(p, b.step)
	return b.like(b.number(is.name), b.any(o))
}

// spreads reports whether v is a constant that broadcasts to the constant that output o is in this step. Part p, which
// reads it, must work element by element.
func (b *beginning) spreads(p *part, o output, v int) bool {
	t := b.fixed[o]
	if v == none || t == nil || b.numbers.values[v].constant == nil || len(b.p.StepsOf(p.node)) == 0 ||
		slices.ContainsFunc(b.p.StepsOf(p.node), func(s *program.Step) bool { return s.Elem == nil }) {
		return false
	}
	c := b.numbers.values[v].constant
	at := len(t.Shape) - len(c.Shape)
	if at < 0 || c.Len() != 1 && (!slices.Equal(c.Shape, t.Shape[at:]) || graph.ElementCount(t.Shape[:at]) != 1) {
		return false
	}
	for i := range t.Len() {
		if t.FloatAt(i) != c.FloatAt(i%c.Len()) {
			return false
		}
	}
	return true
}

// neutral reports whether o is a sum, difference or product of v with a constant that changes nothing, such as 0 in a
// sum. If so, it records v.
func (b *beginning) neutral(o output, v int) bool {
	p := o.part
	if p.node.Domain != "" || len(p.in) != 2 || !b.like(v, b.any(o)) {
		return false
	}
	leaves := map[string]float64{operators.OpAdd: 0, operators.OpSub: 0, operators.OpMul: 1}
	with, ok := leaves[p.node.Op]
	if !ok {
		return false
	}
	for i, in := range p.in {
		t := b.operand(p, p.in[1-i])
		if t == nil || !all(t, with) || i == 1 && p.node.Op == operators.OpSub || in.part == nil {
			continue
		}
		if in.part.node == nil && b.element(in.part, b.step-p.delay(in), v) ||
			in.part.node != nil && p.delay(in) == 0 && b.gives(in.output, v) {
			return true
		}
	}
	return false
}

package roll

import (
	"maps"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// A template is the body of a recurrence, found by comparing two successive steps. Values in which they differ are
// elements of sequences, or states.
type template struct {
	*numbers
	root           *part // the product from which the comparison starts
	parts          []*part
	later, earlier map[int]output // the outputs by their values in the two steps
}

// A part is a node of the body, or, if node is nil, a tensor that differs from step to step: an element of a sequence.
type part struct {
	node *graph.Node
	in   []operand
	time int // the step that holds the later of the two nodes; the earlier one is in the step before

	values map[moment]int
	done   map[int]bool // the steps in which the part is known to match the template
}

// An output identifies one output of a part of the template.
type output struct {
	part *part
	slot int
}

// A moment identifies an output slot of a part in one step. A part holds its values by moment.
type moment struct{ step, slot int }

// An operand is an input of a part. If part is nil, it is the value fixed, which all steps share. Otherwise it is an
// output of part in the same step, in the step before (shift -1) or, until parts are ordered, in the next (shift 1).
type operand struct {
	fixed int
	output
	shift int
}

// compare returns the template that node a of one step and node b of the next have in common. ok is false if the two do
// not belong to one recurrence.
func compare(n *numbers, a, b *graph.Node) (t *template, ok bool) {
	t = &template{numbers: n, later: map[int]output{}, earlier: map[int]output{}}
	t.root = t.add(a, b)
	closed := false
	for at := 0; at < len(t.parts); at++ { // the loop body adds parts
		p := t.parts[at]
		if p.node == nil {
			continue
		}
		early := t.earlierNode(p)
		for i, in := range p.node.Inputs {
			o, ok := t.operand(n.number(early.Inputs[i]), n.number(in))
			if !ok {
				return nil, false
			}
			p.in = append(p.in, o)
			closed = closed || o.part == t.root && o.shift < 0
		}
	}
	return t, closed && t.inTime() && t.inOrder()
}

// earlierNode returns the node that corresponds to part p in the earlier one of the two compared steps.
func (t *template) earlierNode(p *part) *graph.Node {
	slot := slices.IndexFunc(p.node.Outputs, func(o string) bool {
		_, ok := t.later[t.number(o)]
		return ok
	})
	return t.numbers.values[p.values[moment{-1, slot}]].node
}

// add adds a part that stands for node a in the earlier step and node b in the later one, and returns it.
func (t *template) add(a, b *graph.Node) *part {
	p := &part{node: b, values: map[moment]int{}, done: map[int]bool{}}
	t.parts = append(t.parts, p)
	for slot, name := range b.Outputs {
		if t.depending(name) && t.depending(a.Outputs[slot]) {
			t.pair(output{p, slot}, t.of[a.Outputs[slot]], t.of[b.Outputs[slot]])
		}
	}
	return p
}

func (t *template) pair(o output, a, b int) {
	t.earlier[a], t.later[b] = o, o
	o.part.values[moment{-1, o.slot}], o.part.values[moment{0, o.slot}] = a, b
}

// operand returns the operand that has value a in the earlier step and value b in the later one. If that needs a new
// part, it adds one. ok is false if no operand can have these values.
func (t *template) operand(a, b int) (operand, bool) {
	if a == b {
		return operand{fixed: a}, true
	}
	if a == none || b == none {
		return operand{}, false
	}
	if o, ok := t.later[b]; ok {
		return operand{output: o}, o.part.values[moment{-1, o.slot}] == a
	}
	if o, ok := t.earlier[b]; ok {
		return operand{output: o, shift: -1}, true
	}
	if o, ok := t.later[a]; ok {
		return operand{output: o, shift: 1}, true
	}
	x, y := t.numbers.values[a], t.numbers.values[b]
	if t.alike(x, y) {
		return operand{output: output{t.add(x.node, y.node), x.slot}}, true
	}
	if x.constant != nil || y.constant != nil || !t.like(a, b) {
		return operand{}, false
	}
	p := &part{values: map[moment]int{}, done: map[int]bool{}}
	t.parts = append(t.parts, p)
	t.pair(output{p, 0}, a, b)
	return operand{output: output{p, 0}}, true
}

// alike reports whether two values may be the same output of a part in two steps. Their nodes must differ, with equal
// operators and constant inputs.
func (t *template) alike(x, y value) bool {
	if x.node == nil || y.node == nil || x.node == y.node || x.slot != y.slot || !same(x.node, y.node) {
		return false
	}
	for i := range x.node.Inputs {
		a, b := t.number(x.node.Inputs[i]), t.number(y.node.Inputs[i])
		fixed := a == none || b == none || t.numbers.values[a].constant != nil || t.numbers.values[b].constant != nil
		if fixed && a != b && !t.state(a, b) {
			return false
		}
	}
	return true
}

// state reports whether an operand with values a and b in the two steps may be a state that begins with the constant a.
// The earlier step then computes b.
func (t *template) state(a, b int) bool {
	if a == none || b == none {
		return false
	}
	_, made := t.earlier[b]
	return made && t.like(a, b)
}

// delay returns the number of steps that lie between the computation of o and p's reading of it.
func (p *part) delay(o operand) int { return p.time - o.part.time - o.shift }

// inTime assigns each part to a step: that of the sequence element on which it depends or, without one, that of its
// reader. It returns false if this leads to a contradiction.
func (t *template) inTime() bool {
	k := slices.IndexFunc(t.parts, func(p *part) bool { return p.node == nil })
	if k < 0 {
		return false
	}
	known := map[*part]bool{t.parts[k]: true}
	for again, rounds := true, 0; again; rounds++ {
		if again = false; rounds > len(t.parts) {
			return false
		}
		for _, p := range slices.Backward(t.parts) {
			for _, o := range p.in {
				if o.part == nil || !known[o.part] || known[p] && p.delay(o) >= 0 {
					continue
				}
				p.time, known[p], again = o.part.time+o.shift, true, true
			}
		}
	}
	for again := true; again; {
		again = false
		readers := t.readers()
		for _, p := range t.parts {
			if known[p] {
				continue
			}
			for _, r := range readers[p] {
				if at := r.part.time - r.shift; known[r.part] && (!known[p] || at < p.time) {
					p.time, known[p], again = at, true, true
				}
			}
		}
	}
	return len(known) == len(t.parts)
}

// A reader is a part that reads another part, as one of its operands.
type reader struct {
	part  *part
	shift int
}

func (t *template) readers() map[*part][]reader {
	out := map[*part][]reader{}
	for _, p := range t.parts {
		for _, o := range p.in {
			if o.part != nil {
				out[o.part] = append(out[o.part], reader{p, o.shift})
			}
		}
	}
	return out
}

// inOrder moves parts that only the next step reads to that step, so that steps begin with codes. It then sorts the
// parts, operands first. ok is false if an output is read more than one step later.
func (t *template) inOrder() bool {
	recurrent := t.recurrent()
	readers := t.readers()
	moved := map[*part]bool{}
	for again := true; again; {
		again = false
		for _, p := range t.parts {
			if p.node != nil && !moved[p] && t.belongsToNext(p, readers[p], recurrent) {
				p.time++
				moved[p], again = true, true
			}
		}
	}
	order := []*part{}
	seen := map[*part]bool{}
	ok := true
	var visit func(p *part)
	visit = func(p *part) {
		if seen[p] {
			return
		}
		seen[p] = true
		for _, o := range p.in {
			if o.part == nil {
				continue
			}
			d := p.delay(o)
			ok = ok && (o.part.node == nil || d == 0 || d == 1)
			if d == 0 {
				visit(o.part)
			}
		}
		order = append(order, p)
	}
	for _, p := range t.parts {
		visit(p)
	}
	t.parts = order
	return ok
}

// belongsToNext reports whether a part should be computed in the next step, because only that reads it. This holds for
// functions of states other than codes. It also holds for codes of a product that no product reads, and values of codes
// that the next step reads.
func (t *template) belongsToNext(p *part, readers []reader, recurrent map[*part]bool) bool {
	for _, r := range readers {
		if r.part.time-r.shift <= p.time || t.codes(p) && t.multiplies(r.part) {
			return false
		}
	}
	for _, o := range p.in {
		if o.part != nil && p.delay(o) > 0 {
			return false
		}
	}
	of := ofStates{t, recurrent, map[*part]bool{}, false}
	return of.is(p) && (!t.codes(p) || of.products || t.ofState(p))
}

// ofState reports whether the next step also reads one of part p's operands.
func (t *template) ofState(p *part) bool {
	for _, q := range t.parts {
		for _, o := range q.in {
			if o.part != nil && q.delay(o) > 0 && slices.ContainsFunc(p.in, func(in operand) bool {
				return in.part == o.part
			}) {
				return true
			}
		}
	}
	return false
}

// An ofStates recognises parts that depend only on codes of the recurrence itself, not on elements of sequences. Values
// of codes count as functions of what the quantiser reads.
type ofStates struct {
	*template
	recurrent map[*part]bool
	seen      map[*part]bool
	products  bool // the visited parts include products
}

func (s *ofStates) is(p *part) bool {
	if s.seen[p] {
		return true
	}
	s.seen[p] = true
	s.products = s.products || s.multiplies(p)
	for _, o := range p.in {
		switch {
		case o.part == nil:
		case o.part.node == nil || !s.recurrent[o.part]:
			return false
		case p.delay(o) == 0 && (!s.codes(o.part) || s.scales(p)) && !s.is(o.part):
			return false
		}
	}
	return true
}

// recurrent returns the parts that depend on their own output in the step before.
func (t *template) recurrent() map[*part]bool {
	readers := t.readers()
	behind := t.reach(func(p *part) (list []*part) {
		for _, r := range readers[p] {
			list = append(list, r.part)
		}
		return list
	})
	before := t.reach(func(p *part) (list []*part) {
		for _, o := range p.in {
			if o.part != nil {
				list = append(list, o.part)
			}
		}
		return list
	})
	maps.DeleteFunc(before, func(p *part, _ bool) bool { return !behind[p] })
	return before
}

// reach returns the parts that can be reached from the root, itself included. next returns the neighbours of a part.
func (t *template) reach(next func(p *part) []*part) map[*part]bool {
	seen, list := map[*part]bool{}, []*part{t.root}
	for len(list) > 0 {
		p := list[len(list)-1]
		list = list[:len(list)-1]
		if !seen[p] {
			seen[p] = true
			list = append(list, next(p)...)
		}
	}
	return seen
}

// multiplies reports whether a part computes a sum of products.
func (t *template) multiplies(p *part) bool { return p.node != nil && t.numbers.multiplies(p.node) }

// codes reports whether a part gives codes or their dequantised values: it rounds, or is an affine function of a part
// that does.
func (t *template) codes(p *part) bool {
	if p.node == nil {
		return false
	}
	steps := t.p.StepsOf(p.node)
	for _, s := range steps {
		switch {
		case s.Dot != nil || s.Order != nil || s.Recur != nil:
			return false
		case s.Elem == nil:
			continue
		}
		if rounds(s) {
			return true
		}
		if _, ok := s.Elem.Expr.AsAffine(); !ok && len(s.Elem.Args) == 1 {
			return false
		}
	}
	var of *part
	for _, o := range p.in {
		if o.part == nil {
			continue
		}
		if of != nil || p.delay(o) != 0 {
			return false
		}
		of = o.part
	}
	return of != nil && t.codes(of)
}

// rounds reports whether a step of a program rounds or compares.
func rounds(s *program.Step) bool {
	if s.Elem == nil {
		return false
	}
	_, ok := s.Elem.Expr.IsCertainlyInteger(func(int) bool { return false })
	return ok
}

// scales reports whether a part dequantises the codes that another part computes.
func (t *template) scales(p *part) bool {
	return t.codes(p) && !slices.ContainsFunc(t.p.StepsOf(p.node), rounds)
}

package circuit

import (
	"hlsgen/internal/num"
)

// A flattener makes the steps of a machine from the nodes of a circuit. Each node's steps come after those of its
// operands.
type flattener struct {
	*Machine
	seen     []int // by node: 1 while its operands are visited, 2 afterwards
	machines map[*Module]*Machine
	results  [][]NodeID // by call: the nodes of its results
	size     int
}

// place makes room for a node's value among the machine's values. It returns the index of the value's first part.
func (f *flattener) place(n *Node) int32 {
	at := f.size
	f.size += limbsOf(n)
	return int32(at)
}

// forwards reports whether a node that reads an array sees what its own iteration writes.
func (f *flattener) forwards(n *Node) bool {
	a := &f.m.Memories[n.K]
	at, _ := n.reads(n.K)
	return a.When != NoNode && at > a.Stage
}

// implied returns the range of a node's exact result before it is wrapped to the node's width. ok is false if it does
// not fit into an int64.
func (f *flattener) implied(n *Node) (r num.Range, ok bool) {
	of := func(i int) num.Range { return f.m.Nodes[n.Args[i]].Range }
	first := 0
	switch n.Op {
	case OpMuxByCondition, OpMuxByIndex:
		first = 1
	}
	for _, a := range n.Args[first:] {
		if f.limbs(a) > 1 || f.m.Nodes[a].Word {
			return r, false
		}
	}
	switch n.Op {
	case OpAdd:
		return of(0).Plus(of(1))
	case OpSubtract:
		if of(1).Lo == -1<<63 {
			return r, false
		}
		return of(0).Plus(of(1).Negated())
	case OpSumOfThree:
		if r = of(0); of(1).Lo == -1<<63 || of(2).Lo == -1<<63 {
			return r, false
		}
		for i := range n.Args[1:] {
			operand := of(i + 1)
			if n.Subtracts(i + 1) {
				operand = operand.Negated()
			}
			if r, ok = r.Plus(operand); !ok {
				return r, false
			}
		}
		return r, true
	case OpMultiply:
		p, ok := of(0).Wide().Times(of(1).Wide())
		r, narrow := p.Narrow()
		return r, ok && narrow
	case OpMuxByCondition, OpMuxByIndex:
		r = of(1)
		for i := range n.Args[2:] {
			r = r.Union(of(i + 2))
		}
		return r, true
	case OpShiftByConstant:
		if n.K > 62 {
			return r, false
		}
		if n.K >= 0 {
			return of(0).TimesConstant(1 << n.K)
		}
		return num.Range{Lo: of(0).Lo >> -n.K, Hi: of(0).Hi >> -n.K}, true
	case OpLowBitsAsNumber:
		return of(0), true
	}
	return r, false
}

// fitting returns a step, whose result is a number, completed by what is done with the result. It is wrapped to the
// width of n if it may be wider. It is compared with the range of n if it may lie outside.
func (f *flattener) fitting(s step, n *Node) step {
	r, ok := f.implied(n)
	whole := num.Range{Lo: -1 << 63, Hi: 1<<63 - 1}
	if n.Width < 64 {
		whole = num.Type{Kind: num.KindInt, Width: n.Width}.Range()
		if !n.Signed {
			whole = num.Type{Kind: num.KindUInt, Width: n.Width}.Range()
		}
	}
	s.shift = uint8(max(0, 64-n.Width))
	if !ok || !r.IsWithin(whole) {
		s.after = wrapsUnsigned
		if n.Signed {
			s.after = wrapsSigned
		}
		r = whole
	}
	if s.lo, s.hi = n.Range.Lo, n.Range.Hi; !r.IsWithin(n.Range) {
		s.after |= compares
	}
	return s
}

// spanning returns a step, whose result is a number of two parts, completed by a comparison with the range of n.
func spanning(f *flattener, s step, n *Node) step {
	if n.Wide != nil {
		s.after, s.lo = s.after|comparesWide, int64(len(f.spans))
		f.spans = append(f.spans, *n.Wide)
	}
	return s
}

// alike reports whether node n, which converts the value of node of to its own width, has that value bit for bit.
func (f *flattener) alike(of NodeID, n *Node) bool {
	a := &f.m.Nodes[of]
	limbs := f.limbs(of)
	switch {
	case limbs != limbsOf(n):
		return false
	case n.Word: // the bits of a number are its own if it is never negative
		return a.Width <= n.Width && (a.Word || !a.Signed || limbs == 1 && a.Range.Lo >= 0)
	case limbs > 1:
		return !a.Word && a.Width <= n.Width && (a.Signed == n.Signed || !a.Signed && a.Width < n.Width) &&
			(n.Wide == nil || a.WideRange().IsWithin(*n.Wide))
	case a.Word:
		return a.Width == n.Width && !n.Signed && f.fitting(step{}, n).after&compares == 0
	}
	return f.fitting(step{}, n).after == 0
}

// converted returns the place of a node's value with the width and the range of the node to. It adds a step if the
// value must be converted.
func (f *flattener) converted(id NodeID, to Node) int32 {
	to.Op, to.Args = OpLowBitsAsNumber, []NodeID{id}
	if f.alike(id, &to) {
		return f.slots[id]
	}
	at := f.place(&to)
	f.wrap(step{node: id, to: at}, id, &to)
	return at
}

// choice returns the place of an operand that node n may select, converted if it has another number of parts than n.
func (f *flattener) choice(id NodeID, n *Node) int32 {
	if f.limbs(id) == 1 && limbsOf(n) == 1 {
		return f.slots[id]
	}
	return f.converted(id, *n)
}

// chosen returns a step that selects a value for node n, completed by the number of parts and by fitting.
func (f *flattener) chosen(s step, n *Node) step {
	s.n = int32(f.limbs(s.node))
	switch {
	case n.Word:
		return s
	case s.n == 1:
		return f.fitting(s, n)
	}
	return spanning(f, s, n)
}

// wider returns the action wide if a node's value has more than 64 bits, and otherwise narrow.
func (f *flattener) wider(narrow, wide action, id NodeID) action {
	if f.limbs(id) > 1 {
		return wide
	}
	return narrow
}

// emit adds a step with the action do on at most three operands.
func (f *flattener) emit(s step, do action, operands ...NodeID) {
	s.do = do
	for i, to := range []*int32{&s.a, &s.b, &s.c}[:len(operands)] {
		*to = f.slots[operands[i]]
	}
	f.code = append(f.code, s)
}

// list adds a step with the action do on a list of operands. The list has the place of each, and its width in bits.
func (f *flattener) list(s step, do action, operands []NodeID) {
	s.do, s.b, s.n = do, int32(len(f.lists)), int32(len(operands))
	s.k = int32(f.limbs(s.node))
	for _, a := range operands {
		f.lists = append(f.lists, f.slots[a], int32(f.m.Nodes[a].Width))
	}
	f.code = append(f.code, s)
}

// wrap adds a step that converts the value of node from to the width and kind of n.
func (f *flattener) wrap(s step, from NodeID, n *Node) {
	s.a, s.n = f.slots[from], int32(n.Width)
	a := &f.m.Nodes[from]
	if limbsOf(n) > 1 {
		s.do, s.b, s.k = wideCopy, int32(f.limbs(from)), int32(limbsOf(n))
		s.mask = 0
		if !a.Word && a.Signed {
			s.mask |= 1
		}
		if !n.Word && n.Signed {
			s.mask |= 2
		}
		if !n.Word {
			s = spanning(f, s, n)
		}
	} else if n.Word {
		s.do, s.mask = doBits, ones(n.Width)
	} else {
		wrapped := *n
		wrapped.Op, wrapped.Args = OpLowBitsAsNumber, []NodeID{from}
		s = f.fitting(s, &wrapped)
		s.do = doCopy
	}
	f.code = append(f.code, s)
}

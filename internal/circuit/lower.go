package circuit

import (
	"fmt"
)

// actions maps the operations of arithmetic and of gates to the actions that compute them in 64 bits.
var actions = [...]action{OpAdd: doAdd, OpSubtract: doSubtract, OpSumOfThree: doSumOfThree,
	OpMultiply: doMultiply, OpShiftByConstant: doShiftLeft,
	OpLess: doLess, OpEqual: doEqual, OpAnd: doAnd, OpOr: doOr, OpXor: doXor}

// add adds the steps of a node and gives its value a place. A node with the same bits as its operand shares the
// operand's place and needs no step. The error says that the operation has no meaning.
func (f *flattener) add(id NodeID, n *Node) error {
	s := step{node: id}
	switch n.Op {
	case OpDelayOneClock:
		if a := &f.m.Nodes[n.Args[0]]; a.Width == n.Width && a.Signed == n.Signed && a.Word == n.Word {
			f.slots[id] = f.slots[n.Args[0]]
			return nil
		}
	case OpLowBitsAsNumber, OpNumberToWord:
		if f.alike(n.Args[0], n) {
			f.slots[id] = f.slots[n.Args[0]]
			return nil
		}
	}
	if n.Op == OpCallResult {
		f.call(id, int(n.Table))
		return nil
	}
	s.to = f.place(n)
	f.slots[id] = s.to
	switch n.Op {
	case OpConstant, OpIterationStart, OpReadInputStream, OpFunctionArgument, OpReadStateBefore:
		return nil
	case OpAdd, OpSubtract, OpSumOfThree, OpMultiply, OpShiftByConstant, OpLess, OpEqual:
		f.arithmetic(s, n)
	case OpAnd, OpOr, OpXor:
		f.gates(s, n)
	case OpNot:
		f.emit(s, doNot, n.Args...)
	case OpLogicTable:
		s.mask = n.Table
		f.list(s, doTable, n.Args)
	case OpMuxByCondition:
		f.mux(s, n)
	case OpMuxByIndex:
		f.pick(s, n)
	case OpSliceWord:
		f.slice(s, n)
	case OpConcatenateWords:
		f.list(s, f.wider(doConcatenate, wideConcatenate, id), n.Args)
	case OpLowBitsAsNumber, OpNumberToWord, OpDelayOneClock:
		f.wrap(s, n.Args[0], n)
	case OpReadStateAfter:
		state := &f.m.States[n.K]
		s.n = int32(f.limbs(id))
		s.a, s.b, s.c = f.slots[state.When], f.converted(state.Next, *n), f.slots[state.Node]
		s.do = f.wider(doMux, wideMux, id)
		f.code = append(f.code, s)
	case OpReadMemoryClocked, OpReadMemoryUnclocked:
		f.row(s, n)
	default:
		return fmt.Errorf("%s has no meaning", f.describe(id))
	}
	return nil
}

// arithmetic adds a step of arithmetic, a shift by a constant, or a comparison.
func (f *flattener) arithmetic(s step, n *Node) {
	condition := n.Op == OpLess || n.Op == OpEqual
	wide := f.limbs(s.node) > 1
	for _, a := range n.Args {
		wide = wide || f.limbs(a) > 1
	}
	switch {
	case condition:
	case f.limbs(s.node) == 1:
		s = f.fitting(s, n)
	default:
		s = spanning(f, s, n)
	}
	do := actions[n.Op]
	s.k = int32(n.K)
	switch {
	case wide && n.Op == OpLess:
		do = wideLess
	case wide && n.Op == OpEqual:
		do = wideEqual
	case wide:
		do = wideArithmetic
	case n.Op == OpShiftByConstant && n.K < 0:
		do, s.k = doShiftRight, int32(-n.K)
	}
	f.emit(s, do, n.Args...)
}

// gates adds the steps of a gate: one for each condition after the first.
func (f *flattener) gates(s step, n *Node) {
	do := actions[n.Op]
	if len(n.Args) == 1 {
		f.emit(s, doCopy, n.Args...)
		return
	}
	f.emit(s, do, n.Args[:2]...)
	for _, a := range n.Args[2:] {
		s.do, s.a, s.b = do, s.to, f.slots[a]
		f.code = append(f.code, s)
	}
}

// mux adds a step that selects one of two values.
func (f *flattener) mux(s step, n *Node) {
	s = f.chosen(s, n)
	s.a, s.b, s.c = f.slots[n.Args[0]], f.choice(n.Args[1], n), f.choice(n.Args[2], n)
	s.do = f.wider(doMux, wideMux, s.node)
	f.code = append(f.code, s)
}

// pick adds a step that selects one of several values by an index.
func (f *flattener) pick(s step, n *Node) {
	s = f.chosen(s, n)
	places := make([]int32, len(n.Args)-1)
	for i, a := range n.Args[1:] {
		places[i] = f.choice(a, n)
	}
	s.a, s.b, s.k = f.slots[n.Args[0]], int32(len(f.lists)), int32(len(places))
	f.lists = append(f.lists, places...)
	s.do = f.wider(doPick, widePick, s.node)
	f.code = append(f.code, s)
}

// slice adds a step that takes adjacent bits of a value as a word.
func (f *flattener) slice(s step, n *Node) {
	from := n.Args[0]
	s.k, s.n, s.mask = int32(n.K), int32(n.Width), ones(n.Width)
	switch {
	case n.Width > 64:
		s.do, s.a, s.b = wideSlice, f.slots[from], int32(f.limbs(from))
		f.code = append(f.code, s)
		return
	case n.K%64+n.Width > 64:
		s.do = doSliceTwo
	default:
		s.do = doSlice
	}
	s.a, s.k = f.slots[from]+int32(n.K/64), int32(n.K%64)
	f.code = append(f.code, s)
}

// row adds a step that reads a memory.
func (f *flattener) row(s step, n *Node) {
	a := &f.m.Memories[n.K]
	s.k, s.n, s.a, s.mask = int32(n.K), int32(LimbCount(a.Width)), f.slots[n.Args[0]], uint64(a.Rows)
	s.do = f.wider(doRow, wideRow, s.node)
	if !f.forwards(n) {
		f.code = append(f.code, s)
		return
	}
	s.b, s.c = f.slots[a.Address], f.slots[a.When]
	s.do = doForwardedRow
	s.lo = int64(f.converted(a.Word, Node{Width: a.Width, Word: true}))
	f.code = append(f.code, s)
}

// call adds a step that calls a function, and makes room for all of its results.
func (f *flattener) call(id NodeID, call int) {
	c, g := &f.m.Calls[call], f.functions[call]
	s := step{do: doCall, node: id, k: int32(call), b: int32(len(f.lists)), n: int32(len(c.Args))}
	for i, a := range c.Args {
		f.lists = append(f.lists, f.slots[a], g.slots[c.Function.Pins[i]], int32(f.limbs(a)))
	}
	for _, result := range f.results[call] {
		n := &f.m.Nodes[result]
		f.slots[result], f.seen[result] = f.place(n), 2
		f.lists = append(f.lists, g.slots[c.Function.Results[n.K]], f.slots[result], int32(f.limbs(result)))
		s.c++
	}
	f.code = append(f.code, s)
}

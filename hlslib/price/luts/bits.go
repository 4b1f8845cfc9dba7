package luts

import (
	"slices"

	"hlsgen/internal/circuit"
)

// A bit identifies a bit of a circuit by a number: that of the node's first bit plus its place in the node. Constant
// bits are negative.
type bit int32

const (
	zero bit = -1 - iota
	one
)

// A walk holds what is known of the bits of a circuit: which of them are constants or copies of others, and which are
// read.
type walk struct {
	m       *circuit.Module
	d       *SynthesisRules
	first   []bit            // per node: its first bit
	owner   []circuit.NodeID // per bit: its node
	wire    []bit            // per bit: the bit that it equals, possibly inverted
	live    []bool           // per bit: whether something depends on it
	reads   []int32          // per bit: the number of its readers
	line    []int32          // per bit: the number of its readers that are delays
	logics  []int32          // per bit that is logic: its number in cones
	cones   [][]bit          // the inputs of lookup tables, from number 1 on
	inside  []bool           // per bit that is logic: whether it is in the lookup table of its reader
	met     []bool           // per node: whether something depends on it
	columns [][]bool         // per memory: whether something depends on each column
	tables  map[int]*lookup  // the memories whose contents are in lookup tables
	fixed   map[int][]bit    // the memories in block RAM that are constant, with what each column always is
	counted map[tableFunction]bool
	stack   []bit
	delays  []bit   // per bit: the first bit that is the bit a clock later, or 0
	length  []int32 // per delayed bit: the number of delays up to it
	counts  CellCountsByPurpose
}

// leaveWalk gives the memory of a walk back for reuse. The walk must not be used afterwards.
func leaveWalk(w *walk) {
	if w.d.known != nil && len(w.wire) <= mostRoom {
		w.d.known.walks.Put(w)
	}
}

// walkRoom returns a walk whose memory a new one may take: one that was left, or an empty one.
func (d *SynthesisRules) walkRoom() *walk {
	if d.known != nil {
		if w, ok := d.known.walks.Get().(*walk); ok {
			return w
		}
	}
	return new(walk)
}

// mostRoom is the most bits of a walk whose memory is kept for reuse.
const mostRoom = 1 << 18

// zeroed returns a list of n zeros, in the memory of the list if that suffices.
func zeroed[T any](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n)
	}
	list = list[:n]
	clear(list)
	return list
}

func newWalk(m *circuit.Module, d *SynthesisRules) *walk {
	was := d.walkRoom()
	w := &walk{m: m, d: d, first: zeroed(was.first, len(m.Nodes)), tables: map[int]*lookup{}, fixed: map[int][]bit{},
		stack: was.stack[:0], delays: was.delays, length: was.length}
	n := 0
	for i := range m.Nodes {
		w.first[i] = bit(n)
		n += m.Nodes[i].Width
	}
	w.owner, w.wire = zeroed(was.owner, n), zeroed(was.wire, n)
	for i, b := range w.first {
		for k := range m.Nodes[i].Width {
			w.owner[int(b)+k] = circuit.NodeID(i)
			w.wire[int(b)+k] = b + bit(k)
		}
	}
	w.live, w.reads, w.line = zeroed(was.live, n), zeroed(was.reads, n), zeroed(was.line, n)
	w.met, w.columns = zeroed(was.met, len(m.Nodes)), make([][]bool, len(m.Memories))
	return w
}

// of returns the bit that bit i of a node's value equals. Beyond the value's width, it is the sign, or zero if the
// value is unsigned.
func (w *walk) of(id circuit.NodeID, i int) bit {
	n := &w.m.Nodes[id]
	if i >= n.Width {
		if !n.Signed {
			return zero
		}
		i = n.Width - 1
	}
	return w.wire[int(w.first[id])+i]
}

func constant(b int64) bit {
	if b != 0 {
		return one
	}
	return zero
}

// find sets wire for each bit: it finds constants, copies of other bits, and equal registers.
func (w *walk) find() {
	kept := make([][]bool, len(w.m.States))
	for i, s := range w.m.States {
		kept[i] = make([]bool, s.Width)
	}
	w.wires(kept)
	some := false
	for i, s := range w.m.States {
		for k := range kept[i] {
			if s.Reset && s.Next != circuit.NoNode {
				kept[i][k] = keeps(w, w.of(s.Next, k), w.of(s.Node, k), constant(s.Init.Bit(k)))
				some = some || kept[i][k]
			}
		}
	}
	if some { // synthesis does not find further registers that never change because of these
		w.wires(kept)
	}
}

// keeps reports whether a register's bit never changes. That is so if its next value is always its present value now or
// its first value.
func keeps(w *walk, next, now, first bit) bool {
	if next < 0 || next == now {
		return next == now || next == first
	}
	id := w.owner[next]
	n := &w.m.Nodes[id]
	k := int(next - w.first[id])
	return n.Op == circuit.OpMuxByCondition && keeps(w, w.of(n.Args[1], k), now, first) && keeps(w, w.of(n.Args[2], k),
		now, first)
}

// wires sets wire for each bit. kept says, by state, which of its bits never change.
func (w *walk) wires(kept [][]bool) {
	w.delays = zeroed(w.delays, len(w.wire))
	for i := range w.m.Nodes {
		n := &w.m.Nodes[i]
		at := w.first[i]
		set := func(k int, b bit) { w.wire[int(at)+k] = b }
		for k := range n.Width {
			set(k, at+bit(k))
		}
		switch n.Op {
		case circuit.OpReadStateBefore:
			for k := range n.Width {
				if kept[n.K][k] {
					set(k, constant(w.m.States[n.K].Init.Bit(k)))
				}
			}
		case circuit.OpConstant:
			v := n.WideRange().Lo
			for k := range n.Width {
				set(k, constant(v.Bit(k)))
			}
		case circuit.OpReadStateAfter:
			state := w.m.States[n.K].Node
			for k := range n.Width {
				set(k, w.of(state, k))
			}
		case circuit.OpSliceWord:
			for k := range n.Width {
				set(k, w.of(n.Args[0], n.K+k))
			}
		case circuit.OpConcatenateWords:
			k := 0
			for _, a := range n.Args {
				for j := range w.m.Nodes[a].Width {
					set(k, w.of(a, j))
					k++
				}
			}
		case circuit.OpLowBitsAsNumber, circuit.OpNumberToWord:
			for k := range n.Width {
				set(k, w.of(n.Args[0], k))
			}
		case circuit.OpShiftByConstant:
			for k := range n.Width {
				if set(k, zero); k >= n.K {
					set(k, w.of(n.Args[0], k-n.K))
				}
			}
		case circuit.OpNot:
			switch b := w.of(n.Args[0], 0); {
			case b >= 0:
				set(0, b)
			default:
				set(0, zero+one-b)
			}
		case circuit.OpMuxByCondition:
			w.mux(n, set)
		case circuit.OpAdd, circuit.OpSubtract:
			w.sum(n, set)
		case circuit.OpReadMemoryUnclocked:
			w.row(n, set, at)
		case circuit.OpReadMemoryClocked:
			w.fetched(n, set)
		case circuit.OpDelayOneClock:
			for k := range n.Width {
				from := w.of(n.Args[0], k)
				if from < 0 {
					set(k, from)
				} else if same := w.delays[from]; same != 0 {
					set(k, same)
				} else {
					w.delays[from] = at + bit(k)
				}
			}
		}
	}
}

// mux finds the bits of a selection of one of two that do not depend on the condition, and sets them.
func (w *walk) mux(n *circuit.Node, set func(int, bit)) {
	c := w.of(n.Args[0], 0)
	for k := range n.Width {
		a, b := w.of(n.Args[1], k), w.of(n.Args[2], k)
		switch {
		case a == b || c == one:
			set(k, a)
		case c == zero:
			set(k, b)
		case a < 0 && b < 0:
			set(k, c)
		}
	}
}

// sum finds the low bits of a sum or difference that equal those of one operand, and sets them.
func (w *walk) sum(n *circuit.Node, set func(int, bit)) {
	for k := range n.Width {
		a, b := w.of(n.Args[0], k), w.of(n.Args[1], k)
		switch {
		case b == zero:
			set(k, a)
		case a == zero && n.Op == circuit.OpAdd:
			set(k, b)
		default:
			return
		}
	}
}

// read marks the bits that something depends on, and counts their readers.
func (w *walk) read() {
	m := w.m
	for _, s := range slices.Concat(m.In, m.Out) {
		w.whole(s.When)
		w.whole(s.Moves)
	}
	for _, s := range m.Out {
		w.whole(s.Word)
	}
	for _, id := range append([]circuit.NodeID{m.Fire}, m.Results...) {
		w.whole(id)
	}
	for _, c := range m.Calls {
		for _, a := range c.Args {
			w.whole(a)
		}
	}
	for len(w.stack) > 0 {
		b := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		w.operands(b)
	}
}

// whole marks all bits of a node as read.
func (w *walk) whole(id circuit.NodeID) {
	if id != circuit.NoNode {
		for k := range w.m.Nodes[id].Width {
			w.use(w.of(id, k))
		}
	}
}

// use marks the bit b as read once more.
func (w *walk) use(b bit) {
	if b >= 0 {
		w.reads[b]++
		w.touch(b)
	}
}

// touch marks that something depends on a bit.
func (w *walk) touch(b bit) {
	if !w.live[b] {
		w.live[b] = true
		w.stack = append(w.stack, b)
	}
}

// operands marks as read the bits from which a bit is computed.
func (w *walk) operands(b bit) {
	id := w.owner[b]
	n := &w.m.Nodes[id]
	k := int(b - w.first[id])
	if !w.met[id] {
		w.met[id] = true
		w.shared(n)
	}
	switch n.Op {
	case circuit.OpAdd, circuit.OpSubtract:
		w.use(w.of(n.Args[0], k))
		w.use(w.of(n.Args[1], k))
		if k > 0 && w.wire[b-1] == b-1 {
			w.touch(b - 1)
		}
	case circuit.OpDelayOneClock:
		from := w.of(n.Args[0], k)
		w.line[from]++
		w.use(from)
	case circuit.OpAnd, circuit.OpOr, circuit.OpXor, circuit.OpLogicTable:
		for _, a := range n.Args {
			w.use(w.of(a, 0))
		}
	case circuit.OpMuxByCondition:
		w.use(w.of(n.Args[0], 0))
		w.use(w.of(n.Args[1], k))
		w.use(w.of(n.Args[2], k))
	case circuit.OpMuxByIndex:
		for _, a := range n.Args[1:] {
			w.use(w.of(a, k))
		}
	case circuit.OpReadStateBefore:
		if s := &w.m.States[n.K]; s.Next != circuit.NoNode {
			w.use(w.of(s.Next, k))
		}
	case circuit.OpReadMemoryClocked:
		w.column(n.K, k)
	case circuit.OpReadMemoryUnclocked:
		if !open(&w.m.Memories[n.K]) {
			w.column(n.K, k)
			return
		}
		for _, x := range w.selects(n, k) {
			w.use(x)
		}
	}
}

// shared marks as read the bits from which all bits of a node are computed.
func (w *walk) shared(n *circuit.Node) {
	switch n.Op {
	case circuit.OpLess, circuit.OpEqual, circuit.OpMultiply, circuit.OpSumOfThree:
		for _, a := range n.Args {
			w.whole(a)
		}
	case circuit.OpMuxByIndex:
		w.whole(n.Args[0])
	case circuit.OpReadStateBefore:
		w.whole(w.m.States[n.K].When)
	case circuit.OpReadMemoryClocked:
		w.whole(n.Args[0])
	case circuit.OpReadMemoryUnclocked:
		if !open(&w.m.Memories[n.K]) {
			w.whole(n.Args[0])
		}
	}
}

// column marks column k of the memory with the given number as read.
func (w *walk) column(memory, k int) {
	m := &w.m.Memories[memory]
	if w.columns[memory] == nil {
		w.columns[memory] = make([]bool, m.Width)
		w.whole(m.Address)
		w.whole(m.When)
	}
	if !w.columns[memory][k] {
		w.columns[memory][k] = true
		if m.Word != circuit.NoNode {
			w.use(w.of(m.Word, k))
		}
	}
}

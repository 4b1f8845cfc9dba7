package luts

import (
	"slices"

	"hlsgen/internal/circuit"
)

// cover counts the LUTs of the circuit's logic, by rules for each operation.
func (w *walk) cover() {
	w.logics, w.cones, w.inside = make([]int32, len(w.wire)), make([][]bit, 1), make([]bool, len(w.wire))
	for i := range w.m.Nodes {
		n := &w.m.Nodes[i]
		if !w.met[i] {
			continue
		}
		switch n.Op {
		case circuit.OpAnd, circuit.OpOr, circuit.OpXor, circuit.OpLogicTable:
			var in []bit
			for _, a := range n.Args {
				in = append(in, w.of(a, 0))
			}
			w.logic(w.first[i], in)
		case circuit.OpMuxByCondition:
			w.choice(circuit.NodeID(i))
		case circuit.OpMuxByIndex:
			w.pick(circuit.NodeID(i))
		case circuit.OpLess, circuit.OpEqual:
			w.comparison(circuit.NodeID(i))
		case circuit.OpAdd, circuit.OpSubtract:
			w.adder(circuit.NodeID(i))
		case circuit.OpSumOfThree: // lookup tables as they are, into which synthesis moves no logic
			w.counts[purposeAdder].Flat += float64(threes(w.m, n))
		case circuit.OpReadMemoryUnclocked:
			if open(&w.m.Memories[n.K]) {
				w.peek(circuit.NodeID(i))
			}
		case circuit.OpIterationStart:
			w.fire()
		}
	}
	for b, k := range w.logics {
		if len(w.cones[k]) > 1 && !w.inside[b] {
			w.counts[kindOf[w.m.Nodes[w.owner[b]].Op]].LUT++
		}
	}
}

// kindOf maps operations to the purpose of their logic.
var kindOf = map[circuit.Operation]CellPurpose{circuit.OpLogicTable: purposeCompressor, circuit.OpAdd: purposeAdder,
	circuit.OpSubtract: purposeAdder,
	circuit.OpLess:     purposeComparator, circuit.OpEqual: purposeComparator,
	circuit.OpMuxByCondition: purposeSelector,
	circuit.OpMuxByIndex:     purposeSelector,
	circuit.OpAnd:            purposeGate, circuit.OpOr: purposeGate, circuit.OpXor: purposeGate,
	circuit.OpReadMemoryUnclocked: purposeConstantTable}

// logic counts the lookup tables of the bit b, which is a function of the bits in.
func (w *walk) logic(b bit, in []bit) {
	if !w.live[b] || w.wire[b] != b {
		return
	}
	in = distinct(in)
	if n := len(in); n > w.d.Inputs {
		w.counts[kindOf[w.m.Nodes[w.owner[b]].Op]].LUT += w.d.tree(n)
		return
	}
	if w.logics[b] == 0 {
		w.logics[b] = int32(len(w.cones))
		w.cones = append(w.cones, nil)
	}
	w.cones[w.logics[b]] = w.widened(in, w.d.Inputs)
}

// cone returns the inputs of the lookup table of the bit b, or nil if it is no logic of one.
func cone(w *walk, b bit) []bit { return w.cones[w.logics[b]] }

// distinct returns the bits that are not constant, each once.
func distinct(in []bit) []bit {
	list := make([]bit, 0, len(in))
	for _, b := range in {
		if b >= 0 && !slices.Contains(list, b) {
			list = append(list, b)
		}
	}
	return list
}

// widened returns the inputs of a LUT after it has absorbed the logic that only it reads, as far as the given inputs
// suffice.
func (w *walk) widened(in []bit, inputs int) []bit {
	for {
		best, grown := -1, []bit(nil)
		for i, b := range in {
			if cone(w, b) == nil || w.reads[b] != 1 {
				continue
			}
			with := distinct(append(slices.Delete(slices.Clone(in), i, i+1), cone(w, b)...))
			if len(with) <= inputs && (best < 0 || len(with) < len(grown)) {
				best, grown = i, with
			}
		}
		if best < 0 {
			return in
		}
		w.inside[in[best]] = true
		in = grown
	}
}

// choice counts a selection of one of two. It takes no LUT if a register can do it: by its reset to a constant, or by
// keeping its value.
func (w *walk) choice(id circuit.NodeID) {
	n := &w.m.Nodes[id]
	c := w.of(n.Args[0], 0)
	for k := range n.Width {
		b := w.first[id] + bit(k)
		x, y := w.of(n.Args[1], k), w.of(n.Args[2], k)
		if w.reads[b] == 1 && (w.line[b] == 1 && (x < 0 || y < 0) || stays(w, b, x) || stays(w, b, y)) {
			continue
		}
		w.logic(b, []bit{c, x, y})
	}
}

// stays reports whether now is the present value of the state whose next value is b, so that the state keeps its value.
func stays(w *walk, b, now bit) bool {
	if now < 0 {
		return false
	}
	id := w.owner[now]
	n := &w.m.Nodes[id]
	if n.Op != circuit.OpReadStateBefore {
		return false
	}
	return w.of(w.m.States[n.K].Next, int(now-w.first[id])) == b
}

// pick counts a selection of one of several.
func (w *walk) pick(id circuit.NodeID) {
	n := &w.m.Nodes[id]
	for k := range n.Width {
		var in []bit
		for i := range w.m.Nodes[n.Args[0]].Width {
			in = append(in, w.of(n.Args[0], i))
		}
		for _, a := range n.Args[1:] {
			in = append(in, w.of(a, k))
		}
		b := w.first[id] + bit(k)
		if len(distinct(in)) <= w.d.Inputs {
			w.logic(b, in)
		} else if w.live[b] {
			w.counts[purposeSelector].LUT += w.d.chosen(len(n.Args) - 1)
		}
	}
}

// comparison counts a comparison of two numbers: in one LUT, or along a carry chain.
func (w *walk) comparison(id circuit.NodeID) {
	n := &w.m.Nodes[id]
	b := w.first[id]
	var in []bit
	constants := 0
	width := 0
	for _, a := range n.Args {
		o := &w.m.Nodes[a]
		if o.Op == circuit.OpConstant {
			constants++
			continue
		}
		for k := range o.Width {
			in = append(in, w.of(a, k))
		}
		width = max(width, o.Width)
	}
	if in = distinct(in); len(in) <= w.d.Inputs || n.Op == circuit.OpEqual {
		w.logic(b, in)
		return
	}
	if w.live[b] {
		w.counts[purposeComparator].LUT += w.d.compare(width, constants > 0)
	}
}

// adder counts a sum or difference: a LUT for each bit, or two if a constant is added to a sum.
func (w *walk) adder(id circuit.NodeID) {
	n := &w.m.Nodes[id]
	top := 0
	for k := range n.Width {
		if w.live[w.first[id]+bit(k)] {
			top = k + 1
		}
	}
	if top <= w.d.Short {
		var in []bit
		for k := range top {
			in = append(in, w.of(n.Args[0], k), w.of(n.Args[1], k))
			w.logic(w.first[id]+bit(k), in)
		}
		return
	}
	into, inner := taken(w, n, top), inner(w, n, top)
	for k := range top {
		x, y, b := w.of(n.Args[1-into], k), w.of(n.Args[into], k), w.first[id]+bit(k)
		if inner != nil && three(w, inner, k, min(x, y)) {
			w.counts[purposeAdder].LUT++
		}
		switch {
		case x < 0 || y < 0, w.wire[b] != b:
		default:
			w.counts[purposeAdder].LUT++
			if w.d.TakesIn && cone(w, y) != nil && w.reads[y] == 1 &&
				len(distinct(append([]bit{x}, cone(w, y)...))) <= w.d.Inputs {
				w.inside[y] = true
			}
		}
	}
}

// threes returns the lookup tables of a sum of three.
func threes(m *circuit.Module, n *circuit.Node) int {
	tables := m.TablesOfThree(n)
	if tables < n.Width && n.Subtracts(1) != n.Subtracts(2) {
		tables++
	}
	return tables
}

// inner returns the sum to which n adds a constant, if nothing else reads it, else nil. Yosys adds all three numbers at
// once.
func inner(w *walk, n *circuit.Node, width int) *circuit.Node {
	for i, a := range n.Args {
		top := w.of(n.Args[1-i], width-1)
		if w.m.Nodes[a].Op != circuit.OpConstant || top < 0 {
			continue
		}
		id := w.owner[top]
		if o := &w.m.Nodes[id]; o.Op != circuit.OpAdd || o.Width < width {
			return nil
		}
		for k := range width {
			b := w.of(n.Args[1-i], k)
			if own := w.first[id] + bit(k); b != w.wire[own] || b == own && w.reads[b] != 1 {
				return nil
			}
		}
		return &w.m.Nodes[id]
	}
	return nil
}

// three reports whether bit k of a sum to which a constant is added takes a LUT for its carry.
func three(w *walk, inner *circuit.Node, k int, constant bit) bool {
	x, y := w.of(inner.Args[0], k), w.of(inner.Args[1], k)
	return x >= 0 && y >= 0 || max(x, y) >= 0 && constant == one
}

// taken returns the number, 0 or 1, of the operand of the adder n whose logic the adder's LUTs absorb. The carry chain
// needs the bits of the other one. Yosys puts first the operand that is shorter, or is made of fewer pieces.
func taken(w *walk, n *circuit.Node, width int) int {
	var bits, pieces [2]int
	for i := range bits {
		bits[i] = size(w, n, i, width)
		before := bit(-3)
		for k := range bits[i] {
			b := w.of(n.Args[i], k)
			if b != before+1 && (b >= 0 || before >= 0 || k == 0) {
				pieces[i]++
			}
			before = b
		}
	}
	if n.Op == circuit.OpAdd && (bits[0] > bits[1] || bits[0] == bits[1] && pieces[0] > pieces[1]) {
		return 0
	}
	return 1
}

// size returns the number of bits of an adder's operand, without those that only repeat its sign.
func size(w *walk, n *circuit.Node, operand, width int) int {
	at := func(k int) bit { return w.of(n.Args[operand], k) }
	for width > 1 && (n.Signed && at(width-1) == at(width-2) || !n.Signed && at(width-1) == zero) {
		width--
	}
	return width
}

// peek counts the lookup tables of a row of constants in LUTs.
func (w *walk) peek(id circuit.NodeID) {
	n := &w.m.Nodes[id]
	for k := range n.Width {
		b := w.first[id] + bit(k)
		if !w.live[b] || w.wire[b] != b {
			continue
		}
		in := w.selects(n, k)
		if len(distinct(in)) <= w.d.Inputs {
			w.logic(b, in)
			continue
		}
		w.counts[purposeConstantTable].LUT += tabled(w, n.K, k)
	}
}

// fire counts the logic of the signal that starts an iteration and takes words.
func (w *walk) fire() {
	inputs, luts := 1, 0
	for _, s := range w.m.In {
		inputs++
		if w.of(s.When, 0) >= 0 {
			inputs++
			luts++
		}
	}
	for _, s := range w.m.Out {
		inputs++
		if w.of(s.When, 0) >= 0 {
			inputs++
		}
	}
	w.counts[purposeGate].LUT += float64(luts) + w.d.tree(inputs)
}

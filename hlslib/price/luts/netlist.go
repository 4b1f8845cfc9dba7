package luts

import (
	"math"
	"slices"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/circuit"
)

// A netlist is a circuit as gates, carry chains, and the leaves and ends between them.
type netlist struct {
	*gates
	w      *walk
	known  []signal                  // per bit: its signal
	leaf   map[bit]signal            // the leaf of a bit from a register, a memory or another module
	tables map[int]map[string]signal // per table: the functions made so far
	sums   map[int32]int             // per leaf that is a bit of a sum: the inputs of its lookup table
	// per memory: the signal that says that the last written word is the one being read
	passed map[int]signal
	which  map[int][]signal   // per memory in block RAM: registers that say which of its banks has the word
	arrays map[int][][]signal // per memory of registers: the registers of each row
	turn   bool               // whether the last comparison of two equally wide numbers kept their order
	rst    signal
	valid  []signal // per stream: whether a word, or a place, is available
	room   []signal
}

// unknown stands for a signal that has not been made yet.
const unknown signal = -1

func newNetlist(w *walk) *netlist {
	n := &netlist{gates: newGates(), w: w, known: make([]signal, len(w.wire)), leaf: map[bit]signal{},
		tables: map[int]map[string]signal{}, sums: map[int32]int{}, arrays: map[int][][]signal{},
		passed: map[int]signal{}, which: map[int][]signal{}}
	for i := range n.known {
		n.known[i] = unknown
	}
	n.rst = n.gates.leaf()
	return n
}

// A dividedNetlist is a netlist with balanced gates, and the mappings of its parts.
type dividedNetlist struct {
	*netlist
	parts []partMapping
	plain int // the number of gates before balancing
}

// divided returns the netlist of a circuit in parts.
func divided(w *walk) dividedNetlist {
	return plain(w).divided()
}

// plain returns the netlist of a circuit before balancing.
func plain(w *walk) *netlist {
	n := newNetlist(w)
	n.streams()
	n.outside()
	return n
}

func (n *netlist) divided() dividedNetlist {
	inner := n.inner()
	n.gates = n.balanced()
	return dividedNetlist{n, n.w.d.mappings(n.gates), inner}
}

// A netlistKey is the key of a function's netlist between the two steps in which its gates are mapped: longest, count.
type netlistKey struct{ of cost.Fabric }

// netlist returns the netlist of a circuit in parts, for count. For a function it is that of longest, if nobody took
// it.
func (d *SynthesisRules) netlist(m *circuit.Module) dividedNetlist {
	if m.Known != nil {
		if kept, ok := m.Known.LoadAndDelete(netlistKey{d.Fabric}); ok {
			return kept.(dividedNetlist)
		}
	}
	return divided(d.walked(m))
}

// longest returns the number of LUTs on the longest path through the circuit of a function.
func (d *SynthesisRules) longest(f *circuit.Module) int16 {
	type key struct{ of cost.Fabric }
	if known, ok := f.Known.Load(key{d.Fabric}); ok {
		return known.(int16)
	}
	n, longest := divided(d.walked(f)), int16(0)
	for i := range n.parts {
		longest = max(longest, n.parts[i].longest())
	}
	f.Known.Store(netlistKey{d.Fabric}, n)
	for _, c := range f.Calls {
		longest = max(longest, d.longest(c.Function))
	}
	f.Known.Store(key{d.Fabric}, longest)
	return longest
}

// remainders returns, per call of the circuit of a walk, the share of the function's LUTs that remains there. The
// circuit has the given number of gates.
//
// Synthesis flattens a network. So what is constant or equal among a call's arguments makes the function's logic
// smaller there, and calls may share logic. Weights of tables with few rows are such arguments. To map all these calls
// takes long: their LUTs are those of the functions, by as much less as there are fewer gates at the first calls.
func remainders(w *walk, gates int) []float64 {
	list := slices.Repeat([]float64{1}, len(w.m.Calls))
	known, tried, whole := make([]bool, len(list)), make([]bool, len(list)), 0
	marks := zeroed(w.length, len(w.wire))
	met := map[*circuit.Module]int{} // calls of each function
	for k := range list {
		if known[k] = given(w, &w.m.Calls[k], marks, int32(k+1)); !known[k] {
			continue
		}
		f := w.m.Calls[k].Function
		if met[f]++; met[f] <= triedCalls {
			tried[k] = true
			whole += w.d.gatesOf(f)
		}
	}
	if whole == 0 {
		return list
	}
	n := plain(w.d.walked(inlined(w.m, tried)))
	rest := n.inner() - gates
	leaveWalk(n.w)
	for k := range list {
		if known[k] {
			list[k] = max(0, min(1, float64(rest)/float64(whole)))
		}
	}
	return list
}

// triedCalls is the number of calls of a function whose gates are made. Lanes of a layer differ little in what is known
// of their arguments, so the others count as these do.
const triedCalls = 8

// fewGiven is the share of a call's bits below which it does not matter what is known of them.
const fewGiven = 1. / 8

// given reports whether enough bits of a call's arguments are constant or equal others of them. It marks the bits that
// it meets by the call's number.
func given(w *walk, c *circuit.FunctionCall, marks []int32, number int32) bool {
	sure, all := 0, 0
	for _, a := range c.Args {
		for k := range w.m.Nodes[a].Width {
			all++
			if b := w.of(a, k); b < 0 || marks[b] == number {
				sure++
			} else {
				marks[b] = number
			}
		}
	}
	return sure > 0 && float64(sure) >= fewGiven*float64(all)
}

// gatesOf returns the number of gates of a function without those of the functions that it calls.
func (d *SynthesisRules) gatesOf(f *circuit.Module) int {
	key := gatesKey{d.Fabric}
	if known, ok := f.Known.Load(key); ok {
		return known.(int)
	}
	n := plain(d.walked(f))
	count := n.inner()
	leaveWalk(n.w)
	f.Known.Store(key, count)
	return count
}

// beyond says how many LUTs ABC9 takes beyond the fewest for a count of bits: of n, a multiple of n to this power. It
// makes the longest paths short, and of a large count, few paths are as long. In layers of 56 to 5,300 LUTs it adds
// from 80 % to 30 %.
const beyond = 6. / 7

// count maps the gates, and adds their LUTs to the circuit's counts. Paths may be as long as the longest one of the
// circuit, or as longest, or of any length where the fewest LUTs count. It returns the length of the longest path in
// LUTs.
func (n dividedNetlist) count(longest int16) int16 {
	parts := n.parts
	if n.w.d.ABC9 {
		longest = math.MaxInt16
	}
	for i := range parts {
		longest = max(longest, parts[i].longest())
	}
	refs := make([]int32, len(n.in)) // per leaf: the number of lookup tables and ends that read it
	for _, s := range n.ends {
		refs[s.gate()]++
	}
	counts := make([]*partCount, len(parts))
	for i := range parts {
		counts[i] = parts[i].count(longest)
		for kind, luts := range counts[i].luts {
			c, whole := &n.w.counts[kind], math.Round(float64(luts)*parts[i].times)
			switch {
			case !n.w.d.ABC9:
				c.LUT += whole
			case parts[i].single():
				c.Flat += whole
			case CellPurpose(kind) == purposeCompressor:
				c.Flat += whole
				c.LUT += math.Pow(whole, beyond)
			default:
				c.LUT += whole
			}
		}
		for k, l := range parts[i].leaf {
			refs[l] += counts[i].reads[k]
		}
	}
	n.absorb(parts, counts, refs)
	for _, s := range n.ends {
		// An inverted output takes a lookup table of its own if it is a leaf, or if it is also needed without
		// inversion.
		if !n.w.d.Small && s.turned() && (n.leaves(s.gate()) || n.endings(s.gate())&endsPlain != 0) {
			n.w.counts[purposeInverter].LUT++
		}
	}
	return longest
}

// absorb removes the LUTs behind a bit of a sum that the LUT of that bit has inputs left to absorb.
func (n *netlist) absorb(parts []partMapping, counts []*partCount, refs []int32) {
	sums := map[int32]int{}
	for l, inputs := range n.sums {
		sums[n.was[l].gate()] = inputs
	}
	for i := range parts {
		for _, b := range counts[i].behind {
			for _, k := range b.leaves {
				l := parts[i].leaf[k]
				if inputs, ok := sums[l]; ok && refs[l] == 1 && inputs+b.inputs-1 <= n.w.d.Inputs {
					n.w.counts[b.kind].LUT--
					break
				}
			}
		}
	}
}

// of returns the signal of bit k of a node's value. Bits beyond the value's width repeat its sign.
func (n *netlist) of(id circuit.NodeID, k int) signal {
	node := &n.w.m.Nodes[id]
	if k >= node.Width {
		if !node.Signed {
			return never
		}
		k = node.Width - 1
	}
	b := n.w.first[id] + bit(k)
	if n.known[b] == unknown {
		if n.full() {
			return never
		}
		s := n.made(id, node, k)
		n.known[b] = s
	}
	return n.known[b]
}

// from returns the signal of the bit b, which must be constant, or a new leaf for a bit from elsewhere.
func (n *netlist) from(b bit) signal {
	switch b {
	case zero:
		return never
	case one:
		return ever
	}
	s, ok := n.leaf[b]
	if !ok {
		n.now = purposeGate
		s = n.gates.leaf()
		n.leaf[b] = s
	}
	return s
}

// made adds the gates of bit k of a node, and returns its signal.
func (n *netlist) made(id circuit.NodeID, node *circuit.Node, k int) signal {
	b := n.w.first[id] + bit(k)
	arg := func(i, k int) signal { return n.of(node.Args[i], k) }
	list := func() (all []signal) {
		for i := range node.Args {
			all = append(all, arg(i, 0))
		}
		return all
	}
	kind, ok := kindOf[node.Op]
	if !ok {
		kind = purposeGate
	}
	switch node.Op {
	case circuit.OpConstant:
		return n.from(constant(node.WideRange().Lo.Bit(k)))
	case circuit.OpReadStateAfter:
		return n.of(n.w.m.States[node.K].Node, k)
	case circuit.OpSliceWord:
		return arg(0, node.K+k)
	case circuit.OpConcatenateWords:
		for i, a := range node.Args {
			if width := n.w.m.Nodes[a].Width; k >= width {
				k -= width
			} else {
				return arg(i, k)
			}
		}
	case circuit.OpLowBitsAsNumber, circuit.OpNumberToWord:
		return arg(0, k)
	case circuit.OpShiftByConstant:
		if k < node.K {
			return never
		}
		return arg(0, k-node.K)
	case circuit.OpNot:
		return arg(0, 0).not()
	case circuit.OpAnd:
		in := list()
		n.now = kind
		return n.all(in)
	case circuit.OpOr:
		in := list()
		n.now = kind
		return n.any(in)
	case circuit.OpXor:
		in := list()
		n.now = kind
		return n.odd(in)
	case circuit.OpLogicTable:
		in := list()
		n.now = kind
		return n.look([]uint64{node.Table & (1<<(1<<len(in)) - 1)}, in, map[string]signal{})
	case circuit.OpMuxByCondition:
		c, x, y := arg(0, 0), arg(1, k), arg(2, k)
		n.now = kind
		return n.mux(c, x, y)
	case circuit.OpMuxByIndex:
		return n.pick(node, k)
	case circuit.OpEqual:
		return n.equal(node)
	case circuit.OpLess:
		return n.less(node)
	case circuit.OpAdd, circuit.OpSubtract:
		n.sum(id, node)
		return n.known[b]
	case circuit.OpIterationStart:
		return n.fire()
	case circuit.OpReadMemoryClocked:
		if n.w.wire[b] == b {
			word := side(n, node.K, b)
			if passes(n.w, node.K) {
				n.now = purposeMemory
				if n.passed[node.K] == 0 {
					n.passed[node.K] = n.gates.leaf()
				}
				word = n.mux(n.passed[node.K], n.gates.leaf(), word)
			}
			return word
		}
	case circuit.OpReadMemoryUnclocked:
		if open(&n.w.m.Memories[node.K]) {
			return n.row(node, k)
		}
		switch a := &n.w.m.Memories[node.K]; {
		case a.Style == circuit.RegisterArrayStyle:
			return n.chosen(node, k)
		case n.w.d.banked(a):
			return fromBanks(n, a.Rows, addressed(n, node.Args[0], a.Rows))
		}
	}
	return n.from(n.w.wire[b])
}

// pick returns the signal of bit k of the node, a selection of one of several values by a number.
func (n *netlist) pick(node *circuit.Node, k int) signal {
	index := n.w.m.Nodes[node.Args[0]].Width
	values := node.Args[1:]
	var some, which []signal
	for i := range values[1:] {
		var is []signal
		for j := range index {
			is = append(is, n.of(node.Args[0], j).when(i>>j&1 == 0))
		}
		v := n.of(values[i], k)
		n.now = purposeSelector
		one := n.all(is)
		which = append(which, one)
		some = append(some, n.and(one, v))
	}
	last := n.of(values[len(values)-1], k)
	n.now = purposeSelector
	return n.or(n.any(some), n.and(n.any(which).not(), last))
}

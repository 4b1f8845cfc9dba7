package cells

import (
	"math/bits"
	"slices"

	"hlsgen/hlslib/cost"
	"hlsgen/internal/circuit"
)

// A netlist is a circuit as gates, carry chains and what they lie between.
type netlist struct {
	*gates
	w      *walk
	known  []signal                  // of a bit
	leaf   map[bit]signal            // that is a register, or comes from a memory or another module
	tables map[int]map[string]signal // what has been made of a table
	sums   map[int32]int             // of a leaf that is a bit of a sum: the inputs of its lookup table
	passed map[int]signal            // of a memory: the word that was written before is the one that is read
	arrays map[int][][]signal        // places of registers
	rst    signal
	valid  []signal // of streams, that a word is there, or a place
	room   []signal
}

// unknown is a signal that nobody has asked for.
const unknown signal = -1

func newNetlist(w *walk) *netlist {
	n := &netlist{gates: newGates(), w: w, known: make([]signal, len(w.wire)), leaf: map[bit]signal{},
		tables: map[int]map[string]signal{}, sums: map[int32]int{}, arrays: map[int][][]signal{},
		passed: map[int]signal{}}
	for i := range n.known {
		n.known[i] = unknown
	}
	n.rst = n.gates.leaf()
	return n
}

// mapped puts the logic of a circuit into lookup tables: ways may be as long as the longest one, or that of another
// circuit. It gives how long that is.
func mapped(w *walk, longest int16) int16 {
	n := newNetlist(w)
	n.streams()
	n.outside()
	return n.count(longest)
}

// longest is the lookup tables on the longest way through a function.
func (d *Device) longest(f *circuit.Module) int16 {
	type key struct{ of cost.Fabric }
	if known, ok := f.Known.Load(key{d.Fabric}); ok {
		return known.(int16)
	}
	w := d.walked(f)
	n := newNetlist(w)
	n.outside()
	m := d.fastest(n.balanced())
	longest := m.longest
	for _, c := range f.Calls {
		longest = max(longest, d.longest(c.Function))
	}
	f.Known.Store(key{d.Fabric}, longest)
	return longest
}

// count has the lookup tables by what they are for.
func (n *netlist) count(longest int16) int16 {
	n.gates = n.balanced()
	m := n.w.d.lookups(n.gates, longest)
	sums := map[int32]int{}
	for l, inputs := range n.sums {
		sums[n.was[l].gate()] = inputs
	}
	n.sums = sums
	for i := range m.in {
		if m.refs[i] > 0 && len(m.cuts[i]) > 0 {
			n.w.counts[m.kind[i]].LUT += float64(m.d.size(int(m.cuts[i][0].n)))
			n.absorbed(m, int32(i))
		}
	}
	if n.w.d.Packs {
		for _, i := range m.packed() {
			n.w.counts[m.kind[i]].LUT--
		}
	}
	for s := range n.ended {
		// What leaves the logic turned round is a table of its own where it is a leaf, or needed as it is, too.
		if s.turned() && (m.leaves(s.gate()) || n.ended[s.not()]) {
			n.w.counts[Inverters].LUT++
		}
	}
	return m.longest
}

// absorbed is that a lookup table behind a bit of a sum is that bit's, if there is an input left.
func (n *netlist) absorbed(m *mapping, i int32) {
	if n.w.d.Fabric != cost.ICE40 {
		return
	}
	for _, l := range m.cuts[i][0].list() {
		if inputs, ok := n.sums[l]; ok && m.refs[l] == 1 && inputs+int(m.cuts[i][0].n)-1 <= m.d.Inputs {
			n.w.counts[m.kind[i]].LUT--
			return
		}
	}
}

// of is the bit of a node's value, with more bits by its sign.
func (n *netlist) of(id circuit.ID, k int) signal {
	node := &n.w.m.Nodes[id]
	if k >= node.Width {
		if !node.Signed {
			return never
		}
		k = node.Width - 1
	}
	b := n.w.first[id] + bit(k)
	if n.known[b] == unknown {
		s := n.made(id, node, k)
		n.known[b] = s
	}
	return n.known[b]
}

// fixed is a bit that never changes, or comes from elsewhere.
func (n *netlist) from(b bit) signal {
	switch b {
	case zero:
		return never
	case one:
		return ever
	}
	s, ok := n.leaf[b]
	if !ok {
		n.now = Gates
		s = n.gates.leaf()
		n.leaf[b] = s
	}
	return s
}

// made is a bit of a node.
func (n *netlist) made(id circuit.ID, node *circuit.Node, k int) signal {
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
		kind = Gates
	}
	switch node.Op {
	case circuit.Const:
		return n.from(constant(node.Range.Lo >> min(k, 63) & 1))
	case circuit.After:
		return n.of(n.w.m.States[node.K].Node, k)
	case circuit.Slice:
		return arg(0, node.K+k)
	case circuit.Join:
		for i, a := range node.Args {
			if width := n.w.m.Nodes[a].Width; k >= width {
				k -= width
			} else {
				return arg(i, k)
			}
		}
	case circuit.Wrap, circuit.Bits:
		return arg(0, k)
	case circuit.Shift:
		if k < node.K {
			return never
		}
		return arg(0, k-node.K)
	case circuit.Invert:
		return arg(0, 0).not()
	case circuit.And:
		in := list()
		n.now = kind
		return n.all(in)
	case circuit.Or:
		in := list()
		n.now = kind
		return n.any(in)
	case circuit.Xor:
		in := list()
		n.now = kind
		return n.odd(in)
	case circuit.Look:
		in := list()
		n.now = kind
		return n.look([]uint64{node.Table & (1<<(1<<len(in)) - 1)}, in, map[string]signal{})
	case circuit.Mux:
		c, x, y := arg(0, 0), arg(1, k), arg(2, k)
		n.now = kind
		return n.mux(c, x, y)
	case circuit.Pick:
		return n.pick(node, k)
	case circuit.Equal:
		return n.equal(node)
	case circuit.Less:
		return n.less(node)
	case circuit.Add, circuit.Sub:
		n.sum(id, node)
		return n.known[b]
	case circuit.Fire:
		return n.fire()
	case circuit.Fetch:
		if n.w.wire[b] == b && passes(n.w, node.K) {
			n.now = Memories
			if n.passed[node.K] == 0 {
				n.passed[node.K] = n.gates.leaf()
			}
			return n.mux(n.passed[node.K], n.gates.leaf(), n.from(b))
		}
	case circuit.Peek:
		if open(&n.w.m.Memories[node.K]) {
			return n.row(node, k)
		}
		if n.w.m.Memories[node.K].Style == circuit.Registers {
			return n.chosen(node, k)
		}
	}
	return n.from(n.w.wire[b])
}

// pick is one of many: those whose number it is.
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
		n.now = Choices
		one := n.all(is)
		which = append(which, one)
		some = append(some, n.and(one, v))
	}
	last := n.of(values[len(values)-1], k)
	n.now = Choices
	return n.or(n.any(some), n.and(n.any(which).not(), last))
}

// widths is the bits in which two numbers are compared, and whether they have signs.
func (n *netlist) widths(node *circuit.Node) (width int, signed bool) {
	a, b := &n.w.m.Nodes[node.Args[0]], &n.w.m.Nodes[node.Args[1]]
	signed = a.Range.Lo < 0 || b.Range.Lo < 0
	for _, o := range []*circuit.Node{a, b} {
		w := o.Width
		if signed && !o.Signed {
			w++
		}
		width = max(width, w)
	}
	return width, signed
}

func (n *netlist) equal(node *circuit.Node) signal {
	width, _ := n.widths(node)
	var alike []signal
	for k := range width {
		a, b := n.of(node.Args[0], k), n.of(node.Args[1], k)
		n.now = Comparators
		alike = append(alike, n.xor(a, b).not())
	}
	n.now = Comparators
	return n.all(alike)
}

// less is whether a number is less than another: along a carry chain, where it is not short.
func (n *netlist) less(node *circuit.Node) signal {
	width, signed := n.widths(node)
	a, b := make([]signal, width), make([]signal, width)
	inputs := 0
	for k := range width {
		a[k], b[k] = n.of(node.Args[0], k), n.of(node.Args[1], k)
		for _, s := range []signal{a[k], b[k]} {
			if !s.constant() {
				inputs++
			}
		}
	}
	for width > 1 && a[width-1] == a[width-2] && b[width-1] == b[width-2] && signed {
		width--
	}
	for width > 1 && a[width-1] == b[width-1] && !signed {
		width--
	}
	constant := n.w.m.Nodes[node.Args[0]].Op == circuit.Const || n.w.m.Nodes[node.Args[1]].Op == circuit.Const
	if k, ok := power(b[:width]); ok && !signed { // the bits from there on
		n.now = Comparators
		return n.any(a[k:width]).not()
	}
	if signed && !slices.ContainsFunc(b[:width], func(s signal) bool { return s != never }) {
		return a[width-1]
	}
	n.now = Comparators
	if width <= n.w.d.Short || constant && inputs <= n.w.d.Inputs {
		carry := never // a < b below
		for k := range width {
			x, y := a[k], b[k]
			if signed && k == width-1 {
				x, y = y, x
			}
			carry = n.or(n.and(x.not(), y), n.and(n.xor(x, y).not(), carry))
		}
		return carry
	}
	sums, carries := n.chain(a[:width], b[:width], true, Comparators,
		func(k int) bool { return signed && k == width-1 })
	n.now = Comparators
	last := carries[width-1]
	if !signed {
		return last.not()
	}
	return n.xor(n.xor(sums[width-1], last), carries[width-2])
}

// power reports which of the bits of a constant is the only one.
func power(list []signal) (k int, ok bool) {
	for i, s := range list {
		if !s.constant() || s == ever && ok {
			return 0, false
		}
		if s == ever {
			k, ok = i, true
		}
	}
	return k, ok
}

// chain is a sum or difference along a carry chain, and what it carries from each bit; wanted are the bits of the sum
// that somebody reads.
func (n *netlist) chain(a, b []signal, less bool, kind Kind, wanted func(int) bool) (sums, carries []signal) {
	carry := never.when(less)
	n.now = kind
	ecp5 := n.w.d.Fabric == cost.ECP5
	if ecp5 {
		n.w.counts[kind].LUT += float64((len(a) + 1) / 2 * 2)
	}
	leaf := func() signal { n.now = kind; return n.gates.leaf() }
	for k := range a {
		x, y := a[k], b[k]
		turned := y.when(less)
		if ecp5 {
			n.end(x)
			n.end(y)
			sums = append(sums, leaf())
			if k%2 == 1 {
				carry = leaf()
			} else {
				carry = n.most(x, turned, carry)
			}
			carries = append(carries, carry)
			continue
		}
		constants := 0
		for _, s := range []signal{x, turned, carry} {
			constants += b2i(s.constant())
		}
		if constants >= 2 {
			n.now = kind
			sums = append(sums, n.odd([]signal{x, turned, carry}))
			carry = n.most(x, turned, carry)
			carries = append(carries, carry)
			continue
		}
		var s signal
		n.end(x)
		n.end(turned)
		n.end(carry)
		if wanted(k) {
			n.w.counts[kind].LUT++
			s = leaf()
			n.sums[s.gate()] = 3
		}
		sums = append(sums, s)
		carry = leaf()
		carries = append(carries, carry)
	}
	return sums, carries
}

// sum is a sum or difference.
func (n *netlist) sum(id circuit.ID, node *circuit.Node) {
	first := n.w.first[id]
	top := 0
	for k := range node.Width {
		n.known[first+bit(k)] = never
		if n.w.live[first+bit(k)] || n.w.wire[first+bit(k)] != first+bit(k) {
			top = k + 1
		}
	}
	less := node.Op == circuit.Sub
	low := 0
	inner := inner(n.w, node, top)
	if inner != nil && !less {
		n.three(first, node, inner, top)
		return
	}
	for ; low < top; low++ {
		a, b := n.of(node.Args[0], low), n.of(node.Args[1], low)
		if b == never {
			n.known[first+bit(low)] = a
		} else if a == never && !less {
			n.known[first+bit(low)] = b
		} else {
			break
		}
	}
	var a, b []signal
	for k := low; k < top; k++ {
		a, b = append(a, n.of(node.Args[0], k)), append(b, n.of(node.Args[1], k))
	}
	copy(n.known[first+bit(low):], n.added(a, b, less, Adders))
}

// added is a sum or difference: short ones are logic.
func (n *netlist) added(a, b []signal, less bool, kind Kind) (sums []signal) {
	n.now = kind
	if len(a) > n.w.d.Short {
		sums, _ = n.chain(a, b, less, kind, func(int) bool { return true })
		return sums
	}
	carry := never.when(less)
	for k := range a {
		y := b[k].when(less)
		sums = append(sums, n.odd([]signal{a[k], y, carry}))
		carry = n.most(a[k], y, carry)
	}
	return sums
}

// three is a sum to which a constant is added: Yosys adds all three at once.
func (n *netlist) three(first bit, node, inner *circuit.Node, top int) {
	constant := node.Args[1]
	if n.w.m.Nodes[node.Args[0]].Op == circuit.Const {
		constant = node.Args[0]
	}
	carry := never
	var sums, carries []signal
	for k := range top {
		x, y, c := n.of(inner.Args[0], k), n.of(inner.Args[1], k), n.of(constant, k)
		n.now = Adders
		sums, carries = append(sums, n.odd([]signal{x, y, c})), append(carries, carry)
		carry = n.most(x, y, c)
	}
	copy(n.known[first:], n.added(sums, carries, false, Adders))
}

// row is a bit of a row of constants.
func (n *netlist) row(node *circuit.Node, k int) signal {
	t := n.w.contents(node.K)
	var address []signal
	for i := range t.inputs {
		address = append(address, n.of(node.Args[0], i))
	}
	truth := t.columns[k].truth
	n.lastFirst(address, func(order []int) { truth = ordered(truth, order) })
	n.now = Tables
	key := node.K<<32 | int(node.Args[0])
	if n.tables[key] == nil {
		n.tables[key] = map[string]signal{}
	}
	return n.look(truth, address, n.tables[key])
}

// places are the registers of an array.
func (n *netlist) places(memory int) [][]signal {
	if n.arrays[memory] == nil {
		m := &n.w.m.Memories[memory]
		rows := make([][]signal, m.Rows)
		n.now = Memories
		for r := range rows {
			for range m.Width {
				rows[r] = append(rows[r], n.gates.leaf())
			}
		}
		n.arrays[memory] = rows
	}
	return n.arrays[memory]
}

// chosen is a bit of a row of registers.
func (n *netlist) chosen(node *circuit.Node, k int) signal {
	rows := n.places(node.K)
	var list []signal
	for _, row := range rows {
		list = append(list, row[k])
	}
	for i := 0; len(list) > 1; i++ {
		at := n.of(node.Args[0], i)
		n.now = Memories
		for r := 0; r < len(list); r += 2 {
			list[r/2] = list[r]
			if r+1 < len(list) {
				list[r/2] = n.mux(at, list[r+1], list[r])
			}
		}
		list = list[:(len(list)+1)/2]
	}
	return list[0]
}

// written is what chooses the row of registers that a word is written to: by a number of the circuit, or, of a table
// that is loaded, by registers that count its rows.
func (n *netlist) written(m *circuit.Memory) {
	var when signal
	address := make([]signal, bits.Len(uint(m.Rows-1)))
	if m.Loaded {
		when = n.gates.leaf()
		for i := range address {
			address[i] = n.gates.leaf()
		}
	} else {
		when = n.of(m.When, 0)
		for i := range address {
			address[i] = n.of(m.Address, i)
		}
	}
	for r := range m.Rows {
		is := []signal{when}
		for i, a := range address {
			is = append(is, a.when(r>>i&1 == 0))
		}
		n.now = Memories
		n.end(n.all(is))
	}
}

// streams are what comes from FIFOs, and goes to them.
func (n *netlist) streams() {
	n.now = Gates
	for range n.w.m.In {
		n.valid = append(n.valid, n.gates.leaf())
	}
	for range n.w.m.Out {
		n.room = append(n.room, n.gates.leaf())
	}
}

// fire is that an iteration starts.
func (n *netlist) fire() signal {
	fires := []signal{n.rst.not()}
	for i, s := range n.w.m.In {
		fires = append(fires, n.or(n.of(s.When, 0).not(), n.valid[i]))
	}
	for i, s := range n.w.m.Out {
		fires = append(fires, n.or(n.of(s.When, 0).not(), n.room[i]))
	}
	n.now = Gates
	return n.all(fires)
}

// outside is all that logic is for: outputs, registers, memories and other modules.
func (n *netlist) outside() {
	m := n.w.m
	for _, s := range slices.Concat(m.In, m.Out) {
		n.end(n.and(n.of(m.Fire, 0), n.of(s.When, 0)))
	}
	for _, s := range m.Out {
		n.word(s.Word)
		n.word(s.Moves)
	}
	for _, id := range m.Results {
		n.word(id)
	}
	for _, c := range m.Calls {
		for _, a := range c.Args {
			n.word(a)
		}
	}
	for i := range m.Nodes {
		node := &m.Nodes[i]
		for k := range node.Width {
			b := n.w.first[i] + bit(k)
			if !n.w.live[b] || n.w.wire[b] != b {
				continue
			}
			switch node.Op {
			case circuit.Delay:
				n.delay(node, k)
			case circuit.Read:
				n.state(node, k)
			}
		}
		if n.w.met[i] {
			switch node.Op {
			case circuit.Multiply:
				n.word(node.Args[0])
				n.word(node.Args[1])
			case circuit.Fetch:
				n.word(node.Args[0])
				if passes(n.w, node.K) {
					n.now = Memories
					alike := []signal{n.gates.leaf()}
					for k := range bits.Len(uint(m.Memories[node.K].Rows - 1)) {
						at := n.of(node.Args[0], k)
						n.now = Memories
						alike = append(alike, n.xor(at, n.gates.leaf()).not())
					}
					n.end(n.all(alike))
				}
			case circuit.Peek:
				if a := &m.Memories[node.K]; !open(a) && a.Style != circuit.Registers {
					n.word(node.Args[0])
				}
			}
		}
	}
	for k := range m.Memories {
		a := &m.Memories[k]
		if n.w.columns[k] == nil {
			continue
		}
		if a.Style == circuit.Registers && !a.Constant() {
			n.written(a)
		} else {
			n.word(a.Address)
			n.word(a.When)
		}
		for i, live := range n.w.columns[k] {
			if live && a.Word != circuit.None {
				n.end(n.of(a.Word, i))
			}
		}
	}
}

// word is that somebody outside reads all of a value.
func (n *netlist) word(id circuit.ID) {
	if id != circuit.None {
		for k := range n.w.m.Nodes[id].Width {
			n.end(n.of(id, k))
		}
	}
}

// delay is a register. One that is set to a constant has a reset for that.
func (n *netlist) delay(node *circuit.Node, k int) {
	from := n.w.of(node.Args[0], k)
	if o := &n.w.m.Nodes[n.w.owner[from]]; o.Op == circuit.Mux && n.w.reads[from] == 1 {
		i := int(from - n.w.first[n.w.owner[from]])
		c, x, y := n.of(o.Args[0], 0), n.of(o.Args[1], i), n.of(o.Args[2], i)
		if y.constant() {
			c, x, y = c.not(), y, x
		}
		if x.constant() {
			n.end(c)
			n.end(y)
			return
		}
	}
	n.end(n.of(node.Args[0], k))
}

// state is a register that iterations write. One that may stay as it is is not written then.
func (n *netlist) state(node *circuit.Node, k int) {
	s := &n.w.m.States[node.K]
	if s.Next == circuit.None {
		return
	}
	now := n.of(s.Node, k)
	when := ever
	if s.When != circuit.None {
		when = n.of(s.When, 0)
	}
	next := n.of(s.Next, k)
	for b := n.w.of(s.Next, k); b >= 0; {
		id := n.w.owner[b]
		o := &n.w.m.Nodes[id]
		if o.Op != circuit.Mux || n.w.reads[b] != 1 {
			break
		}
		i := int(b - n.w.first[id])
		c := n.of(o.Args[0], 0)
		x, y := n.of(o.Args[1], i), n.of(o.Args[2], i)
		n.now = Gates
		if x == now {
			when, next, b = n.and(when, c.not()), y, n.w.of(o.Args[2], i)
		} else if y == now {
			when, next, b = n.and(when, c), x, n.w.of(o.Args[1], i)
		} else {
			break
		}
	}
	n.end(next)
	n.now = Gates
	if s.Reset && n.w.d.Fabric == cost.ICE40 && when != ever {
		when = n.or(when, n.rst)
	}
	n.end(when)
}

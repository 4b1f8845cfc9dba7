package luts

import (
	"slices"

	"hlsgen/internal/circuit"
)

// widths returns the number of bits in which the two operands of the comparison node are compared, and whether they are
// signed.
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
		n.now = purposeComparator
		alike = append(alike, n.xor(a, b).not())
	}
	n.now = purposeComparator
	return n.all(alike)
}

// less returns a signal that says that the first operand of a comparison is less than the second. Longer numbers use a
// carry chain.
func (n *netlist) less(node *circuit.Node) signal {
	width, signed := n.widths(node)
	a, b := make([]signal, width), make([]signal, width)
	inputs := 0
	constant := n.w.m.Nodes[node.Args[0]].Op == circuit.OpConstant || n.w.m.Nodes[node.Args[1]].Op == circuit.OpConstant
	for i := range width {
		k := i
		if n.w.d.Small && !constant { // Yosys names the highest bits first
			k = width - 1 - i
		}
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
	if k, ok := power(b[:width]); ok && !signed { // the numbers differ only from bit k on
		n.now = purposeComparator
		return n.any(a[k:width]).not()
	}
	if signed && !slices.ContainsFunc(b[:width], func(s signal) bool { return s != never }) {
		return a[width-1]
	}
	n.now = purposeComparator
	if width <= n.w.d.Short || constant && inputs <= n.w.d.Inputs {
		carry := never // whether a < b in the lower bits
		for k := range width {
			x, y := a[k], b[k]
			if signed && k == width-1 {
				x, y = y, x
			}
			carry = n.or(n.and(x.not(), y), n.and(n.xor(x, y).not(), carry))
		}
		return carry
	}
	a, b = a[:width], b[:width]
	if n.w.d.Small {
		return groups(n, a, b, signed)
	}
	if n.w.d.Plain {
		return plainLess(n, a, b, signed)
	}
	if !greater(n, a, b, signed) {
		return borrows(n, a, b, signed)
	}
	less := borrows(n, b, a, signed)
	var alike []signal
	n.now = purposeComparator
	for k := range a {
		alike = append(alike, n.xor(a[k], b[k]).not())
	}
	return n.and(less.not(), n.all(alike).not())
}

// plainLess returns a signal that says that the number a is less than b: the last carry of a chain, or gates where a
// number is constant but for few bits. Signed numbers are compared like unsigned ones, with their signs exchanged or
// inverted. A number is less than a constant if it is so without the low bits in which the constant has zeros.
func plainLess(n *netlist, a, b []signal, signed bool) signal {
	known := func(list []signal) bool {
		return !slices.ContainsFunc(list, func(s signal) bool { return !s.constant() })
	}
	if top := len(a) - 1; signed && (known(a) || known(b)) {
		a[top], b[top] = a[top].not(), b[top].not()
	} else if signed {
		a[top], b[top] = b[top], a[top]
	}
	if known(a) { // not less than the next number after a
		next := slices.Clone(a)
		for k := range next {
			next[k] = next[k].not()
			if next[k] == ever {
				return plainLess(n, b, next, false).not()
			}
		}
		return never
	}
	if known(b) {
		low := slices.Index(b, ever)
		if low < 0 {
			return never
		}
		a, b = a[low:], b[low:]
		if slices.Index(b[1:], ever) < 0 {
			return n.any(a).not()
		}
		if len(a) <= n.w.d.Inputs {
			less := never
			for k := range a {
				less = n.mux(b[k], n.or(a[k].not(), less), n.and(a[k].not(), less))
			}
			return less
		}
	}
	return borrows(n, a, b, false)
}

// borrows returns a signal that says that the number a is less than b, computed along a carry chain.
func borrows(n *netlist, a, b []signal, signed bool) signal {
	top := len(a) - 1
	sums, carries := n.chain(a, b, true, purposeComparator, func(k int) bool { return signed && k == top })
	n.now = purposeComparator
	if signed && top > 1 || !signed && top%2 == 0 { // the last carry between two pairs is read
		n.w.counts[purposeComparator].Flat += float64(n.w.d.Between)
	}
	if !signed {
		return carries[top].not()
	}
	return n.xor(n.xor(sums[top], carries[top]), carries[top-1])
}

// greater reports whether Yosys computes b > a in place of a < b. It does so if b is narrower than a. For equal widths
// the names decide, so this returns true for every second comparison.
func greater(n *netlist, a, b []signal, signed bool) bool {
	width := func(list []signal) int {
		w := len(list)
		for w > 1 && (!signed && list[w-1] == never || signed && list[w-1] == list[w-2]) {
			w--
		}
		return w
	}
	if wa, wb := width(a), width(b); wa != wb {
		return wb < wa
	}
	n.turn = !n.turn
	return !n.turn
}

// power returns the index k of the only bit that is 1 in a constant. ok is false if the list is no constant, or if not
// exactly one bit is 1.
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

// chain returns the sum of a and b, or their difference if less is true, along a carry chain, and the carry of each
// bit. wanted says which bits of the sum are read.
func (n *netlist) chain(a, b []signal, less bool, kind CellPurpose, wanted func(int) bool) (sums, carries []signal) {
	carry := never.when(less)
	n.now = kind
	paired := n.w.d.Paired
	if paired {
		n.w.counts[kind].Flat += float64((len(a)+1)/2*2 + n.w.d.Ends)
	}
	leaf := func() signal { n.now = kind; return n.gates.leaf() }
	if n.w.d.Small {
		return carried(n, a, b, kind)
	}
	for k := range a {
		x, y := a[k], b[k]
		turned := y.when(less)
		if paired {
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
		if !wanted(k) {
			n.w.counts[kind].Alone++
		}
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

// sum adds to the netlist the gates and carry chains of the sum or difference that is the node id.
func (n *netlist) sum(id circuit.NodeID, node *circuit.Node) {
	first := n.w.first[id]
	top := 0
	for k := range node.Width {
		n.known[first+bit(k)] = never
		if n.w.live[first+bit(k)] || n.w.wire[first+bit(k)] != first+bit(k) {
			top = k + 1
		}
	}
	less := node.Op == circuit.OpSubtract
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
	if n.w.d.TakesIn && taken(n.w, node, top) == 0 {
		a, b = b, a
	}
	sums := partly(n, a, b, less, purposeAdder, func(k int) bool { return n.w.reads[n.w.wire[first+bit(low+k)]] > 0 })
	copy(n.known[first+bit(low):], sums)
}

// added returns the bits of a sum, or of a difference if less is true; a short one is made of gates.
func (n *netlist) added(a, b []signal, less bool, kind CellPurpose) []signal {
	return partly(n, a, b, less, kind, func(int) bool { return true })
}

// partly returns the bits of a sum or difference as netlist.added does. Only bits for which wanted returns true are
// read; the others only carry.
func partly(n *netlist, a, b []signal, less bool, kind CellPurpose, wanted func(int) bool) (sums []signal) {
	n.now = kind
	if len(a) > n.w.d.Short {
		sums, _ = n.chain(a, b, less, kind, wanted)
		return sums
	}
	if n.w.d.ABC9 {
		n.now = purposeCompressor // it writes them anew as it does counts of bits
	}
	carry := never.when(less)
	for k := range a {
		y := b[k].when(less)
		sums = append(sums, n.odd([]signal{a[k], y, carry}))
		carry = n.most(a[k], y, carry)
	}
	return sums
}

// three adds to the netlist a sum to which a constant is added. Yosys adds all three numbers at once.
func (n *netlist) three(first bit, node, inner *circuit.Node, top int) {
	constant := node.Args[1]
	if n.w.m.Nodes[node.Args[0]].Op == circuit.OpConstant {
		constant = node.Args[0]
	}
	carry := never
	var sums, carries []signal
	for k := range top {
		x, y, c := n.of(inner.Args[0], k), n.of(inner.Args[1], k), n.of(constant, k)
		n.now = purposeAdder
		sums, carries = append(sums, n.odd([]signal{x, y, c})), append(carries, carry)
		carry = n.most(x, y, c)
	}
	copy(n.known[first:], n.added(sums, carries, false, purposeAdder))
}

package luts

import "hlsgen/internal/circuit"

// mostGates is the most gates of a circuit that flat maps, which takes some tenths of a second. Paths through a larger
// one are long, and its logic is not made flat.
const mostGates = 16384

// constantAlone reports whether a circuit is logic of constants alone, without states, memories, multipliers or
// functions. ABC makes such logic flat where paths are short. The rules of cover.go, which absorb only what one LUT
// reads, miss half of that.
func constantAlone(w *walk) bool {
	if !w.d.Small || w.m.Fire == circuit.NoNode || len(w.m.Calls) > 0 {
		return false
	}
	for i := range w.m.Nodes {
		n := &w.m.Nodes[i]
		if !w.met[i] {
			continue
		}
		switch n.Op {
		case circuit.OpReadStateBefore, circuit.OpMultiply, circuit.OpReadMemoryClocked:
			return false
		case circuit.OpReadMemoryUnclocked:
			if m := &w.m.Memories[n.K]; !open(m) || m.Style != circuit.DistributedRAMStyle {
				return false
			}
		}
	}
	return true
}

// flat maps a circuit gate by gate if it is a small circuit of constants, and reports whether it is. Its LUTs are
// counted as they are, without a device's numbers.
func flat(w *walk) bool {
	if !constantAlone(w) {
		return false
	}
	n := newNetlist(w)
	n.limit = mostGates + 1
	n.streams()
	n.outside()
	if n.full() {
		return false
	}
	n.divided().count(0)
	for k := range w.counts {
		c := &w.counts[k]
		c.LUT, c.Flat = 0, c.LUT
	}
	return true
}

// groupInputs is the number of inputs of a LUT of a comparison; constant bits do not count.
const groupInputs = 6

// groups returns a signal that says that a is less than b, as Yosys computes it on AMD's devices (cmp2lcu). For each
// group of bits, from the highest on, LUTs say whether it is less and whether it is equal. More than two groups use a
// carry chain.
func groups(n *netlist, a, b []signal, signed bool) signal {
	less, equal := []signal{never}, []signal{ever}
	left := groupInputs
	for k := len(a) - 1; k >= 0; k-- {
		x, y := a[k], b[k]
		inputs := b2i(!x.constant()) + b2i(!y.constant())
		if inputs > left {
			less, equal, left = append(less, never), append(equal, ever), groupInputs
		}
		left -= inputs
		if signed && k == len(a)-1 {
			x, y = y, x
		}
		at := len(less) - 1
		less[at] = n.or(less[at], n.and(equal[at], n.and(x.not(), y)))
		equal[at] = n.and(equal[at], n.xor(x, y).not())
	}
	if len(less) <= 2 {
		carry := never
		for i := len(less) - 1; i >= 0; i-- {
			carry = n.or(less[i], n.and(equal[i], carry))
		}
		return carry
	}
	for i := range less {
		n.end(equal[i])
		n.end(less[i])
	}
	return n.gates.leaf()
}

// carried returns the bits and carries of a sum or difference along a carry chain of AMD's devices. Before each bit, a
// LUT says whether it passes the carry on, and absorbs the logic of both operands. The chain also reads the first
// operand.
func carried(n *netlist, a, b []signal, kind CellPurpose) (sums, carries []signal) {
	for k := range a {
		n.now = kind
		n.end(a[k])
		n.end(n.xor(a[k], b[k]))
		sums, carries = append(sums, n.gates.leaf()), append(carries, n.gates.leaf())
	}
	return sums, carries
}

// gating returns the number of highest address bits that only select between a constant row and the row of the other
// bits. Yosys makes gates of these selections, after all the others.
func (t *lookup) gating() (n int) {
	list := make([][]uint64, len(t.columns))
	for k := range list {
		list[k] = t.columns[k].truth
	}
	for inputs := t.inputs; inputs > 0; inputs-- {
		found := false
		for which := 0; which < 2 && !found; which++ {
			found = true
			for _, truth := range list {
				found = found && len(support(half(truth, inputs, which), inputs-1)) == 0
			}
			if found {
				for k, truth := range list {
					list[k] = half(truth, inputs, 1-which)
				}
			}
		}
		if !found {
			break
		}
		n++
	}
	return n
}

// tables returns the number of LUTs of a used gate. A function with more inputs than a LUT has takes several, among
// which multiplexers beside them select by the last inputs. On AMD's devices a part that is constant, or equals one
// input, takes no LUT (opt_lut_ins).
func (m *mapping) tables(i int32) (n int) {
	list := m.best[i].list()
	if len(list) <= m.d.Inputs || !m.d.Small {
		return m.d.wide(len(list))
	}
	values := map[int32]truth{}
	for k, l := range list {
		values[l] = variable(k)
	}
	f := m.value(i, values)
	for part := range 1 << (len(list) - m.d.Inputs) {
		if len(support(f[part:part+1], m.d.Inputs)) > 1 {
			n++
		}
	}
	return n
}

// addresses returns the address bits in the order in which Yosys' selections among the rows of a table read them. It
// goes from the highest bit on, with the bits of gating last.
func (t *lookup) addresses() []int {
	t.ordered.Do(func() {
		gating := t.gating()
		for i := t.inputs - 1 - gating; i >= 0; i-- {
			t.order = append(t.order, i)
		}
		for i := t.inputs - gating; i < t.inputs; i++ {
			t.order = append(t.order, i)
		}
	})
	return t.order
}

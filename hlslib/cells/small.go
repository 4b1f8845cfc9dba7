package cells

import "hlsgen/internal/circuit"

// mostGates bounds the gates of a circuit that counts as small: mapping it takes some tenths of a second.
// Ways through a larger one are long, and its logic is not made flat.
const mostGates = 16384

// constantAlone reports whether a circuit is logic of constants alone: signs or weights that are constants, factors,
// step functions in lookup tables. What it has in states, memories, multipliers or functions is something else.
// Where few lookup tables are one behind the other, ABC makes flat what it can, and the rules of cover.go, which take
// in what one table reads alone, miss half of it.
func constantAlone(w *walk) bool {
	if !w.d.Small || w.m.Fire == circuit.None || len(w.m.Calls) > 0 {
		return false
	}
	for i := range w.m.Nodes {
		n := &w.m.Nodes[i]
		if !w.met[i] {
			continue
		}
		switch n.Op {
		case circuit.Read, circuit.Multiply, circuit.Fetch:
			return false
		case circuit.Peek:
			if m := &w.m.Memories[n.K]; !open(m) || m.Style != circuit.Distributed {
				return false
			}
		}
	}
	return true
}

// flat maps a small circuit gate by gate, and reports whether it is one. Its lookup tables are those that there are:
// no number of the device is for them.
func flat(w *walk) bool {
	if !constantAlone(w) {
		return false
	}
	n := newNetlist(w)
	n.streams()
	n.outside()
	if len(n.in) > mostGates {
		return false
	}
	n.count(0)
	for k := range w.counts {
		c := &w.counts[k]
		c.LUT, c.Flat = 0, c.LUT
	}
	return true
}

// groupInputs is the inputs of a lookup table of a comparison: bits that are constant are none.
const groupInputs = 6

// groups is whether a number is less than another, as Yosys has it on AMD's devices (cmp2lcu): of groups of bits, from
// the highest on, whether it is less there, and whether both are equal. More than two groups are along a carry chain.
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

// carried is a sum or difference along a carry chain of AMD's: in front of each bit a lookup table says whether it
// hands on what is carried, and takes in the logic of both operands; the chain reads the first one besides.
func carried(n *netlist, a, b []signal, kind Kind) (sums, carries []signal) {
	for k := range a {
		n.now = kind
		n.end(a[k])
		n.end(n.xor(a[k], b[k]))
		sums, carries = append(sums, n.gates.leaf()), append(carries, n.gates.leaf())
	}
	return sums, carries
}

// gating returns the number of highest address bits that only choose between a constant row and that of the other bits.
// Yosys makes gates of these choices, after all the others.
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

// tables returns the number of lookup tables of a gate that is one. A function of more inputs than a table has takes
// several, among which multiplexers beside them choose by the last inputs. On AMD's devices a part that is constant, or
// one of the inputs, takes no table: Yosys takes it out again (opt_lut_ins).
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

// order is the bits of an address in the order in which Yosys' choices among the rows of a table read them: from the
// highest on, those that are gates last.
func (t *lookup) order() (list []int) {
	gating := t.gating()
	for i := t.inputs - 1 - gating; i >= 0; i-- {
		list = append(list, i)
	}
	for i := t.inputs - gating; i < t.inputs; i++ {
		list = append(list, i)
	}
	return list
}

package luts

import (
	"math/bits"
	"slices"

	"hlsgen/internal/circuit"
)

// streams adds the leaves for the signals that come from the FIFOs of the streams.
func (n *netlist) streams() {
	n.now = purposeGate
	for range n.w.m.In {
		n.valid = append(n.valid, n.gates.leaf())
	}
	for range n.w.m.Out {
		n.room = append(n.room, n.gates.leaf())
	}
}

// fire returns the signal that starts an iteration of the circuit.
func (n *netlist) fire() signal {
	fires := []signal{n.rst.not()}
	for i, s := range n.w.m.In {
		fires = append(fires, n.or(n.of(s.When, 0).not(), n.valid[i]))
	}
	for i, s := range n.w.m.Out {
		fires = append(fires, n.or(n.of(s.When, 0).not(), n.room[i]))
	}
	n.now = purposeGate
	return n.all(fires)
}

// outside marks the signals that outputs, registers, memories and other modules read.
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
			case circuit.OpDelayOneClock:
				n.delay(node, k)
			case circuit.OpReadStateBefore:
				n.state(node, k)
			}
		}
		if n.w.met[i] {
			switch node.Op {
			case circuit.OpMultiply:
				n.word(node.Args[0])
				n.word(node.Args[1])
			case circuit.OpSumOfThree:
				for _, a := range node.Args {
					n.word(a)
				}
				n.w.counts[purposeAdder].LUT += float64(threes(m, node))
			case circuit.OpReadMemoryClocked:
				n.word(node.Args[0])
				if passes(n.w, node.K) {
					n.now = purposeMemory
					alike := []signal{n.gates.leaf()}
					for k := range bits.Len(uint(m.Memories[node.K].Rows - 1)) {
						at := n.of(node.Args[0], k)
						n.now = purposeMemory
						alike = append(alike, n.xor(at, n.gates.leaf()).not())
					}
					n.end(n.all(alike))
				}
			case circuit.OpReadMemoryUnclocked:
				switch a := &m.Memories[node.K]; {
				case n.w.d.banked(a):
					for _, s := range addressed(n, node.Args[0], min(a.Rows, bankRows)) {
						n.end(s)
					}
				case !open(a) && a.Style != circuit.RegisterArrayStyle:
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
		if a.Style == circuit.RegisterArrayStyle && !a.IsConstant() {
			when, address := n.writing(a)
			choosing(n, a.Rows, when, address)
		} else if n.w.d.banked(a) {
			when, address := n.writing(a)
			low := min(len(address), bits.Len(bankRows-1))
			for _, s := range address[:low] {
				n.end(s)
			}
			choosing(n, banks(a.Rows), when, address[low:])
		} else if banks := sides(n.w, k); banks > 1 && !a.IsConstant() {
			when, address := n.writing(a)
			low := len(address) - bits.Len(uint(banks-1))
			for _, s := range address[:low] {
				n.end(s)
			}
			choosing(n, banks, when, address[low:])
		} else {
			n.word(a.Address)
			n.word(a.When)
		}
		for i, live := range n.w.columns[k] {
			if live && a.Word != circuit.NoNode {
				n.end(n.of(a.Word, i))
			}
		}
	}
}

// writing returns the signal that says when a memory is written, and the address of the row. They are signals of the
// circuit or, for a table that is loaded, registers that count its rows.
func (n *netlist) writing(a *circuit.RowMemory) (when signal, address []signal) {
	if !a.Loaded {
		return n.of(a.When, 0), addressed(n, a.Address, a.Rows)
	}
	when = n.gates.leaf()
	for range bits.Len(uint(a.Rows - 1)) {
		address = append(address, n.gates.leaf())
	}
	return when, address
}

// word marks all bits of a node's value as read outside of the logic.
func (n *netlist) word(id circuit.NodeID) {
	if id != circuit.NoNode {
		for k := range n.w.m.Nodes[id].Width {
			n.end(n.of(id, k))
		}
	}
}

// delay marks the input of a pipeline register as read. If the input selects a constant, the register's reset does
// that.
func (n *netlist) delay(node *circuit.Node, k int) {
	from := n.w.of(node.Args[0], k)
	if o := &n.w.m.Nodes[n.w.owner[from]]; o.Op == circuit.OpMuxByCondition && n.w.reads[from] == 1 {
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

// state marks the input of a register that iterations write as read. If the input keeps the value, the register is not
// enabled.
func (n *netlist) state(node *circuit.Node, k int) {
	s := &n.w.m.States[node.K]
	if s.Next == circuit.NoNode {
		return
	}
	now := n.of(s.Node, k)
	when := ever
	if s.When != circuit.NoNode {
		when = n.of(s.When, 0)
	}
	next := n.of(s.Next, k)
	for b := n.w.of(s.Next, k); b >= 0; {
		id := n.w.owner[b]
		o := &n.w.m.Nodes[id]
		if o.Op != circuit.OpMuxByCondition || n.w.reads[b] != 1 {
			break
		}
		i := int(b - n.w.first[id])
		c := n.of(o.Args[0], 0)
		x, y := n.of(o.Args[1], i), n.of(o.Args[2], i)
		n.now = purposeGate
		if x == now {
			when, next, b = n.and(when, c.not()), y, n.w.of(o.Args[2], i)
		} else if y == now {
			when, next, b = n.and(when, c), x, n.w.of(o.Args[1], i)
		} else {
			break
		}
	}
	n.end(next)
	n.now = purposeGate
	if s.Reset && n.w.d.Resets && when != ever {
		when = n.or(when, n.rst)
	}
	n.end(when)
}

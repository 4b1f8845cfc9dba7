package luts

import "slices"

// A signal is the output of a gate or a leaf, possibly inverted. Its number is twice that of the gate, plus 1 if
// inverted.
type signal int32

// The constant signals, which gate 0 has.
const (
	never signal = iota
	ever
)

func (s signal) gate() int32        { return int32(s >> 1) }
func (s signal) not() signal        { return s ^ 1 }
func (s signal) turned() bool       { return s&1 != 0 }
func (s signal) constant() bool     { return s <= ever }
func (s signal) when(b bool) signal { return s ^ signal(b2i(b)) }

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A gates is logic made of AND gates of two inputs each. Equal gates are merged. A leaf is a signal from elsewhere.
type gates struct {
	in    [][2]signal // per gate: its inputs; for a leaf twice the same
	kind  []CellPurpose
	depth []int16 // per gate: the most gates in a row up to it
	same  gateIndex
	now   CellPurpose // the purpose of new gates
	ends  []signal    // the signals that are read outside
	ended []endings   // per gate, up to the last one of these: how it is read
	was   []signal    // per gate before balancing: its signal now
	limit int         // if not 0: with so many gates, no further ones are made, and signals are arbitrary
}

// An endings says how a gate is read outside: as it is, inverted, or both.
type endings uint8

const (
	endsPlain endings = 1 << iota
	endsTurned
)

func newGates() *gates {
	return &gates{in: make([][2]signal, 1), kind: make([]CellPurpose, 1), depth: make([]int16, 1)}
}

// full reports whether there are as many gates as there may be.
func (g *gates) full() bool { return g.limit > 0 && len(g.in) >= g.limit }

// A gateIndex finds gates by their inputs: a hash table with open addressing, at most half full. The zero value is
// empty.
type gateIndex struct {
	slots []int32 // numbers of gates; 0 where a slot is free
	used  int
}

// find returns the slot of the gate with the inputs a and b, or the free one in which it belongs.
func (x *gateIndex) find(a, b signal, in [][2]signal) (slot int) {
	const odd = 0x9e3779b97f4a7c15
	hash := (uint64(uint32(a))<<32 | uint64(uint32(b))) * odd
	mask := len(x.slots) - 1
	for slot = int(hash>>33) & mask; x.slots[slot] != 0 && in[x.slots[slot]] != [2]signal{a, b}; {
		slot = (slot + 1) & mask
	}
	return slot
}

// grow makes room for one more gate.
func (x *gateIndex) grow(in [][2]signal) {
	if 2*x.used < len(x.slots) {
		return
	}
	old := x.slots
	x.slots = make([]int32, max(64, 2*len(old)))
	for _, i := range old {
		if i != 0 {
			x.slots[x.find(in[i][0], in[i][1], in)] = i
		}
	}
}

// leaf adds a leaf, which is a signal from elsewhere, and returns it.
func (g *gates) leaf() signal {
	g.in, g.kind, g.depth = append(g.in, [2]signal{}), append(g.kind, g.now), append(g.depth, 0)
	return signal(2 * (len(g.in) - 1))
}

// leaves reports whether gate i is a leaf.
func (g *gates) leaves(i int32) bool { return g.in[i][0] == g.in[i][1] }

// inner returns the number of gates that are no leaves.
func (g *gates) inner() (n int) {
	for i := range g.in {
		n += b2i(!g.leaves(int32(i)))
	}
	return n
}

// end marks a signal as read outside.
func (g *gates) end(s signal) {
	as := endsPlain << b2i(s.turned())
	if s.constant() || g.endings(s.gate())&as != 0 {
		return
	}
	if n := int(s.gate()) + 1; n > len(g.ended) {
		g.ended = append(g.ended, make([]endings, n-len(g.ended))...)
	}
	g.ended[s.gate()] |= as
	g.ends = append(g.ends, s)
}

// endings returns how gate i is read outside.
func (g *gates) endings(i int32) endings {
	if int(i) >= len(g.ended) {
		return 0
	}
	return g.ended[i]
}

func (g *gates) and(a, b signal) signal {
	if a > b {
		a, b = b, a
	}
	switch {
	case a == never || a == b.not():
		return never
	case a == ever || a == b:
		return b
	}
	// One operand may imply something of the other.
	for _, x := range [][2]signal{{a, b}, {b, a}} {
		in := g.in[x[1].gate()]
		if g.leaves(x[1].gate()) {
			continue
		}
		for i := range in {
			switch {
			case !x[1].turned() && in[i] == x[0]:
				return x[1]
			case !x[1].turned() && in[i] == x[0].not():
				return never
			case x[1].turned() && in[i] == x[0].not():
				return x[0]
			case x[1].turned() && in[i] == x[0]:
				return g.and(x[0], in[1-i].not())
			}
		}
	}
	g.same.grow(g.in)
	slot := g.same.find(a, b, g.in)
	if i := g.same.slots[slot]; i != 0 {
		return signal(2 * i)
	}
	if g.full() {
		return never
	}
	g.same.slots[slot] = int32(len(g.in))
	g.same.used++
	g.in, g.kind = append(g.in, [2]signal{a, b}), append(g.kind, g.now)
	g.depth = append(g.depth, 1+max(g.depth[a.gate()], g.depth[b.gate()]))
	return signal(2 * (len(g.in) - 1))
}

func (g *gates) or(a, b signal) signal { return g.and(a.not(), b.not()).not() }

func (g *gates) xor(a, b signal) signal { return g.mux(a, b.not(), b) }

// mux returns a if c is 1, else b.
func (g *gates) mux(c, a, b signal) signal {
	switch {
	case a == b || c == ever:
		return a
	case c == never:
		return b
	case a.constant() && b.constant():
		return c.when(b == ever)
	case a == ever || a == c:
		return g.or(c, b)
	case a == never || a == c.not():
		return g.and(c.not(), b)
	case b == ever || b == c.not():
		return g.or(c.not(), a)
	case b == never || b == c:
		return g.and(c, a)
	}
	return g.and(g.and(c, a).not(), g.and(c.not(), b).not()).not()
}

// all returns a signal that says that all signals of the list are 1, made as a tree.
func (g *gates) all(list []signal) signal { return g.tree(list, ever, g.and) }

// any returns a signal that says that at least one of the list is 1, made as a tree.
func (g *gates) any(list []signal) signal { return g.tree(list, never, g.or) }

// odd returns a signal that says that an odd number of the list are 1, made as a tree.
func (g *gates) odd(list []signal) signal { return g.tree(list, never, g.xor) }

func (g *gates) tree(list []signal, none signal, op func(a, b signal) signal) signal {
	if len(list) == 0 {
		return none
	}
	list = slices.Clone(list)
	for len(list) > 1 {
		n := len(list) / 2
		for i := range n {
			list[i] = op(list[2*i], list[2*i+1])
		}
		if len(list)%2 == 1 {
			list[n] = list[2*n]
			n++
		}
		list = list[:n]
	}
	return list[0]
}

// most returns a signal that says that at least two of the three are 1.
func (g *gates) most(a, b, c signal) signal {
	return g.or(g.and(a, b), g.and(c, g.or(a, b)))
}

// look returns the signal of one bit of a table with the values truth, at an address whose highest bit is last. known
// has the signals of parts of tables that were made before.
func (g *gates) look(truth []uint64, address []signal, known map[string]signal) signal {
	n := len(address)
	for n > 0 && slices.Equal(half(truth, n, 0), half(truth, n, 1)) {
		truth, n = half(truth, n, 0), n-1
	}
	if n == 0 {
		return signal(truth[0] & 1)
	}
	turned := truth[0]&1 != 0
	key := name(truth, n)
	if s, ok := known[key]; ok {
		return s.when(turned)
	}
	high, low := g.look(half(truth, n, 1), address[:n-1], known), g.look(half(truth, n, 0), address[:n-1], known)
	s := g.mux(address[n-1], high, low)
	known[key] = s.when(turned)
	return s
}

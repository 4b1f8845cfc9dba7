package cells

import (
	"math"
	"math/bits"
	"slices"
)

// A mapping puts gates into lookup tables as Yosys' ABC does ("if"): first such that the longest way has the least
// tables, then such that there are few of them without making that way longer. Which table makes a gate is chosen among
// cuts: sets of signals that decide it.
type mapping struct {
	*gates
	d        *Device
	best     []cut   // of a gate: its table, as long as somebody reads it
	cuts     [][]cut // of a gate, those that cuts of its readers are made of
	refs     []int32 // how many tables and ends read it
	expected []float32
	required []int16
	longest  int16 // way, in lookup tables
	scratch  []cut
}

// widest is the inputs of a function that lookup tables and multiplexers beside them make.
const widest = 8

// kept is how many cuts of a gate are looked at.
const kept = 8

// A cut is a set of gates and leaves, in order. Its level is the lookup tables on the longest way up to it. Area is
// lookup tables and edge is what these read: its own, and those in front by how many share them, or if nobody does.
type cut struct {
	of         [widest]int32
	n          int8
	sign       uint64
	level      int16
	area, edge float32
}

func (c *cut) list() []int32 { return c.of[:c.n] }

// An order says which of two cuts is better.
type order func(a, b *cut) int

func byLevel(a, b *cut) int  { return int(a.level - b.level) }
func byInputs(a, b *cut) int { return int(a.n - b.n) }
func byArea(a, b *cut) int   { return compared(a.area, b.area) }
func byEdge(a, b *cut) int   { return compared(a.edge, b.edge) }

func compared(a, b float32) int {
	const alike = .005
	switch {
	case a < b-alike:
		return -1
	case a > b+alike:
		return 1
	}
	return 0
}

// The orders in which ABC tries cuts while it looks for short ways; by the last one it looks for few tables, too.
var orders = [][]order{
	{byLevel, byInputs, byArea, byEdge},
	{byLevel, byArea, byEdge, byInputs},
	{byArea, byEdge, byInputs, byLevel},
}

var small = orders[2]

// fastest has the cuts by which the longest way has the least lookup tables.
func (d *Device) fastest(g *gates) *mapping {
	m := &mapping{gates: g, d: d, best: make([]cut, len(g.in)), cuts: make([][]cut, len(g.in)),
		refs: make([]int32, len(g.in)), expected: make([]float32, len(g.in)), required: make([]int16, len(g.in))}
	for i, in := range g.in {
		if !g.leaves(int32(i)) {
			m.refs[in[0].gate()]++
			m.refs[in[1].gate()]++
		}
	}
	for _, s := range g.ends {
		m.refs[s.gate()]++
	}
	for i, n := range m.refs {
		m.expected[i] = float32(n)
	}
	for _, o := range orders {
		m.round(o, fast)
	}
	for _, s := range m.ends {
		m.longest = max(m.longest, m.best[s.gate()].level)
	}
	return m
}

// lookups are few lookup tables, with no more of them on any way than on the longest one, or than so many.
func (d *Device) lookups(g *gates, longest int16) *mapping {
	m := d.fastest(g)
	m.longest = max(m.longest, longest)
	for _, to := range []purpose{shared, alone, alone} {
		m.use()
		if to == shared {
			for i, n := range m.refs {
				m.expected[i] = (2*m.expected[i] + float32(n)) / 3
			}
		}
		m.round(small, to)
	}
	m.use()
	return m
}

// A purpose is what a round over all gates is for.
type purpose uint8

const (
	fast   purpose = iota // no way gets longer
	shared                // few tables, by how many may share them
	alone                 // few tables, of those that nobody else reads
)

// round finds cuts of all gates, and for each the best.
func (m *mapping) round(by []order, to purpose) {
	for i := range m.in {
		if m.leaves(int32(i)) {
			continue
		}
		best := &m.best[i]
		used := to != fast && m.refs[i] > 0
		if used {
			m.release(best)
		}
		list := m.scratch[:0]
		if best.n > 0 {
			if *best = m.measured(*best, to); to != fast {
				list = append(list, *best)
			}
		}
		list = m.merges(int32(i), list, by, to)
		m.scratch = list
		m.cuts[i] = append(m.cuts[i][:0], list...)
		if to != fast || best.n == 0 || list[0].level <= best.level {
			*best = list[0]
		}
		if used {
			m.take(best)
		}
	}
}

// merges adds cuts of a gate to a list: those of its operands together. The best ones stay, in order.
func (m *mapping) merges(i int32, list []cut, by []order, to purpose) []cut {
	a, b := m.in[i][0].gate(), m.in[i][1].gate()
	ta, tb := trivial(a), trivial(b)
	for x := range len(m.cuts[a]) + 1 {
		ca := &ta
		if x < len(m.cuts[a]) {
			ca = &m.cuts[a][x]
		}
		for y := range len(m.cuts[b]) + 1 {
			cb := &tb
			if y < len(m.cuts[b]) {
				cb = &m.cuts[b][y]
			}
			if bits.OnesCount64(ca.sign|cb.sign) > m.d.Wide {
				continue
			}
			c, ok := merged(ca, cb, m.d.Wide)
			if !ok || slices.ContainsFunc(list, func(o cut) bool { return o.sign&^c.sign == 0 && subset(&o, &c) }) {
				continue
			}
			list = slices.DeleteFunc(list, func(o cut) bool { return c.sign&^o.sign == 0 && subset(&c, &o) })
			if c.level = m.after(&c); to != fast && c.level > m.required[i] {
				continue
			}
			c = m.measured(c, to)
			at := len(list)
			for at > 0 && c.before(&list[at-1], by) {
				at--
			}
			if at < kept {
				list = slices.Insert(list[:min(len(list), kept-1)], at, c)
			}
		}
	}
	return list
}

// before reports whether a cut is better than another.
func (c *cut) before(o *cut, by []order) bool {
	for _, f := range by {
		if d := f(c, o); d != 0 {
			return d < 0
		}
	}
	return false
}

func trivial(g int32) cut {
	return cut{of: [widest]int32{g}, n: 1, sign: 1 << (g & 63)}
}

// subset reports whether all of a is in b.
func subset(a, b *cut) bool {
	if a.n > b.n {
		return false
	}
	j := int8(0)
	for i := range a.n {
		for j < b.n && b.of[j] < a.of[i] {
			j++
		}
		if j == b.n || b.of[j] != a.of[i] {
			return false
		}
	}
	return true
}

// merged is both together, if they have at most so many.
func merged(a, b *cut, most int) (c cut, ok bool) {
	c.sign = a.sign | b.sign
	i, j := int8(0), int8(0)
	for i < a.n || j < b.n {
		if int(c.n) == most {
			return c, false
		}
		switch {
		case j == b.n || i < a.n && a.of[i] < b.of[j]:
			c.of[c.n] = a.of[i]
			i++
		case i == a.n || a.of[i] > b.of[j]:
			c.of[c.n] = b.of[j]
			j++
		default:
			c.of[c.n] = a.of[i]
			i++
			j++
		}
		c.n++
	}
	return c, true
}

// after is the level of a cut.
func (m *mapping) after(c *cut) (level int16) {
	for _, l := range c.list() {
		level = max(level, m.best[l].level+1)
	}
	return level
}

// measured is a cut with its level, area and edge.
func (m *mapping) measured(c cut, to purpose) cut {
	c.level = m.after(&c)
	if to == alone {
		c.area, c.edge = m.take(&c)
		m.release(&c)
		return c
	}
	c.area, c.edge = m.d.size(int(c.n)), float32(c.n)
	for _, l := range c.list() {
		share := max(1, m.expected[l])
		c.area += m.best[l].area / share
		c.edge += m.best[l].edge / share
	}
	return c
}

// weights hold the area of AMD's lookup tables by inputs, as Yosys gives it to ABC (synth_xilinx). Few are cheaper,
// since two may be one.
var weights = [widest + 1]float32{0, .4, .4, .6, 1, 1, 1, 2, 4}

// size is the lookup tables of a function of so many bits, as the mapping weighs them.
func (d *Device) size(inputs int) float32 {
	if d.Small {
		return weights[inputs]
	}
	return float32(d.wide(inputs))
}

// use counts who reads what, and finds when each has to be there.
func (m *mapping) use() {
	clear(m.refs)
	for i := range m.required {
		m.required[i] = math.MaxInt16
	}
	for _, s := range m.ends {
		m.refs[s.gate()]++
		m.required[s.gate()] = m.longest
	}
	for i := len(m.in) - 1; i > 0; i-- {
		if !m.used(int32(i)) {
			continue
		}
		for _, l := range m.best[i].list() {
			m.refs[l]++
			m.required[l] = min(m.required[l], m.required[i]-1)
		}
	}
}

// used reports whether a gate is a lookup table.
func (m *mapping) used(i int32) bool { return m.refs[i] > 0 && m.best[i].n > 0 }

// take is the lookup tables of a cut and those that only it reads, and what these read.
func (m *mapping) take(c *cut) (area, edge float32) {
	area, edge = m.d.size(int(c.n)), float32(c.n)
	for _, l := range c.list() {
		if m.refs[l]++; m.refs[l] == 1 && m.best[l].n > 0 {
			a, e := m.take(&m.best[l])
			area, edge = area+a, edge+e
		}
	}
	return area, edge
}

func (m *mapping) release(c *cut) {
	for _, l := range c.list() {
		if m.refs[l]--; m.refs[l] == 0 && m.best[l].n > 0 {
			m.release(&m.best[l])
		}
	}
}

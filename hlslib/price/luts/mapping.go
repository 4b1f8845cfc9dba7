package luts

import (
	"math"
	"math/bits"
)

// A mapping puts gates into LUTs as Yosys' ABC does ("if"). First it minimises the LUTs on the longest path, and then
// their number without making that path longer. It chooses the LUT of each gate among cuts: sets of signals that
// determine the gate.
type mapping struct {
	*gates
	d        *SynthesisRules
	best     []cut     // per gate: its lookup table, if somebody reads it
	reached  []figures // per gate: those of its best
	cuts     [][]cut   // per gate: the cuts from which its readers make theirs, the gate itself last
	refs     []int32   // per gate: the number of lookup tables and ends that read it
	expected []float32
	required []int16
	longest  int16 // the longest path, in lookup tables
	scratch  []cut
}

// widest is the most inputs of a function made of LUTs that the device's multiplexers join.
const widest = 8

// kept is the largest number of cuts of a gate that are examined.
const kept = 8

// A cut is a set of gates and leaves that determine a gate, in order. Its level is the number of LUTs on the longest
// path up to it. Its area is a number of LUTs, and its edge the number of their inputs. It counts its own, and those
// before it, divided by their readers or only if nobody else reads them.
type cut struct {
	of         [widest]int32
	n          int8
	sign       uint64
	level      int16
	area, edge float32
}

func (c *cut) list() []int32 { return c.of[:c.n] }

// A figures holds what a reader adds up of a gate: its level, and its area and edge divided by the expected readers.
type figures struct {
	level      int16
	area, edge float32
}

// An order says by which of a cut's figures cuts are compared.
type order uint8

const (
	byLevel order = iota
	byInputs
	byArea
	byEdge
)

// compare compares two cuts by the order; the result is negative if a is better.
func (o order) compare(a, b *cut) int {
	switch o {
	case byLevel:
		return int(a.level - b.level)
	case byInputs:
		return int(a.n - b.n)
	case byArea:
		return compared(a.area, b.area)
	}
	return compared(a.edge, b.edge)
}

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

// orders are the orders of cuts with which ABC minimises the longest path, one per round. It uses the last one also to
// minimise the number of LUTs.
var orders = [][]order{
	{byLevel, byInputs, byArea, byEdge},
	{byLevel, byArea, byEdge, byInputs},
	{byArea, byEdge, byInputs, byLevel},
}

var small = orders[2]

// fastest returns the mapping of the gates with the fewest LUTs on the longest path.
func (d *SynthesisRules) fastest(g *gates) *mapping {
	m := &mapping{gates: g, d: d, best: make([]cut, len(g.in)), reached: make([]figures, len(g.in)),
		cuts: make([][]cut, len(g.in)), refs: make([]int32, len(g.in)), expected: make([]float32, len(g.in)),
		required: make([]int16, len(g.in))}
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

// economise makes the fastest mapping one with few LUTs. No path has more of them than longest, nor than the longest
// path must have.
func (m *mapping) economise(longest int16) {
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
}

// A purpose is the aim of a round over all gates.
type purpose uint8

const (
	fast   purpose = iota // no path gets longer
	shared                // few lookup tables, divided by how many readers may share them
	alone                 // few lookup tables, counting those that nobody else reads
)

// round sets the cuts of all gates, and the best for each, by the orders by. to says what is minimised.
func (m *mapping) round(by []order, to purpose) {
	for i := range m.in {
		if m.leaves(int32(i)) {
			if m.cuts[i] == nil {
				m.cuts[i] = []cut{trivial(int32(i))}
			}
			continue
		}
		best := &m.best[i]
		used := to != fast && m.refs[i] > 0
		if used {
			m.release(best)
		}
		list := m.scratch[:0]
		if best.n > 0 {
			if m.measure(best, to); to != fast {
				list = append(list, *best)
			}
		}
		list = m.merges(int32(i), list, by, to)
		m.scratch = list
		if to != fast || best.n == 0 || list[0].level <= best.level {
			*best = list[0]
		}
		share := max(1, m.expected[i])
		m.reached[i] = figures{best.level, best.area / share, best.edge / share}
		m.cuts[i] = append(append(m.cuts[i][:0], list...), trivial(int32(i)))
		if used {
			m.take(best)
		}
	}
}

// merges adds to a list the cuts of a gate: unions of cuts of its operands. It keeps the best ones, in order.
func (m *mapping) merges(i int32, list []cut, by []order, to purpose) []cut {
	var c cut
	second := m.cuts[m.in[i][1].gate()]
	for x := range m.cuts[m.in[i][0].gate()] {
		ca := &m.cuts[m.in[i][0].gate()][x]
		for y := range second {
			cb := &second[y]
			if bits.OnesCount64(ca.sign|cb.sign) > m.d.Wide || !c.merge(ca, cb, m.d.Wide) || c.covered(list) {
				continue
			}
			list = c.without(list)
			if c.level = m.after(&c); to != fast && c.level > m.required[i] {
				continue
			}
			if len(list) == kept && by[0] == byLevel && c.level > list[kept-1].level {
				continue // it would be the last
			}
			m.measure(&c, to)
			list = c.into(list, by)
		}
	}
	return list
}

// covered reports whether all members of a cut of the list are members of c.
func (c *cut) covered(list []cut) bool {
	for k := range list {
		if o := &list[k]; o.sign&^c.sign == 0 && subset(o, c) {
			return true
		}
	}
	return false
}

// without returns the list without the cuts that have all members of c.
func (c *cut) without(list []cut) []cut {
	n := 0
	for k := range list {
		if o := &list[k]; c.sign&^o.sign == 0 && subset(c, o) {
			continue
		}
		if n != k {
			list[n] = list[k]
		}
		n++
	}
	return list[:n]
}

// into adds c to the list at its place, unless the list already has as many better cuts as are kept.
func (c *cut) into(list []cut, by []order) []cut {
	at := len(list)
	for at > 0 && c.before(&list[at-1], by) {
		at--
	}
	if at == kept {
		return list
	}
	if len(list) < kept {
		list = append(list, cut{})
	}
	copy(list[at+1:], list[at:])
	list[at] = *c
	return list
}

// before reports whether c is better than o by the first order that tells them apart.
func (c *cut) before(o *cut, by []order) bool {
	for _, f := range by {
		if d := f.compare(c, o); d != 0 {
			return d < 0
		}
	}
	return false
}

func trivial(g int32) cut {
	return cut{of: [widest]int32{g}, n: 1, sign: 1 << (g & 63)}
}

// subset reports whether b contains all of a.
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

// merge makes c the union of two cuts. It returns false if that has more than most members.
func (c *cut) merge(a, b *cut, most int) bool {
	c.sign, c.n = a.sign|b.sign, 0
	i, j, n := 0, 0, 0
	for i < int(a.n) || j < int(b.n) {
		if n == most {
			return false
		}
		switch {
		case j == int(b.n) || i < int(a.n) && a.of[i] < b.of[j]:
			c.of[n] = a.of[i]
			i++
		case i == int(a.n) || a.of[i] > b.of[j]:
			c.of[n] = b.of[j]
			j++
		default:
			c.of[n] = a.of[i]
			i++
			j++
		}
		n++
	}
	c.n = int8(n)
	return true
}

// after returns the level of a cut: one more than that of its latest member.
func (m *mapping) after(c *cut) (level int16) {
	for _, l := range c.list() {
		level = max(level, m.reached[l].level+1)
	}
	return level
}

// measure sets the level, area and edge of a cut, for the aim to.
func (m *mapping) measure(c *cut, to purpose) {
	c.level = m.after(c)
	if to == alone {
		c.area, c.edge = m.take(c)
		m.release(c)
		return
	}
	c.area, c.edge = m.d.size(int(c.n)), float32(c.n)
	for _, l := range c.list() {
		c.area += m.reached[l].area
		c.edge += m.reached[l].edge
	}
}

// weights holds the area of functions in AMD's LUTs by number of inputs, as Yosys gives it to ABC (synth_xilinx). Those
// with few inputs are cheaper, because two may share a LUT.
var weights = [widest + 1]float32{0, .4, .4, .6, 1, 1, 1, 2, 4}

// size returns the area that a function of the given inputs has for a mapping.
func (d *SynthesisRules) size(inputs int) float32 {
	if d.Small {
		return weights[inputs]
	}
	return float32(d.wide(inputs))
}

// use counts the readers of each gate, and sets the level that each may have at most.
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

// used reports whether gate i is the output of a LUT.
func (m *mapping) used(i int32) bool { return m.refs[i] > 0 && m.best[i].n > 0 }

// take adds a reader to each of a cut's members. It returns the number of LUTs that only this cut needs, its own among
// them, and the number of their inputs.
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

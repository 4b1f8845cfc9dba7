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
	best     []lut     // per gate: its lookup table, if somebody reads it
	reached  []figures // per gate: those of its best
	near     []near    // per gate: the cuts from which its readers make theirs
	refs     []int32   // per gate: the number of lookup tables and ends that read it
	expected []float32
	required []int16
	longest  int16 // the longest path, in lookup tables
	// by how much longest may be less for economise to do the same; if negative, more may make a difference
	spare   int16
	sizes   [widest + 1]float32 // by inputs: the area of a lookup table
	meeting meeting
	opened  uint64 // see take
}

// widest is the most inputs of a function made of LUTs that the device's multiplexers join.
const widest = 8

// kept is the largest number of cuts of a gate that are examined.
const kept = 8

// A lut is the lookup table of a gate: the gates and leaves that it reads, in order, and the number of LUTs on the
// longest path up to it.
type lut struct {
	of    [widest]int32
	n     int8
	level int16
}

func (l *lut) list() []int32 { return l.of[:l.n] }

// A cut is a set of gates and leaves that determine a gate, as places in a list of them. Its level is the number of
// LUTs on the longest path up to it. Its area is a number of LUTs, and its edge the number of their inputs. It counts
// its own, and those before it, divided by their readers or only if nobody else reads them.
type cut struct {
	of         set
	area, edge float32
	level      int16
	n          int8
}

// leafCuts holds the only cut of a leaf: itself.
var leafCuts = []cut{{of: set{low: 1}, n: 1, level: 1}}

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

// newMapping returns a mapping of the gates without LUTs.
func (d *SynthesisRules) newMapping(g *gates) *mapping {
	m := &mapping{gates: g, d: d, best: make([]lut, len(g.in)), reached: make([]figures, len(g.in)),
		near: make([]near, len(g.in)), refs: make([]int32, len(g.in)), expected: make([]float32, len(g.in)),
		required: make([]int16, len(g.in))}
	for n := range m.sizes {
		m.sizes[n] = d.size(n)
	}
	inner := 0
	for i, in := range g.in {
		if !g.leaves(int32(i)) {
			m.refs[in[0].gate()]++
			m.refs[in[1].gate()]++
			inner++
		}
	}
	space := make([]cut, inner*(kept+1))
	for i := range g.in {
		if g.leaves(int32(i)) {
			m.near[i] = near{gates: []int32{int32(i)}, cuts: leafCuts}
			continue
		}
		m.near[i].cuts, space = space[:0:kept+1], space[kept+1:]
	}
	for _, s := range g.ends {
		m.refs[s.gate()]++
	}
	for i, n := range m.refs {
		m.expected[i] = float32(n)
	}
	return m
}

// fastest returns the mapping of the gates with the fewest LUTs on the longest path.
func (d *SynthesisRules) fastest(g *gates) *mapping {
	m := d.newMapping(g)
	for _, o := range orders {
		m.round(o, fast)
	}
	for _, s := range m.ends {
		m.longest = max(m.longest, m.best[s.gate()].level)
	}
	return m
}

// begun returns the mapping that fastest made of the gates, ready to economise.
func (d *SynthesisRules) begun(g *gates, f *fastMapping) *mapping {
	m := d.newMapping(g)
	m.longest = f.longest
	at := 0
	for i, n := range f.inputs {
		m.best[i].n = n
		at += copy(m.best[i].list(), f.reads[at:])
	}
	return m
}

// economise makes the fastest mapping one with few LUTs. No path has more of them than longest, nor than the longest
// path must have.
func (m *mapping) economise(longest int16) {
	m.longest, m.spare = max(m.longest, longest), math.MaxInt16
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
			continue
		}
		best := &m.best[i]
		used := to != fast && m.refs[i] > 0
		if used {
			m.release(best)
		}
		m.meet(int32(i), to)
		t := &m.meeting
		var now cut
		if best.n > 0 {
			best.level = m.after(best)
			now = cut{n: best.n, of: t.best, level: best.level}
			if to == fast {
				m.sum(&now, best)
			} else {
				m.measure(&now, to)
				t.list[0], t.kept = now, 1
			}
		}
		m.merges(int32(i), by, to)
		if to != fast || best.n == 0 || t.list[0].level <= best.level {
			now = t.list[0]
			t.spell(&now, best)
		}
		share := max(1, m.expected[i])
		m.reached[i] = figures{now.level, now.area / share, now.edge / share}
		t.keep(int32(i), now.level, &m.near[i])
		if used {
			m.take(best)
		}
	}
}

// merges adds to the list of a gate its cuts: unions of cuts of its operands. It keeps the best ones, in order.
func (m *mapping) merges(i int32, by []order, to purpose) {
	t := &m.meeting
	for x := range t.cuts[0] {
		a := &t.cuts[0][x]
		for y := range t.cuts[1] {
			b := &t.cuts[1][y]
			c := cut{of: a.of.or(b.of), level: max(a.level, b.level)}
			if to != fast {
				spare := m.required[i] - c.level
				if spare < m.spare && c.of.size() <= m.d.Wide {
					m.spare = spare
				}
				if spare < 0 {
					continue
				}
			} else if t.kept == kept && by[0] == byLevel && c.level > t.list[kept-1].level {
				continue // it would be the last
			}
			n := c.of.size()
			if n > m.d.Wide || t.covers(c.of) {
				continue
			}
			c.n = int8(n)
			t.without(c.of)
			m.measure(&c, to)
			t.into(&c, by)
		}
	}
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

// after returns the level of a LUT: one more than that of the latest gate that it reads.
func (m *mapping) after(l *lut) (level int16) {
	for _, k := range l.list() {
		level = max(level, m.reached[k].level+1)
	}
	return level
}

// sum sets the area and edge of a LUT's cut to those that it shares with other readers.
func (m *mapping) sum(c *cut, l *lut) {
	c.area, c.edge = m.sizes[c.n], float32(c.n)
	for _, k := range l.list() {
		f := &m.reached[k]
		c.area += f.area
		c.edge += f.edge
	}
}

// measure sets the area and edge of a cut, for the aim to.
func (m *mapping) measure(c *cut, to purpose) {
	c.area, c.edge = m.sizes[c.n], float32(c.n)
	t := &m.meeting
	if to == alone {
		m.alone(c)
		return
	}
	s := c.of
	for ; s.low != 0; s.low &= s.low - 1 {
		f := &t.figures[bits.TrailingZeros64(s.low)&63]
		c.area += f.area
		c.edge += f.edge
	}
	for ; !s.empty(); s = s.rest() {
		f := &t.figures[s.first()]
		c.area += f.area
		c.edge += f.edge
	}
}

// alone adds to the area and edge of a cut those of the LUTs that only it would read. Where two members need a common
// LUT, it counts by taking them all.
func (m *mapping) alone(c *cut) {
	t := &m.meeting
	s := c.of.and(t.unread)
	area, edge, opened := c.area, c.edge, uint64(0)
	for ; !s.empty(); s = s.rest() {
		k := s.first()
		f := &t.figures[k]
		if t.opened[k] == 0 {
			l := t.gates[k]
			m.opened = 1 << (l & 63)
			m.refs[l]++
			f.area, f.edge = m.take(&m.best[l])
			m.refs[l]--
			m.release(&m.best[l])
			t.opened[k] = m.opened
		}
		if opened&t.opened[k] != 0 {
			var l lut
			t.spell(c, &l)
			c.area, c.edge = m.take(&l)
			m.release(&l)
			return
		}
		opened |= t.opened[k]
		area += f.area
		edge += f.edge
	}
	c.area, c.edge = area, edge
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

// take adds a reader to each gate that a LUT reads. It returns the number of LUTs that only this one needs, its own
// among them, and the number of their inputs. It adds to opened the gates of these LUTs, by their numbers modulo 64.
func (m *mapping) take(c *lut) (area, edge float32) {
	area, edge = m.sizes[c.n], float32(c.n)
	for _, l := range c.list() {
		if m.refs[l]++; m.refs[l] == 1 && m.best[l].n > 0 {
			m.opened |= 1 << (l & 63)
			a, e := m.take(&m.best[l])
			area, edge = area+a, edge+e
		}
	}
	return area, edge
}

func (m *mapping) release(c *lut) {
	for _, l := range c.list() {
		if m.refs[l]--; m.refs[l] == 0 && m.best[l].n > 0 {
			m.release(&m.best[l])
		}
	}
}

package cells

import (
	"math"
	"slices"
)

// A mapping puts gates into lookup tables as Yosys' ABC does: first such that the longest way has the least tables,
// then such that there are few of them without making that way longer. Which table makes a gate is chosen among
// cuts: sets of signals that decide it.
type mapping struct {
	*gates
	d        *Device
	cuts     [][]cut // of a gate, the best one first
	refs     []int32 // how many tables and ends read it
	expected []float32
	level    []int16
	flow     []float32
	required []int16
	longest  int16 // way, in lookup tables
	scratch  []cut
}

// widest is the inputs of a function that lookup tables and multiplexers beside them make.
const widest = 8

// kept is how many cuts of a gate are looked at.
const kept = 8

// A cut is a set of gates and leaves, in order.
type cut struct {
	of    [widest]int32
	n     int8
	sign  uint64
	level int16
	flow  float32
}

func (c *cut) list() []int32 { return c.of[:c.n] }

// fastest has the cuts by which the longest way has the least lookup tables.
func (d *Device) fastest(g *gates) *mapping {
	m := &mapping{gates: g, d: d, cuts: make([][]cut, len(g.in)), refs: make([]int32, len(g.in)),
		expected: make([]float32, len(g.in)), level: make([]int16, len(g.in)), flow: make([]float32, len(g.in)),
		required: make([]int16, len(g.in))}
	for i, in := range g.in {
		if !g.leaves(int32(i)) {
			m.expected[in[0].gate()]++
			m.expected[in[1].gate()]++
		}
	}
	for _, s := range g.ends {
		m.expected[s.gate()]++
	}
	m.enumerate(false)
	for _, s := range m.ends {
		m.longest = max(m.longest, m.level[s.gate()])
	}
	return m
}

// lookups are few lookup tables, with no more of them on any way than on the longest one, or than so many.
func (d *Device) lookups(g *gates, longest int16) *mapping {
	m := d.fastest(g)
	m.longest = max(m.longest, longest)
	m.use()
	for range 2 {
		m.enumerate(true)
		m.use()
	}
	for range 2 {
		m.exact()
		m.use()
	}
	return m
}

// enumerate finds cuts of all gates, by level or by flow.
func (m *mapping) enumerate(flow bool) {
	for i := range m.in {
		g := int32(i)
		if m.leaves(g) {
			m.cuts[i] = nil
			continue
		}
		a, b := m.in[i][0].gate(), m.in[i][1].gate()
		list := m.scratch[:0]
		if flow && len(m.cuts[i]) > 0 {
			list = append(list, m.measured(m.cuts[i][0]))
		}
		ca, cb := append(m.cuts[a][:len(m.cuts[a]):len(m.cuts[a])], trivial(a)),
			append(m.cuts[b][:len(m.cuts[b]):len(m.cuts[b])], trivial(b))
		for x := range ca {
			for y := range cb {
				c, ok := merged(&ca[x], &cb[y], m.d.Wide)
				if !ok || slices.ContainsFunc(list, func(o cut) bool { return o.sign&^c.sign == 0 && subset(&o, &c) }) {
					continue
				}
				c = m.measured(c)
				if flow && c.level > m.required[i] {
					continue
				}
				list = append(list, c)
			}
		}
		slices.SortStableFunc(list, func(a, b cut) int {
			if !flow && a.level != b.level {
				return int(a.level - b.level)
			}
			switch {
			case a.flow < b.flow-1e-4:
				return -1
			case a.flow > b.flow+1e-4:
				return 1
			}
			if a.n != b.n {
				return int(a.n - b.n)
			}
			return int(a.level - b.level)
		})
		m.scratch = list
		m.cuts[i] = append(m.cuts[i][:0:0], list[:min(kept, len(list))]...)
		best := &m.cuts[i][0]
		m.level[i], m.flow[i] = best.level, best.flow
	}
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

// measured is a cut with its level and flow: its lookup tables and those in front, by how many share these.
func (m *mapping) measured(c cut) cut {
	c.level, c.flow = 0, m.d.size(int(c.n))
	for _, l := range c.list() {
		c.level = max(c.level, m.level[l]+1)
		c.flow += m.flow[l] / max(1, m.expected[l])
	}
	return c
}

// size is the lookup tables of a function of so many bits.
func (d *Device) size(inputs int) float32 {
	return float32(int(1) << max(0, inputs-d.Inputs))
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
		if m.refs[i] == 0 || len(m.cuts[i]) == 0 {
			continue
		}
		for _, l := range m.cuts[i][0].list() {
			m.refs[l]++
			m.required[l] = min(m.required[l], m.required[i]-1)
		}
	}
	for i, n := range m.refs {
		m.expected[i] = (2*m.expected[i] + float32(n)) / 3
	}
}

// exact chooses cuts by what their tables take that nobody else reads.
func (m *mapping) exact() {
	for i := range m.in {
		cuts := m.cuts[i]
		if len(cuts) == 0 {
			continue
		}
		used := m.refs[i] > 0
		if used {
			m.release(&cuts[0])
		}
		best, least := 0, float32(math.Inf(1))
		for k := range cuts {
			c := m.measured(cuts[k])
			if used && c.level > m.required[i] {
				continue
			}
			area := m.take(&cuts[k])
			m.release(&cuts[k])
			if area < least-1e-4 || area < least+1e-4 && c.n < cuts[best].n {
				best, least = k, area
			}
		}
		cuts[0], cuts[best] = cuts[best], cuts[0]
		cuts[0] = m.measured(cuts[0])
		m.level[i], m.flow[i] = cuts[0].level, cuts[0].flow
		if used {
			m.take(&cuts[0])
		}
	}
}

// take is the lookup tables of a cut and those that only it reads.
func (m *mapping) take(c *cut) float32 {
	sum := m.d.size(int(c.n))
	for _, l := range c.list() {
		if m.refs[l]++; m.refs[l] == 1 && len(m.cuts[l]) > 0 {
			sum += m.take(&m.cuts[l][0])
		}
	}
	return sum
}

func (m *mapping) release(c *cut) {
	for _, l := range c.list() {
		if m.refs[l]--; m.refs[l] == 0 && len(m.cuts[l]) > 0 {
			m.release(&m.cuts[l][0])
		}
	}
}

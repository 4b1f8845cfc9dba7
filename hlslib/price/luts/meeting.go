package luts

import (
	"math"
	"math/bits"
)

// A set is a set of places in a list of gates, of which there are at most mostPlaces.
type set struct{ low, mid, high uint64 }

// mostPlaces is the number of places of a set. All cuts of two gates and one further LUT need fewer.
const mostPlaces = 192

func (s set) size() int {
	return bits.OnesCount64(s.low) + bits.OnesCount64(s.mid) + bits.OnesCount64(s.high)
}
func (s set) empty() bool       { return s.low|s.mid|s.high == 0 }
func (s set) or(t set) set      { return set{s.low | t.low, s.mid | t.mid, s.high | t.high} }
func (s set) and(t set) set     { return set{s.low & t.low, s.mid & t.mid, s.high & t.high} }
func (s set) within(t set) bool { return s.low&^t.low|s.mid&^t.mid|s.high&^t.high == 0 }

func (s set) with(place uint8) set {
	return set{s.low | 1<<place, s.mid | 1<<(place-64), s.high | 1<<(place-128)}
}

// first returns the lowest place in a set that is not empty, and rest the set without it.
func (s set) first() int {
	switch {
	case s.low != 0:
		return bits.TrailingZeros64(s.low)
	case s.mid != 0:
		return 64 + bits.TrailingZeros64(s.mid)
	}
	return 128 + bits.TrailingZeros64(s.high)
}

func (s set) rest() set {
	switch {
	case s.low != 0:
		s.low &= s.low - 1
	case s.mid != 0:
		s.mid &= s.mid - 1
	default:
		s.high &= s.high - 1
	}
	return s
}

// moved returns a set with each place replaced by that in the list to.
func (s set) moved(to []uint8) (t set) {
	for ; !s.empty(); s = s.rest() {
		t = t.with(to[s.first()])
	}
	return t
}

// A near holds the cuts of a gate that are examined. They are sets of places among gates, which are in order. The gate
// itself is the last one, and a further cut.
type near struct {
	gates []int32
	cuts  []cut
}

// A meeting is the place where the cuts of a gate's operands are merged. All sets are places among gates.
type meeting struct {
	gates   []int32
	cuts    [2][]cut // those of the operands
	best    cut      // the gate's lookup table so far
	list    [kept]cut
	kept    int // how many cuts the list has
	figures [mostPlaces]figures
	places  [3][mostPlaces]uint8 // scratch
	unread  set                  // the gates that no lookup table reads
	opened  [mostPlaces]uint64   // for these, if known: the LUTs that only they need, else 0
}

// meet makes ready to merge the cuts of the operands of gate i.
func (m *mapping) meet(i int32, to purpose) {
	t := &m.meeting
	a, b, best := m.in[i][0].gate(), m.in[i][1].gate(), &m.best[i]
	places := &t.places
	t.join([3][]int32{m.near[a].gates, m.near[b].gates, best.list()}, places)
	for k, o := range [2]int32{a, b} {
		list := t.cuts[k][:0]
		for _, c := range m.near[o].cuts {
			c.of = c.of.moved(places[k][:])
			list = append(list, c)
		}
		self := places[k][len(m.near[o].gates)-1]
		t.cuts[k] = append(list, cut{of: set{}.with(self), n: 1, level: m.reached[o].level + 1})
	}
	t.kept, t.best = 0, cut{n: best.n}
	for k := range best.n {
		t.best.of = t.best.of.with(places[2][k])
	}
	t.unread = set{}
	for k, l := range t.gates {
		switch {
		case to != alone:
			t.figures[k] = m.reached[l]
		case m.refs[l] == 0 && m.best[l].n > 0:
			t.unread = t.unread.with(uint8(k))
			t.opened[k] = 0
		}
	}
}

// join sets gates to those of three lists, which are in order. It sets places to the place of each member of a list.
func (t *meeting) join(lists [3][]int32, places *[3][mostPlaces]uint8) {
	var at [3]int
	t.gates = t.gates[:0]
	for {
		next := int32(math.MaxInt32)
		for k, list := range lists {
			if at[k] < len(list) {
				next = min(next, list[at[k]])
			}
		}
		if next == math.MaxInt32 {
			return
		}
		for k, list := range lists {
			if at[k] < len(list) && list[at[k]] == next {
				places[k][at[k]] = uint8(len(t.gates))
				at[k]++
			}
		}
		t.gates = append(t.gates, next)
	}
}

// spell sets l to the LUT of a cut.
func (t *meeting) spell(c *cut, l *lut) {
	l.n, l.level = 0, c.level
	for s := c.of; !s.empty(); s = s.rest() {
		l.of[l.n] = t.gates[s.first()]
		l.n++
	}
}

// covers reports whether all members of a cut of the list are in a set.
func (t *meeting) covers(s set) bool {
	for k := range t.kept {
		if t.list[k].of.within(s) {
			return true
		}
	}
	return false
}

// without removes the cuts from the list that have all members of a set.
func (t *meeting) without(s set) {
	n := 0
	for k := range t.kept {
		if s.within(t.list[k].of) {
			continue
		}
		if n != k {
			t.list[n] = t.list[k]
		}
		n++
	}
	t.kept = n
}

// into adds c to the list at its place, unless the list already has as many better cuts as are kept.
func (t *meeting) into(c *cut, by []order) {
	at := t.kept
	for at > 0 && c.before(&t.list[at-1], by) {
		at--
	}
	if at == kept {
		return
	}
	t.kept = min(t.kept+1, kept)
	for k := t.kept - 1; k > at; k-- {
		t.list[k] = t.list[k-1]
	}
	t.list[at] = *c
}

// keep sets near to the cuts of the list, which are those of gate i.
func (t *meeting) keep(i int32, near *near) {
	var members set
	for k := range t.kept {
		members = members.or(t.list[k].of)
	}
	places := &t.places[0]
	near.gates, near.cuts = near.gates[:0], near.cuts[:0]
	for s := members; !s.empty(); s = s.rest() {
		k := s.first()
		places[k] = uint8(len(near.gates))
		near.gates = append(near.gates, t.gates[k])
	}
	near.gates = append(near.gates, i)
	for k := range t.kept {
		c := t.list[k]
		c.of = c.of.moved(places[:])
		near.cuts = append(near.cuts, c)
	}
}

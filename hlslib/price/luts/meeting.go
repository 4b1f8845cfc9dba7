package luts

import (
	"math/bits"
	"slices"
)

// A set is a set of places in a list of gates, of which there are at most mostPlaces.
type set struct{ low, mid, high uint64 }

// mostPlaces is the number of places of a set. All cuts of two gates and one further LUT need fewer.
const mostPlaces = 192

func (s set) size() int {
	return bits.OnesCount64(s.low) + bits.OnesCount64(s.mid) + bits.OnesCount64(s.high)
}
func (s set) empty() bool   { return s.low|s.mid|s.high == 0 }
func (s set) or(t set) set  { return set{s.low | t.low, s.mid | t.mid, s.high | t.high} }
func (s set) and(t set) set { return set{s.low & t.low, s.mid & t.mid, s.high & t.high} }

// within reports whether all places of s are in t; most often the low ones decide.
func (s set) within(t set) bool { return s.low&^t.low == 0 && s.mid&^t.mid|s.high&^t.high == 0 }

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

// moved returns a set with each place replaced by that in the list to, which has no more than most.
func (s set) moved(to *[mostPlaces]uint8, most int) (t set) {
	if most <= 64 && s.mid|s.high == 0 {
		for w := s.low; w != 0; w &= w - 1 {
			t.low |= 1 << (to[bits.TrailingZeros64(w)&63] & 63)
		}
		return t
	}
	for ; !s.empty(); s = s.rest() {
		t = t.with(to[s.first()])
	}
	return t
}

// A near holds the cuts of a gate that are examined. They are sets of places among gates, which are in order. The gate
// itself is the last one, and the last cut.
type near struct {
	gates []int32
	cuts  []cut
}

// A meeting is the place where the cuts of a gate's operands are merged. All sets are places among gates.
type meeting struct {
	gates   []int32
	cuts    [2][]cut // those of the operands
	best    set      // the gate's lookup table so far
	list    [kept]cut
	kept    int // how many cuts the list has
	figures [mostPlaces]figures
	unread  set                // the gates that no lookup table reads
	opened  [mostPlaces]uint64 // for these, if known: the LUTs that only they need, else 0
	places  [2][mostPlaces]uint8
	moved   [2][kept + 1]cut
	space   []int32 // where the gates of cuts are kept
}

// meet makes ready to merge the cuts of the operands of gate i.
func (m *mapping) meet(i int32, to purpose) {
	t := &m.meeting
	a, b := &m.near[m.in[i][0].gate()], &m.near[m.in[i][1].gate()]
	t.join(a.gates, b.gates)
	t.best = set{}
	if to != fast {
		for _, l := range m.best[i].list() {
			t.best = t.best.with(t.place(l))
		}
	}
	for k, o := range [2]*near{a, b} {
		if int(t.places[k][len(o.gates)-1]) == len(o.gates)-1 { // each has the place that it had
			t.cuts[k] = o.cuts
			continue
		}
		for x := range o.cuts {
			c := &t.moved[k][x]
			*c = o.cuts[x]
			c.of = c.of.moved(&t.places[k], len(t.gates))
		}
		t.cuts[k] = t.moved[k][:len(o.cuts)]
	}
	if t.kept = 0; to != alone {
		for k, l := range t.gates {
			t.figures[k] = m.reached[l]
		}
		return
	}
	t.unread = set{}
	for k, l := range t.gates {
		if m.refs[l] == 0 && m.best[l].n > 0 {
			t.unread = t.unread.with(uint8(k))
			t.opened[k] = 0
		}
	}
}

// join sets gates to those of two lists, which are in order, and places to the place of each.
func (t *meeting) join(a, b []int32) {
	i, j := 0, 0
	t.gates = t.gates[:0]
	for i < len(a) || j < len(b) {
		n := uint8(len(t.gates))
		switch {
		case j == len(b) || i < len(a) && a[i] < b[j]:
			t.gates = append(t.gates, a[i])
			t.places[0][i] = n
			i++
		case i == len(a) || a[i] > b[j]:
			t.gates = append(t.gates, b[j])
			t.places[1][j] = n
			j++
		default:
			t.gates = append(t.gates, a[i])
			t.places[0][i], t.places[1][j] = n, n
			i++
			j++
		}
	}
}

// place returns the place of a gate, which it makes if there is none yet.
func (t *meeting) place(l int32) uint8 {
	at, ok := slices.BinarySearch(t.gates, l)
	if !ok {
		t.gates = slices.Insert(t.gates, at, l)
		for k := range t.places {
			for x, p := range t.places[k] {
				if int(p) >= at {
					t.places[k][x] = p + 1
				}
			}
		}
	}
	return uint8(at)
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

// keep sets near to the cuts of the list, which are those of gate i, at the given level.
func (t *meeting) keep(i int32, level int16, near *near) {
	var members set
	for k := range t.kept {
		members = members.or(t.list[k].of)
	}
	places := &t.places[0]
	if n := members.size() + 1; n > cap(near.gates) {
		if n > cap(t.space)-len(t.space) {
			t.space = make([]int32, 0, max(n, min(2*cap(t.space), 4096), 64))
		}
		at := len(t.space)
		t.space = t.space[:at+n]
		near.gates = t.space[at : at : at+n]
	}
	near.gates, near.cuts = near.gates[:0], near.cuts[:0]
	for s := members; !s.empty(); s = s.rest() {
		k := s.first()
		places[k] = uint8(len(near.gates))
		near.gates = append(near.gates, t.gates[k])
	}
	for k := range t.kept {
		c := t.list[k]
		c.of = c.of.moved(places, len(t.gates))
		near.cuts = append(near.cuts, c)
	}
	self := set{}.with(uint8(len(near.gates)))
	near.gates, near.cuts = append(near.gates, i), append(near.cuts, cut{of: self, n: 1, level: level + 1})
}

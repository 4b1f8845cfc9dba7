package place

import "sort"

// A Movement says, for each position of a frame, from which position of which wire its element comes, or that it is a
// constant (ConstantWire). It stores elements that are adjacent both before and after as one entry.
type Movement struct {
	n     int
	moved []moved
	last  int // entry of the last access
}

// A moved is one entry of a Movement: the positions from first on come from positions at, at+1 ... of wire from.
type moved struct {
	first, at int32
	from      int16
}

// ConstantWire is the number of the wire for positions of a Movement that carry a constant code.
const ConstantWire = -1

// InOrder returns the movement of the first n elements of wire 0 to the same positions.
func InOrder(n int) Movement { return Movement{n: n, moved: []moved{{0, 0, 0}}} }

// Len returns the number of positions of the frame.
func (m *Movement) Len() int { return m.n }

// Append adds a position at the end, whose element comes from position at of wire from. With ConstantWire, at has no
// meaning.
func (m *Movement) Append(from int16, at int32) {
	if k := len(m.moved) - 1; k < 0 || m.moved[k].from != from ||
		from != ConstantWire && m.moved[k].at+int32(m.n)-m.moved[k].first != at {
		m.moved = append(m.moved, moved{int32(m.n), at, from})
	}
	m.n++
}

// SourceOf returns the wire from which the element at position k comes, and its position there.
func (m *Movement) SourceOf(k int) (from int16, at int32) {
	e := &m.moved[m.entry(k)]
	return e.from, e.at + int32(k) - e.first
}

// entry returns the index of the entry with position k. It is usually the entry of the last access, or the next
// one.
func (m *Movement) entry(k int) int {
	for range 2 {
		if m.last < len(m.moved) && int(m.moved[m.last].first) <= k && k < m.end(m.last) {
			return m.last
		}
		m.last++
	}
	m.last = sort.Search(len(m.moved), func(i int) bool { return int(m.moved[i].first) > k }) - 1
	return m.last
}

// end returns the first position after those of an entry.
func (m *Movement) end(entry int) int {
	if entry+1 < len(m.moved) {
		return int(m.moved[entry+1].first)
	}
	return m.n
}

// All yields the wire and the position there for each position of the frame, in order.
func (m *Movement) All(yield func(from int16, at int32) bool) {
	for i, e := range m.moved {
		for k := range m.end(i) - int(e.first) {
			if !yield(e.from, e.at+int32(k)) {
				return
			}
		}
	}
}

// whole returns the wire whose elements the frame takes from position 0 on, in order. ok is false if the movement has
// no such form.
func (m *Movement) whole() (from int16, ok bool) {
	if len(m.moved) != 1 || m.moved[0].at != 0 {
		return 0, false
	}
	return m.moved[0].from, true
}

// froms returns the wire of each position.
func (m *Movement) froms() []int16 {
	list := make([]int16, 0, m.n)
	for from := range m.All {
		list = append(list, from)
	}
	return list
}

// places returns, for each position, the position on its wire.
func (m *Movement) places() []int32 {
	list := make([]int32, 0, m.n)
	for _, at := range m.All {
		list = append(list, at)
	}
	return list
}

// Inside returns the box of the pixels that are no constants, in a frame of h rows of w pixels with c channels. ok is
// false if they form no box.
func (m *Movement) Inside(h, w, c int) (b Box, ok bool) { return inside(h, w, c, m.froms()) }

// Cut returns the part of a movement in a box of a frame whose rows have w pixels of c channels.
func (m *Movement) Cut(b Box, w, c int) (part Movement) {
	for y := b.Y0; y <= b.Y1; y += b.DY {
		for x := b.X0; x <= b.X1; x += b.DX {
			for k := range c {
				part.Append(m.SourceOf((y*w+x)*c + k))
			}
		}
	}
	return part
}

package place

import "sort"

// A Movement describes a frame whose elements come from wires. For each position it holds the wire and the position
// there of the element, or says that it is a constant (ConstantWireIndex). Elements that are adjacent both before and
// after share one entry. Even reading it is not safe for concurrent use.
type Movement struct {
	n     int
	moved []moved
	last  int // index of the entry that was accessed last
}

// A moved is one entry of a Movement: the positions from first on come from positions at, at+1 ... of wire from.
type moved struct {
	first, at int32
	from      int16
}

// ConstantWireIndex is the number of the wire for positions of a Movement that carry a constant code.
const ConstantWireIndex = -1

// newInOrderMovement returns the movement of the first n elements of wire 0 to the same positions.
func newInOrderMovement(n int) Movement { return Movement{n: n, moved: []moved{{0, 0, 0}}} }

// Len returns the number of positions of the frame.
func (m *Movement) Len() int { return m.n }

// AppendPosition adds a position at the end of the frame, whose element comes from position at of wire from. If from is
// ConstantWireIndex, at has no meaning.
func (m *Movement) AppendPosition(from int16, at int32) {
	if k := len(m.moved) - 1; k < 0 || m.moved[k].from != from ||
		from != ConstantWireIndex && m.moved[k].at+int32(m.n)-m.moved[k].first != at {
		m.moved = append(m.moved, moved{int32(m.n), at, from})
	}
	m.n++
}

// SourceOf returns the wire from which the element at position k comes, and its position there. If the wire is
// ConstantWireIndex, at has no meaning.
func (m *Movement) SourceOf(k int) (from int16, at int32) {
	e := &m.moved[m.entry(k)]
	return e.from, e.at + int32(k) - e.first
}

// entry returns the index of the entry that covers position k of the frame. It tries the entry of the last access and
// the next one first.
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

// end returns the position in the frame behind the last one that the entry with this index covers.
func (m *Movement) end(entry int) int {
	if entry+1 < len(m.moved) {
		return int(m.moved[entry+1].first)
	}
	return m.n
}

// VisitSources yields the wire and the position there for each position of the frame, in order.
func (m *Movement) VisitSources(yield func(from int16, at int32) bool) {
	for i, e := range m.moved {
		for k := range m.end(i) - int(e.first) {
			if !yield(e.from, e.at+int32(k)) {
				return
			}
		}
	}
}

// whole returns the wire whose elements, from position 0 on and in order, are those of the frame; the wire may have
// more. ok is false if there is no such wire. If all elements are constants, it may return ConstantWireIndex and true.
func (m *Movement) whole() (from int16, ok bool) {
	if len(m.moved) != 1 || m.moved[0].at != 0 {
		return 0, false
	}
	return m.moved[0].from, true
}

// froms returns, for each position of the frame, the wire from which its element comes.
func (m *Movement) froms() []int16 {
	list := make([]int16, 0, m.n)
	for from := range m.VisitSources {
		list = append(list, from)
	}
	return list
}

// places returns, for each position of the frame, the position of its element on the wire from which it comes.
func (m *Movement) places() []int32 {
	list := make([]int32, 0, m.n)
	for _, at := range m.VisitSources {
		list = append(list, at)
	}
	return list
}

// StridedBoxOfNonConstants returns the box of the pixels that are not constants, in a frame of h rows of w pixels with
// c channels. ok is false if all pixels are constants, or the others form no box.
func (m *Movement) StridedBoxOfNonConstants(h, w, c int) (b StridedPixelBox, ok bool) {
	return inside(h, w, c, m.froms())
}

// PartInBox returns the part of a movement that lies in box b of the frame, whose rows have w pixels of c channels.
func (m *Movement) PartInBox(b StridedPixelBox, w, c int) (part Movement) {
	for y := b.Y0; y <= b.Y1; y += b.DY {
		for x := b.X0; x <= b.X1; x += b.DX {
			for k := range c {
				part.AppendPosition(m.SourceOf((y*w+x)*c + k))
			}
		}
	}
	return part
}

package graph

import (
	"slices"
)

// A Move takes element i from element Index[i] of input Input[i]; Index nil means element i, Input nil means input 0.
// Or it takes elements from where Places says.
type Move struct {
	Input  []uint8
	Index  []int32
	Places *Places
}

// From is where element i comes from.
func (m *Move) From(i int) (input, element int) {
	if m.Places != nil {
		at := m.Places.at(i)
		if at < 0 {
			return 1, 0
		}
		return 0, at
	}
	if m.Input != nil {
		input = int(m.Input[i])
	}
	if m.Index == nil {
		return input, i
	}
	return input, int(m.Index[i])
}

// Still reports whether all elements are those of input 0, in order.
func (m *Move) Still() bool { return m.Input == nil && m.Index == nil && m.Places == nil }

// Joins reports whether elements may come from other inputs than input 0.
func (m *Move) Joins() bool { return m.Input != nil || m.Places != nil && m.Places.outside }

// Slots are the inputs that elements come from, in the order of the first of each.
func (m *Move) Slots() (list []int) {
	switch {
	case !m.Joins():
		return []int{0}
	case m.Places != nil:
		first, _ := m.From(0)
		list = []int{first}
		if other := 1 - first; other == 1 || !m.Places.empty {
			list = append(list, other)
		}
		return list
	}
	var seen [256]bool
	for _, i := range m.Input {
		if !seen[i] {
			seen[i] = true
			list = append(list, int(i))
		}
	}
	return list
}

// Places says of the coordinates of each element which element of input 0 it is, or that it is the only element of
// input 1, as around padded data.
type Places struct {
	n       int
	axes    [][]int32 // by axis, or some, and coordinate: what all add up to; negative where it is input 1's
	outside bool      // some element is input 1's
	empty   bool      // all are
}

// placesOf is for elements of which those whose coordinate along axis a is j are at the sum of from[a][j] over all
// axes, unless one of them is negative.
func placesOf(from [][]int32) *Places {
	p := &Places{n: 1}
	for _, axis := range slices.Backward(from) {
		p.n *= len(axis)
		p.outside = p.outside || slices.ContainsFunc(axis, func(at int32) bool { return at < 0 })
		p.empty = p.empty || !slices.ContainsFunc(axis, func(at int32) bool { return at >= 0 })
		if k := len(p.axes) - 1; k >= 0 && len(p.axes[k])*len(axis) <= listed {
			p.axes[k] = pickIndex([][]int32{axis, p.axes[k]})
			continue
		}
		p.axes = append(p.axes, axis)
	}
	slices.Reverse(p.axes)
	p.outside = p.outside && p.n > 0
	return p
}

// at is the element of input 0 that element i is; negative where it is input 1's.
func (p *Places) at(i int) int {
	at, rest := 0, uint32(i)
	for k := len(p.axes) - 1; k >= 0; k-- {
		axis := p.axes[k]
		next := uint32(0)
		if k > 0 {
			next = rest / uint32(len(axis))
		}
		of := axis[rest-next*uint32(len(axis))]
		if of < 0 {
			return -1
		}
		at += int(of)
		rest = next
	}
	return at
}

// Len returns the number of elements.
func (p *Places) Len() int { return p.n }

// Row is the elements from i on along the last axis: each is at the sum of base and what axis says of it, unless one of
// the two is negative. It is not for an axis without elements.
func (p *Places) Row(i int) (base int, axis []int32) {
	last := len(p.axes) - 1
	if last < 0 {
		return 0, []int32{0}
	}
	axis = p.axes[last]
	rest := i / len(axis)
	for k := last - 1; k >= 0; k-- {
		of := p.axes[k][rest%len(p.axes[k])]
		if rest /= len(p.axes[k]); of < 0 {
			return -1, axis[i%len(axis):]
		}
		base += int(of)
	}
	return base, axis[i%len(axis):]
}

package program

import (
	"slices"
)

// A Move takes output element i from element Index.At(i) of input Input[i]. A nil Index means element i, and a nil
// Input means input 0. If Places is not nil, it says where elements come from instead.
type Move struct {
	Input  []uint8
	Index  []int32
	Places *PaddedSources
}

// SourceOf returns the input from which output element i comes, and the index of the element there.
func (m *Move) SourceOf(i int) (input, element int) {
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

// IsCertainlyIdentity reports whether the output certainly has the elements of input 0 in their order. It looks at
// whether m has lists and not at their entries.
func (m *Move) IsCertainlyIdentity() bool { return m.Input == nil && m.Index == nil && m.Places == nil }

// MayReadOtherInputs reports whether elements may come from inputs other than input 0. It does not look at the entries
// of Input.
func (m *Move) MayReadOtherInputs() bool {
	return m.Input != nil || m.Places != nil && m.Places.outside
}

// SourceInputs returns the inputs from which elements come, each once, in the order of their first elements.
func (m *Move) SourceInputs() (list []int) {
	switch {
	case !m.MayReadOtherInputs():
		return []int{0}
	case m.Places != nil:
		first, _ := m.SourceOf(0)
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

// A PaddedSources maps the coordinates of each output element to the place from which it comes. That is an element of
// input 0 or, as for padding, the only element of input 1.
type PaddedSources struct {
	n       int
	axes    [][]int32 // by axis, or several merged axes, and coordinate: an offset into input 0; negative for input 1
	outside bool      // some element comes from input 1
	empty   bool      // all elements come from input 1
}

// NewPaddedSources returns a PaddedSources for an output of one axis for each list of from. The element with coordinate
// j along each axis a comes from element sum of from[a][j], over all axes, of input 0. If one of these is negative, it
// comes from input 1. The result may share the lists, which must not change.
func NewPaddedSources(from [][]int32) *PaddedSources {
	p := &PaddedSources{n: 1}
	for _, axis := range slices.Backward(from) {
		p.n *= len(axis)
		p.outside = p.outside || slices.ContainsFunc(axis, func(at int32) bool { return at < 0 })
		p.empty = p.empty || !slices.ContainsFunc(axis, func(at int32) bool { return at >= 0 })
		if k := len(p.axes) - 1; k >= 0 && len(p.axes[k])*len(axis) <= listed {
			p.axes[k] = SumsOfAxisIndices([][]int32{axis, p.axes[k]})
			continue
		}
		p.axes = append(p.axes, axis)
	}
	slices.Reverse(p.axes)
	p.outside = p.outside && p.n > 0
	return p
}

// at returns the element of input 0 from which output element i comes, or a negative number for input 1.
func (p *PaddedSources) at(i int) int {
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

// Len returns the number of output elements.
func (p *PaddedSources) Len() int { return p.n }

// RowSources returns the sources of the output elements from i to the end of a row, which spans one or more of the last
// axes. Element i+k comes from element base+axis[k] of input 0, or from input 1 if one of these two is negative. Rows
// must not be empty. The caller must not change axis.
func (p *PaddedSources) RowSources(i int) (base int, axis []int32) {
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

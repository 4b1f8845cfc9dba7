package operators

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// A sliding describes how the window of a convolution or a pool slides over its data. Pairs are along H and W, as in
// Window.
type sliding struct {
	axes                     int // how many axes the window slides along: 1 or 2
	in, out                  [2]int
	kernel, stride, dilation [2]int
	before, after            [2]int // the padding in the operator's attributes
	beyond                   [2]int // how far the last windows reach beyond that padding (ceil_mode)
}

// maxSide bounds kernels, strides, dilations and paddings, so that products of two cannot overflow.
const maxSide = maxElements

// sides returns an attribute that lists one number for each axis; the default is def for all. Lists of one number are
// along W. A single dilation of 1 for two axes, which some exporters write, means the default. It refuses numbers below
// least.
func (c *reading) sides(name string, axes int, def, least int64) (out [2]int) {
	out = [2]int{int(def), int(def)}
	list := c.IntsAttr(name)
	if list == nil || name == "dilations" && slices.Equal(list, []int64{1}) {
		return out
	}
	if len(list) != axes {
		invalid("%s %v for %d axes", name, list, axes)
	}
	for i, v := range list {
		if v < least || v > maxSide {
			invalid("%s %v", name, list)
		}
		out[2-axes+i] = int(v)
	}
	return out
}

// span sets a single window that covers all data.
func (c *windows) span() {
	data := c.l.extents()
	c.s = sliding{axes: len(data), in: [2]int{1, 1}, out: [2]int{1, 1}, stride: [2]int{1, 1}, dilation: [2]int{1, 1}}
	copy(c.s.in[2-len(data):], data)
	c.s.kernel = c.s.in
	for _, e := range data {
		if e < 1 {
			invalid("data of %v", data)
		}
	}
}

// slide sets the geometry of the windows, from a node's attributes and the size of its kernel.
func (c *windows) slide(kernel []int) {
	c.span()
	s := &c.s
	s.kernel = [2]int{1, 1}
	copy(s.kernel[2-s.axes:], kernel)
	for _, e := range kernel {
		if e < 1 {
			invalid("a kernel of %v", kernel)
		}
	}
	s.stride = c.sides("strides", s.axes, 1, 1)
	s.dilation = c.sides("dilations", s.axes, 1, 1)
	pads := c.IntsAttr("pads")
	if pads != nil && len(pads) != 2*s.axes {
		invalid("pads %v for %d axes", pads, s.axes)
	}
	for i, v := range pads {
		if v < 0 || v > maxSide {
			invalid("pads %v", pads)
		}
		if i < s.axes {
			s.before[2-s.axes+i] = int(v)
		} else {
			s.after[2-2*s.axes+i] = int(v)
		}
	}
}

// reach returns the extent of a window along an axis.
func (s *sliding) reach(a int) int { return (s.kernel[a]-1)*s.dilation[a] + 1 }

// place sets the extents of the output for the given padding, or for the padding that auto_pad names. With ceil, a last
// window that extends beyond the padded data counts, unless it starts behind the data.
func (s *sliding) place(auto string, ceil bool) {
	for a := range s.in {
		if s.axes == 1 && a == 0 {
			s.out[0] = 1
			continue
		}
		switch auto {
		case "", "NOTSET":
		case "VALID":
			s.before[a], s.after[a] = 0, 0
		case "SAME_UPPER", "SAME_LOWER":
			out := (s.in[a] + s.stride[a] - 1) / s.stride[a]
			total := max(0, (out-1)*s.stride[a]+s.reach(a)-s.in[a])
			s.before[a], s.after[a] = total/2, total-total/2
			if auto == "SAME_LOWER" {
				s.before[a], s.after[a] = s.after[a], s.before[a]
			}
		default:
			invalid("auto_pad is %q", auto)
		}
		free := s.in[a] + s.before[a] + s.after[a] - s.reach(a)
		if free < 0 {
			invalid("a kernel that spans %d elements on %d, padding included", s.reach(a),
				s.in[a]+s.before[a]+s.after[a])
		}
		s.out[a] = free/s.stride[a] + 1
		if ceil && free%s.stride[a] != 0 && s.out[a]*s.stride[a] < s.in[a]+s.before[a] {
			s.out[a]++
			s.beyond[a] = (s.out[a]-1)*s.stride[a] - free
		}
	}
}

// padded reports whether the data need padding.
func (s *sliding) padded() bool {
	return s.before != [2]int{} || s.after != [2]int{} || s.beyond != [2]int{}
}

// window returns the Window of a step that reads padded data.
func (s *sliding) window(group, depth int, last bool) *program.Window {
	return &program.Window{Kernel: s.kernel, Stride: s.stride, Dilation: s.dilation, Group: group, Depth: depth,
		ChannelsLast: last}
}

// attrs returns the attributes of an internal node that slides over padded data.
func (s *sliding) attrs(group int) graph.AttributesByName {
	return graph.AttributesByName{"strides": intsAttr(s.stride[2-s.axes:]...),
		"dilations": intsAttr(s.dilation[2-s.axes:]...),
		"group":     graph.NewIntAttr(group)}
}

// A layout says which axes of data are which: [N, C, (H,) W], or channels last.
type layout struct {
	last        bool
	n, channels int
	axes        []int // the indices of H and W
	shape       []int
}

// A windows builds the steps of a node that slides windows over input 0.
type windows struct {
	*call
	l layout
	s sliding
}

// windows reads the layout of input 0.
func (c *call) windows() *windows {
	x := c.x
	l := layout{last: c.Domain == channelsLast, shape: x}
	if len(x) == 5 {
		unsupported("use signals or images: 1-D and 2-D windows are supported", "a 3-D window")
	}
	if len(x) != 3 && len(x) != 4 {
		invalid("data of shape %v, wants signals or images with an axis of samples and one of channels", x)
	}
	l.n, l.channels = x[0], x[1]
	first := 2
	if l.last {
		l.channels, first = x[len(x)-1], 1
	}
	for i := range len(x) - 2 {
		l.axes = append(l.axes, first+i)
	}
	if l.channels < 1 {
		invalid("data of shape %v, without channels", x)
	}
	return &windows{call: c, l: l}
}

// extents returns the sizes of H and W, or of W alone.
func (l *layout) extents() (e []int) {
	for _, a := range l.axes {
		e = append(e, l.shape[a])
	}
	return e
}

// with returns a shape in this layout.
func (l *layout) with(n, channels int, extents []int) []int {
	if l.last {
		return append(append([]int{n}, extents...), channels)
	}
	return append([]int{n, channels}, extents...)
}

// strides returns the strides of the data along N, C, H and W.
func (l *layout) strides() (n, channel, h, w int) {
	s := program.RowMajorStrides(l.shape)
	n, channel, w = s[0], s[1], s[l.axes[len(l.axes)-1]]
	if l.last {
		channel = 1
	}
	if len(l.axes) == 2 {
		h = s[l.axes[0]]
	}
	return n, channel, h, w
}

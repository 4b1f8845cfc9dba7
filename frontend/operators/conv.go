package operators

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// This file builds convolutions. The hardware computes a sliding window over padded data, without a bias; padding and
// bias become separate steps.

func buildConv(c *call) {
	win := c.windows()
	l, s, w := &win.l, &win.s, c.in[1].Shape
	if x, y := c.dt, c.in[1].DType; x.IsReal() != y.IsReal() {
		invalid("weights of type %s for data of type %s", y, x)
	}
	kernel := win.weighted()
	depth := w[1]
	if l.last {
		depth = w[len(w)-1]
	}
	group := c.IntAttrOr("group", 1)
	if group < 1 || depth < 1 || group > int64(l.channels) || depth*int(group) != l.channels || w[0]%int(group) != 0 {
		invalid("weights of shape %v in %d groups for %d channels", w, group, l.channels)
	}
	win.slide(kernel)
	s.place(c.StringAttrOr("auto_pad", "NOTSET"), false)
	if s.padded() || c.HasInput(2) {
		win.biased(c.Domain, int(group), w[0], win.pad(), c.Inputs[1])
	} else {
		win.convolve(int(group), w)
	}
}

// pad writes a step that pads the data, if padding is needed, and returns the name of the padded tensor.
func (c *windows) pad() string {
	l, s, x := &c.l, &c.s, c.Inputs[0]
	value := c.number("zero", c.dt, 0)
	if !s.padded() {
		return x
	}
	before, after := make([]int, len(l.shape)), make([]int, len(l.shape))
	for i, a := range l.axes {
		w := 2 - s.axes + i
		before[a], after[a] = s.before[w], s.after[w]+s.beyond[w]
	}
	return c.part(InternalDomain, "Pad", "padded", graph.AttributesByName{"pads": intsAttr(append(before,
		after...)...)}, x, value)
}

// biased writes the sums of products of padded data x and weights, and adds the bias per channel, if there is one.
func (c *windows) biased(domain string, group, channels int, x, weights string) {
	attrs := c.s.attrs(group)
	if !c.HasInput(2) {
		c.last(domain, "Conv", attrs, x, weights)
		return
	}
	if b := c.in[2].Shape; len(b) != 1 || b[0] != channels {
		invalid("a bias of shape %v for %d channels", b, channels)
	}
	sums := c.part(domain, "Conv", "sums", attrs, x, weights)
	bias := c.reshaped(c.Inputs[2], c.l.with(1, channels, []int{1, 1}[:len(c.l.axes)]))
	c.last("", OpAdd, nil, sums, bias)
}

// weighted returns the size of the kernel, from the shape of the weights, input 1.
func (c *windows) weighted() []int {
	w := c.in[1].Shape
	if len(w) != len(c.l.shape) {
		invalid("weights of shape %v for data of shape %v", w, c.l.shape)
	}
	kernel := w[2:]
	if c.l.last {
		kernel = w[1 : len(w)-1]
	}
	if asked := c.IntsAttr("kernel_shape"); asked != nil &&
		!slices.EqualFunc(asked, kernel, func(a int64, b int) bool { return a == int64(b) }) {
		invalid("kernel_shape %v for weights of shape %v", asked, w)
	}
	return kernel
}

// convolve adds the sliding sum of products. Weights have the shape [M, C/group, H, W], or [M, H, W, C/group] if
// channels are last.
func (c *windows) convolve(group int, w []int) {
	l, s := &c.l, &c.s
	depth, each := l.channels/group, w[0]/group
	n, channel, h, along := l.strides()
	size := graph.ElementCount(w[1:])
	dot := &program.Dot{A: 0, B: 1, K: size}
	full := []int{l.n, group, each, s.out[0], s.out[1]}
	stepsA := []int{n, depth * channel, 0, s.stride[0] * h, s.stride[1] * along}
	stepsB := []int{0, each * size, size, 0, 0}
	tapsB := []int{s.kernel[1], 1, s.kernel[0] * s.kernel[1]}
	if l.last {
		full = []int{l.n, s.out[0], s.out[1], group, each}
		stepsA = []int{n, s.stride[0] * h, s.stride[1] * along, depth * channel, 0}
		stepsB = []int{0, 0, 0, each * size, size}
		tapsB = []int{s.kernel[1] * depth, depth, 1}
	}
	shape := l.with(l.n, w[0], s.out[2-s.axes:])
	checkSize(shape)
	taps := []int{s.kernel[0], s.kernel[1], depth}
	dot.ABase, dot.BBase = c.p.list(full, stepsA), c.p.list(full, stepsB)
	dot.AOffset = c.p.strided(taps, []int{s.dilation[0] * h, s.dilation[1] * along, channel})
	dot.BOffset = c.p.strided(taps, tapsB)
	c.add(program.Step{Shape: shape, DType: c.dt, Dot: dot, Window: s.window(group, depth, l.last)})
}

// buildConvTranspose builds a transposed convolution as an ordinary one: over data with zeros between the elements,
// with reversed kernels.
func buildConvTranspose(c *call) {
	win := c.windows()
	l, s, w := &win.l, &win.s, c.in[1].Shape
	kernel := win.weighted()
	group := c.IntAttrOr("group", 1)
	if group < 1 || group > int64(l.channels) || w[0] != l.channels || w[0]%int(group) != 0 || w[1] < 1 ||
		w[1] > maxSide {
		invalid("weights of shape %v in %d groups for %d channels", w, group, l.channels)
	}
	win.slide(kernel)
	win.unplace()
	before, after, strides := make([]int, len(l.shape)), make([]int, len(l.shape)), []int{1, 1}
	for i, a := range l.axes {
		k := 2 - s.axes + i
		before[a], after[a] = s.reach(k)-1-s.before[k], s.reach(k)-1-s.after[k]
		strides = append(strides, s.stride[k])
	}
	x := c.part(InternalDomain, "Spread", "spread", graph.AttributesByName{"strides": intsAttr(strides...),
		"pads": intsAttr(append(before, after...)...)}, c.Inputs[0], c.number("zero", c.dt, 0))
	turned := c.part(InternalDomain, "Turn", "turned", graph.AttributesByName{"group": graph.NewIntAttr(int(group))},
		c.Inputs[1])
	s.stride = [2]int{1, 1}
	win.biased("", int(group), w[1]*int(group), x, turned)
}

// unplace sets the padding of a transposed convolution, by which its output is cropped. The padding is given, or
// follows from the requested output shape. Missing elements of that shape are added at the end.
func (c *windows) unplace() {
	s := &c.s
	extra := c.sides("output_padding", s.axes, 0, 0)
	want := c.sides("output_shape", s.axes, 0, 1)
	auto := c.StringAttrOr("auto_pad", "NOTSET")
	for a := 2 - s.axes; a < 2; a++ {
		full := (s.in[a]-1)*s.stride[a] + s.reach(a) + extra[a]
		switch auto {
		case "", "NOTSET":
		case "VALID":
			s.before[a], s.after[a] = 0, 0
		case "SAME_UPPER", "SAME_LOWER":
			if want[a] == 0 {
				want[a] = s.in[a] * s.stride[a]
			}
		default:
			invalid("auto_pad is %q", auto)
		}
		if want[a] > 0 {
			total := max(0, full-want[a])
			s.before[a] = total - total/2
			if auto == "SAME_UPPER" {
				s.before[a] = total / 2
			}
			s.after[a] = total - s.before[a]
			extra[a] += max(0, want[a]-full)
			full = max(full, want[a])
		}
		if full-s.before[a]-s.after[a] < 1 {
			invalid("pads of %d and %d leave nothing of %d elements", s.before[a], s.after[a], full)
		}
		s.after[a] -= extra[a]
	}
}

// buildSpread builds the internal operator Spread, a part of ConvTranspose: it puts zeros between the elements along
// each axis and around them. Negative pads crop.
func buildSpread(c *call) {
	x, pads, strides := c.x, c.IntsAttr("pads"), c.IntsAttr("strides")
	shape := make([]int, len(x))
	for a, stride := range strides {
		shape[a] = (x[a]-1)*int(stride) + 1 + int(pads[a]+pads[len(x)+a])
		if x[a] == 0 || shape[a] < 0 {
			invalid("pads %v around %v elements with strides %v", pads, x, strides)
		}
	}
	c.moveOr(shape, func(a, i int) int {
		at, stride := i-int(pads[a]), int(strides[a])
		if at < 0 || at%stride != 0 || at/stride >= x[a] {
			return -1
		}
		return at / stride
	})
}

// buildTurn converts weights of a transposed convolution to those of an ordinary one: [C, M/group, H, W] becomes [M,
// C/group, H, W], with reversed kernels.
func buildTurn(c *call) {
	w, group := c.x, int(c.IntAttrOr("group", 1))
	depth, each := w[0]/group, w[1]
	s := program.RowMajorStrides(w)
	shape := append([]int{group * each, depth}, w[2:]...)
	checkSize(shape)
	full, steps := []int{group, each, depth}, []int{depth * s[0], s[1], s[0]}
	last := 0
	for a := 2; a < len(w); a++ {
		full, steps = append(full, w[a]), append(steps, -s[a])
		last += (w[a] - 1) * s[a]
	}
	c.pick(shape, program.NewStridedIndexTableFrom(last, full, steps))
}

// InsertsZeros reports whether a node puts zeros between elements, as the first step of a transposed convolution does.
func InsertsZeros(n *graph.Node) bool { return n.Domain == InternalDomain && n.Op == "Spread" }

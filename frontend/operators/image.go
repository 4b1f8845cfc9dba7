package operators

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// This file builds operators that move the elements of images: padding, resizing, and moving channels into pixels and
// back.

// moveOr adds an output of the given shape whose elements come from input 0. place maps index i along an axis of the
// output to an index of input 0. If it returns -1 for an axis, the element is the only one of input 1.
func (c *call) moveOr(shape []int, place func(axis, i int) int) {
	c.p.room(shape)
	from, strides := make([][]int32, len(shape)), program.RowMajorStrides(c.x)
	for a, n := range shape {
		for i := range n {
			at := place(a, i)
			if at >= 0 {
				at *= strides[a]
			}
			from[a] = append(from[a], int32(at))
		}
	}
	c.move(shape, c.dt, &program.Move{Places: program.NewPaddedSources(from)})
}

// buildPad reads all forms of ONNX' Pad and writes an internal Pad with two inputs: the data and the padding value.
func buildPad(c *call) {
	pads := c.padsOf(len(c.x))
	mode := c.StringAttrOr("mode", "constant")
	attrs := graph.AttributesByName{"pads": intsAttr(pads...), "mode": graph.NewStringAttr(mode)}
	switch mode {
	case "constant":
	case "reflect", "edge", "wrap":
		for _, v := range pads {
			if v < 0 {
				unsupported("crop with Slice", "negative pads in mode %s", mode)
			}
		}
		c.last(InternalDomain, "Pad", attrs, c.Inputs[0])
		return
	default:
		invalid("mode is %q", mode)
	}
	if !c.HasInput(2) {
		c.last(InternalDomain, "Pad", attrs, c.Inputs[0], c.number("value", c.dt, c.FloatAttrOr("value", 0)))
		return
	}
	if v := c.in[2]; graph.ElementCount(v.Shape) != 1 || v.DType.IsReal() != c.dt.IsReal() {
		invalid("a padding value of type %s and shape %v for data of type %s", v.DType, v.Shape, c.dt)
	}
	c.last(InternalDomain, "Pad", attrs, c.Inputs[0], c.Inputs[2])
}

// IsInternalPad reports whether a node is an internal Pad.
func IsInternalPad(n *graph.Node) bool { return n.Domain == InternalDomain && n.Op == "Pad" }

// padsOf returns the padding before and after each axis.
func (c *reading) padsOf(rank int) []int64 {
	pads := c.IntsAttr("pads")
	if pads == nil {
		pads = c.IntsAttr("paddings")
	}
	if c.HasInput(1) {
		pads = c.constInts(1, "the padding")
	}
	list := program.NewCountingSlice[int64](rank)
	if c.HasInput(3) {
		list = c.constInts(3, "axes")
	}
	if len(pads) != 2*len(list) {
		invalid("pads %v for %d axes", pads, len(list))
	}
	at := axes(list, rank)
	all := make([]int64, 2*rank)
	for i, a := range at {
		all[a], all[rank+a] = pads[i], pads[len(at)+i]
	}
	for _, v := range all {
		if v < -maxSide || v > maxSide {
			invalid("pads %v", pads)
		}
	}
	return all
}

// buildPadded builds the internal Pad. Its attribute pads holds the padding before all axes and after all axes;
// negative values crop.
func buildPadded(c *call) {
	x, pads, mode := c.x, c.IntsAttr("pads"), c.StringAttrOr("mode", "constant")
	shape := make([]int, len(x))
	for a, n := range x {
		before, after := int(pads[a]), int(pads[len(x)+a])
		shape[a] = n + before + after
		if shape[a] < 0 {
			invalid("pads of %d and %d for an axis of %d elements", before, after, n)
		}
		if n == 0 && shape[a] > 0 && mode != "constant" {
			invalid("an axis without elements is padded in mode %s", mode)
		}
	}
	c.moveOr(shape, func(a, i int) int { return padded(i-int(pads[a]), x[a], mode) })
}

// padded returns the index, along an axis of n elements, of the element at position i, which may lie outside. It
// returns -1 if the padding value stands there.
func padded(i, n int, mode string) int {
	if 0 <= i && i < n {
		return i
	}
	mod := func(i, n int) int { return ((i % n) + n) % n }
	switch mode {
	case "edge":
		return max(0, min(i, n-1))
	case "wrap":
		return mod(i, n)
	case "reflect":
		if n == 1 {
			return 0
		}
		i = mod(i, 2*n-2)
		return min(i, 2*n-2-i)
	}
	return -1
}

// buildUpsample builds Upsample, the predecessor of Resize.
func buildUpsample(c *call) {
	resize(c, c.scales(1, c.Attrs["scales"].Floats), "asymmetric", "floor")
}

func buildResize(c *call) {
	if c.opset < 11 {
		resize(c, c.scales(1, nil), "asymmetric", "floor")
		return
	}
	if c.IsFlagAttrSet("antialias") || c.StringAttrOr("keep_aspect_ratio_policy", "stretch") != "stretch" {
		unsupported(nearest, "antialias or keep_aspect_ratio_policy is set")
	}
	scales := c.scales(2, nil)
	if scales == nil {
		scales = c.sizes(3)
	}
	resize(c, scales, c.StringAttrOr("coordinate_transformation_mode", "half_pixel"),
		c.StringAttrOr("nearest_mode", "round_prefer_floor"))
}

// nearest is the hint for every resizing of an image that is not supported.
const nearest = "resize with mode nearest and whole factors, which repeats pixels"

// resizedAxes returns the axes to which the n factors of a Resize belong, in order.
func (c *reading) resizedAxes(n int) []int {
	rank := len(c.x)
	list := c.IntsAttr("axes")
	if list == nil {
		list = program.NewCountingSlice[int64](rank)
	}
	if len(list) != n {
		invalid("%d factors or sizes for %d axes", n, len(list))
	}
	var axes []int
	for _, v := range list {
		a := axis(v, rank)
		if c.Domain == channelsLast { // channels_last counts axes as if channels were first
			switch a {
			case 0:
			case 1:
				a = rank - 1
			default:
				a--
			}
		}
		axes = append(axes, a)
	}
	return axes
}

// scales reads integer factors per axis from an input or an attribute. It returns nil if there are none.
func (c *reading) scales(slot int, attr []float64) []int {
	if c.HasInput(slot) {
		t := c.in[slot].Const
		if t == nil {
			unsupported("the factors must be constant", "the factors depend on the data")
		}
		for i := range t.Len() {
			attr = append(attr, t.FloatAt(i))
		}
	}
	if len(attr) == 0 {
		return nil
	}
	axes := c.resizedAxes(len(attr))
	out := slices.Repeat([]int{1}, len(c.x))
	for i, v := range attr {
		if !(v >= 1) || v > maxSide || v != float64(int(v)) {
			unsupported(nearest, "a factor of %v", v)
		}
		out[axes[i]] = int(v)
	}
	return out
}

// sizes returns the factors that follow from the requested sizes.
func (c *reading) sizes(slot int) []int {
	if !c.HasInput(slot) {
		invalid("neither factors nor sizes")
	}
	want := c.constInts(slot, "the size")
	axes := c.resizedAxes(len(want))
	out := slices.Repeat([]int{1}, len(c.x))
	for i, v := range want {
		n := int64(c.x[axes[i]])
		if v < 1 || v > maxElements || n < 1 {
			invalid("a size of %d for an axis of %d", v, n)
		}
		if v%n != 0 {
			unsupported(nearest, "an axis of %d is resized to %d", n, v)
		}
		out[axes[i]] = int(v / n)
	}
	return out
}

// resize enlarges by integer factors: each element is the nearest element of the data.
func resize(c *call, scales []int, coordinates, mode string) {
	x := c.x
	if m := c.StringAttrOr("mode", "nearest"); m != "nearest" {
		unsupported(nearest, "mode %s", m)
	}
	if scales == nil {
		invalid("no factors")
	}
	shape := make([]int, len(x))
	for a, n := range x {
		if n > 0 && scales[a] > maxElements/n {
			invalid("factors %v for shape %v", scales, x)
		}
		shape[a] = n * scales[a]
	}
	c.moveOr(shape, func(a, i int) int { return nearestTo(i, x[a], scales[a], coordinates, mode) })
}

// nearestTo returns the index, among n along an axis, of the element that output index i repeats when the axis grows by
// factor. coordinates and mode are those of Resize.
func nearestTo(i, n, factor int, coordinates, mode string) int {
	num, den := i, factor // asymmetric
	switch coordinates {
	case "asymmetric":
	case "half_pixel", "half_pixel_symmetric":
		num, den = 2*i+1-factor, 2*factor
	case "pytorch_half_pixel":
		if num, den = 2*i+1-factor, 2*factor; n*factor == 1 {
			num = 0
		}
	case "tf_half_pixel_for_nn":
		num, den = 2*i+1, 2*factor
	case "align_corners":
		num, den = i*(n-1), max(1, n*factor-1)
	default:
		unsupported(nearest, "coordinate_transformation_mode %s", coordinates)
	}
	at := 0
	switch mode {
	case "floor":
		at = floorDiv(num, den)
	case "ceil":
		at = -floorDiv(-num, den)
	case "round_prefer_floor":
		at = -floorDiv(den-2*num, 2*den)
	case "round_prefer_ceil":
		at = floorDiv(2*num+den, 2*den)
	default:
		invalid("nearest_mode is %q", mode)
	}
	return max(0, min(at, n-1))
}

// floorDiv returns a/b rounded down, for a positive b.
func floorDiv(a, b int) int {
	if a < 0 {
		return -((b - 1 - a) / b)
	}
	return a / b
}

// blocks returns the data's shape and the block size of DepthToSpace and SpaceToDepth.
func (c *reading) blocks() (x []int, b int) {
	x = c.x
	size := c.IntAttrOr("blocksize", 0)
	if len(x) != 4 {
		invalid("data of shape %v, wants images", x)
	}
	if size < 1 || size > 1<<12 {
		invalid("a block size of %d", size)
	}
	return x, int(size)
}

func buildDepthToSpace(c *call) {
	x, b := c.blocks()
	if x[1]%(b*b) != 0 {
		invalid("%d channels in blocks of %d by %d", x[1], b, b)
	}
	ch, s := x[1]/(b*b), program.RowMajorStrides(x)
	row, column, channel := b*ch*s[1], ch*s[1], s[1] // strides in the channels, in mode DCR
	switch c.StringAttrOr("mode", "DCR") {
	case "DCR":
	case "CRD":
		row, column, channel = b*s[1], s[1], b*b*s[1]
	default:
		invalid("mode is %q", c.StringAttrOr("mode", ""))
	}
	index := c.p.strided([]int{x[0], ch, x[2], b, x[3], b}, []int{s[0], channel, s[2], row, s[3], column})
	c.pick([]int{x[0], ch, x[2] * b, x[3] * b}, index)
}

func buildSpaceToDepth(c *call) {
	x, b := c.blocks()
	if x[2]%b != 0 || x[3]%b != 0 {
		invalid("an image of %d by %d in blocks of %d", x[2], x[3], b)
	}
	s := program.RowMajorStrides(x)
	index := c.p.strided([]int{x[0], b, b, x[1], x[2] / b, x[3] / b}, []int{s[0], s[2], s[3], s[1], b * s[2], b * s[3]})
	c.pick([]int{x[0], b * b * x[1], x[2] / b, x[3] / b}, index)
}

package graph

import "slices"

// Operators that move the elements of images: padding, resizing, channels into pixels and back.

// moveOr adds an output whose element is the one of input 0 that stands where place says for its coordinate i along
// each axis, or, where an axis has none (-1), the only one of input 1.
func (c *call) moveOr(shape []int, place func(axis, i int) int) {
	c.p.room(shape)
	from, strides := make([][]int32, len(shape)), rowMajor(c.x)
	for a, n := range shape {
		for i := range n {
			at := place(a, i)
			if at >= 0 {
				at *= strides[a]
			}
			from[a] = append(from[a], int32(at))
		}
	}
	c.move(shape, c.dt, &Move{Places: placesOf(from)})
}

// buildPad reads ONNX's Pad in all its forms and writes it as one node of two inputs, the data and what stands in
// padded places.
func buildPad(c *call) {
	pads := c.padsOf(len(c.x))
	mode := c.Str("mode", "constant")
	attrs := Attrs{"pads": intsAttr(pads...), "mode": StringAttr(mode)}
	switch mode {
	case "constant":
	case "reflect", "edge", "wrap":
		for _, v := range pads {
			if v < 0 {
				unsupported("crop with Slice", "negative pads in mode %s", mode)
			}
		}
		c.last(Internal, "Pad", attrs, c.Inputs[0])
		return
	default:
		invalid("mode is %q", mode)
	}
	if !c.has(2) {
		c.last(Internal, "Pad", attrs, c.Inputs[0], c.number("value", c.dt, c.Float("value", 0)))
		return
	}
	if v := c.in[2]; Size(v.Shape) != 1 || v.DType.Float() != c.dt.Float() {
		invalid("a padding value of type %s and shape %v for data of type %s", v.DType, v.Shape, c.dt)
	}
	c.last(Internal, "Pad", attrs, c.Inputs[0], c.Inputs[2])
}

// Pads reports whether a node is the form that padding is written in.
func Pads(n *Node) bool { return n.Domain == Internal && n.Op == "Pad" }

// padsOf is the padding before and after each axis.
func (c *reading) padsOf(rank int) []int64 {
	pads := c.Ints("pads")
	if pads == nil {
		pads = c.Ints("paddings")
	}
	if c.has(1) {
		pads = c.constInts(1, "the padding")
	}
	list := counted[int64](rank)
	if c.has(3) {
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

// buildPadded is the form that padding is written in: attribute pads, before and after all axes, negative where it
// crops.
func buildPadded(c *call) {
	x, pads, mode := c.x, c.Ints("pads"), c.Str("mode", "constant")
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

// padded is the element of an axis of n that stands at place i, which may lie outside; -1 where it is the padding
// value.
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

// buildUpsample is Resize before there was Resize.
func buildUpsample(c *call) {
	resize(c, c.scales(1, c.Attrs["scales"].Floats), "asymmetric", "floor")
}

func buildResize(c *call) {
	if c.opset < 11 {
		resize(c, c.scales(1, nil), "asymmetric", "floor")
		return
	}
	if c.flag("antialias") || c.Str("keep_aspect_ratio_policy", "stretch") != "stretch" {
		unsupported(nearest, "antialias or keep_aspect_ratio_policy is set")
	}
	scales := c.scales(2, nil)
	if scales == nil {
		scales = c.sizes(3)
	}
	resize(c, scales, c.Str("coordinate_transformation_mode", "half_pixel"),
		c.Str("nearest_mode", "round_prefer_floor"))
}

// nearest is the hint for every resizing that is not supported.
const nearest = "resize with mode nearest and whole factors, which repeats pixels"

// resizedAxes are the axes that the factors of a Resize belong to, in order.
func (c *reading) resizedAxes(n int) []int {
	rank := len(c.x)
	list := c.Ints("axes")
	if list == nil {
		list = counted[int64](rank)
	}
	if len(list) != n {
		invalid("%d factors or sizes for %d axes", n, len(list))
	}
	var axes []int
	for _, v := range list {
		a := axis(v, rank)
		if c.Domain == channelsLast { // the operator in it counts axes with channels in front
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

// scales reads whole factors per axis from an input or an attribute; nil where there are none.
func (c *reading) scales(slot int, attr []float64) []int {
	if c.has(slot) {
		t := c.in[slot].Const
		if t == nil {
			unsupported("the factors must be constant", "the factors depend on the data")
		}
		for i := range t.Len() {
			attr = append(attr, t.At(i))
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

// sizes reads factors off the sizes that are asked for.
func (c *reading) sizes(slot int) []int {
	if !c.has(slot) {
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

// resize enlarges by whole factors: each element is the nearest one of the data.
func resize(c *call, scales []int, coordinates, mode string) {
	x := c.x
	if m := c.Str("mode", "nearest"); m != "nearest" {
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

// nearestTo is the element, of n along an axis that is enlarged by a whole factor, that place i takes: the one nearest
// to the place num/den among the data.
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

// floorDiv is the floor of a quotient; the divisor is positive.
func floorDiv(a, b int) int {
	if a < 0 {
		return -((b - 1 - a) / b)
	}
	return a / b
}

// blocks reads the data and the block size of DepthToSpace and SpaceToDepth.
func (c *reading) blocks() (x []int, b int) {
	x = c.x
	size := c.Int("blocksize", 0)
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
	ch, s := x[1]/(b*b), rowMajor(x)
	row, column, channel := b*ch*s[1], ch*s[1], s[1] // steps in the channels, in mode DCR
	switch c.Str("mode", "DCR") {
	case "DCR":
	case "CRD":
		row, column, channel = b*s[1], s[1], b*b*s[1]
	default:
		invalid("mode is %q", c.Str("mode", ""))
	}
	index := c.p.strided([]int{x[0], ch, x[2], b, x[3], b}, []int{s[0], channel, s[2], row, s[3], column})
	c.pick([]int{x[0], ch, x[2] * b, x[3] * b}, index)
}

func buildSpaceToDepth(c *call) {
	x, b := c.blocks()
	if x[2]%b != 0 || x[3]%b != 0 {
		invalid("an image of %d by %d in blocks of %d", x[2], x[3], b)
	}
	s := rowMajor(x)
	index := c.p.strided([]int{x[0], b, b, x[1], x[2] / b, x[3] / b}, []int{s[0], s[2], s[3], s[1], b * s[2], b * s[3]})
	c.pick([]int{x[0], b * b * x[1], x[2] / b, x[3] / b}, index)
}

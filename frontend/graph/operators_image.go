package graph

import "slices"

// Operators that move the elements of images: padding, resizing, channels into pixels and back.

// moveOr adds an output whose element is the one of input 0 that from says per axis (place times stride), or, where an
// axis has none (-1), the only one of input 1.
func (c *call) moveOr(shape []int, from [][]int32) *reject {
	m := &Move{Index: pickIndex(from)}
	for i, at := range m.Index {
		if at >= 0 {
			continue
		}
		if m.Input == nil {
			m.Input = make([]uint8, len(m.Index))
		}
		m.Input[i], m.Index[i] = 1, 0
	}
	return c.move(shape, c.dt, m)
}

// buildPad reads ONNX's Pad in all its forms and writes it as one node of two inputs, the data and what stands in
// padded places.
func buildPad(c *call) *reject {
	pads, r := c.padsOf(len(c.x))
	if r != nil {
		return r
	}
	mode := c.Str("mode", "constant")
	attrs := Attrs{"pads": intsAttr(pads...), "mode": StringAttr(mode)}
	switch mode {
	case "constant":
	case "reflect", "edge", "wrap":
		for _, v := range pads {
			if v < 0 {
				return unsupported("crop with Slice", "negative pads in mode %s", mode)
			}
		}
		return c.last(Internal, "Pad", attrs, c.Inputs[0])
	default:
		return invalid("mode is %q", mode)
	}
	if !c.has(2) {
		return c.last(Internal, "Pad", attrs, c.Inputs[0], c.number("value", c.dt, c.Float("value", 0)))
	}
	if v := c.in[2]; Size(v.Shape) != 1 || v.DType.Float() != c.dt.Float() {
		return invalid("a padding value of type %s and shape %v for data of type %s", v.DType, v.Shape, c.dt)
	}
	return c.last(Internal, "Pad", attrs, c.Inputs[0], c.Inputs[2])
}

// padsOf is the padding before and after each axis.
func (c *reading) padsOf(rank int) ([]int64, *reject) {
	pads := c.Ints("pads")
	if old := c.Ints("paddings"); pads == nil {
		pads = old
	}
	var r *reject
	if c.has(1) {
		if pads, r = c.constInts(1, "the padding"); r != nil {
			return nil, r
		}
	}
	list := counted(rank)
	if c.has(3) {
		if list, r = c.constInts(3, "axes"); r != nil {
			return nil, r
		}
	}
	if len(pads) != 2*len(list) {
		return nil, invalid("pads %v for %d axes", pads, len(list))
	}
	at, r := axes(list, rank)
	if r != nil {
		return nil, r
	}
	all := make([]int64, 2*rank)
	for i, a := range at {
		all[a], all[rank+a] = pads[i], pads[len(at)+i]
	}
	for _, v := range all {
		if v < -maxSide || v > maxSide {
			return nil, invalid("pads %v", pads)
		}
	}
	return all, nil
}

// buildPadded is the form that padding is written in: attribute pads, before and after all axes, negative where it
// crops.
func buildPadded(c *call) *reject {
	x, pads, mode := c.x, c.Ints("pads"), c.Str("mode", "constant")
	from, strides, shape := make([][]int32, len(x)), rowMajor(x), make([]int, len(x))
	for a, n := range x {
		before, after := int(pads[a]), int(pads[len(x)+a])
		shape[a] = n + before + after
		if shape[a] < 0 {
			return invalid("pads of %d and %d for an axis of %d elements", before, after, n)
		}
		if n == 0 && shape[a] > 0 && mode != "constant" {
			return invalid("an axis without elements is padded in mode %s", mode)
		}
	}
	if r := checkSize(shape); r != nil {
		return r
	}
	for a, n := range x {
		for i := range shape[a] {
			at := padded(i-int(pads[a]), n, mode)
			if at >= 0 {
				at *= strides[a]
			}
			from[a] = append(from[a], int32(at))
		}
	}
	return c.moveOr(shape, from)
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
func buildUpsample(c *call) *reject {
	scales, r := c.scales(1, c.Attrs["scales"].Floats)
	if r != nil {
		return r
	}
	return resize(c, scales, "asymmetric", "floor")
}

func buildResize(c *call) *reject {
	if c.opset < 11 {
		scales, r := c.scales(1, nil)
		if r != nil {
			return r
		}
		return resize(c, scales, "asymmetric", "floor")
	}
	if c.flag("antialias") || c.Str("keep_aspect_ratio_policy", "stretch") != "stretch" {
		return unsupported(nearest, "antialias or keep_aspect_ratio_policy is set")
	}
	scales, r := c.scales(2, nil)
	if r == nil && scales == nil {
		scales, r = c.sizes(3)
	}
	if r != nil {
		return r
	}
	return resize(c, scales, c.Str("coordinate_transformation_mode", "half_pixel"),
		c.Str("nearest_mode", "round_prefer_floor"))
}

// nearest is the hint for every resizing that is not supported.
const nearest = "resize with mode nearest and whole factors, which repeats pixels"

// resizedAxes are the axes that the factors of a Resize belong to, in order.
func (c *reading) resizedAxes(n int) ([]int, *reject) {
	rank := len(c.x)
	list := c.Ints("axes")
	if list == nil {
		list = counted(rank)
	}
	if len(list) != n {
		return nil, invalid("%d factors or sizes for %d axes", n, len(list))
	}
	var axes []int
	for _, v := range list {
		a, r := axis(v, rank)
		if r != nil {
			return nil, r
		}
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
	return axes, nil
}

// scales reads whole factors per axis from an input or an attribute; nil where there are none.
func (c *reading) scales(slot int, attr []float64) ([]int, *reject) {
	if c.has(slot) {
		t := c.in[slot].Const
		if t == nil {
			return nil, unsupported("the factors must be constant", "the factors depend on the data")
		}
		for i := range t.Len() {
			attr = append(attr, t.At(i))
		}
	}
	if len(attr) == 0 {
		return nil, nil
	}
	axes, r := c.resizedAxes(len(attr))
	if r != nil {
		return nil, r
	}
	out := slices.Repeat([]int{1}, len(c.x))
	for i, v := range attr {
		if !(v >= 1) || v > maxSide || v != float64(int(v)) {
			return nil, unsupported(nearest, "a factor of %v", v)
		}
		out[axes[i]] = int(v)
	}
	return out, nil
}

// sizes reads factors off the sizes that are asked for.
func (c *reading) sizes(slot int) ([]int, *reject) {
	if !c.has(slot) {
		return nil, invalid("neither factors nor sizes")
	}
	want, r := c.constInts(slot, "the size")
	if r != nil {
		return nil, r
	}
	axes, r := c.resizedAxes(len(want))
	if r != nil {
		return nil, r
	}
	out := slices.Repeat([]int{1}, len(c.x))
	for i, v := range want {
		n := int64(c.x[axes[i]])
		if v < 1 || v > maxElements || n < 1 {
			return nil, invalid("a size of %d for an axis of %d", v, n)
		}
		if v%n != 0 {
			return nil, unsupported(nearest, "an axis of %d is resized to %d", n, v)
		}
		out[axes[i]] = int(v / n)
	}
	return out, nil
}

// resize enlarges by whole factors: each element is the nearest one of the data.
func resize(c *call, scales []int, coordinates, mode string) *reject {
	x := c.x
	if m := c.Str("mode", "nearest"); m != "nearest" {
		return unsupported(nearest, "mode %s", m)
	}
	if scales == nil {
		return invalid("no factors")
	}
	from, shape, strides := make([][]int32, len(x)), make([]int, len(x)), rowMajor(x)
	for a, n := range x {
		if n > 0 && scales[a] > maxElements/n {
			return invalid("factors %v for shape %v", scales, x)
		}
		shape[a] = n * scales[a]
	}
	if r := checkSize(shape); r != nil {
		return r
	}
	for a, n := range x {
		for i := range shape[a] {
			at, r := nearestTo(i, n, scales[a], coordinates, mode)
			if r != nil {
				return r
			}
			from[a] = append(from[a], int32(at*strides[a]))
		}
	}
	return c.pick(shape, pickIndex(from))
}

// nearestTo is the element, of n along an axis that is enlarged by a whole factor, that place i takes: the one nearest
// to the place num/den among the data.
func nearestTo(i, n, factor int, coordinates, mode string) (int, *reject) {
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
		return 0, unsupported(nearest, "coordinate_transformation_mode %s", coordinates)
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
		return 0, invalid("nearest_mode is %q", mode)
	}
	return max(0, min(at, n-1)), nil
}

// floorDiv is the floor of a quotient; the divisor is positive.
func floorDiv(a, b int) int {
	if a < 0 {
		return -((b - 1 - a) / b)
	}
	return a / b
}

// blocks reads the data and the block size of DepthToSpace and SpaceToDepth.
func (c *reading) blocks() (x []int, b int, r *reject) {
	x = c.x
	size := c.Int("blocksize", 0)
	if len(x) != 4 {
		return nil, 0, invalid("data of shape %v, wants images", x)
	}
	if size < 1 || size > 1<<12 {
		return nil, 0, invalid("a block size of %d", size)
	}
	return x, int(size), nil
}

func buildDepthToSpace(c *call) *reject {
	x, b, r := c.blocks()
	if r != nil {
		return r
	}
	if x[1]%(b*b) != 0 {
		return invalid("%d channels in blocks of %d by %d", x[1], b, b)
	}
	ch, s := x[1]/(b*b), rowMajor(x)
	row, column, channel := b*ch*s[1], ch*s[1], s[1] // steps in the channels, in mode DCR
	switch c.Str("mode", "DCR") {
	case "DCR":
	case "CRD":
		row, column, channel = b*s[1], s[1], b*b*s[1]
	default:
		return invalid("mode is %q", c.Str("mode", ""))
	}
	index := c.p.strided([]int{x[0], ch, x[2], b, x[3], b}, []int{s[0], channel, s[2], row, s[3], column})
	return c.pick([]int{x[0], ch, x[2] * b, x[3] * b}, index)
}

func buildSpaceToDepth(c *call) *reject {
	x, b, r := c.blocks()
	if r != nil {
		return r
	}
	if x[2]%b != 0 || x[3]%b != 0 {
		return invalid("an image of %d by %d in blocks of %d", x[2], x[3], b)
	}
	s := rowMajor(x)
	index := c.p.strided([]int{x[0], b, b, x[1], x[2] / b, x[3] / b}, []int{s[0], s[2], s[3], s[1], b * s[2], b * s[3]})
	return c.pick([]int{x[0], b * b * x[1], x[2] / b, x[3] / b}, index)
}

package build

import (
	"hlsgen/frontend/graph"
)

// maxElements bounds a tensor of a random network: its cycles are simulated, with folds that may have no parallelism.
const maxElements = 400

// block adds one of the things that convolutional networks are made of. Its output is quantised, or a sum of codes.
func (n *canvas) block(x image) image {
	small := x.c*x.h*x.w <= maxElements/4
	switch k := n.rnd.IntN(16); {
	case k < 4:
		return n.layer(x)
	case k < 6:
		return n.residual(x)
	case k < 8:
		return n.branches(x)
	case k < 10:
		return n.average(x)
	case k == 10:
		return n.maxPool(x)
	case k == 11 && small && !n.last && x.zero:
		return n.code(n.transposed(x))
	case k == 12 && small:
		return n.enlarge(x)
	case k == 13 && !n.signal && !n.last && !x.mixed:
		return n.depth(x)
	case k == 14:
		return n.border(x)
	case k == 15 && !n.last:
		return n.shuffle(x)
	}
	return n.layer(x)
}

// layer is a convolution, what follows it, and a quantiser, with a max pool before or behind.
func (n *canvas) layer(x image) image {
	y := n.normalise(n.conv(x, 1+n.rnd.IntN(6), false))
	if n.chance(4) {
		y = n.maxPool(y)
	}
	if y = n.code(y); n.chance(6) {
		y = n.maxPool(y)
	}
	return y
}

// same is a layer that keeps the extents.
func (n *canvas) same(x image, out int) image {
	y := n.normalise(n.conv(x, out, true))
	return n.code(y)
}

// maxPool pads with what never wins.
func (n *canvas) maxPool(x image) image {
	s := n.slide(x, 3, false)
	for a, size := range []int{x.h, x.w} {
		if a == 0 && n.signal || !n.chance(3) {
			continue
		}
		s.before[a], s.after[a] = n.rnd.IntN(s.kernel[a]), n.rnd.IntN(s.kernel[a])
		s.out[a] = (size+s.before[a]+s.after[a]-(s.kernel[a]-1)*s.dilation[a]-1)/s.stride[a] + 1
	}
	y := n.fresh("m")
	n.geometry(n.windowed("MaxPool", x.name), s).Out(y)
	x.name, x.h, x.w = y, s.out[0], s.out[1]
	return x
}

// average is an average pool, which mostly is quantised again.
func (n *canvas) average(x image) image {
	y := n.fresh("a")
	s := n.slide(x, 3, false)
	s.dilation = [2]int{1, 1}
	for a, size := range []int{x.h, x.w} {
		if a == 0 && n.signal {
			continue
		}
		if x.zero && n.chance(3) {
			s.before[a], s.after[a] = n.rnd.IntN(s.kernel[a]), n.rnd.IntN(s.kernel[a])
		}
		s.out[a] = (size+s.before[a]+s.after[a]-s.kernel[a])/s.stride[a] + 1
	}
	pads := append(n.sized(s.before[:]...), n.sized(s.after[:]...)...)
	n.windowed("AveragePool", x.name).Ints("kernel_shape", n.sized(s.kernel[:]...)...).Ints("strides",
		n.sized(s.stride[:]...)...).Ints("pads", pads...).
		Int("count_include_pad", 1).Out(y)
	x.name, x.h, x.w = y, s.out[0], s.out[1]
	if n.chance(4) {
		return x
	}
	return n.code(x)
}

// residual adds what a layer makes of a tensor to the tensor, or to what another makes of it.
func (n *canvas) residual(x image) image {
	a, b := x, x
	if n.chance(3) {
		b = n.same(b, 1+n.rnd.IntN(4))
	}
	a = n.conv(a, b.c, true)
	if a.c != b.c { // depthwise
		b = n.code(n.conv1(x, a.c))
	}
	if a = n.normalise(a); n.chance(3) {
		a = n.same(n.code(a), a.c)
		if a.c != b.c {
			b = n.code(n.conv1(x, a.c))
		}
	} else {
		a = n.code(a)
	}
	y := image{name: n.fresh("r"), c: a.c, h: a.h, w: a.w}
	n.Node("Add", a.name, b.name).Out(y.name)
	if n.chance(2) {
		relu := n.fresh("f")
		n.Node("Relu", y.name).Out(relu)
		y.name = relu
	}
	return n.code(y)
}

// conv1 is a dense convolution of single pixels.
func (n *canvas) conv1(x image, out int) image {
	shape := append([]int{out, x.c}, n.ones()...)
	if n.last {
		shape = append(append([]int{out}, n.ones()...), x.c)
	}
	y := n.fresh("y")
	n.windowed("Conv", x.name, n.weights(0, shape)).Ints("kernel_shape", n.sized(1, 1)...).Out(y)
	return image{name: y, c: out, h: x.h, w: x.w}
}

// branches is several layers side by side, concatenated along channels and quantised together or each for itself with
// scales that have a small common unit.
func (n *canvas) branches(x image) image {
	together := n.chance(2)
	parts := []image{x}
	if x.c > 1 && n.chance(2) { // the input itself is split first
		first := 1 + n.rnd.IntN(x.c-1)
		a, b := n.fresh("s"), n.fresh("s")
		n.Node("Split", x.name, n.ints(first, x.c-first)).Int("axis", int64(n.axis())).Out(a, b)
		left, right := x, x
		left.name, left.c, right.name, right.c = a, first, b, x.c-first
		parts = []image{right, left}
	}
	if n.chance(2) {
		parts = append(parts, x)
	}
	var names []string
	out := image{h: x.h, w: x.w}
	scale := n.scale()
	for i, p := range parts {
		if i == 0 || n.chance(2) {
			p = n.same(p, 1+n.rnd.IntN(4))
		}
		if !together {
			p.name = n.quant(p.name, 2+n.rnd.IntN(3), n.chance(2), false, 0, n.scalar(scale*n.pick(1, 1, 0.5, 2)))
		}
		names, out.c = append(names, p.name), out.c+p.c
	}
	out.name, out.zero, out.mixed = n.fresh("c"), true, true
	n.Node("Concat", names...).Int("axis", int64(n.axis())).Out(out.name)
	if together {
		return n.code(out)
	}
	return out
}

// enlarge repeats pixels.
func (n *canvas) enlarge(x image) image {
	y, none := n.fresh("e"), n.fresh("none")
	n.Init(none, graph.DTypeFloat32, []int{0})
	up := []int{1, 1}
	if !n.signal {
		up[0] += n.rnd.IntN(2)
	}
	up[1] += n.rnd.IntN(2)
	v := []float64{1, 1}
	if !n.signal {
		v = append(v, float64(up[0]))
	}
	v = append(v, float64(up[1]))
	factors := n.fresh("e")
	n.Init(factors, graph.DTypeFloat32, []int{len(v)}, v...)
	n.windowed("Resize", x.name, none, factors).Str("mode", "nearest").Str("coordinate_transformation_mode",
		"asymmetric").Str("nearest_mode", "floor").Out(y)
	x.name, x.h, x.w = y, x.h*up[0], x.w*up[1]
	return x
}

// depth moves blocks of pixels to channels, or back.
func (n *canvas) depth(x image) image {
	y := n.fresh("d")
	switch {
	case x.c%4 == 0:
		n.Node("DepthToSpace", x.name).Int("blocksize", 2).Str("mode", []string{"DCR", "CRD"}[n.rnd.IntN(2)]).Out(y)
		x.c, x.h, x.w = x.c/4, x.h*2, x.w*2
	case x.h%2 == 0 && x.w%2 == 0:
		n.Node("SpaceToDepth", x.name).Int("blocksize", 2).Out(y)
		x.c, x.h, x.w = x.c*4, x.h/2, x.w/2
	default:
		return n.layer(x)
	}
	x.name = y
	return x
}

// border pads or crops rows and columns, or takes some of the channels.
func (n *canvas) border(x image) image {
	y, axes := n.fresh("p"), n.spatial()
	if x.zero && n.chance(2) {
		pads := make([]int, 2*len(n.shape(x)))
		for i, a := range axes {
			before, after := n.rnd.IntN(3), n.rnd.IntN(3)
			pads[a], pads[len(pads)/2+a] = before, after
			if i == len(axes)-1 {
				x.w += before + after
			} else {
				x.h += before + after
			}
		}
		n.Node("Pad", x.name, n.ints(pads...)).Out(y)
		x.name = y
		return n.same(x, 1+n.rnd.IntN(4)) // else nothing but padding may be left of it
	}
	size, axis := &x.w, axes[len(axes)-1]
	switch {
	case n.chance(3):
		size, axis = &x.c, n.axis()
	case !n.signal && n.chance(2):
		size, axis = &x.h, axes[0]
	}
	start, step := n.rnd.IntN(*size), 1+n.rnd.IntN(2)
	end := start + 1 + n.rnd.IntN(*size-start)
	n.Node("Slice", x.name, n.ints(start), n.ints(end), n.ints(axis), n.ints(step)).Out(y)
	*size = (end-start-1)/step + 1
	x.name = y
	return x
}

// shuffle exchanges the channels of two groups, as ShuffleNet does.
func (n *canvas) shuffle(x image) image {
	if x.c%2 != 0 {
		return n.layer(x)
	}
	a, b, c := n.fresh("g"), n.fresh("g"), n.fresh("g")
	n.Node("Reshape", x.name, n.ints(1, 2, x.c/2, x.h*x.w)).Out(a)
	n.Node("Transpose", a).Ints("perm", 0, 2, 1, 3).Out(b)
	n.Node("Reshape", b, n.ints(n.shape(x)...)).Out(c)
	x.name = c
	return x
}

// head ends the network: a global mean, a matrix, or nothing, with or without a last quantiser.
func (n *canvas) head(x image) {
	y, size := x.name, x.c*x.h*x.w
	if n.chance(3) {
		g := n.fresh("g")
		if n.chance(3) {
			var axes []int64
			for _, a := range n.spatial() {
				axes = append(axes, int64(a))
			}
			n.Node("ReduceMean", y).Ints("axes", axes...).Out(g)
		} else {
			n.windowed("GlobalAveragePool", y).Out(g)
		}
		size = x.c
		if y = g; n.chance(2) {
			y = n.quant(y, 4, n.chance(2), false, 0, n.step())
		}
	}
	if n.chance(2) {
		f := n.fresh("f")
		n.Node("Flatten", y).Out(f)
		out := 1 + n.rnd.IntN(5)
		if y = n.dense(f, size, out); n.chance(2) {
			y = n.quant(y, 4, n.chance(2), false, 0, n.step())
		}
	}
	n.Node("Identity", y).Out("out")
	n.Output("out", graph.DTypeFloat32)
}

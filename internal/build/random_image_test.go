package build

import (
	"math/rand/v2"

	"hlsgen/frontend/graph"
	"hlsgen/internal/testsupport/onnxtest"
)

// An image is a tensor of a random convolutional network: [1, c, h, w], or [1, h, w, c] with channels last; a signal
// has no h.
type image struct {
	name    string
	c, h, w int
	mixed   bool // parts of it have scales of their own
	zero    bool // the value 0 is one of them: it can be padded
}

// A canvas is a convolutional network in the making.
type canvas struct {
	*network
	signal, last bool
	scales       []string // of quantisers so far: residual networks share them
}

// randomImages has one to four blocks between an image and a head.
func randomImages(seed uint64) []byte { return drawnImages(seed).Bytes() }

func drawnImages(seed uint64) *onnxtest.Model {
	n := &canvas{network: &network{Model: onnxtest.New(14).Opset("qonnx.custom_op.general",
		2).Opset("finn.custom_op.general", 1).Opset("qonnx.custom_op.channels_last", 1),
		rnd: rand.New(rand.NewPCG(seed, 9))}}
	n.signal, n.last = n.chance(4), n.chance(4)
	x := image{name: "x", c: 1 + n.rnd.IntN(5), h: 1, w: 3 + n.rnd.IntN(6)}
	if !n.signal {
		x.h = 3 + n.rnd.IntN(5)
	}
	in := []any{"N"}
	for _, d := range n.shape(x)[1:] {
		in = append(in, d)
	}
	n.Input("x", graph.DTypeFloat32, in...)
	if x = n.code(x); n.chance(8) {
		x = n.code(x)
	}
	x = n.layer(x)
	for range n.rnd.IntN(4) {
		x = n.block(x)
	}
	n.head(x)
	return n.Model
}

// chance is true once in so many times.
func (n *canvas) chance(in int) bool { return n.rnd.IntN(in) == 0 }

func (n *canvas) shape(x image) []int {
	switch {
	case n.signal && n.last:
		return []int{1, x.w, x.c}
	case n.signal:
		return []int{1, x.c, x.w}
	case n.last:
		return []int{1, x.h, x.w, x.c}
	}
	return []int{1, x.c, x.h, x.w}
}

// axis is the axis of channels.
func (n *canvas) axis() int {
	if n.last {
		return len(n.spatial()) + 1
	}
	return 1
}

// spatial is the axes of rows and columns.
func (n *canvas) spatial() []int {
	first := 2
	if n.last {
		first = 1
	}
	if n.signal {
		return []int{first}
	}
	return []int{first, first + 1}
}

// sized cuts a pair of numbers along rows and columns to the axes that there are.
func (n *canvas) sized(v ...int) []int64 {
	if n.signal {
		v = v[1:]
	}
	out := make([]int64, len(v))
	for i, d := range v {
		out[i] = int64(d)
	}
	return out
}

// windowed adds an operator that QONNX has for channels last, too.
func (n *canvas) windowed(op string, in ...string) *onnxtest.Node {
	node := n.Node(op, in...)
	if n.last {
		node.Domain("qonnx.custom_op.channels_last")
	}
	return node
}

// perChannel is a constant that has one value per channel, or one for all.
func (n *canvas) perChannel(c int, f func() float64) string {
	if n.chance(3) {
		return n.scalar(f())
	}
	name, shape := n.fresh("v"), []int{c}
	if !n.last {
		shape = append(shape, n.ones()...)
	}
	v := make([]float64, c)
	for i := range v {
		v[i] = float64(float32(f()))
	}
	n.Init(name, graph.DTypeFloat32, shape, v...)
	return name
}

// ones is 1 for every axis of rows and columns.
func (n *canvas) ones() []int {
	if n.signal {
		return []int{1}
	}
	return []int{1, 1}
}

func (n *canvas) ints(v ...int) string {
	name := n.fresh("i")
	f := make([]float64, len(v))
	for i, d := range v {
		f[i] = float64(d)
	}
	n.Init(name, graph.DTypeInt64, []int{len(v)}, f...)
	return name
}

// step is a scale, often one that is there already.
func (n *canvas) step() string {
	if len(n.scales) > 0 && n.chance(2) {
		return n.scales[n.rnd.IntN(len(n.scales))]
	}
	n.scales = append(n.scales, n.scalar(n.scale()))
	return n.scales[len(n.scales)-1]
}

// code adds a quantiser.
func (n *canvas) code(x image) image {
	x.mixed, x.zero = false, true
	switch n.rnd.IntN(12) {
	case 0:
		x.name = n.bipolar(x.name, n.step())
	case 1:
		if n.signal {
			return n.code(x)
		}
		t := n.thresholds(x.name, x.c)
		if n.last {
			last := n.Proto.Graph.Node[len(n.Proto.Graph.Node)-1]
			last.Attribute = append(last.Attribute, onnxtest.New(0).Node("").Str("data_layout",
				"NHWC").Proto.Attribute...)
		}
		x.name, x.zero = t, false // out_bias may be odd
	case 2: // scales per channel with a small common unit
		x.mixed = true
		x.name = n.quant(x.name, 2+n.rnd.IntN(3), n.chance(2), false, 0,
			n.perChannel(x.c, func() float64 { return n.pick(0.25, 0.5, 0.75) }))
	case 3: // QCDQ
		zero, y := n.fresh("z"), n.fresh("q")
		n.Init(zero, graph.DTypeUInt8, nil, float64(n.rnd.IntN(20)))
		s := n.step()
		n.Node("QuantizeLinear", x.name, s, zero).Out(y + "c")
		n.Node("DequantizeLinear", y+"c", s, zero).Out(y)
		x.name = y
	default:
		signed := n.chance(2)
		x.name = n.quant(x.name, 2+n.rnd.IntN(4), signed, signed && n.chance(3), n.pick(0, 0, 0, 1, -1), n.step())
	}
	return x
}

// weights adds a quantised constant in one of many forms; scales may differ along the axis of outputs.
func (n *canvas) weights(axis int, shape []int) string {
	raw, w := n.fresh("w"), make([]float64, graph.ElementCount(shape))
	for i := range w {
		w[i] = float64(float32(n.rnd.NormFloat64()))
	}
	n.Init(raw, graph.DTypeFloat32, shape, w...)
	scale := n.scalar(n.scale() / 2)
	if n.chance(2) {
		each := make([]int, len(shape))
		for i := range each {
			each[i] = 1
		}
		each[axis] = shape[axis]
		v := make([]float64, shape[axis])
		for i := range v {
			v[i] = float64(float32(n.scale() / 2))
		}
		scale = n.fresh("v")
		n.Init(scale, graph.DTypeFloat32, each, v...)
	}
	if n.chance(4) {
		return n.bipolar(raw, scale)
	}
	return n.quant(raw, 2+n.rnd.IntN(3), true, n.chance(2), 0, scale)
}

// A sliding is the extents, steps and padding of a window that fits an image.
type sliding struct {
	kernel, stride, dilation, before, after [2]int
	out                                     [2]int
}

// slide draws a window for an image.
func (n *canvas) slide(x image, most int, padded bool) sliding {
	for {
		s := sliding{stride: [2]int{1, 1}, dilation: [2]int{1, 1}, kernel: [2]int{1, 1}}
		for a, size := range []int{x.h, x.w} {
			if a == 0 && n.signal {
				s.out[0] = 1
				continue
			}
			s.kernel[a], s.stride[a] = 1+n.rnd.IntN(most), 1+n.rnd.IntN(5)/3
			if n.chance(4) {
				s.dilation[a] = 2
			}
			if padded {
				s.before[a], s.after[a] = n.rnd.IntN(3), n.rnd.IntN(3)
			}
			s.out[a] = (size+s.before[a]+s.after[a]-(s.kernel[a]-1)*s.dilation[a]-1)/s.stride[a] + 1
			if size+s.before[a]+s.after[a] < (s.kernel[a]-1)*s.dilation[a]+1 {
				s.out[a] = 0
			}
		}
		if s.out[0] > 0 && s.out[1] > 0 {
			return s
		}
		if most > 1 {
			most--
		}
	}
}

func (n *canvas) geometry(node *onnxtest.Node, s sliding) *onnxtest.Node {
	pads := append(n.sized(s.before[:]...), n.sized(s.after[:]...)...)
	return node.Ints("kernel_shape", n.sized(s.kernel[:]...)...).Ints("strides",
		n.sized(s.stride[:]...)...).Ints("dilations", n.sized(s.dilation[:]...)...).Ints("pads", pads...)
}

// conv adds a convolution: dense, grouped or depthwise. Where same is true it keeps the extents.
func (n *canvas) conv(x image, out int, same bool) image {
	s := n.slide(x, 5, x.zero)
	if same {
		s = sliding{kernel: [2]int{1, 1}, stride: [2]int{1, 1}, dilation: [2]int{1, 1}, out: [2]int{x.h, x.w}}
		if x.zero && n.chance(2) {
			s.kernel = [2]int{3, 3}
			s.before, s.after = [2]int{1, 1}, [2]int{1, 1}
		}
	}
	groups := 1
	switch {
	case n.chance(3): // depthwise, each channel once or twice
		groups = x.c
		if out%x.c != 0 {
			out = x.c * (1 + n.rnd.IntN(2))
		}
	case x.c%2 == 0 && out%2 == 0 && n.chance(2):
		groups = 2
	}
	extents := []int{s.kernel[0], s.kernel[1]}
	if n.signal {
		extents = extents[1:]
	}
	shape := append([]int{out, x.c / groups}, extents...)
	if n.last {
		shape = append(append([]int{out}, extents...), x.c/groups)
	}
	in := []string{x.name, n.weights(0, shape)}
	if n.chance(3) {
		in = append(in, n.vector(out, n.rnd.NormFloat64))
	}
	y := n.fresh("y")
	n.geometry(n.windowed("Conv", in...), s).Int("group", int64(groups)).Out(y)
	return image{name: y, c: out, h: s.out[0], w: s.out[1]}
}

// transposed adds a transposed convolution.
func (n *canvas) transposed(x image) image {
	k, stride := 1+n.rnd.IntN(4), 1+n.rnd.IntN(2)
	out, groups := 1+n.rnd.IntN(4), 1
	if x.c%2 == 0 && n.chance(3) {
		groups = 2
	}
	shape := []int{x.c, out, 1, k}
	y := image{name: n.fresh("y"), c: out * groups, h: x.h, w: (x.w-1)*stride + k}
	pads, more := []int64{0, 0, 0, 0}, int64(0)
	if k > 1 && y.w > 2 && n.chance(2) {
		pads[1+n.rnd.IntN(2)*2] = 1
		y.w--
	}
	if stride > 1 && n.chance(2) {
		more = 1
		y.w++
	}
	if n.signal {
		shape = append(shape[:2], k)
	}
	node := n.Node("ConvTranspose", x.name, n.weights(1, shape)).Int("group", int64(groups))
	if n.signal {
		node.Ints("strides", int64(stride)).Ints("pads", pads[1], pads[3]).Ints("output_padding", more).Out(y.name)
	} else {
		node.Ints("strides", 1, int64(stride)).Ints("pads", pads...).Ints("output_padding", 0, more).Out(y.name)
	}
	return y
}

// normalise adds what exporters write between a convolution and its quantiser.
func (n *canvas) normalise(x image) image {
	x.mixed, x.zero = false, false
	if !n.chance(3) {
		gamma := n.vector(x.c, func() float64 { return n.pick(1, -1, 2.9e-7, 0, 1, 1, 1) * (0.2 + n.rnd.Float64()) })
		y := n.fresh("b")
		n.windowed("BatchNormalization", x.name, gamma, n.vector(x.c, n.rnd.NormFloat64),
			n.vector(x.c, n.rnd.NormFloat64), n.vector(x.c, func() float64 { return 0.1 + n.rnd.Float64() })).Out(y)
		x.name = y
	}
	y := n.fresh("f")
	switch n.rnd.IntN(8) {
	case 0:
		n.Node("LeakyRelu", x.name).Float("alpha", float32(n.pick(0.125, 0.1, 2, -0.5))).Out(y)
	case 1:
		n.Node("Add", n.perChannel(x.c, n.rnd.NormFloat64), x.name).Out(y)
	case 2:
		n.Node("Mul", x.name, n.perChannel(x.c, n.rnd.NormFloat64)).Out(y)
	case 3:
		return x
	case 4:
		y = n.function(x.name)
	default:
		n.Node("Relu", x.name).Out(y)
	}
	x.name = y
	return x
}

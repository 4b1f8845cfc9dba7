package graph

import (
	"math"
	"math/bits"
	"slices"
)

// FINN's operators of streamlined models: images have their channels last, and a convolution is Im2Col, which puts the
// elements of each window side by side, in front of MatMul.

// buildIm2Col is windows as rows: element (h, w, channel) of each window, in this order.
func buildIm2Col(c *call) {
	g := readIm2Col(c.reading)
	l := layout{last: true, shape: c.x, axes: []int{1, 2}}
	if len(c.x) != 4 {
		invalid("an image of shape %v, want four axes, channels last", c.x)
	}
	x := c.Inputs[0]
	if padded := g.pads[0] | g.pads[1] | g.pads[2] | g.pads[3]; padded != 0 {
		pads := []int64{0, g.pads[0], g.pads[1], 0, 0, g.pads[2], g.pads[3], 0}
		at := c.constant("pads", &Tensor{DType: Int64, Shape: []int{len(pads)}, I: pads})
		x = c.part("", "Pad", "padded", nil, x, at, c.number("value", c.dt, float64(c.Int("pad_value", 0))))
		l.shape = c.p.Known[x].Shape
	}
	h, w, channels := l.shape[1], l.shape[2], l.shape[3]
	var out [2]int
	for a, in := range []int{h, w} {
		free := in - (g.kernel[a]-1)*g.dilation[a] - 1
		if free < 0 {
			invalid("a kernel that spans more than the image of shape %v", l.shape)
		}
		out[a] = free/g.stride[a] + 1
	}
	shape := []int{l.shape[0], out[0], out[1], g.kernel[0] * g.kernel[1] * channels}
	checkSize(shape)
	index := make([]int64, 0, Size(shape))
	for n := range l.shape[0] {
		for at := range out[0] * out[1] {
			for k := range g.kernel[0] * g.kernel[1] {
				row := at/out[1]*g.stride[0] + k/g.kernel[1]*g.dilation[0]
				column := at%out[1]*g.stride[1] + k%g.kernel[1]*g.dilation[1]
				for ch := range channels {
					index = append(index, int64(((n*h+row)*w+column)*channels+ch))
				}
			}
		}
	}
	flat := c.reshaped(x, []int{Size(l.shape)})
	c.last("", Gather, along(0), flat, c.constant("places", &Tensor{DType: Int64, Shape: shape, I: index}))
}

// An im2col is how its windows lie.
type im2col struct {
	kernel, stride, dilation [2]int
	pads                     [4]int64 // above, left, below, right
}

// readIm2Col refuses what no convolution has.
func readIm2Col(c *reading) (g im2col) {
	g.kernel = c.sides("kernel_size", 2, 0, 1)
	g.stride, g.dilation = c.sides("stride", 2, 1, 1), c.sides("dilations", 2, 1, 1)
	if g.kernel[0] == 0 {
		invalid("no kernel_size")
	}
	pads := c.Ints("pad_amount")
	if pads != nil && len(pads) != 4 {
		invalid("pad_amount %v, want four", pads)
	}
	for i, v := range pads {
		if v < 0 || v > maxSide {
			invalid("pad_amount %v", pads)
		}
		g.pads[i] = v
	}
	return g
}

// lowered is a product of windows side by side with constant weights: the convolution that it was.
func lowered(d *decomposition) {
	n := d.windows[d.n.In(0)]
	w := d.constants[d.n.In(1)]
	if n == nil || w == nil || len(w.Shape) != 2 {
		return
	}
	kernel, pads := n.Ints("kernel_size"), n.Ints("pad_amount")
	if len(kernel) != 2 || kernel[0] < 1 || kernel[1] < 1 || kernel[0]*kernel[1] > int64(w.Shape[0]) ||
		n.Int("pad_value", 0) != 0 && len(pads) > 0 {
		return
	}
	shape := &Tensor{DType: Int64, Shape: []int{4}, I: []int64{kernel[0], kernel[1], -1, int64(w.Shape[1])}}
	at := d.fresh("shape")
	d.g.Init[at] = shape
	weights := d.add(Reshape, "kernel", nil, d.n.In(1), at)
	weights = d.add(Transpose, "kernel", Attrs{"perm": intsAttr(3, 0, 1, 2)}, weights)
	attrs := Attrs{"kernel_shape": n.Attrs["kernel_size"]}
	for from, to := range map[string]string{"stride": "strides", "dilations": "dilations", "pad_amount": "pads"} {
		if a, ok := n.Attrs[from]; ok {
			attrs[to] = a
		}
	}
	d.last("Conv", attrs, n.In(0), weights)
	d.nodes[len(d.nodes)-1].Domain = channelsLast
}

// xnorPopcount counts where two bits are the same: of n pairs, half of n and of the product of signs.
func xnorPopcount(d *decomposition) {
	w := d.constants[d.n.In(1)]
	if w == nil || len(w.Shape) != 2 {
		return
	}
	sign := func(bit string) string {
		return d.add("Sub", "sign", nil, d.add("Mul", "twice", nil, bit, d.number(2)), d.number(1))
	}
	product := d.add("MatMul", "product", nil, sign(d.n.In(0)), sign(d.n.In(1)))
	sum := d.add("Add", "sum", nil, product, d.number(float64(w.Shape[0])))
	d.last("Mul", nil, sum, d.number(0.5))
}

// quantAvgPool is the sum of windows of codes, of which the low bits are dropped that obits has no room for.
func quantAvgPool(d *decomposition) {
	n := d.n
	k, ibits, obits := n.Int("kernel", 1), n.Int("ibits", 1), n.Int("obits", 1)
	if k < 1 || k > 1<<10 || ibits < 1 || ibits > 32 || obits < 1 {
		return
	}
	most := uint64(k*k) * (1<<ibits - 1)
	drop := max(0, bits.Len64(most)-int(obits))
	mean := d.add("AveragePool", "mean", Attrs{"kernel_shape": intsAttr(int(k), int(k)),
		"strides": intsAttr(int(n.Int("stride", 1)), int(n.Int("stride", 1)))}, n.In(0))
	if n.Str("data_layout", "NCHW") == "NHWC" {
		d.nodes[len(d.nodes)-1].Domain = channelsLast
	}
	sum := d.add("Mul", "sum", nil, mean, d.number(float64(k*k)))
	d.last("Floor", nil, d.add("Mul", "part", nil, sum, d.number(math.Exp2(-float64(drop)))))
}

// number is a constant.
func (d *decomposition) number(v float64) string {
	name := d.fresh("number")
	d.g.Init[name] = filled(Float32, nil, v)
	return name
}

// im2cols are the Im2Col nodes of a graph, by what they give.
func im2cols(nodes []*Node) map[string]*Node {
	all := map[string]*Node{}
	for _, n := range nodes {
		if domainOf(n.Domain) == QONNX && n.Op == "Im2Col" && len(n.Inputs) == 1 && len(n.Outputs) == 1 {
			all[n.Outputs[0]] = n
		}
	}
	return all
}

// without leaves out Im2Col nodes that nothing reads any more.
func without(g *Graph, windows map[string]*Node) {
	if len(windows) == 0 {
		return
	}
	read := map[string]bool{}
	for _, v := range g.Outputs {
		read[v.Name] = true
	}
	for _, n := range g.Nodes {
		for _, in := range n.Inputs {
			read[in] = true
		}
	}
	g.Nodes = slices.DeleteFunc(g.Nodes, func(n *Node) bool {
		return windows[n.first()] == n && !read[n.first()]
	})
}

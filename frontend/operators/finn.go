package operators

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"hlsgen/frontend/graph"
)

// FINN's streamlining writes a convolution as two nodes on images whose channels are the last axis. Im2Col lists the
// pixels of every window, row by row and channel by channel within a pixel, and a MatMul multiplies them. This file
// restores the original operators:
//
//	MatMul(Im2Col(x), w)              Conv(Pad(x), w'), channels last
//	XnorPopcountMatMul(a, w)          (MatMul(2*a - 1, 2*w - 1) + K)/2
//	Im2Col(x) that others read, too   Gather(Pad(x), places)
//	QuantAvgPool2d                    Floor(AveragePool(x)*k*k / 2^n)
//	MaxPoolNHWC                       MaxPool, channels last

// A patches is an Im2Col node that only products with matrices read. An Im2Col is FINN's form of the windows of an
// image, as rows.
type patches struct {
	n        *graph.Node
	image    string // the padded image, once it is written
	channels int    // of the image, as the weights imply
	kernel   []int64
}

// patchesOf returns the Im2Col nodes of a graph that only products with constant matrices read, by output.
func patchesOf(g *graph.Graph, constants map[string]*graph.ConstantTensor) map[string]*patches {
	found := map[string]*patches{}
	for _, n := range g.Nodes {
		if n.Op == "Im2Col" && domainOf(n.Domain) == QONNXDomain && len(n.Outputs) == 1 && len(n.Inputs) == 1 {
			if kernel := n.IntsAttr("kernel_size"); len(kernel) == 2 && min(kernel[0], kernel[1]) > 0 {
				found[n.Outputs[0]] = &patches{n: n, kernel: kernel}
			}
		}
	}
	for _, n := range g.Nodes {
		for i, in := range n.Inputs {
			p := found[in]
			if p == nil {
				continue
			}
			multiplies := n.Op == OpMatMul && n.Domain == "" ||
				n.Op == "XnorPopcountMatMul" && domainOf(n.Domain) == QONNXDomain
			w, taps := constants[n.InputName(1)], p.kernel[0]*p.kernel[1]
			if i > 0 || !multiplies || w == nil || len(w.Shape) != 2 || taps > int64(w.Shape[0]) ||
				int64(w.Shape[0])%taps != 0 {
				delete(found, in)
				continue
			}
			p.channels = w.Shape[0] / int(taps)
		}
	}
	for _, o := range g.Outputs {
		delete(found, o.Name)
	}
	return found
}

// ints adds a constant vector of integers, and returns its name.
func (d *decomposition) ints(suffix string, v ...int64) string {
	name := d.fresh(suffix)
	d.g.Init[name] = &graph.ConstantTensor{DType: graph.DTypeInt64, Shape: []int{len(v)}, I: v}
	return name
}

// window returns an attribute of an Im2Col node, one number for each axis.
func (d *decomposition) window(name string) []int64 {
	if v := d.n.Attrs[name].Ints; len(v) == 2 {
		return v
	}
	return []int64{1, 1}
}

// im2col writes the padded image, if only products with matrices read the windows.
func im2col(d *decomposition) {
	p := d.patches[d.n.Outputs[0]]
	if p == nil {
		return
	}
	pads := [4]int64{}
	if p := d.n.Attrs["pad_amount"].Ints; len(p) == 4 {
		pads = [4]int64(p)
	}
	image := d.n.Inputs[0]
	if pads == [4]int64{} {
		image = d.add("Identity", "image", nil, image)
	} else {
		around := []int64{0, pads[0], pads[1], 0, 0, pads[2], pads[3], 0}
		value := float64(d.n.IntAttrOr("pad_value", 0))
		if opsetOf(d.g, "") < 11 {
			image = d.add("Pad", "image", graph.AttributesByName{"pads": intsAttr(around...),
				"value": graph.NewFloatAttr(value)},
				image)
		} else {
			image = d.add("Pad", "image", nil, image, d.ints("pads", around...), d.number(value))
		}
	}
	p.image = image
}

// buildIm2Col builds windows as rows: the elements (h, w, channel) of each window, in this order.
func buildIm2Col(c *call) {
	g := readIm2Col(c.reading)
	l := layout{last: true, shape: c.x, axes: []int{1, 2}}
	if len(c.x) != 4 {
		invalid("an image of shape %v, want four axes, channels last", c.x)
	}
	x := c.Inputs[0]
	if padded := g.pads[0] | g.pads[1] | g.pads[2] | g.pads[3]; padded != 0 {
		pads := []int64{0, g.pads[0], g.pads[1], 0, 0, g.pads[2], g.pads[3], 0}
		at := c.constant("pads", &graph.ConstantTensor{DType: graph.DTypeInt64, Shape: []int{len(pads)}, I: pads})
		x = c.part("", "Pad", "padded", nil, x, at, c.number("value", c.dt, float64(c.IntAttrOr("pad_value", 0))))
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
	index := make([]int64, 0, graph.ElementCount(shape))
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
	flat := c.reshaped(x, []int{graph.ElementCount(l.shape)})
	c.last("", OpGather, along(0), flat, c.constant("places", &graph.ConstantTensor{DType: graph.DTypeInt64,
		Shape: shape,
		I:     index}))
}

// A lowering holds the window parameters of an Im2Col.
type lowering struct {
	kernel, stride, dilation [2]int
	pads                     [4]int64 // above, left, below and right
}

// readIm2Col reads the parameters, and refuses those that no convolution can have.
func readIm2Col(c *reading) (g lowering) {
	g.kernel = c.sides("kernel_size", 2, 0, 1)
	g.stride, g.dilation = c.sides("stride", 2, 1, 1), c.sides("dilations", 2, 1, 1)
	if g.kernel[0] == 0 {
		invalid("no kernel_size")
	}
	pads := c.IntsAttr("pad_amount")
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

// matMulOfPatches writes a product with windows as a convolution.
func matMulOfPatches(d *decomposition) {
	if p := d.patches[d.n.Inputs[0]]; p != nil && p.image != "" {
		d.convolve(p, p.image, d.n.Inputs[1], d.n.Outputs[0])
	}
}

// convolve writes the convolution for a product of windows with weights.
func (d *decomposition) convolve(p *patches, image, weights, output string) {
	of := decomposition{n: p.n}
	attrs := graph.AttributesByName{"kernel_shape": intsAttr(p.kernel...), "strides": intsAttr(of.window("stride")...),
		"dilations": intsAttr(of.window("dilations")...)}
	rows := []int64{p.kernel[0], p.kernel[1], int64(p.channels), -1}
	if w, groups := d.depthwise(p, weights); groups > 0 {
		attrs["group"] = graph.NewIntAttr(groups)
		weights, rows[2] = w, 1
	}
	w := d.add(OpReshape, "rows", nil, weights, d.ints("shape", rows...))
	w = d.add(OpTranspose, "weights", graph.AttributesByName{"perm": intsAttr(3, 0, 1, 2)}, w)
	d.write("Conv", attrs, output, []string{image, w})
	d.nodes[len(d.nodes)-1].Domain = channelsLast
}

// depthwise returns the weights of a depthwise convolution, if FINN made the matrix of one: output c reads only channel
// c, and all other weights are zero. Otherwise, and for weights that are no reals, groups is 0.
func (d *decomposition) depthwise(p *patches, weights string) (name string, groups int) {
	w := d.constants[weights]
	if p.n.IntAttrOr("depthwise", 0) == 0 || w == nil || len(w.Shape) != 2 || w.Shape[1] != p.channels ||
		p.channels < 2 {
		return "", 0
	}
	taps, c := w.Shape[0]/p.channels, p.channels
	if taps*c != w.Shape[0] {
		return "", 0
	}
	own := &graph.ConstantTensor{DType: w.DType, Shape: []int{taps, c}}
	for i := range w.Len() {
		if in, out := i/c%c, i%c; in != out && w.FloatAt(i) != 0 {
			return "", 0
		}
	}
	for k := range taps {
		for ch := range c {
			own.F = append(own.F, w.FloatAt((k*c+ch)*c+ch))
		}
	}
	if !w.DType.IsReal() {
		return "", 0
	}
	name = d.fresh("own")
	d.g.Init[name] = own
	d.constants[name] = own
	return name, c
}

// xnor decomposes a count of products of ones and zeros, which stand for +1 and -1: (sum + K)/2.
func xnor(d *decomposition) {
	in := d.n.Inputs
	p, w := d.patches[in[0]], d.constants[in[1]]
	data, terms := in[0], 0
	switch {
	case p != nil && p.image != "":
		data, terms = p.image, int(p.kernel[0]*p.kernel[1])*p.channels
	case w != nil && len(w.Shape) == 2:
		terms = w.Shape[0]
	default:
		return
	}
	signs := func(x, suffix string) string {
		return d.add("Sub", suffix, nil, d.add("Mul", suffix, nil, x, d.number(2)), d.number(1))
	}
	a, b := signs(data, "a"), signs(in[1], "b")
	sum := ""
	if p != nil {
		sum = d.fresh("sum")
		d.convolve(p, a, b, sum)
	} else {
		sum = d.add(OpMatMul, "sum", nil, a, b)
	}
	d.last("Mul", nil, d.add(OpAdd, "positive", nil, sum, d.number(float64(terms))), d.number(0.5))
}

// quantAvgPool decomposes a sum over windows of codes. It drops the low bits for which obits has no room.
func quantAvgPool(d *decomposition) {
	n := d.n
	k, ibits, obits := n.IntAttrOr("kernel", 1), n.IntAttrOr("ibits", 1), n.IntAttrOr("obits", 1)
	if k < 1 || k > 1<<10 || ibits < 1 || ibits > 32 || obits < 1 {
		return
	}
	most := uint64(k*k) * (1<<ibits - 1)
	drop := max(0, bits.Len64(most)-int(obits))
	mean := d.add("AveragePool", "mean", graph.AttributesByName{"kernel_shape": intsAttr(int(k), int(k)),
		"strides": intsAttr(int(n.IntAttrOr("stride", 1)), int(n.IntAttrOr("stride", 1)))}, n.InputName(0))
	if n.StringAttrOr("data_layout", "NCHW") == "NHWC" {
		d.nodes[len(d.nodes)-1].Domain = channelsLast
	}
	sum := d.add("Mul", "sum", nil, mean, d.number(float64(k*k)))
	d.last("Floor", nil, d.add("Mul", "part", nil, sum, d.number(math.Exp2(-float64(drop)))))
}

// number adds a constant with one number, and returns its name.
func (d *decomposition) number(v float64) string {
	name := d.fresh("number")
	d.g.Init[name] = graph.NewFilledTensor(graph.DTypeFloat32, nil, v)
	return name
}

// A finnStage is a step of FINN's build, with a function that recognises nodes which no earlier step makes.
type finnStage struct {
	step string
	has  func(n *graph.Node) bool
}

// finnStages lists the steps from the last one to the first.
var finnStages = []finnStage{
	{"step_set_fifo_depths", func(n *graph.Node) bool { return strings.HasPrefix(n.Op, "StreamingFIFO") }},
	{"step_hw_ipgen", func(n *graph.Node) bool { return n.StringAttrOr("ipgen_path", "") != "" }},
	{"step_hw_codegen", func(n *graph.Node) bool {
		return n.StringAttrOr("code_gen_dir_ipgen", "") != "" || n.StringAttrOr("code_gen_dir_cppsim", "") != ""
	}},
	{"step_specialize_layers", func(n *graph.Node) bool {
		return strings.HasSuffix(n.Op, "_hls") || strings.HasSuffix(n.Op, "_rtl") ||
			strings.HasSuffix(n.Domain, ".hls") || strings.HasSuffix(n.Domain, ".rtl")
	}},
	{"step_create_dataflow_partition", isPartition},
	{"step_convert_to_hw", func(*graph.Node) bool { return true }},
}

// finnHardware is the domain of FINN's hardware layers, and the prefix of its subdomains.
const finnHardware = "finn.custom_op.fpgadataflow"

// isPartition reports whether a node stands for the layers of a partition of a graph.
func isPartition(n *graph.Node) bool {
	return n.Op == "StreamingDataflowPartition" || n.Op == "GenericPartition" && IsQuantisationDomain(n.Domain)
}

// finnLayer reports whether a node is a hardware layer of FINN, or a partition of such layers.
func finnLayer(n *graph.Node) bool {
	return strings.HasPrefix(n.Domain, finnHardware) || isPartition(n)
}

// finnStep returns the name of the last step of FINN's build that the graph has passed. It returns "" if the graph has
// no hardware layers.
func finnStep(nodes []*graph.Node) string {
	var layers []*graph.Node
	for _, n := range nodes {
		if finnLayer(n) {
			layers = append(layers, n)
		}
	}
	if len(layers) == 0 {
		return ""
	}
	for _, s := range finnStages {
		if slices.ContainsFunc(layers, s.has) {
			return s.step
		}
	}
	return ""
}

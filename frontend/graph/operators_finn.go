package graph

import (
	"slices"
	"strconv"
	"strings"
)

// FINN's streamlining writes a convolution as two nodes on images whose channels are the last axis: Im2Col lists the
// pixels of every window, row by row and channel by channel within a pixel, and a MatMul multiplies them. They are read
// as what they were made of:
//
//	MatMul(Im2Col(x), w)              Conv(Pad(x), w'), channels last
//	XnorPopcountMatMul(a, w)          (MatMul(2*a - 1, 2*w - 1) + K)/2
//	Im2Col(x) that others read, too   Concat of strided Slices of Pad(x)
//	MaxPoolNHWC                       MaxPool, channels last

// patches is an Im2Col whose windows are multiplied with matrices and nothing else.
type patches struct {
	n        *Node
	image    string // padded, once it is written
	channels int
	kernel   []int64
}

// patchesOf finds them among nodes, by output.
func patchesOf(g *Graph) map[string]*patches {
	found := map[string]*patches{}
	for _, n := range g.Nodes {
		if n.Op == "Im2Col" && domainOf(n.Domain) == QONNX && len(n.Outputs) == 1 && len(n.Inputs) == 1 {
			kernel, shape := n.Attrs["kernel_size"].Ints, inputShape(n)
			if len(kernel) == 2 && len(shape) == 4 {
				found[n.Outputs[0]] = &patches{n: n, channels: shape[3], kernel: kernel}
			}
		}
	}
	for _, n := range g.Nodes {
		for i, in := range n.Inputs {
			multiplies := n.Op == MatMul && n.Domain == "" || n.Op == "XnorPopcountMatMul" && domainOf(n.Domain) == QONNX
			if i > 0 || !multiplies {
				delete(found, in)
			}
		}
	}
	for _, o := range g.Outputs {
		delete(found, o.Name)
	}
	return found
}

// inputShape is the shape that an Im2Col says its input has, as in "(1,28,28,3)"; nil where it says none.
func inputShape(n *Node) (shape []int) {
	for _, s := range strings.Split(strings.Trim(n.Str("input_shape", ""), "()[] "), ",") {
		v, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || v < 1 {
			return nil
		}
		shape = append(shape, v)
	}
	return shape
}

// ints is a constant of integers.
func (d *decomposition) ints(suffix string, v ...int64) string {
	name := d.fresh(suffix)
	d.g.Init[name] = &Tensor{DType: Int64, Shape: []int{len(v)}, I: v}
	return name
}

func (d *decomposition) real32(suffix string, v float64) string {
	name := d.fresh(suffix)
	d.g.Init[name] = &Tensor{DType: Float32, F: []float64{v}}
	return name
}

// window is the attribute of an Im2Col for both axes.
func (d *decomposition) window(name string) []int64 {
	if v := d.n.Attrs[name].Ints; len(v) == 2 {
		return v
	}
	return []int64{1, 1}
}

// im2col writes the padded image, and, where others than matrices read it, the windows.
func im2col(d *decomposition) {
	shape, kernel := inputShape(d.n), d.n.Attrs["kernel_size"].Ints
	if len(shape) != 4 || len(kernel) != 2 {
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
		value := float64(d.n.Int("pad_value", 0))
		if d.g.opset("") < 11 {
			image = d.add("Pad", "image", Attrs{"pads": intsAttr(around...), "value": FloatAttr(value)}, image)
		} else {
			image = d.add("Pad", "image", nil, image, d.ints("pads", around...), d.real32("value", value))
		}
	}
	if p := d.patches[d.n.Outputs[0]]; p != nil {
		p.image = image
		return
	}
	if d.g.opset("") < 10 {
		return // a Slice has no steps
	}
	stride, dilation := d.window("stride"), d.window("dilations")
	var out [2]int64
	for i := range out {
		left := int64(shape[1+i]) + pads[i] + pads[2+i] - dilation[i]*(kernel[i]-1) - 1
		if left < 0 || stride[i] < 1 || dilation[i] < 1 {
			return
		}
		out[i] = left / stride[i]
	}
	var parts []string
	for y := range kernel[0] {
		for x := range kernel[1] {
			first := []int64{y * dilation[0], x * dilation[1]}
			parts = append(parts, d.add("Slice", "window", nil, image, d.ints("starts", first...),
				d.ints("ends", first[0]+out[0]*stride[0]+1, first[1]+out[1]*stride[1]+1), d.ints("axes", 1, 2),
				d.ints("steps", stride...)))
		}
	}
	d.last(Concat, along(3), parts...)
}

// matMulOfPatches is a convolution.
func matMulOfPatches(d *decomposition) {
	if p := d.patches[d.n.Inputs[0]]; p != nil && p.image != "" {
		d.convolve(p, p.image, d.n.Inputs[1], d.n.Outputs[0])
	}
}

// convolve writes the product of windows with weights.
func (d *decomposition) convolve(p *patches, image, weights, output string) {
	of := decomposition{n: p.n}
	attrs := Attrs{"kernel_shape": intsAttr(p.kernel...), "strides": intsAttr(of.window("stride")...),
		"dilations": intsAttr(of.window("dilations")...)}
	rows := []int64{p.kernel[0], p.kernel[1], int64(p.channels), -1}
	if w, groups := d.depthwise(p, weights); groups > 0 {
		attrs["group"] = IntAttr(groups)
		weights, rows[2] = w, 1
	}
	w := d.add(Reshape, "rows", nil, weights, d.ints("shape", rows...))
	w = d.add(Transpose, "weights", Attrs{"perm": intsAttr(3, 0, 1, 2)}, w)
	d.write("Conv", attrs, output, []string{image, w})
	d.nodes[len(d.nodes)-1].Domain = channelsLast
}

// depthwise is the weights that are not zero by design, of a matrix that FINN made of a depthwise convolution: output c
// sees channel c alone. groups is 0 where the matrix is none.
func (d *decomposition) depthwise(p *patches, weights string) (name string, groups int) {
	w := d.constants[weights]
	if p.n.Int("depthwise", 0) == 0 || w == nil || len(w.Shape) != 2 || w.Shape[1] != p.channels || p.channels < 2 {
		return "", 0
	}
	taps, c := w.Shape[0]/p.channels, p.channels
	if taps*c != w.Shape[0] {
		return "", 0
	}
	own := &Tensor{DType: w.DType, Shape: []int{taps, c}}
	for i := range w.Len() {
		if in, out := i/c%c, i%c; in != out && w.At(i) != 0 {
			return "", 0
		}
	}
	for k := range taps {
		for ch := range c {
			own.F = append(own.F, w.At((k*c+ch)*c+ch))
		}
	}
	if !w.DType.Float() {
		return "", 0
	}
	name = d.fresh("own")
	d.g.Init[name] = own
	d.constants[name] = own
	return name, c
}

// xnor is the products of ones and zeros that stand for +1 and -1, counted: (sum + K)/2.
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
		return d.add("Sub", suffix, nil, d.add("Mul", suffix, nil, x, d.real32("two", 2)), d.real32("one", 1))
	}
	a, b := signs(data, "a"), signs(in[1], "b")
	sum := ""
	if p != nil {
		sum = d.fresh("sum")
		d.convolve(p, a, b, sum)
	} else {
		sum = d.add(MatMul, "sum", nil, a, b)
	}
	d.last("Mul", nil, d.add(Add, "positive", nil, sum, d.real32("terms", float64(terms))), d.real32("half", 0.5))
}

// A finnStage is a step of FINN's build by what its graph has that no earlier one has.
type finnStage struct {
	step string
	has  func(n *Node) bool
}

// finnStages are in the order of the build, the last first.
var finnStages = []finnStage{
	{"step_set_fifo_depths", func(n *Node) bool { return strings.HasPrefix(n.Op, "StreamingFIFO") }},
	{"step_hw_ipgen", func(n *Node) bool { return n.Str("ipgen_path", "") != "" }},
	{"step_hw_codegen", func(n *Node) bool { return n.Str("code_gen_dir_ipgen", "") != "" }},
	{"step_specialize_layers", func(n *Node) bool {
		return strings.HasSuffix(n.Op, "_hls") || strings.HasSuffix(n.Op, "_rtl") ||
			strings.HasSuffix(n.Domain, ".hls") || strings.HasSuffix(n.Domain, ".rtl")
	}},
	{"step_create_dataflow_partition", func(n *Node) bool { return n.Op == "StreamingDataflowPartition" }},
	{"step_convert_to_hw", func(*Node) bool { return true }},
}

// finnHardware is the domain of FINN's layers of hardware, and where its parts' domains begin.
const finnHardware = "finn.custom_op.fpgadataflow"

// finnStep is the last step of FINN's build that a graph has been through, of which a node is a layer of hardware;
// empty where it has been through none that makes such layers.
func finnStep(nodes []*Node) string {
	var layers []*Node
	for _, n := range nodes {
		if strings.HasPrefix(n.Domain, finnHardware) {
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

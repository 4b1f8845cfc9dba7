package operators

import (
	"maps"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// DecomposeOperators replaces composite operators by several nodes of other operators with the same meaning:
//
//	QLinearX(a, as, az, ..., ys, yz)   QuantizeLinear(X(DequantizeLinear(a, as, az), ...), ys, yz)
//	QGemm(a, as, az, b, bs, bz, c, ys, yz)  as QLinearX, with Gemm; real without ys
//	MatMulInteger(a, b, az, bz)        MatMul(a - az, b - bz) in int32
//	MatMulIntegerToFloat(a, b, as, bs, az, bz, c)  MatMul(DequantizeLinear(a, as, az), ...) + c
//	ConvInteger(x, w, xz, wz)          Conv(x - xz, w - wz) in int32
//
// It undoes FINN's streamlining (finn.go).
//
// onnxruntime's own domain repeats operators of ONNX with more types or other layouts: DecomposeOperators gives these
// ONNX' names. It also moves QONNX' operators to QONNX' domain; exporters before 2022 put them into ONNX' domain.
//
// In a product of matrices, vectors of scales and zero points belong to the rows of a and y and to the columns of b.
// In a convolution they belong to the output channels of the weights. The scale of a convolution's bias is the product
// of the scales of data and weights.
//
// DecomposeOperators also works in the bodies of loops.
func DecomposeOperators(g *graph.Graph) { decompose(g, nil) }

// decompose decomposes a graph. around holds the constants of the graph around a body.
func decompose(g *graph.Graph, around map[string]*graph.ConstantTensor) {
	taken, constants := g.UsedTensorNames(), constantsOf(g, around)
	var nodes []*graph.Node
	patches := patchesOf(g, constants)
	for _, n := range g.Nodes {
		n = settled(n)
		d := decomposition{g: g, n: n, taken: taken, constants: constants, patches: patches}
		if c, ok := compositeOf(n); ok && len(n.Outputs) == 1 && len(n.Inputs) >= c.least {
			c.write(&d)
		}
		if d.nodes == nil {
			d.nodes = []*graph.Node{n}
		}
		nodes = append(nodes, d.nodes...)
		if body := n.Attrs["body"].G; body != nil {
			decompose(body, constants)
		}
	}
	g.Nodes = nodes
}

// compositeOf returns the decomposition of a node's operator. ok is false if the operator is not a composite.
func compositeOf(n *graph.Node) (composite, bool) {
	c, ok := composites[domainOf(n.Domain)][n.Op]
	return c, ok
}

// A composite is an operator that others replace. Its write does so for nodes of at least the given number of inputs,
// and leaves a form that it does not support.
type composite struct {
	least int
	write func(*decomposition)
}

var composites = map[string]map[string]composite{
	"": {
		"QLinearMatMul": {8, qlinearMatMul},
		"QLinearConv":   {8, qlinearConv},
		"MatMulInteger": {2, matMulInteger},
		"ConvInteger":   {2, convInteger},
		OpMatMul:        {2, matMulOfPatches},
	},
	QONNXDomain: {
		"Im2Col":             {1, im2col},
		"XnorPopcountMatMul": {2, xnor},
		"MaxPoolNHWC":        {1, renamed(channelsLast, "MaxPool")},
		"QuantAvgPool2d":     {1, quantAvgPool},
	},
	microsoft: {
		"QLinearAdd":               {7, qlinear(2, plainly("Add"))},
		"QLinearMul":               {7, qlinear(2, plainly("Mul"))},
		"QLinearSigmoid":           {4, qlinear(1, plainly("Sigmoid"))},
		"QLinearLeakyRelu":         {4, qlinear(1, plainly("LeakyRelu"))},
		"QLinearAveragePool":       {4, qlinear(1, plainly("AveragePool"))},
		"QLinearGlobalAveragePool": {4, qlinear(1, plainly("GlobalAveragePool"))},
		"QLinearReduceMean":        {4, qlinear(1, plainly("ReduceMean"))},
		"QLinearSoftmax":           {4, qlinear(1, softmaxOf)},
		"QLinearWhere":             {8, qlinearWhere},
		"QLinearConcat":            {5, qlinearConcat},
		"QLinearConv":              {8, qlinearConv},
		"QGemm":                    {6, qgemm},
		"MatMulIntegerToFloat":     {4, matMulToFloat},
		"QuantizeLinear":           {2, renamed("", "QuantizeLinear")},
		"DequantizeLinear":         {2, renamed("", "DequantizeLinear")},
		"NhwcMaxPool":              {1, renamed(channelsLast, "MaxPool")},
		"FusedConv":                {2, fusedConv},
		"FusedGemm":                {2, fusedGemm},
		"FusedMatMul":              {2, fusedMatMul},
		"TransposeMatMul":          {2, fusedMatMul},
		"MatMulInteger16":          {2, matMulInteger},
		"Pad":                      {2, renamed("", "Pad")},
		"Range":                    {3, renamed("", "Range")},
		"Trilu":                    {1, renamed("", "Trilu")},
	},
}

// microsoft is the domain of onnxruntime's own operators.
const microsoft = "com.microsoft"

// settled returns a node with the domain to which its operator belongs. Exporters before 2022 put QONNX' operators into
// ONNX' domain, which has no operators with their names.
func settled(n *graph.Node) *graph.Node {
	_, own := operators[""][n.Op]
	_, known := operators[QONNXDomain][n.Op]
	if n.Domain != "" || own || !known {
		return n
	}
	m := *n
	m.Domain, m.Was = QONNXDomain, n.QualifiedOpName()
	return &m
}

// renamed returns a decomposition that replaces an operator by the same operator of another domain.
func renamed(domain, op string) func(*decomposition) {
	return func(d *decomposition) {
		n := *d.n
		n.Domain, n.Op, n.Was = domain, op, d.n.QualifiedOpName()
		d.nodes = append(d.nodes, &n)
	}
}

func qlinearMatMul(d *decomposition) {
	in := d.n.Inputs
	if len(in) != 8 {
		return
	}
	a := d.add("DequantizeLinear", "a", along(-2), in[0], in[1], in[2])
	b := d.add("DequantizeLinear", "b", along(-1), in[3], in[4], in[5])
	d.last("QuantizeLinear", along(-2), d.add("MatMul", "product", nil, a, b), in[6], in[7])
}

func qlinearConv(d *decomposition) {
	in := d.n.Inputs
	last := d.n.Domain == microsoft && d.n.IntAttrOr("channels_last", 0) != 0
	w := d.constants[in[3]]
	if len(in) > 9 || last && (w == nil || len(w.Shape) < 3) {
		return
	}
	x := d.add("DequantizeLinear", "x", along(0), in[0], in[1], in[2])
	if last { // the weights have the usual layout
		x = d.add(OpTranspose, "x", graph.AttributesByName{"perm": intsAttr(channelsFirst(len(w.Shape))...)}, x)
	}
	inputs := []string{x, d.add("DequantizeLinear", "w", along(0), in[3], in[4], in[5])}
	if bias := d.n.InputName(8); bias != "" {
		scale := d.add("Mul", "scale", nil, in[1], in[4])
		inputs = append(inputs, d.add("DequantizeLinear", "bias", along(0), bias, scale))
	}
	y := d.add("Conv", "sums", d.n.Attrs, inputs...)
	if last {
		y = d.add(OpTranspose, "sums", graph.AttributesByName{"perm": intsAttr(channelsBehind(len(w.Shape))...)}, y)
		d.last("QuantizeLinear", along(-1), y, in[6], in[7])
		return
	}
	d.last("QuantizeLinear", along(1), y, in[6], in[7])
}

// channelsFirst returns the permutation that moves the last of rank axes behind the first; channelsBehind returns its
// inverse.
func channelsFirst(rank int) []int {
	return append([]int{0, rank - 1}, program.NewCountingSlice[int](rank)[1:rank-1]...)
}

func channelsBehind(rank int) []int {
	return append(append([]int{0}, program.NewCountingSlice[int](rank)[2:]...), 1)
}

// qgemm decomposes QGemm. C has the scale of the product before alpha. Without an output scale the result is real.
func qgemm(d *decomposition) {
	in := d.n.Inputs
	if len(in) > 9 {
		return
	}
	columns := along(1)
	if d.n.IsFlagAttrSet("transB") {
		columns = along(0)
	}
	inputs := []string{d.add("DequantizeLinear", "a", along(0), in[0], in[1], in[2]),
		d.add("DequantizeLinear", "b", columns, in[3], in[4], in[5])}
	attrs := graph.AttributesByName{}
	for _, name := range []string{"alpha", "transA", "transB"} {
		if a, ok := d.n.Attrs[name]; ok {
			attrs[name] = a
		}
	}
	if c := d.n.InputName(6); c != "" {
		scale := d.add("Mul", "scale", nil, in[1], in[4])
		inputs = append(inputs, d.add("DequantizeLinear", "c", along(-1), c, scale))
		attrs["beta"] = graph.NewFloatAttr(d.n.FloatAttrOr("alpha", 1))
	}
	if d.n.InputName(7) == "" {
		d.last("Gemm", attrs, inputs...)
		return
	}
	d.quantise(d.add("Gemm", "real", attrs, inputs...), 7, 2)
}

// matMulToFloat decomposes a product of matrices with a real result.
func matMulToFloat(d *decomposition) {
	n := d.n
	a := d.add("DequantizeLinear", "a", along(-2), n.Inputs[0], n.Inputs[2], n.InputName(4))
	b := d.add("DequantizeLinear", "b", along(-1), n.Inputs[1], n.Inputs[3], n.InputName(5))
	if bias := n.InputName(6); bias != "" {
		d.last(OpAdd, nil, d.add(OpMatMul, "product", nil, a, b), bias)
		return
	}
	d.last(OpMatMul, nil, a, b)
}

func matMulInteger(d *decomposition) {
	n := d.n
	if n.InputName(2) != "" && d.constants[n.InputName(2)] == nil {
		return
	}
	a, b := d.wide("a", n.Inputs[0]), d.wide("b", n.Inputs[1])
	if z := n.InputName(2); z != "" {
		a = d.add("Sub", "a", nil, a, d.wide("az", d.upright(z, 2)))
	}
	if z := n.InputName(3); z != "" {
		b = d.add("Sub", "b", nil, b, d.wide("bz", z))
	}
	d.last("MatMul", nil, a, b)
}

func convInteger(d *decomposition) {
	n := d.n
	w := d.constants[n.Inputs[1]]
	if n.InputName(3) != "" && (d.constants[n.InputName(3)] == nil || w == nil || len(w.Shape) == 0) {
		return
	}
	x, weights := d.wide("x", n.Inputs[0]), d.wide("w", n.Inputs[1])
	if z := n.InputName(2); z != "" {
		x = d.add("Sub", "x", nil, x, d.wide("xz", z))
	}
	if z := n.InputName(3); z != "" {
		weights = d.add("Sub", "w", nil, weights, d.wide("wz", d.upright(z, len(w.Shape))))
	}
	d.last("Conv", n.Attrs, x, weights)
}

// qlinear returns the decomposition of a real operator on n quantised tensors. Each input and the result has a scale
// and a zero point; those of the result come last. of writes the real operator.
func qlinear(n int, of func(d *decomposition, inputs []string) string) func(*decomposition) {
	return func(d *decomposition) {
		var inputs []string
		for i := range n {
			inputs = append(inputs, d.real(3*i))
		}
		d.quantise(of(d, inputs), 3*n, 2)
	}
}

// plainly returns a function that writes the real operator op, with the attributes of the quantised one.
func plainly(op string) func(d *decomposition, inputs []string) string {
	return func(d *decomposition, inputs []string) string {
		y := d.add(op, "real", d.n.Attrs, inputs...)
		if d.n.IntAttrOr("channels_last", 0) != 0 {
			d.nodes[len(d.nodes)-1].Domain = channelsLast
		}
		return y
	}
}

// softmaxOf writes a softmax as defined by the version of ONNX in the attribute opset. Before version 13 it joins all
// axes from a given one on.
func softmaxOf(d *decomposition, inputs []string) string {
	x := inputs[0]
	if version := d.n.IntAttrOr("opset", 13); version >= 13 {
		return d.add("Softmax", "real", graph.AttributesByName{"axis": graph.NewIntAttr(int(d.n.IntAttrOr("axis",
			-1)))}, x)
	}
	flat := d.add("Flatten", "flat", along(int(d.n.IntAttrOr("axis", 1))), x)
	y := d.add("Softmax", "real", along(1), flat)
	return d.add(OpReshape, "real", nil, y, d.add("Shape", "shape", nil, x))
}

// qlinearWhere decomposes a choice between two quantised tensors.
func qlinearWhere(d *decomposition) {
	d.quantise(d.add("Where", "real", nil, d.n.Inputs[0], d.real(1), d.real(4)), 7, 3)
}

// qlinearConcat decomposes a Concat whose output scale and zero point are its first inputs.
func qlinearConcat(d *decomposition) {
	if len(d.n.Inputs)%3 != 2 {
		return
	}
	var inputs []string
	for i := 2; i < len(d.n.Inputs); i += 3 {
		inputs = append(inputs, d.real(i))
	}
	d.quantise(d.add("Concat", "real", d.n.Attrs, inputs...), 0, 4)
}

// real writes the real values of quantised input i, whose scale and zero point are the next two inputs. It returns
// their name.
func (d *decomposition) real(i int) string {
	return d.add("DequantizeLinear", "x", along(0), d.n.Inputs[i], d.n.Inputs[i+1], d.n.InputName(i+2))
}

// quantise writes the last node, which quantises y with the scale at input i and the zero point after it. If there is
// no zero point, the codes have the type of the zero point at input like.
func (d *decomposition) quantise(y string, i, like int) {
	attrs, zero := along(1), d.n.InputName(i+1)
	if t := d.constants[d.n.InputName(like)]; zero == "" && t != nil {
		attrs["output_dtype"] = graph.NewIntAttr(int(t.DType))
	}
	d.last("QuantizeLinear", attrs, y, d.n.Inputs[i], zero)
}

type decomposition struct {
	g     *graph.Graph
	n     *graph.Node
	nodes []*graph.Node

	taken     graph.UsedTensorNames
	constants map[string]*graph.ConstantTensor
	patches   map[string]*patches
}

// wide writes a Cast to int32, which holds the difference of two bytes, and returns its output's name.
func (d *decomposition) wide(suffix, tensor string) string {
	return d.add("Cast", suffix, castTo(graph.DTypeInt32), tensor)
}

// upright returns a constant vector in a shape that applies it to the first of rank axes: one value per row or output
// channel.
func (d *decomposition) upright(name string, rank int) string {
	t := d.constants[name]
	if len(t.Shape) != 1 || t.Len() == 1 {
		return name
	}
	up := *t
	up.Shape = slices.Repeat([]int{1}, rank)
	up.Shape[0] = t.Len()
	name = d.fresh("rows")
	d.g.Init[name] = &up
	return name
}

func (d *decomposition) fresh(suffix string) string {
	return d.taken.TakeFreshName(d.n.Outputs[0], suffix)
}

func along(axis int) graph.AttributesByName {
	return graph.AttributesByName{"axis": graph.NewIntAttr(axis)}
}

// add writes a node and returns the name of its output.
func (d *decomposition) add(op, suffix string, attrs graph.AttributesByName, inputs ...string) string {
	name := d.fresh(suffix)
	d.write(op, attrs, name, inputs)
	return name
}

// last writes the node that gives the composite's own output.
func (d *decomposition) last(op string, attrs graph.AttributesByName, inputs ...string) {
	d.write(op, attrs, d.n.Outputs[0], inputs)
}

func (d *decomposition) write(op string, attrs graph.AttributesByName, output string, inputs []string) {
	n := &graph.Node{Index: d.n.Index, Name: d.n.Name, Was: d.n.QualifiedOpName(), Op: op, Inputs: inputs,
		Outputs: []string{output}, Attrs: maps.Clone(attrs)}
	if d.n.Domain == "" {
		n.Version = d.n.Version
	}
	d.nodes = append(d.nodes, n)
}

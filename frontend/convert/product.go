package convert

import (
	"math"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/num"
)

// A product is a MatMul, Gemm or Conv of data that are codes with weights that are constant codes.
type product struct {
	*integerForm
	n       *graph.Node
	a, b    *coded
	bias    string    // name of a tensor, or ""
	axis    int       // axis of the output's channels
	weights [][]int64 // by channel, minus their zero points
	scale   []float64 // scale of the weights, by channel
}

// product returns a node as a product of codes. It returns nil without a refusal if neither factor is a tensor of
// codes.
func (w *integerForm) product(n *graph.Node) (*product, *refusal) {
	p := &product{integerForm: w, n: n, a: w.coded(n.InputName(0)), b: w.coded(n.InputName(1)), bias: n.InputName(2)}
	const quantise = "quantise it in front of the product, or convert to qcdq"
	switch {
	case p.a == nil && p.b == nil:
		return nil, nil
	case p.a == nil:
		return nil, refuse(quantise, "its input %q has no quantiser", n.InputName(0))
	case p.b == nil:
		return nil, refuse(quantise, "its factor %q has no quantiser", n.InputName(1))
	case p.b.fixed == nil || p.a.fixed != nil:
		return nil, refuse("convert to qcdq",
			"its second factor is not constant, or both factors are constant")
	case p.a.q.count() > 1:
		return nil, refuse("quantise the input per tensor", "its input has a scale per channel")
	case p.b.dt != graph.DTypeInt8 && p.b.dt != graph.DTypeUInt8 || p.a.dt != graph.DTypeInt8 &&
		p.a.dt != graph.DTypeUInt8:
		return nil, refuse("train with 8 bits",
			"its codes have the types %s and %s, but products of integers take 8 bits", p.a.dt, p.b.dt)
	}
	shape := p.b.fixed.Shape
	along := 0
	switch {
	case n.Op == "Conv":
		p.axis = 1
	case n.Op == "Gemm":
		if n.IntAttrOr("transA", 0) != 0 || n.FloatAttrOr("alpha", 1) != 1 || n.FloatAttrOr("beta", 1) != 1 {
			return nil, refuse("write it as a MatMul", "a transposed input, or factors alpha or beta")
		}
		p.axis, along = 1, 1
		if n.IntAttrOr("transB", 0) != 0 {
			along = 0
		}
	default:
		out, _ := w.shape(n.Outputs[0])
		p.axis, along = len(out)-1, 1
		if len(shape) != 2 {
			return nil, refuse("multiply with a matrix", "its weights have the shape %v", shape)
		}
	}
	if p.b.q.count() > 1 && p.b.q.axis != along {
		return nil, refuse("quantise weights per tensor or per output channel",
			"its weights have a scale per channel along axis %d, not along the outputs", p.b.q.axis)
	}
	p.read(along)
	return p, nil
}

// read sets the weights and their scales by channel. along is the axis of the weights that counts channels.
func (p *product) read(along int) {
	t := p.b.fixed
	codes, _ := p.b.q.codes(t)
	channel := channelOf(t.Shape, along)
	p.weights = make([][]int64, t.Shape[along])
	p.scale = make([]float64, len(p.weights))
	own := func(c int) int { // index among the quantiser's channels
		return min(c, p.b.q.count()-1)
	}
	for i, code := range codes {
		c := channel(i)
		p.weights[c] = append(p.weights[c], code-int64(p.b.q.zero.at(own(c))))
	}
	for c := range p.scale {
		p.scale[c] = p.b.q.scale.at(own(c))
	}
}

// sums returns the range of channel c's sums, for all inputs that their quantiser can give. Padding with zeros counts
// as an input, too.
func (p *product) sums(c int) num.Range {
	zero := int64(p.a.q.zero[0])
	lo, hi := int64(p.a.q.lo)-zero, int64(p.a.q.hi)-zero
	if p.n.Op == "Conv" {
		lo, hi = min(lo, 0), max(hi, 0)
	}
	var r num.Range
	for _, w := range p.weights[c] {
		r.Lo += min(w*lo, w*hi)
		r.Hi += max(w*lo, w*hi)
	}
	return r
}

// write replaces the product by operators on integers. It uses an operator that quantises its sums if that gives
// the same codes. Otherwise it uses one that returns the sums, and the model's own nodes follow.
func (p *product) write() *refusal {
	for c := range p.weights {
		if r := p.sums(c); r.Lo < math.MinInt32 || r.Hi > math.MaxInt32 {
			return refuse("convert to qcdq", "its sums reach from %d to %d: products of integers have sums of 32 bits",
				r.Lo, r.Hi)
		}
	}
	if done := p.fuse(); done {
		return nil
	}
	return p.plain()
}

// plain writes the product as sums of 32-bit integers, times the two scales, plus the bias.
func (p *product) plain() *refusal {
	n, out := p.n, p.n.Outputs[0]
	if p.b.q.count() > 1 && !uniform(p.b.q.zero) {
		return refuse("train with symmetric weights", "its weights have a zero point per channel")
	}
	name := func(suffix string) string { return p.taken.TakeFreshName(out, suffix) }
	_, zeroA, _ := p.parameters(p.a.q, out, p.a.dt)
	zeroB := p.whole(out, "zero_point", p.b.dt, p.b.q.zero[0])
	op, attrs, weights := "MatMulInteger", graph.AttributesByName(nil), p.b.codes
	switch {
	case n.Op == "Conv":
		op, attrs = "ConvInteger", n.Attrs
	case n.Op == "Gemm" && n.IntAttrOr("transB", 0) != 0:
		weights = p.matrix(func(_ int, v int64) int64 { return v + int64(p.b.q.zero[0]) }, p.b.dt)
	}
	sums, whole := name("sums"), name("sums_real")
	nodes := []*graph.Node{
		node(n, "", op, sums, attrs, p.a.codes, weights, zeroA, zeroB),
		node(n, "", operators.OpCast, whole, graph.AttributesByName{"to": graph.NewIntAttr(int(graph.DTypeFloat32))},
			sums),
	}
	scale := p.reals(out, "scale", p.scale[0])
	if !uniform(p.scale) {
		t := &graph.ConstantTensor{DType: graph.DTypeFloat32, Shape: p.beside(), F: p.scale}
		scale = p.put(out, "scale", t)
	}
	last, by := name("scaled"), out
	if p.bias != "" {
		by = name("product")
	}
	nodes = append(nodes, node(n, "", operators.OpMul, last, nil, whole, p.reals(out, "scale", p.a.q.scale[0])),
		node(n, "", operators.OpMul, by, nil, last, scale))
	if p.bias != "" {
		bias := p.bias
		if n.Op == "Conv" {
			shape := p.beside()
			bias = name("bias")
			at := &graph.ConstantTensor{DType: graph.DTypeInt64, Shape: []int{len(shape)}}
			for _, d := range shape {
				at.I = append(at.I, int64(d))
			}
			nodes = append(nodes, node(n, "", operators.OpReshape, bias, nil, p.bias, p.put(out, "shape", at)))
		}
		nodes = append(nodes, node(n, "", operators.OpAdd, out, nil, by, bias))
	}
	for _, m := range nodes {
		if m.Outputs[0] == out && n.Name != "" {
			m.Name = n.Name + "_" + m.Op
		}
	}
	nodes[0].Name = n.Name
	p.with[n] = nodes
	p.rewritten++
	return nil
}

// beside returns the shape in which a vector with an element per channel broadcasts against the output.
func (p *product) beside() []int {
	out, _ := p.shape(p.n.Outputs[0])
	shape := slices.Repeat([]int{1}, len(out)-p.axis)
	shape[0] = len(p.weights)
	return shape
}

// matrix adds the weights as a constant of type dt and returns its name. of changes each weight. For a Conv the weights
// keep the layout of the file; otherwise they become a matrix for MatMul.
func (p *product) matrix(of func(channel int, v int64) int64, dt graph.DType) string {
	t := &graph.ConstantTensor{DType: dt, Shape: p.b.fixed.Shape}
	for c, row := range p.weights {
		for _, v := range row {
			t.I = append(t.I, of(c, v))
		}
	}
	if p.n.Op != "Conv" {
		k := len(p.weights[0])
		turned := make([]int64, len(t.I))
		for i, v := range t.I {
			turned[i%k*len(p.weights)+i/k] = v
		}
		t.I, t.Shape = turned, []int{k, len(p.weights)}
	}
	return p.put(p.n.Outputs[0], "weights", t)
}

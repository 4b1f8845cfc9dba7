package operators

import (
	"hlsgen/frontend/graph"
)

// This file decomposes nodes that onnxruntime's optimisations fuse from several: a product and the operators after it.

// activations lists the names of the activations of fused products. It maps each to the attributes that its parameters
// become, in order.
var activations = map[string][]string{"": nil, "Relu": nil, "Tanh": nil, "Sigmoid": nil, "Softplus": nil,
	"Softsign": nil, "LeakyRelu": {"alpha"}, "ThresholdedRelu": {"alpha"}, "Elu": {"alpha"},
	"HardSigmoid": {"alpha", "beta"}, "Clip": {"min", "max"}, "HardSwish": nil}

// activate writes the activation of y as the last node. It returns false if the activation is not known or has too few
// parameters.
func (d *decomposition) activate(y string, params []float64) bool {
	op := d.n.StringAttrOr("activation", "")
	names, ok := activations[op]
	switch {
	case !ok || len(params) < len(names) && len(params) > 0:
		return false
	case op == "":
		d.last(OpIdentity, nil, y)
	case op == "Clip":
		in := []string{y, "", ""}
		for i, v := range params[:min(len(params), 2)] {
			in[i+1] = d.number(v)
		}
		d.last(op, nil, in...)
	default:
		attrs := graph.AttributesByName{}
		for i, name := range names[:min(len(names), len(params))] {
			attrs[name] = graph.NewFloatAttr(params[i])
		}
		d.last(op, attrs, y)
	}
	return true
}

// fusedConv decomposes a Conv, a sum with input 3, and an activation.
func fusedConv(d *decomposition) {
	n := d.n
	attrs := graph.AttributesByName{}
	for name, a := range n.Attrs {
		if name != "activation" && name != "activation_params" {
			attrs[name] = a
		}
	}
	y := d.add("Conv", "sums", attrs, n.InputName(0), n.InputName(1), n.InputName(2))
	if z := n.InputName(3); z != "" {
		y = d.add(OpAdd, "sums", nil, y, z)
	}
	if !d.activate(y, n.Attrs["activation_params"].Floats) {
		d.nodes = nil
	}
}

// fusedGemm decomposes a Gemm and an activation.
func fusedGemm(d *decomposition) {
	n := d.n
	attrs := graph.AttributesByName{}
	for _, name := range []string{"alpha", "beta", "transA", "transB"} {
		if a, ok := n.Attrs[name]; ok {
			attrs[name] = a
		}
	}
	var params []float64
	for _, name := range []string{"activation_alpha", "activation_beta", "activation_gamma"} {
		if a, ok := n.Attrs[name]; ok {
			params = append(params, a.F)
		}
	}
	if !d.activate(d.add("Gemm", "sums", attrs, n.InputName(0), n.InputName(1), n.InputName(2)), params) {
		d.nodes = nil
	}
}

// fusedMatMul decomposes a product times a number. Constant weights may be transposed.
func fusedMatMul(d *decomposition) {
	n := d.n
	w := d.constants[n.InputName(1)]
	if n.IsFlagAttrSet("transA") || n.IsFlagAttrSet("transBatchA") || n.IsFlagAttrSet("transBatchB") ||
		n.IsFlagAttrSet("transB") &&
			(w == nil || len(w.Shape) != 2) {
		return
	}
	b := n.InputName(1)
	if n.IsFlagAttrSet("transB") {
		b = d.add(OpTranspose, "turned", graph.AttributesByName{"perm": intsAttr(1, 0)}, b)
	}
	if alpha := n.FloatAttrOr("alpha", 1); alpha != 1 {
		d.last(OpMul, nil, d.add(OpMatMul, "product", nil, n.InputName(0), b), d.number(alpha))
		return
	}
	d.last(OpMatMul, nil, n.InputName(0), b)
}

// buildTrilu keeps the elements on one side of a diagonal, and sets the others to 0.
func buildTrilu(c *call) {
	x, k := c.x, 0
	if len(x) < 2 {
		invalid("a triangle of a tensor of shape %v", x)
	}
	if c.HasInput(1) {
		k = int(c.constScalar(1, "the diagonal"))
	}
	upper := c.IntAttrOr("upper", 1) != 0
	rows, columns := x[len(x)-2], x[len(x)-1]
	mask := &graph.ConstantTensor{DType: c.dt, Shape: []int{rows, columns}}
	keeps := make([]float64, 0, rows*columns)
	for i := range rows * columns {
		keep, d := 0.0, i%columns-i/columns
		if upper && d >= k || !upper && d <= k {
			keep = 1
		}
		keeps = append(keeps, keep)
	}
	if mask.F = keeps; !c.dt.IsReal() {
		mask.F = nil
		for _, v := range keeps {
			mask.I = append(mask.I, int64(v))
		}
	}
	if endsOf(c.reading, 0) != 0 { // zero times infinity is not zero
		mask.DType, mask.F, mask.I = graph.DTypeBool, nil, nil
		for _, v := range keeps {
			mask.I = append(mask.I, int64(v))
		}
		c.last("", "Where", nil, c.constant("triangle", mask), c.Inputs[0], c.constant("nought",
			graph.NewFilledTensor(c.dt, nil, 0)))
		return
	}
	c.last("", OpMul, nil, c.Inputs[0], c.constant("triangle", mask))
}

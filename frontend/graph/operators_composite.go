package graph

import (
	"maps"
	"slices"
)

// Composite operators say in one node what others say in several. Decompose writes them out, which changes no meaning:
//
//	QLinearX(a, as, az, ..., ys, yz)   QuantizeLinear(X(DequantizeLinear(a, as, az), ...), ys, yz)
//	MatMulInteger(a, b, az, bz)        MatMul(a - az, b - bz) in int32
//	ConvInteger(x, w, xz, wz)          Conv(x - xz, w - wz) in int32
//
// Scales and zero points that are vectors belong to the rows of a and y and to the columns of b in a product of
// matrices, and to the output channels of a convolution's weights. A convolution's bias has the product of the two
// scales.
//
// Bodies of loops are written out too.
func Decompose(g *Graph) { decompose(g, nil) }

// decompose knows the constants around a body.
func decompose(g *Graph, around map[string]*Tensor) {
	taken, constants := g.Taken(), maps.Clone(around)
	if constants == nil {
		constants = map[string]*Tensor{}
	}
	for name, t := range g.Init {
		constants[name] = t
	}
	for _, n := range g.Nodes {
		if n.Op == "Constant" && n.Domain == "" && len(n.Outputs) == 1 {
			constants[n.Outputs[0]] = n.Attrs["value"].T
		}
	}
	var nodes []*Node
	for _, n := range g.Nodes {
		d := decomposition{g: g, n: n, taken: taken, constants: constants}
		if c, ok := composites[n.Domain][n.Op]; ok && len(n.Outputs) == 1 && len(n.Inputs) >= c.least {
			c.write(&d)
		}
		if d.nodes == nil {
			d.nodes = []*Node{n}
		}
		nodes = append(nodes, d.nodes...)
		if body := n.Attrs["body"].G; body != nil {
			decompose(body, constants)
		}
	}
	g.Nodes = nodes
}

// A composite is written out if it has that many inputs; write does nothing for a form that it does not know.
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
	},
	"com.microsoft": {
		"QLinearAdd":               {7, qlinear("Add", 2)},
		"QLinearMul":               {7, qlinear("Mul", 2)},
		"QLinearSigmoid":           {4, qlinear("Sigmoid", 1)},
		"QLinearLeakyRelu":         {4, qlinear("LeakyRelu", 1)},
		"QLinearAveragePool":       {4, qlinear("AveragePool", 1)},
		"QLinearGlobalAveragePool": {4, qlinear("GlobalAveragePool", 1)},
		"QLinearReduceMean":        {4, qlinear("ReduceMean", 1)},
		"QLinearConcat":            {5, qlinearConcat},
	},
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
	if len(in) > 9 {
		return
	}
	inputs := []string{d.add("DequantizeLinear", "x", along(0), in[0], in[1], in[2]),
		d.add("DequantizeLinear", "w", along(0), in[3], in[4], in[5])}
	if bias := d.n.In(8); bias != "" {
		scale := d.add("Mul", "scale", nil, in[1], in[4])
		inputs = append(inputs, d.add("DequantizeLinear", "bias", along(0), bias, scale))
	}
	d.last("QuantizeLinear", along(1), d.add("Conv", "sums", d.n.Attrs, inputs...), in[6], in[7])
}

func matMulInteger(d *decomposition) {
	n := d.n
	if n.In(2) != "" && d.constants[n.In(2)] == nil {
		return
	}
	a, b := d.wide("a", n.Inputs[0]), d.wide("b", n.Inputs[1])
	if z := n.In(2); z != "" {
		a = d.add("Sub", "a", nil, a, d.wide("az", d.upright(z, 2)))
	}
	if z := n.In(3); z != "" {
		b = d.add("Sub", "b", nil, b, d.wide("bz", z))
	}
	d.last("MatMul", nil, a, b)
}

func convInteger(d *decomposition) {
	n := d.n
	w := d.constants[n.Inputs[1]]
	if n.In(3) != "" && (d.constants[n.In(3)] == nil || w == nil || len(w.Shape) == 0) {
		return
	}
	x, weights := d.wide("x", n.Inputs[0]), d.wide("w", n.Inputs[1])
	if z := n.In(2); z != "" {
		x = d.add("Sub", "x", nil, x, d.wide("xz", z))
	}
	if z := n.In(3); z != "" {
		weights = d.add("Sub", "w", nil, weights, d.wide("wz", d.upright(z, len(w.Shape))))
	}
	d.last("Conv", n.Attrs, x, weights)
}

// qlinear is an operator on n quantised tensors, each with scale and zero point, those of the result last.
func qlinear(op string, n int) func(*decomposition) {
	return func(d *decomposition) {
		var inputs []string
		for i := range n {
			inputs = append(inputs, d.add("DequantizeLinear", "x", along(0), d.n.Inputs[3*i], d.n.Inputs[3*i+1],
				d.n.Inputs[3*i+2]))
		}
		y := d.add(op, "real", d.n.Attrs, inputs...)
		if d.n.Int("channels_last", 0) != 0 {
			d.nodes[len(d.nodes)-1].Domain = channelsLast
		}
		d.last("QuantizeLinear", along(1), y, d.n.Inputs[3*n], d.n.In(3*n+1))
	}
}

// qlinearConcat has the scale and zero point of the result first.
func qlinearConcat(d *decomposition) {
	in := d.n.Inputs
	if len(in)%3 != 2 {
		return
	}
	var inputs []string
	for i := 2; i < len(in); i += 3 {
		inputs = append(inputs, d.add("DequantizeLinear", "x", along(0), in[i], in[i+1], in[i+2]))
	}
	d.last("QuantizeLinear", along(1), d.add("Concat", "real", d.n.Attrs, inputs...), in[0], in[1])
}

type decomposition struct {
	g     *Graph
	n     *Node
	nodes []*Node

	taken     Taken
	constants map[string]*Tensor
}

// wide casts to int32, which holds the difference of two bytes.
func (d *decomposition) wide(suffix, tensor string) string {
	return d.add("Cast", suffix, castTo(Int32), tensor)
}

// upright is a constant vector that belongs to the first of so many axes: one value per row, or output channel.
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
	return d.taken.Fresh(d.n.Outputs[0], suffix)
}

func along(axis int) Attrs { return Attrs{"axis": IntAttr(axis)} }

// add writes a node and gives its output.
func (d *decomposition) add(op, suffix string, attrs Attrs, inputs ...string) string {
	name := d.fresh(suffix)
	d.write(op, attrs, name, inputs)
	return name
}

// last writes the node that gives the composite's own output.
func (d *decomposition) last(op string, attrs Attrs, inputs ...string) {
	d.write(op, attrs, d.n.Outputs[0], inputs)
}

func (d *decomposition) write(op string, attrs Attrs, output string, inputs []string) {
	d.nodes = append(d.nodes, &Node{Index: d.n.Index, Name: d.n.Name, Was: d.n.FullOp(), Op: op, Inputs: inputs,
		Outputs: []string{output}, Attrs: maps.Clone(attrs)})
}

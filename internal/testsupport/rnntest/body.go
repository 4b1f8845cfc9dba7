package rnntest

import (
	"hlsgen/frontend/graph"
)

// A Spelling is one of several ways to write the same cell as ONNX nodes.
type Spelling struct {
	Fused  bool // one product for all gates, which is split afterwards
	Joined bool // one product with the concatenation of inputs and hidden state
	Gemm   bool // products are Gemm nodes, where vectors have two axes
	Early  bool // the bias is added to the product with the input, otherwise to the sum
	Left   bool // the cell's state is the first factor in products with gates
	Unroll Unrolling
}

// An Unrolling is a way to write a recurrence out step by step.
type Unrolling struct {
	Taken  string // operator that takes an element of the sequence
	Shared bool   // all steps read the same weights, behind one quantiser
	Short  bool   // the first step leaves out terms that are zero
}

// A body writes the graph of one step.
type body struct {
	*writer
	cell    *Cell
	spelled Spelling
	x       []string
	h       string
}

// write writes the whole graph of a step. Its inputs are h, for an LSTM c, and x. Its outputs are the next h, the
// next c, and h again.
func (b *body) write(inputs int, vector func(width int) []any) {
	c := b.cell
	b.h = b.prefix + "h"
	b.Input(b.h, graph.DTypeFloat32, vector(c.Width())...)
	state := b.prefix + "c"
	if c.Kind == LSTM {
		b.Input(state, graph.DTypeFloat32, vector(c.Units)...)
	}
	for k := range inputs {
		b.x = append(b.x, b.fresh()+"x")
		b.Input(b.x[k], graph.DTypeFloat32, vector(len(c.Gates[0].Input[k].Codes[0]))...)
	}
	h, state := b.step(state)
	b.out(h, vector(c.Width()))
	if c.Kind == LSTM {
		b.out(state, vector(c.Units))
	}
	b.out(h, vector(c.Width()))
}

// step writes one step and returns the names of the next h and c. The current h and c may be empty names, which
// stand for zeros.
func (b *body) step(state string) (h, next string) {
	switch b.cell.Kind {
	case LSTM:
		return b.lstm(state)
	case GRU:
		return b.gru(), ""
	}
	return b.codes(&b.cell.Gates[0], b.sums("", &b.cell.Gates[0])[0]), ""
}

// out adds an output with a name of its own.
func (b *body) out(tensor string, dims []any) {
	name := b.op("Identity", tensor)
	b.Output(name, graph.DTypeFloat32, dims...)
}

// sums writes the sums of gates: for each gate a product with the input and one with the hidden state, as spelled.
func (b *body) sums(state string, gates ...*Gate) (out []string) {
	switch {
	case b.spelled.Joined:
		for _, g := range gates {
			var parts []string
			for _, m := range append(append([]Matrix{}, g.Input...), g.Hidden) {
				parts = append(parts, b.matrix(m, 0, false))
			}
			v := b.node(b.Node("Concat", append(append([]string{}, b.x...), b.h)...).Int("axis", -1))
			w := b.node(b.Node("Concat", parts...).Int("axis", 0))
			out = append(out, b.plus(b.plus(b.op("MatMul", v, w), g.Bias), g.HiddenBias))
		}
	default:
		x, h := b.fromInputs(gates), b.fromHidden(gates, b.h)
		for i, g := range gates {
			v := ""
			if b.spelled.Early {
				v = b.sum(b.plus(x[i], g.Bias), b.plus(h[i], g.HiddenBias))
			} else {
				v = b.plus(b.plus(b.sum(x[i], h[i]), g.Bias), g.HiddenBias)
			}
			out = append(out, v)
		}
	}
	for i, g := range gates {
		if g.Peephole != nil && state != "" {
			out[i] = b.op("Add", out[i], b.op("Mul", b.vector(g.Peephole), state))
		}
	}
	return out
}

// plus adds a bias, if there is one.
func (b *body) plus(x string, bias []float32) string {
	switch {
	case bias == nil:
		return x
	case x == "":
		return b.vector(bias)
	}
	return b.op("Add", x, b.vector(bias))
}

// sum adds two tensors. An empty name stands for zeros.
func (b *body) sum(x, y string) string {
	switch {
	case x == "":
		return y
	case y == "":
		return x
	}
	return b.op("Add", x, y)
}

// fromInputs writes the products of gates with the inputs.
func (b *body) fromInputs(gates []*Gate) (out []string) {
	for k, x := range b.x {
		var list []Matrix
		for _, g := range gates {
			list = append(list, g.Input[k])
		}
		for i, v := range b.products(list, x) {
			if k == 0 {
				out = append(out, v)
			} else {
				out[i] = b.op("Add", out[i], v)
			}
		}
	}
	return out
}

// fromHidden writes the products of gates with the vector h.
func (b *body) fromHidden(gates []*Gate, h string) []string {
	var list []Matrix
	for _, g := range gates {
		list = append(list, g.Hidden)
	}
	return b.products(list, h)
}

// products multiplies a vector by several matrices.
func (b *body) products(list []Matrix, v string) (out []string) {
	if v == "" {
		return make([]string, len(list))
	}
	if b.spelled.Fused && len(list) > 1 {
		var parts, names []string
		var sizes []float64
		for _, m := range list {
			parts, sizes = append(parts, b.matrix(m, 0, false)), append(sizes, float64(len(m.Codes)))
			names = append(names, b.fresh())
		}
		all := b.op("MatMul", v, b.node(b.Node("Concat", parts...).Int("axis", 1)))
		b.Node("Split", all, b.ints(sizes...)).Int("axis", -1).Out(names...)
		return names
	}
	for _, m := range list {
		if b.spelled.Gemm {
			out = append(out, b.node(b.Node("Gemm", v, b.matrix(m, 0, true)).Int("transB", 1)))
		} else {
			out = append(out, b.op("MatMul", v, b.matrix(m, 0, false)))
		}
	}
	return out
}

// codes writes the activation of a gate and the quantisers around it.
func (b *body) codes(g *Gate, sum string) string {
	return b.quant(b.activation(b.quant(sum, g.Sum), g.Activation), g.Code)
}

// other writes 1 minus a gate, where the 1 goes through the quantiser One.
func (b *body) other(v string) string { return b.op("Sub", b.quant(b.scalar(1), b.cell.One), v) }

// product writes the product of a gate with a tensor, and returns its name. An empty name with stands for zeros, and so
// does an empty result.
func (b *body) product(gate, with string) string {
	if with == "" {
		return ""
	}
	if b.spelled.Left {
		gate, with = with, gate
	}
	return b.op("Mul", gate, with)
}

// lstm writes one step of an LSTM, and returns the names of the next h and c.
func (b *body) lstm(state string) (h, next string) {
	c := b.cell
	g := c.Gates
	var in, forget, candidate string
	one := func(k int) string { return b.codes(&g[k], b.sums(state, &g[k])[0]) }
	var out []string // the sums of all gates at once, where they are fused
	switch {
	case b.spelled.Fused && c.Coupled == "" && g[gateO].Peephole == nil:
		out = b.sums(state, &g[0], &g[1], &g[2], &g[3])
		in, forget, candidate = b.codes(&g[0], out[0]), b.codes(&g[1], out[1]), b.codes(&g[2], out[2])
	case c.Coupled == "forget":
		in = one(gateI)
		forget, candidate = b.other(in), one(gateG)
	case c.Coupled == "input":
		forget = one(gateF)
		in, candidate = b.other(forget), one(gateG)
	default:
		in, forget, candidate = one(gateI), one(gateF), one(gateG)
	}
	keep, add := b.quant(b.product(forget, state), c.Keep), b.quant(b.product(in, candidate), c.Add)
	next = b.quant(b.sum(keep, add), c.State)
	var o string
	if out != nil {
		o = b.codes(&g[gateO], out[3])
	} else {
		o = b.codes(&g[gateO], b.sums(next, &g[gateO])[0])
	}
	h = b.quant(b.product(o, b.quant(b.activation(next, c.Squash), c.Squashed)), c.Output)
	if c.Projection != nil {
		h = b.quant(b.products([]Matrix{*c.Projection}, h)[0], c.Projected)
	}
	return h, next
}

// gru writes one step of a GRU, and returns the name of the next h.
func (b *body) gru() string {
	c := b.cell
	gz, gr, gn := &c.Gates[gateZ], &c.Gates[gateR], &c.Gates[gateN]
	sums := b.sums("", gz, gr)
	z, r := b.codes(gz, sums[0]), b.codes(gr, sums[1])
	x := b.plus(b.fromInputs([]*Gate{gn})[0], gn.Bias)
	var hidden string
	if c.ResetAfter {
		v := b.plus(b.fromHidden([]*Gate{gn}, b.h)[0], gn.HiddenBias)
		hidden = b.quant(b.product(r, b.quant(v, c.ResetSum)), c.Reset)
	} else {
		v := b.quant(b.product(r, b.h), c.Reset)
		hidden = b.plus(b.fromHidden([]*Gate{gn}, v)[0], gn.HiddenBias)
	}
	n := b.codes(gn, b.sum(x, hidden))
	if c.Difference {
		return b.quant(b.op("Add", n, b.quant(b.product(z, b.op("Sub", b.h, n)), c.Keep)), c.Output)
	}
	keep, add := b.quant(b.product(z, b.h), c.Keep), b.quant(b.product(b.other(z), n), c.Add)
	return b.quant(b.sum(add, keep), c.Output)
}

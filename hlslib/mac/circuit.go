package mac

import (
	"fmt"

	"hlsgen/hlslib/cost"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A Circuit is a unit in RTL.
type Circuit struct {
	*Unit
	b *circuit.Builder
	f dataflow.Fold
	p cost.Packing
}

// In is the unit in a circuit, with products packed as p says.
func (u *Unit) In(b *circuit.Builder, f dataflow.Fold, p cost.Packing) Circuit {
	return Circuit{u, b, f, p}
}

// Weights is the table of weights.
func (c Circuit) Weights() circuit.Table {
	s := c.WeightStorage(c.f)
	return c.b.Table("weights", s.Style(), c.Weight, c.f.PE*c.f.SIMD, s.Rows,
		func() [][]int64 { return c.WeightTable(c.f).Rows })
}

// Channels is the outputs of PE channels, whose inputs meet a row of weights: inputs are the words of a channel, all of
// them the same where products are packed. Where first holds, a sum begins; row is that of the tables of step
// functions, at stage 0.
func (c Circuit) Channels(inputs func(pe int) circuit.Value, weights, first, row circuit.Value) []circuit.Value {
	sums := c.Dots(c.f.PE, inputs, weights)
	for pe, dot := range sums {
		sums[pe] = c.b.Accumulated(fmt.Sprint("sum", pe), c.Acc, first, dot)
	}
	return c.outputs(sums, row)
}

// Dots is the sums of one clock's products of so many channels, as Channels has them.
func (c Circuit) Dots(channels int, inputs func(pe int) circuit.Value, weights circuit.Value) (dots []circuit.Value) {
	side := 1
	if c.p.Packs() {
		side = len(c.p.Lanes)
	}
	bits := c.f.SIMD * c.Weight.Width
	for pe := 0; pe < channels; pe += side {
		n := min(side, channels-pe)
		operands := []circuit.Value{inputs(pe), circuit.Part(weights, pe*bits, n*bits)}
		dot := func(b *circuit.Builder, v []circuit.Value) []circuit.Value {
			inside := Circuit{c.Unit, b, c.f, c.p}
			if c.p.Packs() {
				return inside.packed(v[0], v[1], n)
			}
			return []circuit.Value{inside.dot(v[0], v[1])}
		}
		dots = append(dots, c.b.Call(c.dots, fmt.Sprint("dot ", c.f.SIMD, c.f.Compute, n, c.p), operands, dot)...)
	}
	return dots
}

// outputs are those of accumulators.
func (c Circuit) outputs(sums []circuit.Value, row circuit.Value) []circuit.Value {
	if form := c.form(c.f); form != nil {
		return form.Circuit(c.b, row, sums)
	}
	if !c.XNOR {
		return sums
	}
	for i, s := range sums { // of matches the sum
		sums[i] = circuit.Kept(circuit.Sum(circuit.Times(s, 2), c.b.Constant(-c.length)), c.Out.Range())
	}
	return sums
}

// dot is the sum of one clock's products of a channel.
func (c Circuit) dot(x, w circuit.Value) circuit.Value {
	t := c.dotType(c.f.SIMD)
	h := c.b.Heap()
	var products []circuit.Value
	for i := range c.f.SIMD {
		if c.XNOR {
			h.AddMatch(circuit.Bit(x, i), circuit.Bit(w, i))
			continue
		}
		switch {
		case c.requant != nil:
			h.Add(c.requantised(c.product1(x, w, i)), 0)
		case c.f.Compute == dataflow.DSP:
			products = append(products, c.product1(x, w, i))
		default:
			c.put(h, x, w, i)
		}
	}
	if products != nil {
		return circuit.Wrapped(circuit.Total(products...), t)
	}
	return h.Total(t.Range())
}

// put adds product i.
func (c Circuit) put(h *circuit.Heap, x, w circuit.Value, i int) {
	switch {
	case c.Weight.Kind == num.Bipolar:
		h.AddSigned(circuit.Bit(w, i), circuit.Element(x, i, c.in))
	case c.in.Kind == num.Bipolar:
		h.AddSigned(circuit.Bit(x, i), circuit.Element(w, i, c.Weight))
	case c.Weight.Kind == num.Ternary:
		h.AddTernary(circuit.Bit(w, 2*i), circuit.Bit(w, 2*i+1), circuit.Element(x, i, c.in))
	default:
		h.AddProduct(circuit.Element(x, i, c.in), circuit.Element(w, i, c.Weight))
	}
}

// product1 is product i as a number.
func (c Circuit) product1(x, w circuit.Value, i int) circuit.Value {
	if c.f.Compute == dataflow.DSP {
		return circuit.Product(circuit.Element(x, i, c.in), circuit.Element(w, i, c.Weight))
	}
	h := c.b.Heap()
	c.put(h, x, w, i)
	return h.Total(c.raw)
}

// requantised is a product as it is summed.
func (c Circuit) requantised(p circuit.Value) circuit.Value {
	return circuit.Kept(circuit.Requantised(p, *c.requant), c.product)
}

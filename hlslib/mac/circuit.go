package mac

import (
	"fmt"

	"hlsgen/hlslib/cost"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// WeightCircuit is the table of weights.
func (u *Unit) WeightCircuit(b *circuit.Builder, f dataflow.Fold) circuit.Table {
	s := u.WeightStorage(f)
	return b.Table("weights", s.Style(), u.Weight, f.PE*f.SIMD, s.Rows,
		func() [][]int64 { return u.WeightTable(f).Rows })
}

// Channels is the outputs of PE channels, whose inputs meet a row of weights: inputs are the words of a channel, all of
// them the same where p packs products. Where first holds, a sum begins; row is that of the tables of step functions, at
// stage 0.
func (u *Unit) Channels(b *circuit.Builder, f dataflow.Fold, p cost.Packing, inputs func(pe int) circuit.Value, weights,
	first, row circuit.Value) []circuit.Value {
	sums := u.Dots(b, f, p, f.PE, inputs, weights)
	for pe, dot := range sums {
		sums[pe] = b.Accumulated(fmt.Sprint("sum", pe), u.Acc, first, dot)
	}
	return u.outputs(b, f, sums, row)
}

// Dots is the sums of one clock's products of so many channels, as Channels has them.
func (u *Unit) Dots(b *circuit.Builder, f dataflow.Fold, p cost.Packing, channels int,
	inputs func(pe int) circuit.Value, weights circuit.Value) (dots []circuit.Value) {
	side := 1
	if p.Packs() {
		side = len(p.Lanes)
	}
	bits := f.SIMD * u.Weight.Width
	for pe := 0; pe < channels; pe += side {
		n := min(side, channels-pe)
		operands := []circuit.Value{inputs(pe), circuit.Part(weights, pe*bits, n*bits)}
		dots = append(dots, b.Call("dot", operands, func(b *circuit.Builder, v []circuit.Value) []circuit.Value {
			if p.Packs() {
				return u.packed(b, f, p, v[0], v[1], n)
			}
			return []circuit.Value{u.dot(b, f, v[0], v[1])}
		})...)
	}
	return dots
}

// outputs are those of accumulators.
func (u *Unit) outputs(b *circuit.Builder, f dataflow.Fold, sums []circuit.Value, row circuit.Value) []circuit.Value {
	if form := u.form(f); form != nil {
		return form.Circuit(b, row, sums)
	}
	if !u.XNOR {
		return sums
	}
	for i, s := range sums { // of matches the sum
		sums[i] = circuit.Kept(circuit.Sum(circuit.Times(s, 2), b.Constant(-u.length)), u.Out.Range())
	}
	return sums
}

// dot is the sum of one clock's products of a channel.
func (u *Unit) dot(b *circuit.Builder, f dataflow.Fold, x, w circuit.Value) circuit.Value {
	t := u.dotType(f.SIMD)
	h := b.Heap()
	var products []circuit.Value
	for i := range f.SIMD {
		if u.XNOR {
			h.AddMatch(circuit.Bit(x, i), circuit.Bit(w, i))
			continue
		}
		switch {
		case u.requant != nil:
			h.Add(u.requantised(u.product1(b, f, x, w, i)), 0)
		case f.Compute == dataflow.DSP:
			products = append(products, u.product1(b, f, x, w, i))
		default:
			u.put(h, x, w, i)
		}
	}
	if products != nil {
		return circuit.Wrapped(circuit.Total(products...), t)
	}
	return h.Total(t.Range())
}

// put adds product i.
func (u *Unit) put(h *circuit.Heap, x, w circuit.Value, i int) {
	switch {
	case u.Weight.Kind == num.Bipolar:
		h.AddSigned(circuit.Bit(w, i), circuit.Element(x, i, u.in))
	case u.in.Kind == num.Bipolar:
		h.AddSigned(circuit.Bit(x, i), circuit.Element(w, i, u.Weight))
	case u.Weight.Kind == num.Ternary:
		h.AddTernary(circuit.Bit(w, 2*i), circuit.Bit(w, 2*i+1), circuit.Element(x, i, u.in))
	default:
		h.AddProduct(circuit.Element(x, i, u.in), circuit.Element(w, i, u.Weight))
	}
}

// product1 is product i as a number.
func (u *Unit) product1(b *circuit.Builder, f dataflow.Fold, x, w circuit.Value, i int) circuit.Value {
	if f.Compute == dataflow.DSP {
		return circuit.Product(circuit.Element(x, i, u.in), circuit.Element(w, i, u.Weight))
	}
	h := b.Heap()
	u.put(h, x, w, i)
	return h.Total(u.raw)
}

// requantised is a product as it is summed.
func (u *Unit) requantised(p circuit.Value) circuit.Value {
	return circuit.Kept(circuit.Requantised(p, *u.requant), u.product)
}

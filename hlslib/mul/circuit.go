package mul

import (
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Circuit returns the RTL. A gate, an input that is one vector for a whole frame, is kept in a memory.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.New(t.Rate())
	always := b.Constant(1)
	fold := b.Counter("fold", o.Words(f), always)
	first := always
	if o.gate {
		first = b.Counter("vector", o.Vectors, fold.Last).First
	}
	x := b.Input(f.PE*o.In[0].Elem.Width, always)
	y := b.Input(f.PE*o.In[1].Elem.Width, first)
	if o.gate {
		kept := b.Array("kept", dataflow.StyleOf(o.storage(f), "kept"), o.Words(f), y.Width())
		kept.Write(fold.Index, y, first)
		y = circuit.MuxByCondition(first, y, kept.Row(fold.Index))
	}
	products := make([]circuit.Value, f.PE)
	for pe := range products {
		products[pe] = o.productCircuit(b, f, x, y, pe)
		if o.P.Requant != nil {
			products[pe] = o.requantised(b, f, products[pe])
		}
	}
	b.Output(circuit.Packed(o.Out[0].Elem, o.steps.Circuit(b, f, fold.Index, products)...), always)
	return b.Layer()
}

// productCircuit returns the product of element pe of the words x and y, after adding their offsets.
func (o *op) productCircuit(b *circuit.Builder, f dataflow.Fold, x, y circuit.Value, pe int) circuit.Value {
	h := b.NewBitHeap()
	var factor [2]circuit.Value
	for i, word := range []circuit.Value{x, y} {
		v := circuit.AssumeRange(circuit.Element(word, pe, o.In[i].Elem), o.In[i].Union())
		factor[i] = circuit.Sum(v, b.Constant(o.P.Offset[i]))
	}
	switch {
	case o.factor[0].Kind == num.Bipolar:
		h.AddSigned(circuit.Bit(x, pe), factor[1])
	case o.factor[1].Kind == num.Bipolar:
		h.AddSigned(circuit.Bit(y, pe), factor[0])
	case f.Compute == dataflow.ComputeInDSPs && o.multiplies():
		return circuit.AssumeRange(circuit.Product(factor[0], factor[1]), o.products)
	default:
		h.AddProduct(factor[0], factor[1])
	}
	return h.Sum(o.products)
}

// requantised returns a product scaled, rounded and clipped by Params.Requant, which must not be nil.
func (o *op) requantised(b *circuit.Builder, f dataflow.Fold, product circuit.Value) circuit.Value {
	q := o.P.Requant.Reduced()
	if f.Compute == dataflow.ComputeInDSPs && o.rescales() {
		product = circuit.Product(product, b.Constant(q.Multiplier))
	} else {
		product = circuit.MultiplyByConstant(product, q.Multiplier)
	}
	return circuit.AssumeRange(circuit.RequantisedProduct(product, q), o.Out[0].Union())
}

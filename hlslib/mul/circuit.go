package mul

import (
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Circuit returns the layer's RTL. A gate, an input that is one vector for a whole frame, is kept in a memory.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	always := b.ConstantNumber(1)
	fold := b.AddCounter("fold", o.WordsPerVector(f), always)
	first := always
	if o.gate {
		first = b.AddCounter("vector", o.Vectors, fold.Last).First
	}
	x := b.AddInputStream(f.PE*o.In[0].Elem.Width, always)
	y := b.AddInputStream(f.PE*o.In[1].Elem.Width, first)
	if o.gate {
		kept := b.AddArray("kept", dataflow.CircuitStyleOf(o.storage(f), "kept"), o.WordsPerVector(f), y.Width())
		kept.WriteRow(fold.Index, y, first)
		y = circuit.MuxByCondition(first, y, kept.ReadRowBefore(fold.Index))
	}
	products := make([]circuit.Value, f.PE)
	for pe := range products {
		products[pe] = o.productCircuit(b, f, x, y, pe)
		if o.P.Requant != nil {
			products[pe] = o.requantised(b, f, products[pe])
		}
	}
	b.AddOutputStream(circuit.PackIntoWord(o.Out[0].Elem, o.steps.BuildCircuit(b, f, fold.Index, products)...), always)
	return b.FinishLayer()
}

// productCircuit returns the product of element pe of the words x and y, after adding their offsets.
func (o *op) productCircuit(b *circuit.Builder, f dataflow.Fold, x, y circuit.Value, pe int) circuit.Value {
	h := b.NewBitHeap()
	var factor [2]circuit.Value
	for i, word := range []circuit.Value{x, y} {
		v := circuit.AssumeRange(circuit.ElementOf(word, pe, o.In[i].Elem), o.In[i].UnionOfRanges())
		factor[i] = circuit.SumOfTwo(v, b.ConstantNumber(o.P.Offset[i]))
	}
	switch {
	case o.factor[0].Kind == num.KindBipolar:
		h.AddOrSubtract(circuit.BitOf(x, pe), factor[1])
	case o.factor[1].Kind == num.KindBipolar:
		h.AddOrSubtract(circuit.BitOf(y, pe), factor[0])
	case f.Compute == dataflow.MultiplierInDSPs && o.multiplies():
		return circuit.AssumeRange(circuit.MultiplyInDSP(factor[0], factor[1]), o.products)
	default:
		h.AddProduct(factor[0], factor[1])
	}
	return h.Sum(o.products)
}

// requantised returns a product scaled, rounded and clipped by Params.Requant, which must not be nil.
func (o *op) requantised(b *circuit.Builder, f dataflow.Fold, product circuit.Value) circuit.Value {
	q := o.P.Requant.WithLeastShift()
	if f.Compute == dataflow.MultiplierInDSPs && o.rescales() {
		product = circuit.MultiplyInDSP(product, b.ConstantNumber(q.Multiplier))
	} else {
		product = circuit.MultiplyByConstant(product, q.Multiplier)
	}
	return circuit.AssumeRange(circuit.RequantiseProduct(product, q), o.Out[0].UnionOfRanges())
}

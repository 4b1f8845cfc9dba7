package add

import (
	"hlsgen/hlslib/layer"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the RTL. It adds all bits of a pair's products at once, but DSP slices compute their products first.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.New(t.Rate())
	always := b.Constant(1)
	fold := b.Counter("fold", o.Words(f), always).Index
	var x [2][]circuit.Value
	for i, in := range o.In {
		x[i] = layer.Elements(b.Input(f.PE*in.Elem.Width, always), in.Elem)
	}
	factor := func(_, input int) circuit.Value { return b.Constant(o.P.factor(input, 0)) }
	if o.table() {
		factors := b.Table("factors", dataflow.StyleOf(o.Storage(f), "factors"), o.tableElem(), 2*f.PE, o.Words(f),
			func() [][]int64 { return o.factorRows(f.PE) }).Row(fold)
		factor = func(pe, input int) circuit.Value { return circuit.Element(factors, 2*pe+input, o.tableElem()) }
	}
	sums := make([]circuit.Value, f.PE)
	for pe := range sums {
		h := b.NewBitHeap()
		for i := range x {
			v, m := circuit.AssumeRange(x[i][pe], o.In[i].Union()), factor(pe, i)
			switch r := m.Range(); {
			case f.Compute == dataflow.ComputeInDSPs && o.P.multiplies(i):
				h.Add(circuit.Product(v, m), 0)
			case r.Lo == r.Hi:
				h.AddMultiple(v, r.Lo)
			default:
				h.AddProduct(v, m)
			}
		}
		sums[pe] = h.Sum(o.sum.Range())
	}
	b.Output(circuit.Packed(o.Out[0].Elem, o.steps.Circuit(b, f, fold, sums)...), always)
	return b.Layer()
}

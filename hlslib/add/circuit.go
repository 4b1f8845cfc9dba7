package add

import (
	"hlsgen/hlslib/layer"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the layer's RTL. It adds all bits of a pair's products at once, but DSP slices compute their products
// first.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	always := b.ConstantNumber(1)
	fold := b.AddCounter("fold", o.WordsPerVector(f), always).Index
	var x [2][]circuit.Value
	for i, in := range o.In {
		x[i] = layer.ElementsOfWord(b.AddInputStream(f.PE*in.Elem.Width, always), in.Elem)
	}
	factor := func(_, input int) circuit.Value { return b.ConstantNumber(o.P.factor(input, 0)) }
	if o.table() {
		factors := b.AddTable("factors", dataflow.CircuitStyleOf(o.Storage(f), "factors"), o.tableElem(), 2*f.PE,
			o.WordsPerVector(f),
			func() [][]int64 { return o.factorRows(f.PE) }).ReadRow(fold)
		factor = func(pe, input int) circuit.Value { return circuit.ElementOf(factors, 2*pe+input, o.tableElem()) }
	}
	sums := make([]circuit.Value, f.PE)
	for pe := range sums {
		h := b.NewBitHeap()
		for i := range x {
			v, m := circuit.AssumeRange(x[i][pe], o.In[i].UnionOfRanges()), factor(pe, i)
			switch r := m.Range(); {
			case f.Compute == dataflow.MultiplierInDSPs && o.P.multiplies(i):
				h.AddShifted(circuit.MultiplyInDSP(v, m), 0)
			case r.Lo == r.Hi:
				h.AddMultiple(v, r.Lo)
			default:
				h.AddProduct(v, m)
			}
		}
		sums[pe] = h.Sum(o.sum.Range())
	}
	b.AddOutputStream(circuit.PackIntoWord(o.Out[0].Elem, o.steps.BuildCircuit(b, f, fold, sums)...), always)
	return b.FinishLayer()
}

package mvau

import (
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the layer's RTL. A memory keeps a group's vector if several output words need it. Every word is read
// from this memory, a clock after it arrived: a choice between memory and input would cost a LUT per bit.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	nf, sf := o.folds(f)
	groups := o.P.groups()
	always := b.ConstantNumber(1)
	input := b.AddCounter("sf", sf, always)
	output := b.AddCounter("nf", nf, input.Last)
	word := output.Index
	if groups > 1 {
		word = b.AddCounter("word", groups*nf, input.Last).Index
	}
	row := input.Index
	switch {
	case sf == 1:
		row = word
	case groups*nf > 1:
		row = b.AddCounter("row", groups*nf*sf, always).Index
	}

	x := b.AddInputStream(f.SIMD*o.in.Elem.Width, output.First)
	if nf > 1 {
		vector := b.AddArray("vector", dataflow.CircuitStyleOf(o.storage(f), "vector"), sf, x.Width())
		vector.WriteRow(input.Index, x, output.First)
		x = vector.ReadRowAfter(input.Index)
	}
	unit := o.NewCircuitBuilder(b, f, o.DSPPackingForChannels(f.PE, f, t), groups*nf*sf).ForTarget(t)
	y := unit.ChannelOutputs(func(int) circuit.Value { return x }, unit.WeightRow(row), input.First, word)
	b.AddOutputStream(circuit.PackIntoWord(o.out.Elem, y...), input.Last)
	return b.FinishLayer()
}

package mvau

import (
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the RTL. A memory keeps a group's vector if several output words need it. Every word is read from
// this memory, a clock after it arrived: a choice between memory and input would cost a LUT per bit.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.New(t.Rate())
	nf, sf := o.folds(f)
	groups := o.P.groups()
	always := b.Constant(1)
	input := b.Counter("sf", sf, always)
	output := b.Counter("nf", nf, input.Last)
	word := output.Index
	if groups > 1 {
		word = b.Counter("word", groups*nf, input.Last).Index
	}
	row := input.Index
	switch {
	case sf == 1:
		row = word
	case groups*nf > 1:
		row = b.Counter("row", groups*nf*sf, always).Index
	}

	x := b.Input(f.SIMD*o.in.Elem.Width, output.First)
	if nf > 1 {
		vector := b.Array("vector", dataflow.StyleOf(o.storage(f), "vector"), sf, x.Width())
		vector.Write(input.Index, x, output.First)
		x = vector.After(input.Index)
	}
	unit := o.NewCircuit(b, f, o.Packing(f.PE, f, t), groups*nf*sf).For(t)
	y := unit.Channels(func(int) circuit.Value { return x }, unit.Weights(row), input.First, word)
	b.Output(circuit.Packed(o.out.Elem, y...), input.Last)
	return b.Layer()
}

package vvau

import (
	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the layer's RTL, with a dot product and an accumulator for each of PE channels.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	nf, sf := o.channels/f.PE, o.positions/f.SIMD
	always := b.ConstantNumber(1)
	input := b.AddCounter("sf", sf, always)
	word := b.AddCounter("nf", nf, input.Last).Index
	row := word
	if sf > 1 {
		row = b.AddCounter("row", nf*sf, always).Index
	}
	width := o.in.Elem.Width
	x := b.AddInputStream(f.PE*f.SIMD*width, always)
	positions := func(pe int) circuit.Value {
		words := make([]circuit.Value, f.SIMD)
		for i := range words {
			words[i] = circuit.SliceBits(x, (i*f.PE+pe)*width, width)
		}
		return circuit.ConcatenateWords(words...)
	}
	unit := o.NewCircuitBuilder(b, f, cost.DSPPacking{}, nf*sf).ForTarget(t)
	y := unit.ChannelOutputs(positions, unit.WeightRow(row), input.First, word)
	b.AddOutputStream(circuit.PackIntoWord(o.out.Elem, y...), input.Last)
	return b.FinishLayer()
}

package vvau

import (
	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the RTL, with a dot product and an accumulator for each of PE channels.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.New(t.Rate())
	nf, sf := o.channels/f.PE, o.positions/f.SIMD
	always := b.Constant(1)
	input := b.Counter("sf", sf, always)
	word := b.Counter("nf", nf, input.Last).Index
	row := word
	if sf > 1 {
		row = b.Counter("row", nf*sf, always).Index
	}
	width := o.in.Elem.Width
	x := b.Input(f.PE*f.SIMD*width, always)
	positions := func(pe int) circuit.Value {
		words := make([]circuit.Value, f.SIMD)
		for i := range words {
			words[i] = circuit.BitRange(x, (i*f.PE+pe)*width, width)
		}
		return circuit.Joined(words...)
	}
	unit := o.NewCircuit(b, f, cost.Packing{}, nf*sf).For(t)
	y := unit.Channels(positions, unit.Weights(row), input.First, word)
	b.Output(circuit.Packed(o.out.Elem, y...), input.Last)
	return b.Layer()
}

package dup

import (
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the layer's RTL, which is wires: every output has the input's word.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	always := b.ConstantNumber(1)
	word := b.AddInputStream(o.port(f).Width(), always)
	for range o.P.Copies {
		b.AddOutputStream(word, always)
	}
	return b.FinishLayer()
}

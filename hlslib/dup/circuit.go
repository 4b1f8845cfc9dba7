package dup

import (
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the RTL, which is wires: every output has the input's word.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.New(t.Rate())
	always := b.Constant(1)
	word := b.Input(o.port(f).Width(), always)
	for range o.P.Copies {
		b.Output(word, always)
	}
	return b.Layer()
}

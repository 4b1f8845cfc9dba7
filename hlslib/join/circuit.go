package join

import (
	"hlsgen/hlslib/layer"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the layer's RTL, which is wires: a word of every input side by side, each element extended to the
// output's type.
func (o *op) Circuit(_ dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	always := b.ConstantNumber(1)
	words := make([]circuit.Value, len(o.in))
	for k, in := range o.in {
		words[k] = layer.RecodeWord(b.AddInputStream(o.P.Block*in.Elem.Width, always), in, o.out.Elem)
	}
	b.AddOutputStream(circuit.ConcatenateWords(words...), always)
	return b.FinishLayer()
}

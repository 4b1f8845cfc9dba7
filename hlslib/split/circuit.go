package split

import (
	"hlsgen/hlslib/layer"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the RTL, which is mostly wires: every output is offered every word, and takes those of its channels.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.New(t.Rate())
	turns := layer.NewStreamTurns(b, o.Out, f)
	word := b.Input(f.SIMD*o.In[0].Elem.Width, b.Constant(1))
	for k := range o.Out {
		b.Output(word, turns.HasTurn(k))
	}
	return b.Layer()
}

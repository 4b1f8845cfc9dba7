package split

import (
	"hlsgen/hlslib/layer"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the layer's RTL, which is mostly wires: every output is offered every word, and takes those of its
// channels.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	turns := layer.NewStreamTurns(b, o.Out, f)
	word := b.AddInputStream(f.SIMD*o.In[0].Elem.Width, b.ConstantNumber(1))
	for k := range o.Out {
		b.AddOutputStream(word, turns.TurnCondition(k))
	}
	return b.FinishLayer()
}

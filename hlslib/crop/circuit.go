package crop

import (
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the layer's RTL, which is mostly wires: the words of kept pixels pass, and all others are dropped.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	place := o.NestedFrame.AddPositionCounters(b, o.words(f))
	word := b.AddInputStream(f.SIMD*o.In[0].Elem.Width, b.ConstantNumber(1))
	b.AddOutputStream(word, place.Hit)
	return b.FinishLayer()
}

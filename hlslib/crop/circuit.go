package crop

import (
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the RTL, which is mostly wires: the words of kept pixels pass, and all others are dropped.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.New(t.Rate())
	place := o.Grid.Circuit(b, o.words(f))
	word := b.Input(f.SIMD*o.In[0].Elem.Width, b.Constant(1))
	b.Output(word, place.Hit)
	return b.Layer()
}

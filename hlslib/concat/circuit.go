package concat

import (
	"hlsgen/hlslib/layer"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the layer's RTL, which takes a word of one input in every clock: first all words of input 0's vector,
// and so on.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	turns := layer.NewStreamTurns(b, o.In, f)
	words := make([]circuit.Value, len(o.In))
	for k, in := range o.In {
		words[k] = layer.RecodeWord(b.AddInputStream(f.SIMD*in.Elem.Width, turns.TurnCondition(k)), in, o.Out[0].Elem)
	}
	b.AddOutputStream(turns.ChooseWord(words), b.ConstantNumber(1))
	return b.FinishLayer()
}

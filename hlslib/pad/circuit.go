package pad

import (
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the layer's RTL, which writes a word of the input or of padding in each iteration. If padding comes
// first, a register keeps the word that is read ahead.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	place := o.NestedFrame.AddPositionCounters(b, o.words(f))
	in, out := o.In[0], o.Out[0]
	reads := place.Hit
	if o.ahead() {
		reads = b.BuildWithoutStageLimit(func() circuit.Value {
			return circuit.AnyHolds(place.First, circuit.AllHold(place.Hit, circuit.Not(place.LastHit)))
		})
	}
	word := b.AddInputStream(f.SIMD*in.Elem.Width, reads)
	if o.ahead() {
		kept := b.AddWordRegister("kept", 0, word.Width())
		kept.SetNext(word, reads)
		word = kept.ValueBefore()
	}
	word = layer.RecodeWord(word, in, out.Elem)
	if !slices.Equal(in.Shape, out.Shape) { // else the output's type need not hold the padding
		padding := circuit.PackIntoWord(out.Elem, slices.Repeat([]circuit.Value{b.ConstantNumber(o.P.Code)}, f.SIMD)...)
		word = circuit.MuxByCondition(place.Hit, word, padding)
	}
	b.AddOutputStream(word, b.ConstantNumber(1))
	return b.FinishLayer()
}

package pad

import (
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// Circuit returns the RTL, which writes a word of the input or of padding in each iteration. If padding comes first, a
// register keeps the word that is read ahead.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.New(t.Rate())
	place := o.Grid.Circuit(b, o.words(f))
	in, out := o.In[0], o.Out[0]
	reads := place.Hit
	if o.ahead() {
		reads = b.WithoutStageLimit(func() circuit.Value {
			return circuit.Any(place.First, circuit.All(place.Hit, circuit.Not(place.LastHit)))
		})
	}
	word := b.Input(f.SIMD*in.Elem.Width, reads)
	if o.ahead() {
		kept := b.WordRegister("kept", 0, word.Width())
		kept.Set(word, reads)
		word = kept.Value()
	}
	word = layer.Recoded(word, in, out.Elem)
	if !slices.Equal(in.Shape, out.Shape) { // else the output's type need not hold the padding
		padding := circuit.Packed(out.Elem, slices.Repeat([]circuit.Value{b.Constant(o.P.Code)}, f.SIMD)...)
		word = circuit.MuxByCondition(place.Hit, word, padding)
	}
	b.Output(word, b.Constant(1))
	return b.Layer()
}

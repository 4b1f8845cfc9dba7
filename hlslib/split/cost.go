package split

import (
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// Cost is what counts words: all outputs are given the same word, and only one of them takes it. FINN counts nothing
// for its StreamingSplit.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	m := estimate.Model(t)
	vectors, words := layer.Words(o.In[0], f)
	return estimate.Parts(
		m.Control(cost.Counter(words).Plus(cost.Counter(vectors))),
		cost.Resources{LUT: len(o.Out)}.As("handshakes"),
		m.Registers(f.SIMD*o.In[0].Elem.Width),
	)
}

package split

import (
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/dataflow"
)

// Cost is what counts words: all outputs are given the same word, and only one of them takes it. FINN counts nothing for
// its StreamingSplit.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	m := estimate.Model(t)
	return estimate.Parts(
		m.Control(cost.Counter(o.in.Shape.Channels()/f.SIMD).Plus(cost.Counter(o.vectors))),
		cost.Resources{LUT: len(o.out)}.As("handshakes"),
		m.Registers(f.SIMD*o.in.Elem.Width),
	)
}

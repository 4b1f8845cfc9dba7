package pad

import (
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/dataflow"
)

// Cost is what knows the position, and what chooses between a word and the padding. FINN counts nothing for its
// FMPadding.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	counters := cost.Counter(o.in.Shape.Channels() / f.SIMD)
	for _, axis := range []dataflow.Stride{o.rows, o.columns} {
		counters = counters.Plus(cost.Counter(axis.Length)).Plus(cost.Counter(axis.Step))
	}
	m, width := estimate.Model(t), f.SIMD*o.out.Elem.Width
	return estimate.Parts(m.Control(counters), m.Multiplexer(2, width).As("multiplexers"), m.Registers(width))
}

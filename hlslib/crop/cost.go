package crop

import (
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/dataflow"
)

// Cost is what knows the position: words pass as they are. FINN counts nothing for its Crop.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	counters := cost.Counter(o.in.Shape.Channels() / f.SIMD)
	for _, axis := range []dataflow.Stride{o.rows, o.columns} {
		counters = counters.Plus(cost.Counter(axis.Length)).Plus(cost.Counter(axis.Step))
	}
	m := estimate.Model(t)
	return estimate.Parts(m.Control(counters), m.Registers(f.SIMD*o.in.Elem.Width))
}

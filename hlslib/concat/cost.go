package concat

import (
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/dataflow"
)

// Cost is what chooses among the inputs. FINN counts nothing for its StreamingConcat.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	m, width := estimate.Model(t), f.SIMD*o.out.Elem.Width
	return estimate.Parts(
		m.Control(cost.Counter(o.out.Shape.Channels()/f.SIMD).Plus(cost.Counter(o.vectors))),
		m.Multiplexer(len(o.in), width).As("multiplexers"),
		m.Registers(width),
	)
}

package concat

import (
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// Cost is what chooses among the inputs. FINN counts nothing for its StreamingConcat.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	m, width := estimate.Model(t), f.SIMD*o.Out[0].Elem.Width
	vectors, words := layer.Words(o.Out[0], f)
	return estimate.Parts(
		m.Control(cost.Counter(words).Plus(cost.Counter(vectors))),
		m.Multiplexer(len(o.In), width).As("multiplexers"),
		m.Registers(width),
	)
}

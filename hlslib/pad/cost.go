package pad

import (
	"hlsgen/hlslib/estimate"
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// Cost is what knows the position, and what chooses between a word and the padding. FINN counts nothing for its
// FMPadding.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.Priced(o, f, t); ok {
		return c
	}
	m, width := estimate.Model(t), f.SIMD*o.Out[0].Elem.Width
	kept := 0 // the bits of a word that is read ahead
	if o.ahead() {
		kept = f.SIMD * o.In[0].Elem.Width
	}
	return estimate.Parts(
		m.Control(o.Counters(o.words(f))),
		m.Multiplexer(2, width).As("multiplexers"),
		m.Registers(width+kept),
	)
}

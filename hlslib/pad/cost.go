package pad

import (
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// Cost returns the cost of the circuit if the target prices circuits. Otherwise it counts the counters of rows, columns
// and words, the choice between a word and the padding, and registers. FINN itself counts nothing for its FMPadding.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	m, width := estimate.CostModelOf(t), f.SIMD*o.Out[0].Elem.Width
	kept := 0 // bits of the word that is read ahead
	if o.ahead() {
		kept = f.SIMD * o.In[0].Elem.Width
	}
	return estimate.CostOfParts(
		m.StreamControlCost(o.CounterCost(o.words(f))),
		m.MultiplexerCost(2, width).AsPart("multiplexers"),
		m.RegisterCost(width+kept),
	)
}

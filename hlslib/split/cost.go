package split

import (
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// Cost returns the cost of the circuit if the target prices circuits. Otherwise it counts the counters of words, the
// handshakes of the outputs, and the registers of a word. FINN itself counts nothing for its StreamingSplit.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	m := estimate.CostModelOf(t)
	return estimate.CostOfParts(
		m.StreamControlCost(layer.StreamTurnsCounterCost(o.In[0], f)),
		layer.HandshakeCost(len(o.Out)),
		m.RegisterCost(f.SIMD*o.In[0].Elem.Width),
	)
}

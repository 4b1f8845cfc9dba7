package crop

import (
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// Cost returns the cost of the circuit if the target prices circuits. Otherwise it counts the counters of rows, columns
// and words, and the output's registers. FINN itself counts nothing for its Crop.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	m := estimate.CostModelOf(t)
	return estimate.CostOfParts(m.StreamControlCost(o.CounterCost(o.words(f))),
		m.RegisterCost(f.SIMD*o.In[0].Elem.Width))
}

package crop

import (
	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// Cost counts the counters of rows, columns and words, and the output's registers. FINN counts nothing for its Crop.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	m := estimate.CostModelOf(t)
	return estimate.CostOfParts(m.ControlCost(o.CounterCost(o.words(f))), m.RegisterCost(f.SIMD*o.In[0].Elem.Width))
}

package labelselect

import (
	"math/bits"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// Cost returns the cost of the circuit if the target prices circuits. Otherwise it counts, by the fitted formula, one
// label to compare with and to keep for each of K places and each PE. By FINN's formula the layer costs nothing.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	return estimate.CostByTargetFormula(t, cost.LabelSelectShape{PE: f.PE * o.P.K, InBits: o.In[0].Elem.Width,
		LabelBits: o.out.Elem.Width})
}

// carriedDelayNS returns the delay of merging a word with the kept labels, in nanoseconds. That is a comparison, and a
// choice among up to 2K places, four in each level.
func (o *op) carriedDelayNS(dataflow.Fold, dataflow.Target) float64 {
	return cost.LoopCarriedDelayNSForLevels(1 + (bits.Len(uint(2*o.P.K-1))+1)/2)
}

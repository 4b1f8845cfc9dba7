package labelselect

import (
	"math/bits"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// Cost counts, by the fitted formula, one label to compare with and to keep for each of K places and each PE. FINN
// counts nothing for its LabelSelect_hls.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	return estimate.CostOfEstimator(t, cost.LabelSelectShape{PE: f.PE * o.P.K, InBits: o.In[0].Elem.Width,
		LabelBits: o.out.Elem.Width})
}

// Delay returns the delay of merging a word with the kept labels, in nanoseconds. That is a comparison, and a choice
// among up to 2K places, four in each level.
func (o *op) CarriedDelayNS(dataflow.Fold, dataflow.Target) float64 {
	return cost.CarriedDelayNS(1 + (bits.Len(uint(2*o.P.K-1))+1)/2)
}

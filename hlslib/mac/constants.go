package mac

import (
	"sync"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/dataflow"
)

// constants holds the adders of a unit whose weights are all constants, once they have been computed.
type constants struct {
	once  sync.Once
	found cost.ConstantWeightAdderCounts
}

// ConstantWeightAdderCountsOf returns the adders of a fold that takes all weights in every clock, as constants.
// Synthesis builds each product from the digits of its weight. The result is zero for any other fold, and if weights
// are loaded. So it is for products in DSP slices, matches of bits, and products of minifloats or requantised ones.
func ConstantWeightAdderCountsOf(u *Unit, f dataflow.Fold) cost.ConstantWeightAdderCounts {
	if tableRows(u, f) > 1 || f.Compute == dataflow.MultiplierInDSPs || u.room != nil || u.XNOR || u.requant != nil ||
		floats(u) {
		return cost.ConstantWeightAdderCounts{}
	}
	c := u.constants
	c.once.Do(func() { c.found = cost.ConstantWeightAdderCountsOf(u.weights, !u.Apart, u.in, u.inputs, u.Acc.Width) })
	return c.found
}

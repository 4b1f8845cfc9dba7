package mac

import (
	"sync"

	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/dataflow"
)

// constants holds the adders of a unit whose weights are all constants. They are computed at the first request.
type constants struct {
	once  sync.Once
	found cost.ConstantAdders
}

// ConstantWeightAdders returns the adders of a fold that takes all weights in every clock. The weights are constants
// then, and synthesis builds each product from the digits of its weight. The result is zero if weights are loaded, or
// if products are made in another way: in DSP slices, as matches of bits, from minifloats, or with requantisers.
func ConstantWeightAdders(u *Unit, f dataflow.Fold) cost.ConstantAdders {
	if tableRows(u, f) > 1 || f.Compute == dataflow.ComputeInDSPs || u.room != nil || u.XNOR || u.requant != nil ||
		floats(u) {
		return cost.ConstantAdders{}
	}
	c := u.constants
	c.once.Do(func() { c.found = cost.ConstantAddersOf(u.weights, !u.Apart, u.in, u.inputs, u.Acc.Width) })
	return c.found
}

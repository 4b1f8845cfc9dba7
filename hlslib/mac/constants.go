package mac

import (
	"sync"

	"hlsgen/hlslib/cost"
	"hlsgen/internal/dataflow"
)

// constants is what adds up the products of a unit whose weights are all constants, found when it is first asked for.
type constants struct {
	once  sync.Once
	found cost.Constants
}

// Constants returns the adders of a fold that takes all weights in every clock: these are constants, and synthesis
// makes each product of the digits of its weight. It is zero where weights are loaded, and where products are
// made another way: in DSP slices, as matches of bits, of minifloats, or requantised one by one.
func Constants(u *Unit, f dataflow.Fold) cost.Constants {
	if tableRows(u, f) > 1 || f.Compute == dataflow.DSP || u.room != nil || u.XNOR || u.requant != nil || floats(u) {
		return cost.Constants{}
	}
	c := u.constants
	c.once.Do(func() { c.found = cost.ConstantsOf(u.weights, !u.Apart, u.in, u.inputs, u.Acc.Width) })
	return c.found
}

package mvau

import (
	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
)

var memories = map[dataflow.Memory]cost.Memory{dataflow.LUTRAM: cost.Distributed, dataflow.BRAM: cost.Block, dataflow.URAM: cost.Ultra}

// Cost is FINN's estimate of its MVAU_hls. FINN has no groups; a group's outputs cost what they cost alone, and the
// weights of all groups lie in one memory.
func (o *op) Cost(f dataflow.Fold, _ dataflow.Target) dataflow.Cost {
	parts := cost.MVAU{
		MW: o.mw, MH: o.mh, PE: f.PE, SIMD: f.SIMD,
		WeightBits: o.unit.Weight.Width, InBits: o.in.Elem.Width, AccBits: o.unit.Acc.Width,
		// FINN counts the inputs of an XNOR layer as unsigned bits.
		InSigned: o.in.Elem.Signed() && !o.unit.XNOR,
		DSP:      f.Compute == dataflow.DSP,
		Memory:   memories[f.Memory],
	}.FINN()
	c := make(dataflow.Cost, len(parts))
	for i, p := range parts {
		c[i] = dataflow.Part{Name: p.Name, Resources: dataflow.Resources(p.Resources)}
	}
	return c
}

package vvau

import (
	"hlsgen/hlslib/mac"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// Cost returns the cost of the circuit if the target prices circuits, or else the estimate for a VVAU by the target's
// formula. FINN counts the DSP slices of one position; here they are multiplied by SIMD.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := mac.CircuitCostWithWeightFIFO(o.Unit, o, f, t); ok {
		return c
	}
	m := cost.VVAUShape{
		Channels: o.channels, Kernel: o.positions, PE: f.PE, SIMD: f.SIMD,
		WeightBits: o.Weight.Width, InBits: o.in.Elem.Width, AccBits: o.Acc.Width,
		Spare: mac.SavedAccumulatorBits(o.Unit, f, t),
		// FINN counts the inputs of an XNOR layer as unsigned bits.
		InSigned:  o.in.Elem.IsSigned() && !o.XNOR,
		DSP:       f.Compute == dataflow.MultiplierInDSPs,
		Factors:   mac.MinifloatProductOf(o.Unit),
		Constants: mac.ConstantWeightAdderCountsOf(o.Unit, f),
		Memory:    estimate.MemoryStyleOf(f.Memory),
		Fabric:    estimate.CostModelOf(t).Fabric,
	}
	if t.Formula == dataflow.FINNCostFormula {
		m.Thresholds = o.Thresholds()
	}
	logic := append(o.Logic(estimate.CostModelOf(t), f), o.Codes.DecoderCost(f.PE*f.SIMD, o.WeightStorage(f).Rows)...)
	c := estimate.StoringLayerCost(t, m, o.Storage(f), logic...)
	if t.Formula == dataflow.FINNCostFormula {
		for i := range c {
			c[i].DSP *= f.SIMD
		}
	}
	return c
}

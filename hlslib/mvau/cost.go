package mvau

import (
	"hlsgen/hlslib/mac"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// Cost returns the cost of the circuit if the target prices circuits. Otherwise it returns FINN's estimate for MVAU_hls
// or the fitted one, which also counts input buffer and thresholds. FINN has no groups: outputs cost here what they
// cost alone, and one memory holds all weights. An adder per product is added if products are requantised.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := mac.CircuitCostWithWeightFIFO(o.Unit, o, f, t); ok {
		return c
	}
	m := cost.MVAUShape{
		MW: o.mw, MH: o.mh, PE: f.PE, SIMD: f.SIMD,
		WeightBits: o.Weight.Width, InBits: o.in.Elem.Width, AccBits: o.Acc.Width,
		Spare: mac.SavedAccumulatorBits(o.Unit, f, t),
		// FINN counts the inputs of an XNOR layer as unsigned bits.
		InSigned:  o.in.Elem.IsSigned() && !o.XNOR,
		DSP:       f.Compute == dataflow.MultiplierInDSPs,
		Factors:   mac.MinifloatProductOf(o.Unit),
		Constants: mac.ConstantWeightAdderCountsOf(o.Unit, f),
		Packing:   o.DSPPackingForChannels(f.PE, f, t),
		Memory:    estimate.MemoryStyleOf(f.Memory),
		Fabric:    estimate.CostModelOf(t).Fabric,
	}
	logic := append(o.Logic(estimate.CostModelOf(t), f), o.Codes.DecoderCost(f.PE*f.SIMD, o.WeightStorage(f).Rows)...)
	c := estimate.StoringLayerCost(t, m, o.storage(f), logic...)
	if n := o.RequantisedProductBits(); n > 0 {
		c = append(c, estimate.CostOfParts(cost.AdderCost(n).Times(f.PE*f.SIMD).AsPart("product rounding"))...)
	}
	return c
}

// storage returns the layer's memories: those of weights and step functions, and the buffer of the input vector. The
// buffer has no rows if each vector gives one output word.
func (o *op) storage(f dataflow.Fold) []dataflow.Storage {
	nf, sf := o.folds(f)
	if nf == 1 {
		sf = 0
	}
	return append(o.Storage(f), dataflow.NewArrayStorage("vector", "input buffer", sf, f.SIMD*o.in.Elem.Width))
}

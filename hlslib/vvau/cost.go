package vvau

import (
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/dataflow"
)

// Cost is that of FINN's VVAU_hls, but for the DSP slices, or the fitted one: FINN counts the slices of one position,
// and the kernel multiplies SIMD of them a clock.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	c := estimate.Storing(t, cost.VVAU{
		Channels: o.channels, Kernel: o.positions, PE: f.PE, SIMD: f.SIMD,
		WeightBits: o.Weight.Width, InBits: o.in.Elem.Width, AccBits: o.Acc.Width,
		// FINN counts the inputs of an XNOR layer as unsigned bits.
		InSigned:   o.in.Elem.Signed() && !o.XNOR,
		Thresholds: o.Thresholds(),
		DSP:        f.Compute == dataflow.DSP,
		Memory:     estimate.Memory(f.Memory),
		Fabric:     estimate.Model(t).Fabric, ThresholdBits: o.Acc.Width,
	}, o.Storage(f))
	if t.Formula == dataflow.FINN {
		for i := range c {
			c[i].DSP *= f.SIMD
		}
	}
	return c
}

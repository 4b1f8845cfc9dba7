package vvau

import (
	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
)

var memories = map[dataflow.Memory]cost.Memory{dataflow.LUTRAM: cost.Distributed, dataflow.BRAM: cost.Block, dataflow.URAM: cost.Ultra}

// Cost is FINN's estimate of its VVAU_hls, but for the DSP slices: FINN counts those of one position, and the kernel
// multiplies SIMD of them a clock.
func (o *op) Cost(f dataflow.Fold, _ dataflow.Target) dataflow.Cost {
	parts := cost.VVAU{
		Channels: o.channels, Kernel: o.positions, PE: f.PE, SIMD: f.SIMD,
		WeightBits: o.unit.Weight.Width, InBits: o.in.Elem.Width, AccBits: o.unit.Acc.Width,
		// FINN counts the inputs of an XNOR layer as unsigned bits.
		InSigned:   o.in.Elem.Signed() && !o.unit.XNOR,
		Thresholds: o.unit.Thresholds(),
		DSP:        f.Compute == dataflow.DSP,
		Memory:     memories[f.Memory],
	}.FINN()
	c := make(dataflow.Cost, len(parts))
	for i, p := range parts {
		p.DSP *= f.SIMD
		c[i] = dataflow.Part{Name: p.Name, Resources: dataflow.Resources(p.Resources)}
	}
	return c
}

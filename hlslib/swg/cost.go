package swg

import (
	"math/bits"

	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
)

var memories = map[dataflow.Memory]cost.Memory{dataflow.LUTRAM: cost.Distributed, dataflow.BRAM: cost.Block, dataflow.URAM: cost.Ultra}

// control is FINN's estimate of the logic of its ConvolutionInputGenerator_rtl (lut_estimation), counters included.
const control = 300

// Cost is FINN's estimate of memory and logic; FINN counts no registers and no padding, which are counted here as they are
// written in swg.hpp.
func (o *op) Cost(f dataflow.Fold, _ dataflow.Target) dataflow.Cost {
	c := dataflow.Cost{
		{Name: "stream control", Resources: dataflow.Resources{LUT: control, FF: o.counters(f)}},
		{Name: "window buffer", Resources: o.buffer(f)},
	}
	if o.all(f) {
		column := o.g.kernel[0] * f.SIMD * o.in.Elem.Width
		c = append(c, dataflow.Part{Name: "window registers", Resources: delayCost((o.g.kernel[1]-1)*column, o.spacing(f), cost.Distributed)})
	}
	if o.padded { // one LUT per bit chooses between data and a constant
		c = append(c, dataflow.Part{Name: "padding", Resources: dataflow.Resources{LUT: f.PE * f.SIMD * o.out.Elem.Width}})
	}
	// The word that is written has a register, as long as it passes through the pipeline.
	return append(c, dataflow.Part{Name: "output register", Resources: dataflow.Resources{FF: f.PE * f.SIMD * o.out.Elem.Width}})
}

// buffer is the ring, or the delays of the lines.
func (o *op) buffer(f dataflow.Fold) dataflow.Resources {
	width := f.SIMD * o.in.Elem.Width
	switch {
	case !o.all(f):
		return dataflow.Resources(cost.WindowBuffer(width, o.depth(f), memories[f.Memory]))
	case o.depth(f) == 0:
		return dataflow.Resources{}
	}
	return delayCost((o.g.kernel[0]-1)*width, o.depth(f), memories[f.Memory])
}

// delayCost is a delay by so many words of width bits: registers, shift registers of up to 32 bits in a LUT, or a memory.
func delayCost(width, depth int, m cost.Memory) dataflow.Resources {
	switch {
	case depth == 1:
		return dataflow.Resources{FF: width}
	case depth <= shallow:
		return dataflow.Resources{LUT: width, FF: width}
	}
	return dataflow.Resources(cost.WindowBuffer(width, depth, m))
}

// counters is the bits of swg.hpp's counters: places in the frame, places in the buffer, and the loops.
func (o *op) counters(f dataflow.Fold) int {
	frame, line := width(o.in.Shape.Size()/f.SIMD), width(o.g.frame[1]*o.parts(f))
	windows := width(o.g.windows[0]) + width(o.g.windows[1])
	loops := width(o.schedule(f).slots*o.parts(f)) + width(o.parts(f))
	if o.all(f) {
		// The window's corner, the pixel that comes in and the one that is due, and a place in the delays.
		return 3*frame + line + windows + loops + width(o.depth(f))
	}
	// The next window's corner, this one's and the tap's; what is needed, what has room and what has been read; two places
	// in the ring.
	return 6*frame + 3*line + windows + loops + width(o.g.kernel[0]) + width(o.g.kernel[1]) + width(o.tile(f)/f.SIMD) + 2*width(o.depth(f))
}

// width is the bits that count to n.
func width(n int) int { return bits.Len(uint(n)) }

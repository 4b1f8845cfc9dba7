package swg

import (
	"math/bits"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// control is FINN's estimate of the LUTs of ConvolutionInputGenerator_rtl besides its memory (lut_estimation),
// including its counters.
const control = 300

// Cost returns the cost of the circuit for targets in SystemVerilog. In C++ it is that of the fitted formula, or FINN's
// estimate of memory and logic. FINN ignores registers and padding; they are added here as swg.hpp has them.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.CircuitCost(o, f, t); ok {
		return c
	}
	m := estimate.CostModelOf(t)
	drive, out := cost.WindowControlCost(), f.PE*f.SIMD*o.out.Elem.Width
	if m.Formula == cost.FormulaFINN {
		drive = cost.Resources{LUT: control, FF: counters(o, f)}
	}
	storage := o.storage(f)
	parts := append(o.memoryCost(m, f, storage), drive.AsPart("stream control"))
	if o.padded { // a LUT per bit chooses between data and a constant
		parts = append(parts, cost.Resources{LUT: out}.AsPart("padding"))
	}
	// The written word has a register. The fitted formula includes it in a memory in LUTs.
	if m.Formula == cost.FormulaFINN || o.all(f) || storage[0].In != dataflow.MemoryLUTRAM {
		parts = append(parts, cost.Resources{FF: out}.AsPart("output register"))
	}
	return estimate.CostOfParts(parts...)
}

// carriedDelayNS returns the delay of the decision to read or write a word, in nanoseconds. With one position per
// clock, the words read are compared with those needed. At the end of a window the next window's need is chosen, added
// and chosen again. With all positions per clock, counters are compared, and the next window is found by an addition
// and a choice.
func (o *op) carriedDelayNS(f dataflow.Fold, _ dataflow.Target) float64 {
	if o.all(f) {
		return cost.LoopCarriedDelayNSForLevels(3)
	}
	return cost.LoopCarriedDelayNSForLevels(4)
}

// storage returns the layer's memories: the ring, or the delays of lines and those of the columns of taps.
func (o *op) storage(f dataflow.Fold) []dataflow.Storage {
	word := f.SIMD * o.in.Elem.Width
	if !o.all(f) {
		return []dataflow.Storage{dataflow.NewArrayStorage("ring", "window buffer", o.depth(f),
			word).MovedToMemory(f.Memory)}
	}
	delay := func(name, part string, stages, rows, word int) dataflow.Storage {
		if stages == 0 {
			rows = 0
		}
		return dataflow.NewArrayStorage(name, part, rows, stages*word)
	}
	h, w := o.g.kernel[0], o.g.kernel[1]
	return []dataflow.Storage{
		delay("lines", "window buffer", h-1, o.depth(f), word).MovedToMemory(f.Memory).MovedToShiftRegisters(),
		delay("columns", "window registers", w-1, o.spacing(f),
			h*word).MovedToMemory(dataflow.MemoryLUTRAM).MovedToShiftRegisters(),
	}
}

// memoryCost returns the cost of the memories. FINN's formula for the ring also serves for delays that are too long for
// registers.
func (o *op) memoryCost(m cost.CostModel, f dataflow.Fold, storage []dataflow.Storage) []cost.CostPart {
	parts := estimate.MemoryCostParts(m, storage)
	for i, s := range storage {
		if shifted := o.all(f) && s.Rows <= dataflow.MaxShiftRegisterWords; m.Formula == cost.FormulaFINN && !shifted {
			parts[i] = cost.FINNWindowBufferCost(s.Width, s.Rows, estimate.MemoryStyleOf(s.In)).AsPart(s.Part)
		}
	}
	return parts
}

// counters returns the bits that all counters of swg.hpp have together: positions in the frame, places in the buffer,
// and loops.
func counters(o *op, f dataflow.Fold) int {
	frame, line := width(o.in.Shape.ElementCount()/f.SIMD), width(o.g.frame[1]*o.parts(f))
	windows := width(o.g.windows[0]) + width(o.g.windows[1])
	loops := width(o.schedule(f).slots*o.parts(f)) + width(o.parts(f))
	if o.all(f) {
		// The corner of the window, the pixel that arrives, the pixel that is due, and a place in the delays.
		return 3*frame + line + windows + loops + width(o.depth(f))
	}
	// The corners of the next window and of this one, and the tap; the words that are needed, fit, and have been
	// read; two places in the ring.
	return 6*frame + 3*line + windows + loops + width(o.g.kernel[0]) + width(o.g.kernel[1]) + width(o.tile(f)/f.SIMD) +
		2*width(o.depth(f))
}

// width returns the bits of a counter from 0 to n.
func width(n int) int { return bits.Len(uint(n)) }

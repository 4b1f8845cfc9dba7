package swg

import (
	"math/bits"

	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/estimate"
	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// control is FINN's estimate of the logic of its ConvolutionInputGenerator_rtl (lut_estimation), counters included.
const control = 300

// Cost is the fitted formula's, or FINN's estimate of memory and logic. FINN counts no registers and no padding, which
// are counted here as they are written in swg.hpp.
func (o *op) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	if c, ok := layer.Priced(o, f, t); ok {
		return c
	}
	m := estimate.Model(t)
	drive, out := cost.WindowControl(), f.PE*f.SIMD*o.out.Elem.Width
	if m.Formula == cost.FINN {
		drive = cost.Resources{LUT: control, FF: counters(o, f)}
	}
	storage := o.storage(f)
	parts := append(o.memoryCost(m, f, storage), drive.As("stream control"))
	if o.padded { // one LUT per bit chooses between data and a constant
		parts = append(parts, cost.Resources{LUT: out}.As("padding"))
	}
	// The word that is written has a register, which the fitted formula's memory in LUTs has already.
	if m.Formula == cost.FINN || o.all(f) || storage[0].In != dataflow.LUTRAM {
		parts = append(parts, cost.Resources{FF: out}.As("output register"))
	}
	return estimate.Parts(parts...)
}

// Delay is what decides whether a word is read or written: the words that are there are compared with those needed, and
// at the end of a window what the next one needs is chosen, added and chosen again. With all positions a clock the end
// of a window is a comparison of counters, and the next one an addition and a choice.
func (o *op) Delay(f dataflow.Fold, _ dataflow.Target) float64 {
	if o.all(f) {
		return cost.CarriedDelay(3)
	}
	return cost.CarriedDelay(4)
}

// storage is the layer's memories: the ring, or the delays of lines and those between columns of taps.
func (o *op) storage(f dataflow.Fold) []dataflow.Storage {
	word := f.SIMD * o.in.Elem.Width
	if !o.all(f) {
		return []dataflow.Storage{dataflow.RAM("ring", "window buffer", o.depth(f), word).At(f.Memory)}
	}
	delay := func(name, part string, stages, rows, word int) dataflow.Storage {
		if stages == 0 {
			rows = 0
		}
		return dataflow.RAM(name, part, rows, stages*word)
	}
	h, w := o.g.kernel[0], o.g.kernel[1]
	return []dataflow.Storage{
		delay("lines", "window buffer", h-1, o.depth(f), word).At(f.Memory).Shifted(),
		delay("columns", "window registers", w-1, o.spacing(f), h*word).At(dataflow.LUTRAM).Shifted(),
	}
}

// memoryCost is what the memories take. FINN has a formula for the ring, which also serves for delays that are no
// registers.
func (o *op) memoryCost(m cost.Model, f dataflow.Fold, storage []dataflow.Storage) []cost.Part {
	parts := estimate.Storage(m, storage)
	for i, s := range storage {
		if shifted := o.all(f) && s.Rows <= dataflow.ShiftRegister; m.Formula == cost.FINN && !shifted {
			parts[i] = cost.WindowBuffer(s.Width, s.Rows, estimate.Memory(s.In)).As(s.Part)
		}
	}
	return parts
}

// counters is the bits of swg.hpp's counters: places in the frame, places in the buffer, and the loops.
func counters(o *op, f dataflow.Fold) int {
	frame, line := width(o.in.Shape.Size()/f.SIMD), width(o.g.frame[1]*o.parts(f))
	windows := width(o.g.windows[0]) + width(o.g.windows[1])
	loops := width(o.schedule(f).slots*o.parts(f)) + width(o.parts(f))
	if o.all(f) {
		// The window's corner, the pixel that comes in and the one that is due, and a place in the delays.
		return 3*frame + line + windows + loops + width(o.depth(f))
	}
	// The next window's corner, this one's and the tap's; what is needed, what has room and what has been read; two
	// places in the ring.
	return 6*frame + 3*line + windows + loops + width(o.g.kernel[0]) + width(o.g.kernel[1]) + width(o.tile(f)/f.SIMD) +
		2*width(o.depth(f))
}

// width is the bits that count to n.
func width(n int) int { return bits.Len(uint(n)) }

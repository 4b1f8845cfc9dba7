package cost

import "math/bits"

// A WidthConverterShape is a layer that converts words of In bits to words of Out bits.
type WidthConverterShape struct{ In, Out int }

// FINNCost returns the cost by FINN's formula, as finnWidthConverterCost does.
func (c WidthConverterShape) FINNCost() []CostPart { return finnWidthConverterCost(c.In, c.Out) }

// FittedCost returns the cost of a converter by the fitted formula. It has a register for each of the two words, and
// logic that moves one within the other. If neither width divides the other, the place of the next word is selected
// among all that occur.
func (c WidthConverterShape) FittedCost() []CostPart { return parts(c.shares(&fitted)) }

func (c WidthConverterShape) shares(v *values) []share {
	register := share{name: "shift register", ff: float64(c.In + c.Out)}
	switch {
	case c.In%c.Out == 0:
		register.lut = v[converterShift] * float64(c.In)
	case c.Out%c.In != 0:
		places := max(c.In, c.Out) / gcd(c.In, c.Out)
		register.lut = (v[converterShift] + FabricUltraScale.mux(places)) * float64(c.In+c.Out)
	}
	return []share{{name: "stream control", lut: v[converterLUT], ff: v[converterFF]}, register}
}

// finnWidthConverterCost returns FINN's estimate of a StreamingDataWidthConverter between words of in and out bits
// (streamingdatawidthconverter.py, lut_estimation). It widens to the least common multiple of the widths, then narrows,
// each with a counter and a shift register. FINN rounds the counter of the first step down and that of the second up.
func finnWidthConverterCost(in, out int) []CostPart {
	lcm := in / gcd(in, out) * out
	var control, register Resources
	if in != lcm {
		control.LUT += bits.Len(uint(lcm/in)) - 1
		register.LUT += lcm
	}
	if out != lcm {
		control.LUT += log2Ceil(lcm / out)
		register.LUT += out
	}
	return []CostPart{{"stream control", control}, {"shift register", register}}
}

// A FIFOShape is a FIFO of Depth words of Width bits in Memory. By FINN's formula, a shift register is its style rtl,
// and other memories are its style vivado with that ram_style.
type FIFOShape struct {
	Depth, Width int
	Memory       MemoryStyle

	Fabric Fabric // not in FINN's formula
}

// FINNCost returns the cost by FINN's formula for StreamingFIFO (streamingfifo.py). Memories other than a shift
// register round the depth up to a power of two.
func (f FIFOShape) FINNCost() []CostPart {
	depth := f.Depth
	if f.Memory != StyleShiftRegister {
		depth = 1 << log2Ceil(depth)
	}
	var memory Resources
	switch f.Memory {
	case StyleShiftRegister, StyleDistributedRAM:
		memory.LUT = ceil(depth, 32) * ceil(f.Width, 2)
		memory.LUTRAM = memory.LUT
	case StyleBlockRAM:
		memory.BRAM = bram18(f.Width, depth)
	case StyleUltraRAM:
		memory.URAM = uram(f.Width, depth)
	}
	return []CostPart{{"stream control", Resources{LUT: 2 * log2Ceil(depth)}}, {"FIFO memory", memory}}
}

// FittedCost returns the cost of a FIFO by the fitted formula. Up to two words are registers. A shift register of one
// LUT per bit holds 32 further words, and another LUT and register per bit output them. Other memories have a register
// behind them. The counters cover all words that the memory holds.
func (f FIFOShape) FittedCost() []CostPart { return parts(f.shares(&fitted)) }

func (f FIFOShape) shares(v *values) []share {
	address := float64(max(1, log2Ceil(f.held())))
	control := share{name: "stream control", lut: v[fifoLUT] * address, ff: v[fifoFF] * address}
	memory := share{name: "FIFO memory", ff: float64(f.Width)}
	switch {
	case f.Memory == StyleBlockRAM:
		memory.bram = f.Fabric.blocks(f.Depth, f.Width)
	case f.Memory == StyleUltraRAM:
		memory.uram = f.Fabric.ultraBlocks(f.Depth, f.Width)
	case f.Memory == StyleDistributedRAM && !CanStoreInLUTs(f.Fabric):
		memory.lut, memory.ff = f.Fabric.shifted(f.Depth, f.Width)
	case f.Memory == StyleDistributedRAM:
		memory.lut, memory.lutram = f.Fabric.lutRAM(f.Depth, f.Width), float64(f.Fabric.lutStorage(f.Depth, f.Width))
	case f.Depth <= 2:
		memory.lut, memory.ff = float64(f.Width), 2*memory.ff
	case f.Fabric.lut4():
		memory.lut, memory.ff = f.Fabric.shifted(f.Depth, f.Width)
	default:
		memory.lutram = float64(f.Width * ceil(f.Depth, ShiftRegisterBitsPerLUT))
		memory.lut = float64(f.Width) + memory.lutram
	}
	return []share{control, memory}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

package cost

import "math/bits"

// WidthConverterFINN is FINN's estimate of a StreamingDataWidthConverter between words of in and out bits
// (streamingdatawidthconverter.py, lut_estimation): up to the least common multiple of the widths, then down, each a
// counter and a shift register. FINN rounds the counter of the way up down and that of the way down up.
func WidthConverterFINN(in, out int) []Part {
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
	return []Part{{"stream control", control}, {"shift register", register}}
}

// A FIFO is what the formulas ask of a stream's FIFO: depth words of width bits. Distributed is FINN's style rtl, a
// shift register in LUTs; Block and Ultra are its style vivado with that ram_style.
type FIFO struct {
	Depth, Width int
	Memory       Memory
}

// FINN is the estimate of FINN's StreamingFIFO (streamingfifo.py). Memories other than Distributed round the depth up
// to a power of two.
func (f FIFO) FINN() []Part {
	depth := f.Depth
	if f.Memory != Distributed {
		depth = 1 << log2Ceil(depth)
	}
	var memory Resources
	switch f.Memory {
	case Distributed:
		memory.LUT = ceil(depth, 32) * ceil(f.Width, 2)
	case Block:
		memory.BRAM = bram18(f.Width, depth)
	case Ultra:
		memory.URAM = uram(f.Width, depth)
	}
	return []Part{{"stream control", Resources{LUT: 2 * log2Ceil(depth)}}, {"FIFO memory", memory}}
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

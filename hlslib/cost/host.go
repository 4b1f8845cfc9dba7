package cost

import "math"

// LayerControl is the loop counters and the handshake of a layer that only moves, adds or compares.
func LayerControl() Resources { return control(streamLUT, streamFF) }

// WindowControl is that of a sliding window, its addresses included.
func WindowControl() Resources { return control(windowLUT, windowFF) }

func control(lut, ff int) Resources {
	return Resources{LUT: int(math.Round(fitted[lut])), FF: int(math.Round(fitted[ff]))}
}

// Table is a memory of rows words of width bits that is only read. One row is constants.
func (f Fabric) Table(width, rows int, m Memory) Resources {
	return f.table("", m, rows, width).round()
}

// RAM is a memory of rows words of width bits that is read and written in every clock.
func (f Fabric) RAM(width, rows int, m Memory) Resources { return f.ram("", m, rows, width).round() }

// Multiplexer chooses one of so many words of width bits.
func (f Fabric) Multiplexer(words, width int) Resources {
	return share{lut: f.mux(words) * float64(width)}.round()
}

// A LabelSelect is what the formula asks of a layer that finds the largest of its inputs: PE values of InBits at a
// time, each with a label of LabelBits.
type LabelSelect struct{ PE, InBits, LabelBits int }

// FINN is nothing: FINN takes the layer to be free.
func (l LabelSelect) FINN() []Part { return nil }

// Fitted is the estimate: each value is compared with the largest so far, and the larger one kept with its label.
func (l LabelSelect) Fitted() []Part { return parts(l.shares(&fitted)) }

func (l LabelSelect) shares(v *values) []share {
	return []share{
		{name: "stream control", lut: v[streamLUT], ff: v[streamFF]},
		{name: "comparators", lut: float64(l.PE * ceil(l.InBits, 2))},
		{name: "multiplexers", lut: float64(l.PE * (l.InBits + l.LabelBits))},
		{name: "registers", ff: float64(l.PE * (2*l.InBits + l.LabelBits))},
	}
}

// A Host is what joins an accelerator to a processor's memory: a DMA per stream, and the shell around them.
type Host struct{ Inputs, Outputs int }

// FINN is nothing: FINN counts no infrastructure on a Zynq.
func (h Host) FINN() []Part { return nil }

// Fitted is the estimate of the DMAs and of the shell.
func (h Host) Fitted() []Part { return parts(h.shares(&fitted)) }

func (h Host) shares(v *values) []share {
	in, out := float64(h.Inputs), float64(h.Outputs)
	return []share{
		// Blocks are as measured: a RAMB36 of read data, a RAMB18 of write data.
		{name: "DMA of inputs", lut: in * v[readerLUT], ff: in * v[readerFF], bram: 2 * h.Inputs},
		{name: "DMA of outputs", lut: out * v[writerLUT], ff: out * v[writerFF], bram: h.Outputs},
		{name: "shell", lut: v[shellLUT], ff: v[shellFF]},
	}
}

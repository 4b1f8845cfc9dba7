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

// A Host is what joins an accelerator to a memory: a mover per stream, and on a Zynq the shell around them.
type Host struct {
	Inputs, Outputs int
	Bits, Beats     int  // of the memory's port, and of a burst at most
	Card            bool // what is around the movers belongs to the card's platform
}

// FINN is nothing: FINN counts no infrastructure on a Zynq.
func (h Host) FINN() []Part { return nil }

// Fitted is the movers, and the estimate of the shell.
func (h Host) Fitted() []Part { return parts(h.shares(&fitted)) }

// shares: what movers of the texts in templates/mover take, as Yosys makes them for ports of 32 to 512 bits. A beat
// goes through a register and a gearbox; what is kept of a burst lies in LUTs up to 64 beats, else in block RAM, whose
// ports have 36 bits.
func (h Host) shares(v *values) []share {
	in, out, bits := float64(h.Inputs), float64(h.Outputs), float64(h.Bits)
	blocks := func(beats, width int) int {
		if beats <= 64 {
			return 0
		}
		return ceil(width, 36)
	}
	list := []share{
		{name: "movers of inputs", lut: in * (940 + 3.4*bits), ff: in * (730 + 0.9*bits),
			bram: h.Inputs * blocks(4*h.Beats, h.Bits)},
		{name: "movers of outputs", lut: out * (560 + 1.8*bits), ff: out * (510 + bits),
			bram: h.Outputs * blocks(2*h.Beats, h.Bits+1)},
	}
	if !h.Card {
		list = append(list, share{name: "shell", lut: v[shellLUT], ff: v[shellFF]})
	}
	return list
}

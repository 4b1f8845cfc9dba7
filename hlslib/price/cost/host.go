package cost

import "math"

// layerControlCost returns the cost of the loop counters and the handshake of a layer that only moves, adds or
// compares.
func layerControlCost() Resources { return control(streamLUT, streamFF) }

// WindowControlCost returns the cost of the loop counters, the handshake and the addresses of a sliding window.
func WindowControlCost() Resources { return control(windowLUT, windowFF) }

func control(lut, ff int) Resources {
	return Resources{LUT: int(math.Round(fitted[lut])), FF: int(math.Round(fitted[ff]))}
}

// TableCost returns the cost of a read-only memory of rows words of width bits in m, with a register behind LUTs. One
// row is constants, which take nothing in LUTs.
func (f Fabric) TableCost(width, rows int, m MemoryStyle) Resources {
	return f.table("", m, rows, width).round()
}

// ReadWriteMemoryCost returns the cost of a memory of rows words of width bits in m that is read and written in every
// clock.
func (f Fabric) ReadWriteMemoryCost(width, rows int, m MemoryStyle) Resources {
	return f.ram("", m, rows, width).round()
}

// multiplexerCost returns the cost of selecting one of words words of width bits.
func (f Fabric) multiplexerCost(words, width int) Resources {
	return share{lut: f.mux(words) * float64(width)}.round()
}

// A LabelSelectShape is a layer that finds the largest of its inputs. It compares PE values of InBits bits at a time,
// each with a label of LabelBits bits.
type LabelSelectShape struct{ PE, InBits, LabelBits int }

// FINNCost returns no parts, because FINN takes the layer to be free.
func (l LabelSelectShape) FINNCost() []CostPart { return nil }

// FittedCost returns the cost by the fitted formula. Each value is compared with the largest so far, and the larger one
// is kept with its label.
func (l LabelSelectShape) FittedCost() []CostPart { return parts(l.shares(&fitted)) }

func (l LabelSelectShape) shares(v *values) []share {
	return []share{
		{name: "stream control", lut: v[streamLUT], ff: v[streamFF]},
		{name: "comparators", lut: float64(l.PE * ceil(l.InBits, 2))},
		{name: "multiplexers", lut: float64(l.PE * (l.InBits + l.LabelBits))},
		{name: "registers", ff: float64(l.PE * (2*l.InBits + l.LabelBits))},
	}
}

// A HostPortShape is the logic that joins an accelerator to a memory. It has a mover for each stream in and out, and
// the shell around them unless a card's platform has it.
type HostPortShape struct {
	Inputs, Outputs int
	Bits, Beats     int  // bits of the memory's port, and most beats of a burst
	Card            bool // whether the logic around the movers belongs to the card's platform
}

// FINNCost returns no parts, because FINN counts no infrastructure on a Zynq.
func (h HostPortShape) FINNCost() []CostPart { return nil }

// FittedCost returns the cost of the movers and, unless Card is set, the fitted cost of the shell.
func (h HostPortShape) FittedCost() []CostPart { return parts(h.shares(&fitted)) }

// shares returns the cost with numbers that Yosys gives for the movers of templates/mover, for ports of 32 to 512 bits.
// The stored part of a burst lies in LUTs up to 64 beats, else in block RAM, whose ports have 36 bits.
func (h HostPortShape) shares(v *values) []share {
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

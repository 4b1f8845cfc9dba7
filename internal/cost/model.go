package cost

// A Model is what layers are estimated by: the formula, and the fabric they are built on. Its methods give the parts of
// layers that have no formula of their own.
type Model struct {
	Formula Formula
	Fabric  Fabric
}

// As makes r a part.
func (r Resources) As(name string) Part { return Part{name, r} }

// Control is what drives a layer that only moves, adds or compares. FINN has no formula for these; then it is the
// counters. What was measured has the counters in it.
func (m Model) Control(counters Resources) Part {
	if m.Formula == Fitted {
		counters = LayerControl()
	}
	return counters.As("stream control")
}

// Registers are those of a pipeline's last stage. FINN counts none.
func (m Model) Registers(bits int) Part {
	if m.Formula == FINN {
		bits = 0
	}
	return Resources{FF: bits}.As("registers")
}

// Multiplexer chooses one of so many words of width bits.
func (m Model) Multiplexer(words, width int) Resources {
	if m.Formula == FINN {
		return Multiplexer(words, width)
	}
	return m.Fabric.Multiplexer(words, width)
}

// Table is a memory of rows words of width bits that is only read. One row is constants.
func (m Model) Table(width, rows int, in Memory) Resources {
	switch {
	case m.Formula == FINN:
		return Table(width, rows, in)
	case rows == 1:
		return Resources{}
	}
	return m.Fabric.Table(width, rows, in)
}

// Window is the memory of a sliding window: rows words of width bits, written and read at the same time.
func (m Model) Window(width, rows int, in Memory) Resources {
	if m.Formula == FINN {
		return WindowBuffer(width, rows, in)
	}
	return m.Fabric.RAM(width, rows, in)
}

// Buffer is the same where the memory is the tool's choice, taken to be Unbound's.
func (m Model) Buffer(width, rows int) Resources {
	if m.Formula == FINN {
		return Buffer(width, rows)
	}
	return m.Fabric.RAM(width, rows, Unbound(width, rows))
}

// Unbound is the memory that rows words of width bits are taken to lie in where the kernel does not say: a register,
// LUTs up to 64 rows or some bits, block RAM.
func Unbound(width, rows int) Memory {
	switch {
	case rows == 1:
		return Registers
	case rows <= 64 || width*rows <= smallBuffer:
		return Distributed
	}
	return Block
}

// Multiplier multiplies words of a and b bits.
func (m Model) Multiplier(a, b int, dsp bool) Resources {
	switch {
	case m.Formula == FINN:
		return Multiplier(a, b, dsp)
	case dsp:
		return share{ff: fitted[pipelineFF] * float64(a*b), dsp: m.Fabric.slices(a, b)}.round()
	}
	return share{lut: fitted[product] * float64(a*b+a+b), ff: fitted[pipelineFF] * float64(a*b)}.round()
}

// Steps are the thresholds and comparators of t alone, for a layer that has them behind something else.
func (m Model) Steps(t Thresholding) []Part {
	if m.Formula == FINN {
		return t.FINN()
	}
	return parts(activation{t.PE, t.Rows, t.Steps, t.InBits, t.Memory}.shares(m.Fabric))
}

// CarriedDelay is the estimated time in ns of what a layer carries from one clock to the next, through so many levels of
// logic: an adder, a comparison, a choice. HLS can put registers into everything else, at the price of latency, so that
// this alone bounds the clock. It is the least that the measurements support: the first level is what the fastest layers
// take in all, with the routing and the control around them, and a further one costs no more than in an adder tree that
// HLS has already cut into stages.
func CarriedDelay(levels int) float64 {
	return fitted[clockDelay] + fitted[treeDelay]*float64(levels-1)
}

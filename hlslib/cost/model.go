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

// A Store is a memory of rows words of width bits: written and read at the same time, or only read.
type Store struct {
	Width, Rows int
	Written     bool
	In          Memory // 0 where there is none, or a single row that is constants
}

// Memory is what s takes. FINN has a formula for memories of some layers alone; by it this is a plain count.
func (m Model) Memory(s Store) Resources {
	switch {
	case s.In == 0:
		return Resources{}
	case m.Formula == FINN && s.Written:
		return Buffer(s.Width, s.Rows, s.In)
	case m.Formula == FINN:
		return Table(s.Width, s.Rows, s.In)
	case s.Written:
		return m.Fabric.RAM(s.Width, s.Rows, s.In)
	}
	return m.Fabric.Table(s.Width, s.Rows, s.In)
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

// Comparators compare each of PE values with so many thresholds, in a layer that has them behind something else.
type Comparators struct {
	PE, Steps, Width int
	Constant         bool // the thresholds, which do not come from a table
}

// Comparators returns what comparators take. FINN's do not depend on the number of thresholds.
func (m Model) Comparators(k Comparators) Part {
	c := activation{pe: k.PE, steps: k.Steps, bits: k.Width, alike: k.Constant}.comparators().round()
	if m.Formula == FINN {
		c = Resources{LUT: k.PE * k.Width}
	}
	return c.As("comparators")
}

// CarriedDelay is the estimated time in ns of what a layer carries from one clock to the next, through so many levels
// of logic: an adder, a comparison, a choice. HLS can put registers into everything else, at the price of latency, so
// that this alone bounds the clock. It is the least that the measurements support: the first level is what the fastest
// layers take in all, with the routing and the control around them, and a further one costs no more than in an adder
// tree that HLS has already cut into stages.
func CarriedDelay(levels int) float64 {
	return fitted[clockDelay] + fitted[treeDelay]*float64(levels-1)
}

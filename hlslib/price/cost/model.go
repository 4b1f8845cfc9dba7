package cost

// A CostModel selects the formula and the fabric of an estimate. Its methods price parts of layers that have no formula
// of their own.
type CostModel struct {
	Formula CostFormula
	Fabric  Fabric
}

// AsPart returns r as a part with the given name.
func (r Resources) AsPart(name string) CostPart { return CostPart{name, r} }

// Control returns the control of a layer that only moves, adds or compares. FINN has no formula for it, so the
// given counters take its place. The fitted number includes counters.
func (m CostModel) Control(counters Resources) CostPart {
	if m.Formula == FittedFormula {
		counters = LayerControl()
	}
	return counters.AsPart("stream control")
}

// Registers returns the registers of a pipeline's last stage. FINN counts none.
func (m CostModel) Registers(bits int) CostPart {
	if m.Formula == FINNFormula {
		bits = 0
	}
	return Resources{FF: bits}.AsPart("registers")
}

// Multiplexer returns the cost of selecting one of several words of width bits.
func (m CostModel) Multiplexer(words, width int) Resources {
	if m.Formula == FINNFormula {
		return Multiplexer(words, width)
	}
	return m.Fabric.Multiplexer(words, width)
}

// A MemoryShape is a memory of rows words of width bits. Written says whether it is written and read at the same time;
// otherwise it is only read.
type MemoryShape struct {
	Width, Rows int
	Written     bool
	In          MemoryStyle // 0 if there is none, or for a single row, which is constants
}

// Memory returns the cost of s. FINN has a formula only for the memories of some layers. So with FINN's
// formulas, this is a plain count.
func (m CostModel) Memory(s MemoryShape) Resources {
	switch {
	case s.In == 0:
		return Resources{}
	case m.Formula == FINNFormula && s.Written:
		return ReadWriteMemoryCost(s.Width, s.Rows, s.In)
	case m.Formula == FINNFormula:
		return Table(s.Width, s.Rows, s.In)
	case s.Written:
		return m.Fabric.RAM(s.Width, s.Rows, s.In)
	}
	return m.Fabric.Table(s.Width, s.Rows, s.In)
}

// Multiplier returns the cost of multiplying words of a and b bits.
func (m CostModel) Multiplier(a, b int, dsp bool) Resources {
	switch {
	case m.Formula == FINNFormula:
		return Multiplier(a, b, dsp)
	case dsp:
		return share{ff: fitted[pipelineFF] * float64(a*b), dsp: m.Fabric.slices(a, b)}.round()
	}
	return share{lut: fitted[product] * float64(a*b+a+b), ff: fitted[pipelineFF] * float64(a*b)}.round()
}

// ThresholdComparators compares each of PE values with Steps thresholds, in a layer that applies thresholds to its
// results.
type ThresholdComparators struct {
	PE, Steps, Width int
	Constant         bool // whether the thresholds are constants, and so not in a table
}

// Comparators returns the cost of comparators. By FINN it does not depend on the number of thresholds.
func (m CostModel) Comparators(k ThresholdComparators) CostPart {
	c := activation{pe: k.PE, steps: k.Steps, bits: k.Width, alike: k.Constant}.comparators().round()
	if m.Formula == FINNFormula {
		c = Resources{LUT: k.PE * k.Width}
	}
	return c.AsPart("comparators")
}

// CarriedDelay returns the estimated time in ns of logic from one clock's state to the next, through the given levels:
// an adder, a comparison, a selection. HLS can pipeline everything else, at the price of latency, so only this path
// bounds the clock. The value is the least that the measurements support. The first level takes the whole time of the
// fastest layers, including routing and control. A further level takes no more than in an adder tree that HLS has
// already cut into stages.
func CarriedDelay(levels int) float64 {
	return fitted[clockDelay] + fitted[treeDelay]*float64(levels-1)
}

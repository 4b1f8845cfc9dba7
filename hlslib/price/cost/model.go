package cost

// A CostModel selects the formula and the fabric of an estimate. Its methods price parts of layers, where no formula
// for a whole layer does.
type CostModel struct {
	Formula CostFormula
	Fabric  Fabric
}

// AsPart returns the resources as a part with the given name.
func (r Resources) AsPart(name string) CostPart { return CostPart{name, r} }

// StreamControlCost returns the cost of the loop and the handshake of a layer that only moves, adds or compares. FINN
// has no formula for it, so by FINN's it is the cost of the given counters. The fitted number includes counters.
func (m CostModel) StreamControlCost(counters Resources) CostPart {
	if m.Formula == FormulaFitted {
		counters = layerControlCost()
	}
	return counters.AsPart("stream control")
}

// RegisterCost returns the cost of bits registers in a pipeline's last stage: nothing by FINN's formula.
func (m CostModel) RegisterCost(bits int) CostPart {
	if m.Formula == FormulaFINN {
		bits = 0
	}
	return Resources{FF: bits}.AsPart("registers")
}

// MultiplexerCost returns the cost of selecting one of words words of width bits.
func (m CostModel) MultiplexerCost(words, width int) Resources {
	if m.Formula == FormulaFINN {
		return multiplexerCost(words, width)
	}
	return m.Fabric.multiplexerCost(words, width)
}

// A MemoryShape is a memory of rows words of width bits. Written says whether it is written and read at the same time;
// otherwise it is only read.
type MemoryShape struct {
	Width, Rows int
	Written     bool
	In          MemoryStyle // 0 if there is none, or for a single row, which is constants
}

// MemoryCost returns the cost of the memory s. FINN has a formula only for the memories of some layers. So with FINN's
// formulas, this is a plain count.
func (m CostModel) MemoryCost(s MemoryShape) Resources {
	switch {
	case s.In == 0:
		return Resources{}
	case m.Formula == FormulaFINN && s.Written:
		return readWriteMemoryCost(s.Width, s.Rows, s.In)
	case m.Formula == FormulaFINN:
		return tableCost(s.Width, s.Rows, s.In)
	case s.Written:
		return m.Fabric.ReadWriteMemoryCost(s.Width, s.Rows, s.In)
	}
	return m.Fabric.TableCost(s.Width, s.Rows, s.In)
}

// MultiplierCost returns the cost of multiplying numbers of a and b bits, in DSP slices if dsp is true, else in LUTs.
func (m CostModel) MultiplierCost(a, b int, dsp bool) Resources {
	switch {
	case m.Formula == FormulaFINN:
		return finnMultiplierCost(a, b, dsp)
	case dsp:
		return share{ff: fitted[pipelineFF] * float64(a*b), dsp: m.Fabric.slices(a, b)}.round()
	}
	return share{lut: fitted[product] * float64(a*b+a+b), ff: fitted[pipelineFF] * float64(a*b)}.round()
}

// A ThresholdComparatorShape compares each of PE values of Width bits with Steps thresholds at once.
type ThresholdComparatorShape struct {
	PE, Steps, Width int
	Constant         bool // whether the thresholds are constants, and so not in a table
}

// ThresholdComparatorCost returns the cost of the comparators k. By FINN's formula it does not depend on the number of
// thresholds.
func (m CostModel) ThresholdComparatorCost(k ThresholdComparatorShape) CostPart {
	c := activation{pe: k.PE, steps: k.Steps, bits: k.Width, alike: k.Constant}.comparators().round()
	if m.Formula == FormulaFINN {
		c = Resources{LUT: k.PE * k.Width}
	}
	return c.AsPart("comparators")
}

// LoopCarriedDelayNSForLevels returns the estimated ns of the logic from one clock's state to the next, through levels
// of an adder, a comparison or a selection. HLS can pipeline everything else, so only this path bounds the clock. It is
// the least that measurements support; the first level includes routing and control.
func LoopCarriedDelayNSForLevels(levels int) float64 {
	return fitted[clockDelay] + fitted[treeDelay]*float64(levels-1)
}

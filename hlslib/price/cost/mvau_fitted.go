package cost

import "math/bits"

// FittedCost returns the cost of an MVAUShape by the fitted formula: that of the loop, and of every part by its own
// bits.
func (m MVAUShape) FittedCost() []CostPart { return parts(m.shares(&fitted)) }

// FittedLogicCost returns the parts of FittedCost except the memories.
func (m MVAUShape) FittedLogicCost() []CostPart {
	var room [8]share
	return parts(m.logic(room[:0], &fitted))
}

func (m MVAUShape) shares(v *values) []share {
	return append(m.logic(nil, v),
		m.inputBuffer(v),
		m.Fabric.table("weight memory", m.Memory, m.MW*m.MH/(m.PE*m.SIMD), m.PE*m.SIMD*m.WeightBits),
		m.activation().table(m.Fabric, v),
	)
}

// logic appends the parts of the cost that are not memories to a list.
func (m MVAUShape) logic(list []share, v *values) []share {
	list = append(list, share{name: "stream control", lut: v[mvauLUT], ff: v[mvauFF]})
	return append(m.dot().shares(list, v), m.activation().comparators())
}

// inputBuffer returns the cost of the buffer that keeps an input vector. Every output after the first PE needs the
// vector again.
func (m MVAUShape) inputBuffer(v *values) share {
	words, width := m.MW/m.SIMD, m.SIMD*m.InBits
	if m.Buffer == StyleRegisters && words > 1 {
		return share{
			name: "input buffer",
			lut:  v[inputMux]*float64((words-1)*width) + v[inputDecode]*float64(words),
			ff:   float64(words * width),
		}
	}
	return m.Fabric.ram("input buffer", m.Buffer, words, width)
}

func (m MVAUShape) dot() dot {
	return dot{m.PE, m.SIMD, m.WeightBits, m.InBits, m.AccBits, m.Spare, m.DSP, m.Packing, m.Factors, m.Fabric,
		m.Constants}
}

func (m MVAUShape) activation() activation {
	return activation{m.PE, m.MH / m.PE, m.Steps, m.ThresholdBits, m.ThresholdMemory, m.Alike}
}

// A dot is the arithmetic of a matrix layer: pe sums of simd products, each added to an accumulator.
type dot struct {
	pe, simd, w, a, acc int
	spare               int // the bits that the pe accumulators together lack to acc each
	dsp                 bool
	packing             DSPPacking
	factors             MinifloatProduct
	fabric              Fabric
	constants           ConstantWeightAdderCounts
}

// shares appends the parts of the arithmetic's cost to a list, and returns the list.
func (d dot) shares(list []share, v *values) []share {
	if d.constants.Are {
		return d.constantShares(list, v)
	}
	n := float64(d.pe * d.simd)
	accumulators := share{
		name: "accumulators",
		lut:  v[accumulateLUT] * float64(d.pe*d.acc-d.spare),
		ff:   v[accumulateFF] * float64(d.pe*d.acc-d.spare),
	}
	// A product of single bits is an XNOR or an AND, and the sum counts ones.
	if d.w == 1 && d.a == 1 {
		return append(list, share{name: "popcount", lut: v[popcount] * n, ff: v[pipelineFF] * n}, accumulators)
	}
	if d.factors.floats() {
		return append(append(list, d.factors.shares(v, n)...), accumulators)
	}
	bits := n * float64(d.w+d.a)
	multipliers := share{name: "multipliers", lut: v[product] * n * float64(d.w*d.a),
		ff: v[pipelineFF] * n * float64(d.w*d.a)}
	tree := share{name: "adder tree", lut: v[product] * bits}
	if d.dsp {
		tree.lut = v[sliceTree] * bits
		multipliers = share{name: multipliers.name, ff: v[sliceFF] * bits}
		multipliers.dsp = d.pe * d.simd * d.fabric.slices(d.w, d.a)
		if d.packing.HasMultipleLanes() {
			multipliers.lut = float64(d.packing.luts(d.pe, d.simd, d.w, d.a))
			multipliers.dsp = d.packing.slices(d.pe, d.simd)
		}
	}
	return append(list, multipliers, tree, accumulators)
}

// delay returns the longest path of the arithmetic between registers, in ns.
func (d dot) delay(v *values) float64 {
	ns := v[clockDelay]
	if d.w == 1 && d.a == 1 {
		return ns // HLS pipelines the adders that count the ones, so they do not lengthen the path
	}
	w, a := d.w, d.a
	if d.factors.floats() {
		w, a = d.factors.Weight, d.factors.Input
		ns += v[treeDelay] * float64(ceil(d.factors.Levels, 2))
	}
	if !d.dsp {
		ns += v[productDelay] * float64(bits.Len(uint(min(w, a)-1)))
	}
	return ns + v[treeDelay]*float64(log2Ceil(d.simd))
}

// criticalPathNS returns the estimated longest path between registers in ns.
func (m MVAUShape) criticalPathNS() float64 { return m.dot().delay(&fitted) }

// An activation applies thresholds to the results of a layer. There are steps thresholds of bits bits for each of pe
// outputs at a time, from a table of rows.
type activation struct {
	pe, rows, steps, bits int
	memory                MemoryStyle
	alike                 bool // whether all outputs have the same thresholds
}

// comparators returns the cost of the comparators. A LUT on the carry chain takes two bits of each side (UG574), or two
// LUTs take six bits if thresholds are constants. To count the exceeded steps takes one LUT per step, minus one.
func (a activation) comparators() share {
	s := share{name: "comparators"}
	each := ceil(a.bits, 2)
	if a.alike || a.rows == 1 {
		each = min(each, 2*ceil(a.bits, 6))
	}
	if a.steps > 0 {
		s.lut = float64(a.pe * (a.steps*each + a.steps - 1))
	}
	return s
}

// withCompared is the most rows of a table of thresholds that the comparators absorb. A LUT compares two bits with the
// constants that two bits of the row's number select.
const withCompared = 4

// table returns the cost of the memory of thresholds. In LUTs, the first threshold of an output takes all its bits.
// Each further one takes less, because bits that two thresholds share are stored once, above all the highest bits of
// neighbours.
func (a activation) table(f Fabric, v *values) share {
	distributed := a.memory != StyleBlockRAM && a.memory != StyleUltraRAM
	if a.steps == 0 || a.alike || distributed && a.rows <= withCompared {
		return share{}
	}
	s := f.table("threshold memory", a.memory, a.rows, a.pe*a.steps*a.bits)
	if distributed {
		first := 1 / float64(a.steps)
		s.lut *= first + (1-first)*v[thresholdLUT]
		s.ff *= first + (1-first)*v[thresholdFF]
	}
	return s
}

// table returns the cost of a read-only memory of rows words of width bits as a share with the name. In LUTs it
// includes the register behind it, which a block RAM has inside.
func (f Fabric) table(name string, m MemoryStyle, rows, width int) share {
	s := share{name: name}
	switch {
	case m == StyleBlockRAM && f.lut4():
		s.bram = f.BankedLayout(rows, width, true).Blocks
	case m == StyleBlockRAM:
		s.bram = f.blocks(rows, width)
	case m == StyleUltraRAM:
		s.uram = f.ultraBlocks(rows, width)
	case m != 0 && rows > 1: // a single row is constants
		s.lut, s.ff = f.lutROM(rows, width), float64(width)
	}
	return s
}

// ram returns the cost of a memory of rows words of width bits as a share with the name. The memory is read and written
// in every clock.
func (f Fabric) ram(name string, m MemoryStyle, rows, width int) share {
	if f.lut4() {
		m = f.lut4Memory(m, rows, width)
	}
	s := share{name: name}
	switch m {
	case StyleBlockRAM:
		s.bram = f.blocks(rows, width)
	case StyleUltraRAM:
		s.uram = f.ultraBlocks(rows, width)
	case StyleDistributedRAM, StyleInKernel:
		s.lut, s.ff, s.lutram = f.lutRAM(rows, width), float64(width), float64(f.lutStorage(rows, width))
	case StyleRegisters:
		s.lut, s.ff = f.mux(rows)*float64(width), float64(rows*width)
	case StyleShiftRegister:
		s.lutram = float64(width * ceil(rows, ShiftRegisterBitsPerLUT))
		s.lut, s.ff = s.lutram, float64(width)
	}
	return s
}

// FittedArithmeticCost returns the parts of FittedLogicCost for products, sums and accumulators.
func (m MVAUShape) FittedArithmeticCost() []CostPart { return parts(m.dot().shares(nil, &fitted)) }

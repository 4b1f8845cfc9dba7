package cost

import "math/bits"

// Fitted is the estimate of an MVAU: what the loop costs, then every part by its own bits.
func (m MVAU) Fitted() []Part { return parts(m.shares(&fitted)) }

// Logic is Fitted without memories.
func (m MVAU) Logic() []Part {
	var room [8]share
	return parts(m.logic(room[:0], &fitted))
}

func (m MVAU) shares(v *values) []share {
	return append(m.logic(nil, v),
		m.inputBuffer(v),
		m.Fabric.table("weight memory", m.Memory, m.MW*m.MH/(m.PE*m.SIMD), m.PE*m.SIMD*m.WeightBits),
		m.activation().table(m.Fabric, v),
	)
}

// logic appends it to a list.
func (m MVAU) logic(list []share, v *values) []share {
	list = append(list, share{name: "stream control", lut: v[mvauLUT], ff: v[mvauFF]})
	return append(m.dot().shares(list, v), m.activation().comparators())
}

// inputBuffer keeps a vector for the outputs after the first PE.
func (m MVAU) inputBuffer(v *values) share {
	words, width := m.MW/m.SIMD, m.SIMD*m.InBits
	if m.Buffer == Registers && words > 1 {
		return share{
			name: "input buffer",
			lut:  v[inputMux]*float64((words-1)*width) + v[inputDecode]*float64(words),
			ff:   float64(words * width),
		}
	}
	return m.Fabric.ram("input buffer", m.Buffer, words, width)
}

func (m MVAU) dot() dot {
	return dot{m.PE, m.SIMD, m.WeightBits, m.InBits, m.AccBits, m.Spare, m.DSP, m.Packing, m.Factors, m.Fabric,
		m.Constants}
}

func (m MVAU) activation() activation {
	return activation{m.PE, m.MH / m.PE, m.Steps, m.ThresholdBits, m.ThresholdMemory, m.Alike}
}

// A dot is the arithmetic of a matrix layer: pe sums of simd products, each added to an accumulator.
type dot struct {
	pe, simd, w, a, acc int
	spare               int // bits of pe accumulators that are not there
	dsp                 bool
	packing             Packing
	factors             Factors
	fabric              Fabric
	constants           Constants
}

// shares appends it to a list.
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
	// One bit times one bit is an XNOR or an AND, and its sum a count of ones.
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
		if d.packing.Packs() {
			multipliers.lut = float64(d.packing.luts(d.pe, d.simd, d.w, d.a))
			multipliers.dsp = d.packing.slices(d.pe, d.simd)
		}
	}
	return append(list, multipliers, tree, accumulators)
}

// delay is the longest path in ns.
func (d dot) delay(v *values) float64 {
	ns := v[clockDelay]
	if d.w == 1 && d.a == 1 {
		return ns // HLS puts registers into the count of ones
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

// Delay is the estimated critical path in ns.
func (m MVAU) Delay() float64 { return m.dot().delay(&fitted) }

// An activation is steps thresholds per output, of pe outputs at a time, in rows.
type activation struct {
	pe, rows, steps, bits int
	memory                Memory
	alike                 bool // of all outputs
}

// comparators take two bits of each side per LUT, on the carry chain (UG574), and where thresholds are constants two
// LUTs for six bits; counting the steps that are exceeded takes one LUT for each of them, less those
// that the last digit saves.
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

// withCompared is the rows of a table of thresholds that a comparator takes in: a LUT compares two bits with what two
// bits of the row's number say.
const withCompared = 4

// table is the memory of thresholds. In LUTs the first of an output takes its bits, and each further one less, for what
// is alike in both is there once: most of all the highest bits of thresholds next to each other.
func (a activation) table(f Fabric, v *values) share {
	distributed := a.memory != Block && a.memory != Ultra
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

// table is a memory that is only read. In LUTs it has a register behind it, as a block has within.
func (f Fabric) table(name string, m Memory, rows, width int) share {
	s := share{name: name}
	switch {
	case m == Block && f.lut4():
		s.bram = f.Banked(rows, width, true).Blocks
	case m == Block:
		s.bram = f.blocks(rows, width)
	case m == Ultra:
		s.uram = f.ultraBlocks(rows, width)
	case m != 0 && rows > 1: // a single row is constants
		s.lut, s.ff = f.lutROM(rows, width), float64(width)
	}
	return s
}

// ram is a memory that is read and written in every clock.
func (f Fabric) ram(name string, m Memory, rows, width int) share {
	if f.lut4() {
		m = f.lut4Memory(m, rows, width)
	}
	s := share{name: name}
	switch m {
	case Block:
		s.bram = f.blocks(rows, width)
	case Ultra:
		s.uram = f.ultraBlocks(rows, width)
	case Distributed, Embedded:
		s.lut, s.ff, s.lutram = f.lutRAM(rows, width), float64(width), float64(f.lutStorage(rows, width))
	case Registers:
		s.lut, s.ff = f.mux(rows)*float64(width), float64(rows*width)
	case Shift:
		s.lutram = float64(width * ceil(rows, ShiftRegister))
		s.lut, s.ff = s.lutram, float64(width)
	}
	return s
}

// Arithmetic is Logic of products, sums and accumulators alone.
func (m MVAU) Arithmetic() []Part { return parts(m.dot().shares(nil, &fitted)) }

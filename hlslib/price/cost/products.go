package cost

// products holds what FINN's formulas of MVAU_hls and VVAU_hls have in common: PE sums, each of SIMD products per
// clock.
type products struct {
	PE, SIMD, WeightBits, InBits int
	DSP                          bool
}

// perLUT is one LUT in the unit of the running sum luts. In this unit the factor 1.1, and a 64th that FINN does not
// round, are whole numbers.
const perLUT = 640

// parts returns the memory, the LUTs of
//
//	floor(300 + 1.1*PE*(multipliers + adder tree + accumulator + comparators) + weight memory)
//
// and the DSP slices for the given number of parallel products. comparators is for all PE, in 64ths of a LUT. Each part
// is the amount that it adds to the floor of the running sum, so that the parts add up to FINN's total.
func (p products) parts(memory Resources, slices, accBits, comparators int) []CostPart {
	both := p.WeightBits + p.InBits
	product := finnMultiplierCost(p.WeightBits, p.InBits, p.DSP)
	const factor = perLUT * 11 / 10
	var l luts
	memory.LUT = l.add(perLUT * memory.LUT)
	list := []CostPart{
		{"weight memory", memory},
		{"stream control", Resources{LUT: l.add(perLUT * 300)}},
		{"multipliers", Resources{LUT: l.add(factor * p.PE * p.SIMD * product.LUT), DSP: slices * product.DSP}},
		{"adder tree", Resources{LUT: l.add(factor * p.PE * both * (2*p.SIMD - 1))}},
		{"accumulators", Resources{LUT: l.add(factor * p.PE * accBits)}},
	}
	if comparators > 0 {
		list = append(list, CostPart{"comparators", Resources{LUT: l.add(factor / 64 * comparators)}})
	}
	return list
}

// memory returns FINN's cost in m of a table of weights with the given rows, one for each clock. bram counts RAMB18 for
// rows of a width.
func (p products) memory(m MemoryStyle, rows int, bram func(width, rows int) int) Resources {
	width := p.PE * p.SIMD * p.WeightBits
	embedded := m == StyleInKernel && rows > embeddedRows
	var r Resources
	if m == StyleBlockRAM || embedded {
		r.BRAM = bram(width, rows)
	}
	if m == StyleUltraRAM || embedded {
		r.URAM = uram(width, rows)
	}
	if m == StyleDistributedRAM || m == StyleInKernel && rows <= embeddedRows {
		r.LUT = width * ceil(rows, 64)
	}
	return r
}

// luts is the running sum of LUTs in FINN's formula, which rounds only the total. perLUT of its units are one LUT.
type luts struct{ sum int }

// add adds more, in units of 1/perLUT of a LUT, to the sum. It returns by how many LUTs the floor of the sum grows.
func (l *luts) add(more int) int {
	before := l.sum / perLUT
	l.sum += more
	return l.sum/perLUT - before
}

package cost

// products is what FINN's formulas of MVAU_hls and VVAU_hls have in common: PE sums, each of SIMD products a clock.
type products struct {
	PE, SIMD, WeightBits, InBits int
	DSP                          bool
}

// perLUT is a LUT in the unit of the running sum. The factor 1.1, and a 64th that FINN does not round, are whole in it.
const perLUT = 640

// parts is a memory and the LUTs of
//
//	floor(300 + 1.1*PE*(multipliers + adder tree + accumulator + comparators) + weight memory)
//
// and DSP slices for so many products side by side. comparators is for all PE, in 64ths of a LUT. Each part is what it
// adds to the floor of the running sum, so that the parts add up to FINN's total.
func (p products) parts(memory Resources, slices, accBits, comparators int) []Part {
	both := p.WeightBits + p.InBits
	product := Multiplier(p.WeightBits, p.InBits, p.DSP)
	const factor = perLUT * 11 / 10
	var l luts
	memory.LUT = l.add(perLUT * memory.LUT)
	list := []Part{
		{"weight memory", memory},
		{"stream control", Resources{LUT: l.add(perLUT * 300)}},
		{"multipliers", Resources{LUT: l.add(factor * p.PE * p.SIMD * product.LUT), DSP: slices * product.DSP}},
		{"adder tree", Resources{LUT: l.add(factor * p.PE * both * (2*p.SIMD - 1))}},
		{"accumulators", Resources{LUT: l.add(factor * p.PE * accBits)}},
	}
	if comparators > 0 {
		list = append(list, Part{"comparators", Resources{LUT: l.add(factor / 64 * comparators)}})
	}
	return list
}

// memory is rows of the weights of one clock in m; bram counts RAMB18 for rows of a width.
func (p products) memory(m Memory, rows int, bram func(width, rows int) int) Resources {
	width := p.PE * p.SIMD * p.WeightBits
	embedded := m == Embedded && rows > embeddedRows
	var r Resources
	if m == Block || embedded {
		r.BRAM = bram(width, rows)
	}
	if m == Ultra || embedded {
		r.URAM = uram(width, rows)
	}
	if m == Distributed || m == Embedded && rows <= embeddedRows {
		r.LUT = width * ceil(rows, 64)
	}
	return r
}

// luts is a running sum in units of which perLUT are a LUT.
type luts struct{ sum int }

// add gives what so much more adds to the floor of the sum in LUTs.
func (l *luts) add(more int) int {
	before := l.sum / perLUT
	l.sum += more
	return l.sum/perLUT - before
}

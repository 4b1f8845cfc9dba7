package cost

import "hlsgen/internal/num"

// An MVAU is what the formulas ask of a matrix-vector-activation unit. WeightBits and InBits are the widths of one
// weight and one input element, AccBits that of the accumulator.
type MVAU struct {
	MW, MH, PE, SIMD            int
	WeightBits, InBits, AccBits int
	InSigned                    bool
	DSP                         bool // products in DSP slices
	Memory                      Memory
}

// FINN is the estimate of FINN's MVAU_hls (matrixvectoractivation_hls.py, lut_estimation, dsp_estimation;
// matrixvectoractivation.py, bram_estimation, uram_estimation):
//
//	LUT = floor(300 + 1.1*PE*(multipliers + adder tree + accumulator) + weight memory)
//
// FINN adds thresholds and comparators only where ram_style_thresholds is distributed, which its default (auto) is not.
// The sum is kept in tenths of a LUT; each part is what it adds to the floor of the running sum, so that the parts add
// up to FINN's total.
func (m MVAU) FINN() []Part {
	rows := m.MW * m.MH / (m.PE * m.SIMD)
	both := m.WeightBits + m.InBits
	mult, dsp := m.SIMD*(2*ceil(both, 6)-1)*both, 0
	if m.DSP {
		mult, dsp = 0, m.PE*m.SIMD*ceil(both, 48)
	}
	acc := min(m.AccBits, num.DataTypeBound(m.MW, m.InBits, m.WeightBits, m.InSigned))

	var l luts
	memory := m.memory(rows)
	memory.LUT = l.add(10 * memory.LUT)
	return []Part{
		{"weight memory", memory},
		{"stream control", Resources{LUT: l.add(3000)}},
		{"multipliers", Resources{LUT: l.add(11 * m.PE * mult), DSP: dsp}},
		{"adder tree", Resources{LUT: l.add(11 * m.PE * both * (2*m.SIMD - 1))}},
		{"accumulators", Resources{LUT: l.add(11 * m.PE * acc)}},
	}
}

func (m MVAU) memory(rows int) Resources {
	width := m.PE * m.SIMD * m.WeightBits
	embedded := m.Memory == Embedded && rows > embeddedRows
	var r Resources
	if m.Memory == Block || embedded {
		r.BRAM = bram18(width, rows)
	}
	if m.Memory == Ultra || embedded {
		r.URAM = uram(width, rows)
	}
	if m.Memory == Distributed || m.Memory == Embedded && rows <= embeddedRows {
		r.LUT = width * ceil(rows, 64)
	}
	return r
}

// luts is a running sum in tenths of a LUT.
type luts struct{ tenths int }

// add gives what so many tenths more add to the floor of the sum.
func (l *luts) add(tenths int) int {
	before := l.tenths / 10
	l.tenths += tenths
	return l.tenths/10 - before
}

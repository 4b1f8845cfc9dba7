package cost

import "hlsgen/internal/num"

// An MVAU is what the formulas ask of a matrix-vector-activation unit. WeightBits and InBits are the widths of one
// weight and one input element, AccBits that of the accumulator.
type MVAU struct {
	MW, MH, PE, SIMD            int
	WeightBits, InBits, AccBits int
	Spare                       int // bits that the PE accumulators have less together than AccBits each
	InSigned                    bool
	DSP                         bool // products in DSP slices
	Memory                      Memory

	// What FINN's formula does not ask.
	Fabric          Fabric
	Packing         Packing   // of products in DSP slices; the zero value packs none
	Factors         Factors   // of minifloats
	Constants       Constants // weights that are constants
	Buffer          Memory    // of the input, for the outputs after the first PE; 0 where there is none
	Steps           int       // thresholds per output, 0 without activation
	ThresholdBits   int
	ThresholdMemory Memory
	Alike           bool // thresholds, of all outputs
}

// FINN is the estimate of FINN's MVAU_hls (matrixvectoractivation_hls.py, lut_estimation, dsp_estimation;
// matrixvectoractivation.py, bram_estimation, uram_estimation):
//
//	LUT = floor(300 + 1.1*PE*(multipliers + adder tree + accumulator) + weight memory)
//
// FINN adds thresholds and comparators only where ram_style_thresholds is distributed, which its default (auto) is not.
func (m MVAU) FINN() []Part {
	rows := m.MW * m.MH / (m.PE * m.SIMD)
	acc := min(m.AccBits, num.DataTypeBound(m.MW, m.InBits, m.WeightBits, m.InSigned))
	p := products{m.PE, m.SIMD, m.WeightBits, m.InBits, m.DSP}
	return p.parts(p.memory(m.Memory, rows, bram18), m.PE*m.SIMD, acc, 0)
}

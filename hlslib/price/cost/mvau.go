package cost

import "hlsgen/internal/num"

// An MVAUShape is a matrix-vector-activation unit with MH outputs of MW products each. WeightBits and InBits are the
// widths of one weight and one input element, AccBits that of the accumulator.
type MVAUShape struct {
	MW, MH, PE, SIMD            int
	WeightBits, InBits, AccBits int
	Spare                       int // the bits that the PE accumulators together lack to AccBits each
	InSigned                    bool
	DSP                         bool // products in DSP slices
	Memory                      MemoryStyle

	// The following are not in FINN's formula.
	Fabric    Fabric
	Packing   DSPPacking                // for products in DSP slices; the zero value packs none
	Factors   MinifloatProduct          // for products of minifloats
	Constants ConstantWeightAdderCounts // for weights that are constants
	// memory of the input buffer, for the outputs after the first PE; 0 if there is none
	Buffer          MemoryStyle
	Steps           int // thresholds per output; 0 without activation
	ThresholdBits   int
	ThresholdMemory MemoryStyle
	Alike           bool // whether all outputs have the same thresholds
}

// FINNCost returns the estimate of FINN's MVAU_hls (matrixvectoractivation_hls.py, lut_estimation,
// dsp_estimation; matrixvectoractivation.py, bram_estimation, uram_estimation):
//
//	LUT = floor(300 + 1.1*PE*(multipliers + adder tree + accumulator) + weight memory)
//
// FINNCost adds thresholds and comparators only if ram_style_thresholds is distributed, which its default (auto) is
// not.
func (m MVAUShape) FINNCost() []CostPart {
	rows := m.MW * m.MH / (m.PE * m.SIMD)
	acc := min(m.AccBits, num.AccumulatorBitsByDataType(m.MW, m.InBits, m.WeightBits, m.InSigned))
	p := products{m.PE, m.SIMD, m.WeightBits, m.InBits, m.DSP}
	return p.parts(p.memory(m.Memory, rows, bram18), m.PE*m.SIMD, acc, 0)
}

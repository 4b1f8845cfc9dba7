package cost

import "hlsgen/internal/num"

// A VVAUShape is a depthwise layer: Channels outputs, each the sum of Kernel products. WeightBits and InBits are the
// widths of one weight and one input element, AccBits that of the accumulator. Thresholds is the number of thresholds
// per output, 0 without activation.
type VVAUShape struct {
	Channels, Kernel, PE, SIMD  int
	WeightBits, InBits, AccBits int
	Spare                       int // as in MVAUShape
	InSigned                    bool
	Thresholds                  int
	DSP                         bool // products in DSP slices
	Memory                      MemoryStyle

	// The following are not in FINN's formula.
	Fabric          Fabric
	Factors         MinifloatProduct          // for products of minifloats
	Constants       ConstantWeightAdderCounts // for weights that are constants
	ThresholdBits   int
	ThresholdMemory MemoryStyle
}

// FINNCost returns the estimate of FINN's VVAU_hls (vectorvectoractivation_hls.py, lut_estimation,
// dsp_estimation; vectorvectoractivation.py, bram_estimation, uram_estimation). It differs from that of MVAU_hls in
// three points. It always counts comparators and thresholds, a 64th of a LUT for each bit and row of thresholds without
// rounding. It leaves out the parity bits of block RAM. It counts DSP slices for one position.
func (m VVAUShape) FINNCost() []CostPart {
	acc := min(m.AccBits, num.AccumulatorBitsByDataType(m.Kernel, m.InBits, m.WeightBits, m.InSigned))
	p := products{m.PE, m.SIMD, m.WeightBits, m.InBits, m.DSP}
	comparators := m.Thresholds * acc * (64*m.PE + m.Channels)
	return p.parts(p.memory(m.Memory, m.rows(), bram16), m.PE, acc, comparators)
}

// rows returns the number of rows that the table of weights has.
func (m VVAUShape) rows() int { return m.Channels * m.Kernel / (m.PE * m.SIMD) }

// bram16 returns FINN's number of RAMB18 for a memory of rows words of width bits, without the blocks' parity bits.
func bram16(width, rows int) int {
	switch {
	case width <= 4:
		return bram18(width, rows)
	case width <= 8:
		return ceil(rows, 2048)
	case width <= 16 || rows > 512:
		return ceil(rows, 1024) * ceil(width, 16)
	}
	return ceil(rows, 512) * ceil(width, 32)
}

// FittedCost returns the cost of a VVAUShape by the fitted formula: that of an MVAUShape without an input buffer.
func (m VVAUShape) FittedCost() []CostPart {
	return append(m.FittedLogicCost(), parts([]share{
		m.Fabric.table("weight memory", m.Memory, m.rows(), m.PE*m.SIMD*m.WeightBits),
		m.activation().table(m.Fabric, &fitted),
	})...)
}

// FittedLogicCost returns the parts of FittedCost except the memories.
func (m VVAUShape) FittedLogicCost() []CostPart {
	var room [8]share
	list := append(room[:0], share{name: "stream control", lut: fitted[mvauLUT], ff: fitted[mvauFF]})
	return parts(append(m.dot().shares(list, &fitted), m.activation().comparators()))
}

func (m VVAUShape) activation() activation {
	return activation{m.PE, m.Channels / m.PE, m.Thresholds, m.ThresholdBits, m.ThresholdMemory, false}
}

func (m VVAUShape) dot() dot {
	return dot{pe: m.PE, simd: m.SIMD, w: m.WeightBits, a: m.InBits, acc: m.AccBits, spare: m.Spare, dsp: m.DSP,
		factors: m.Factors, fabric: m.Fabric, constants: m.Constants}
}

// criticalPathNS returns the estimated longest path between registers in ns.
func (m VVAUShape) criticalPathNS() float64 { return m.dot().delay(&fitted) }

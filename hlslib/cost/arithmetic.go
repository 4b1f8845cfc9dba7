package cost

// Adder adds two words of width bits: a bit of the carry chain, and its LUT, each.
func Adder(width int) Resources { return Resources{LUT: width} }

// Maximum gives the larger of two words of width bits. A LUT with its carry compares two bits, and two outputs of a LUT
// choose two bits by the result.
func Maximum(width int) Resources { return Resources{LUT: 2 * ceil(width, 2)} }

// Multiplier multiplies words of a and b bits by FINN's estimate of one product of its MVAU_hls
// (matrixvectoractivation_hls.py, lut_estimation, dsp_estimation).
func Multiplier(a, b int, dsp bool) Resources {
	if dsp {
		return Resources{DSP: ceil(a+b, 48)}
	}
	return Resources{LUT: (2*ceil(a+b, 6) - 1) * (a + b)}
}

// Times is n of the same.
func (r Resources) Times(n int) Resources {
	return Resources{n * r.LUT, n * r.LUTRAM, n * r.FF, n * r.BRAM, n * r.URAM, n * r.DSP}
}

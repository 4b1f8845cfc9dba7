package cost

// AdderCost returns the cost of adding two words of width bits: a bit of the carry chain and its LUT per bit.
func AdderCost(width int) Resources { return Resources{LUT: width} }

// LargerOfTwoCost returns the cost of selecting the larger of two numbers of width bits. A LUT with its carry compares
// two bits, and the two outputs of a LUT select two bits by the result.
func LargerOfTwoCost(width int) Resources { return Resources{LUT: 2 * ceil(width, 2)} }

// finnMultiplierCost returns the cost of one product of numbers of a and b bits, in DSP slices if dsp is true, else in
// LUTs. It follows FINN's MVAU_hls (matrixvectoractivation_hls.py, lut_estimation, dsp_estimation).
func finnMultiplierCost(a, b int, dsp bool) Resources {
	if dsp {
		return Resources{DSP: ceil(a+b, 48)}
	}
	return Resources{LUT: (2*ceil(a+b, 6) - 1) * (a + b)}
}

// Times returns n times the resources r.
func (r Resources) Times(n int) Resources {
	return Resources{n * r.LUT, n * r.LUTRAM, n * r.FF, n * r.BRAM, n * r.URAM, n * r.DSP}
}

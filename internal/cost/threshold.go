package cost

// A Thresholding is what the formulas ask of a thresholding layer. Rows is the number of rows of the threshold table,
// channels over PE.
type Thresholding struct {
	InBits, PE, Rows int
	Memory           Memory
}

// FINN is the estimate of FINN's Thresholding_hls (thresholding_hls.py, lut_estimation, bram_estimation). It does not
// depend on the number of thresholds.
func (t Thresholding) FINN() []Part {
	width := t.InBits * t.PE
	var memory Resources
	if t.Rows > 1 {
		switch t.Memory {
		case Distributed:
			memory.LUT = width * ceil(t.Rows, 64)
		case Block:
			memory.BRAM = ceil(width, 16) * ceil(t.Rows, 1024)
		}
	}
	return []Part{{"threshold memory", memory}, {"comparators", Resources{LUT: width}}}
}

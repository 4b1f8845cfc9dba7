package cost

// FINNWindowBufferCost returns FINN's cost of the memory of a sliding window, rows words of width bits
// (convolutioninputgenerator_rtl.py, bram_estimation, uram_estimation, lut_estimation). A block RAM is as wide as its
// depth allows; above 16384 rows, FINN applies that only to the remainder.
func FINNWindowBufferCost(width, rows int, m MemoryStyle) Resources {
	switch m {
	case StyleBlockRAM:
		const deepest = 16384
		blocks := rows / deepest * width
		if rest := rows % deepest; rest > 0 {
			blocks += ceil(width, bram18Width(rest))
		}
		return Resources{BRAM: blocks}
	case StyleUltraRAM:
		return Resources{URAM: uram(width, rows)}
	}
	return lutMemory(width * ceil(rows, 38))
}

// bram18Width returns the width that a RAMB18 can have with the given rows, at most 16384.
func bram18Width(rows int) int {
	switch {
	case rows <= 512:
		return 36
	case rows <= 1024:
		return 18
	case rows <= 2048:
		return 9
	case rows <= 4096:
		return 4
	case rows <= 8192:
		return 2
	}
	return 1
}

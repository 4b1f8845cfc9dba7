package cost

// ShiftRegisterBitsPerLUT is the number of bits that a LUT holds as a shift register (SRLC32E).
const ShiftRegisterBitsPerLUT = 32

// FIFOOptions returns the ways to build a FIFO for the given words. Each is as deep as it can be at the cost of that
// many words: as deep as its memory. In FINN's formula, whose logic grows with the depth, it is at most the next power
// of two. So the cheapest way stays the cheapest when asked for with its own depth. Two words are registers, or lie in
// shift registers as more words do. The caller must know whether the device has UltraRAM.
func (m CostModel) FIFOOptions(words, width int) []FIFOShape {
	var list []FIFOShape
	ways := []MemoryStyle{StyleShiftRegister, StyleDistributedRAM, StyleBlockRAM, StyleUltraRAM}
	if !CanStoreInLUTs(m.Fabric) { // its LUTs cannot be memory
		ways = []MemoryStyle{StyleShiftRegister, StyleBlockRAM}
	}
	for _, memory := range ways {
		way := FIFOShape{Depth: words, Width: width, Memory: memory, Fabric: m.Fabric}
		way.Depth = way.held()
		if m.Formula == FormulaFINN {
			way.Depth = min(way.Depth, max(2, 1<<log2Ceil(words)))
		}
		list = append(list, way)
		if memory == StyleShiftRegister && way.Depth == 2 && m.Formula != FormulaFINN && !m.Fabric.lut4() {
			way.Depth = ShiftRegisterBitsPerLUT // may take fewer registers than two words do
			list = append(list, way)
		}
	}
	return list
}

// held returns the words that the memory of a FIFO can hold, at least its depth. Shift registers hold two words, which
// are then registers, or a multiple of 32. RAM in LUTs has banks of 32 or 64 rows. Block RAM and UltraRAM are filled
// up.
func (f FIFOShape) held() int {
	switch {
	case f.Memory == StyleBlockRAM:
		return f.Fabric.blockDepth(f.Depth, f.Width)
	case f.Memory == StyleUltraRAM:
		held := ceil(f.Depth, ultraRows) * ultraRows
		for n := f.Fabric.ultraBlocks(held, f.Width); f.Fabric.ultraBlocks(held+ultraRows, f.Width) == n; {
			held += ultraRows
		}
		return held
	case f.Memory == StyleDistributedRAM && f.Depth > 32:
		return ceil(f.Depth, 64) * 64
	case f.Memory == StyleDistributedRAM:
		return 32
	case f.Depth <= 2:
		return 2
	case f.Fabric.lut4():
		return 1 << log2Ceil(f.Depth)
	}
	return ceil(f.Depth, ShiftRegisterBitsPerLUT) * ShiftRegisterBitsPerLUT
}

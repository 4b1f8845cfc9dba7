package cost

// ShiftRegister is the words of a bit that one LUT holds as a shift register (SRLC32E).
const ShiftRegister = 32

// FIFOs is the ways to build a FIFO for so many words, each as deep as it may be at the price of so many: as its memory
// is anyway, and by FINN's formula, in which the logic grows with the depth, no deeper than the next power of two. So
// who asks for the depth of the cheapest way has that way as the cheapest again. Two words are registers, or lie in
// shift registers as more words do. Devices without UltraRAM are the caller's to know.
func (m Model) FIFOs(words, width int) []FIFO {
	var list []FIFO
	ways := []Memory{Shift, Distributed, Block, Ultra}
	if m.Fabric == ICE40 { // whose LUTs are no memory
		ways = []Memory{Shift, Block}
	}
	for _, memory := range ways {
		way := FIFO{Depth: words, Width: width, Memory: memory, Fabric: m.Fabric}
		way.Depth = way.held()
		if m.Formula == FINN {
			way.Depth = min(way.Depth, max(2, 1<<log2Ceil(words)))
		}
		list = append(list, way)
		if memory == Shift && way.Depth == 2 && m.Formula != FINN && !m.Fabric.lut4() {
			way.Depth = ShiftRegister // may take fewer registers than two words
			list = append(list, way)
		}
	}
	return list
}

// held is the words that the memory of a FIFO holds, which are as many as its depth at least: of shift registers two
// words, which are registers, or a multiple of 32; RAM in LUTs has banks of 32 or of 64 rows; the words fill up block
// RAM and UltraRAM.
func (f FIFO) held() int {
	switch {
	case f.Memory == Block:
		return f.Fabric.blockDepth(f.Depth, f.Width)
	case f.Memory == Ultra:
		held := ceil(f.Depth, ultraRows) * ultraRows
		for n := f.Fabric.ultraBlocks(held, f.Width); f.Fabric.ultraBlocks(held+ultraRows, f.Width) == n; {
			held += ultraRows
		}
		return held
	case f.Memory == Distributed && f.Depth > 32:
		return ceil(f.Depth, 64) * 64
	case f.Memory == Distributed:
		return 32
	case f.Depth <= 2:
		return 2
	case f.Fabric.lut4():
		return 1 << log2Ceil(f.Depth)
	}
	return ceil(f.Depth, ShiftRegister) * ShiftRegister
}

package cost

// ShiftRegister is the words of a bit that one LUT holds as a shift register (SRLC32E).
const ShiftRegister = 32

// blockLUTs is the LUTs that a RAMB18 is worth: what the smallest Zynq has of them for each (7z020: 53,200 and 280).
const blockLUTs = 190

// ImplementFIFO is how a FIFO for so many words is made, and how many it then holds. Two words are registers. More are
// shift registers, a multiple of 32 words, until their LUTs are worth more than the block RAM that does the same, which is
// filled up: a multiple of the entries that a RAMB18 has at the width that takes the fewest.
func ImplementFIFO(words, width int) FIFO {
	if words <= 2 {
		return FIFO{Depth: 2, Width: width, Memory: Shift}
	}
	shift := FIFO{Depth: ceil(words, ShiftRegister) * ShiftRegister, Width: width, Memory: Shift}
	blocks, depth := 0, 0
	for entries, bits := 16384, 1; entries >= 512; entries, bits = entries/2, wider(bits) {
		if n := ceil(words, entries) * ceil(width, bits); blocks == 0 || n < blocks {
			blocks, depth = n, ceil(words, entries)*entries
		}
	}
	if Total(shift.FINN()).LUT > blockLUTs*blocks {
		return FIFO{Depth: depth, Width: width, Memory: Block}
	}
	return shift
}

// wider is the next width of a RAMB18: 1, 2, 4, 9, 18, 36 bits, with half the entries.
func wider(bits int) int {
	if bits == 4 {
		return 9
	}
	return 2 * bits
}

package cost

// ShiftRegister is the words of a bit that one LUT holds as a shift register (SRLC32E).
const ShiftRegister = 32

// blockLUTs is the LUTs that a RAMB18 is worth: what the smallest Zynq has of them for each (7z020: 53,200 and 280).
const blockLUTs = 190

// ImplementFIFO is how a FIFO for so many words is made, and how many it then holds. Two words are registers. More are
// shift registers, a multiple of 32 words, until their LUTs are worth more than the block RAM that does the same; its
// addresses count up to a power of two.
func ImplementFIFO(words, width int) FIFO {
	if words <= 2 {
		return FIFO{Depth: 2, Width: width, Memory: Distributed}
	}
	shift := FIFO{Depth: ceil(words, ShiftRegister) * ShiftRegister, Width: width, Memory: Distributed}
	block := FIFO{Depth: 1 << log2Ceil(words), Width: width, Memory: Block}
	if Total(shift.FINN()).LUT > blockLUTs*Total(block.FINN()).BRAM {
		return block
	}
	return shift
}

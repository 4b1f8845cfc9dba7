package cost

// ShiftRegister is the words of a bit that one LUT holds as a shift register (SRLC32E).
const ShiftRegister = 32

// FIFOs is the ways to build a FIFO for so many words, each as deep as its memory is anyway: shift registers, of which two
// words are registers and more a multiple of 32; RAM in LUTs, in banks of 32 and of 64 rows; block RAM and UltraRAM, which
// the words fill up. Devices without UltraRAM are the caller's to know.
func FIFOs(words, width int, f Fabric) []FIFO {
	list := []FIFO{{Depth: 2, Width: width, Memory: Shift, Fabric: f}}
	if words > 2 {
		list[0].Depth = ceil(words, ShiftRegister) * ShiftRegister
	}
	ram := ceil(words, 32) * 32
	if ram > 32 {
		ram = ceil(words, 64) * 64
	}
	blocks := ceil(words, 512) * 512
	for n := f.blocks(blocks, width); f.blocks(blocks+512, width) == n; {
		blocks += 512
	}
	ultra := ceil(words, 4096) * 4096
	for n := f.ultraBlocks(ultra, width); f.ultraBlocks(ultra+4096, width) == n; {
		ultra += 4096
	}
	return append(list,
		FIFO{Depth: ram, Width: width, Memory: Distributed, Fabric: f},
		FIFO{Depth: blocks, Width: width, Memory: Block, Fabric: f},
		FIFO{Depth: ultra, Width: width, Memory: Ultra, Fabric: f})
}

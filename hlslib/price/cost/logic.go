package cost

// FINN counts nothing for layers that only move data. The following are plain counts of what a slice offers (UG474,
// UG574): a LUT of six inputs, a bit of carry chain per LUT, distributed RAM with a write port and a
// read port.

// CounterCost returns the cost of a counter from 0 to n-1 that starts again: a register, its increment, and the
// comparison with the end.
func CounterCost(n int) Resources {
	width := log2Ceil(n)
	return Resources{LUT: width + ceil(width, 6), FF: width}
}

// multiplexerCost returns the cost of selecting one of words words of width bits. A LUT of six inputs selects one bit
// of four, and so replaces three selections of one in two.
func multiplexerCost(words, width int) Resources {
	return Resources{LUT: width * ceil(words-1, 3)}
}

// DecoderCost returns the cost of computing width bits from a code of code bits, at most six. A LUT holds one function
// of six bits, or two of five.
func DecoderCost(code, width int) Resources {
	if code > 5 {
		return Resources{LUT: width}
	}
	return Resources{LUT: ceil(width, 2)}
}

// readWriteMemoryCost returns the cost of a memory of rows words of width bits that is written and read at the same
// time. It consists of registers, shift registers followed by a register, block RAM or UltraRAM. Or it is distributed
// RAM, of which four LUTs are 32 words of 6 bits, or 64 of 3.
func readWriteMemoryCost(width, rows int, m MemoryStyle) Resources {
	switch {
	case m == StyleRegisters:
		return Resources{FF: width * rows}
	case m == StyleShiftRegister:
		return lutMemory(width * ceil(rows, ShiftRegisterBitsPerLUT)).Plus(Resources{FF: width})
	case m == StyleBlockRAM:
		return Resources{BRAM: bram18(width, rows)}
	case m == StyleUltraRAM:
		return Resources{URAM: uram(width, rows)}
	case rows <= 32:
		return lutMemory(4 * ceil(width, 6))
	}
	return lutMemory(4 * ceil(rows, 64) * ceil(width, 3))
}

// lutMemory returns the resources of n LUTs that are all memory.
func lutMemory(n int) Resources { return Resources{LUT: n, LUTRAM: n} }

// tableCost returns the cost of a read-only memory of rows words of width bits in m. It consists of wiring for one row,
// LUTs of 64 bits, block RAM or UltraRAM.
func tableCost(width, rows int, m MemoryStyle) Resources {
	switch {
	case rows == 1:
		return Resources{}
	case m == StyleBlockRAM:
		return Resources{BRAM: bram18(width, rows)}
	case m == StyleUltraRAM:
		return Resources{URAM: uram(width, rows)}
	}
	return Resources{LUT: width * ceil(rows, 64)}
}

package cost

import "hlsgen/boards"

// This file holds what differs for LUTs of four inputs, which the families of boards.Families have. None of these
// has shift registers in LUTs; registers take their place. Logic has the same price as with LUTs of six inputs. The
// formulas are fitted to the output of HLS, whose control is larger than that of circuits, by about as much as smaller
// LUTs cost more (docs/boards.md has figures).

// lut4 reports whether the LUTs of the fabric have four inputs; else they have six.
func (f Fabric) lut4() bool { return f >= firstFamily }

// lut4Rows is the number of rows of one bit that a LUT of four inputs holds.
const lut4Rows = 16

// mux4 returns the number of LUTs of four inputs that select one bit of ways bits. One LUT selects one of two, two LUTs
// select one of four.
func (f Fabric) mux4(ways int) float64 {
	switch {
	case ways <= 1:
		return 0
	case ways == 2:
		return 1
	}
	groups := ceil(ways, 4)
	return float64(2*groups) + f.mux4(groups)
}

// lut4Memory returns the memory that a fabric with LUTs of four inputs has for rows words of width bits if m is
// requested.
func (f Fabric) lut4Memory(m MemoryStyle, rows, width int) MemoryStyle {
	switch {
	case m != StyleDistributedRAM && m != StyleInKernel && m != StyleShiftRegister:
		return m
	case CanStoreInLUTs(f):
		return StyleDistributedRAM
	case rows*width >= boards.MinArrayBitsForBlockRAM:
		return StyleBlockRAM
	}
	return StyleRegisters
}

// lut4Storage returns the LUTs of an ECP5 that hold a memory of rows words of width bits. Four are 16 rows of four
// bits with one write port and one read port (TRELLIS_DPR16X4).
func lut4Storage(rows, width int) int { return 4 * ceil(rows, lut4Rows) * ceil(width, 4) }

// WritePortLUTs returns the LUTs of an ECP5 for the write ports of memories that so many LUTs hold: two for every four.
func WritePortLUTs(storage int) int { return storage / 2 }

// lut4RAM returns all LUTs of an ECP5 for a memory of rows words of width bits.
func (f Fabric) lut4RAM(rows, width int) float64 {
	banks, storage := ceil(rows, lut4Rows), lut4Storage(rows, width)
	return float64(storage+WritePortLUTs(storage)+decode(banks)) + f.mux(banks)*float64(width)
}

// shifted returns the cost of a FIFO whose words move by one place with each write, in registers. Their number is
// rounded up to a power of two, and a multiplexer reads any of them.
func (f Fabric) shifted(rows, width int) (luts, registers float64) {
	places := 1 << log2Ceil(rows)
	return f.mux(places) * float64(width), float64(places * width)
}

// A BankedMemory is a memory in block RAM: the number of its blocks, and the number of its banks. Each bank holds some
// of the rows, and logic selects among the words of the banks.
type BankedMemory struct{ Blocks, Banks int }

// BankedLayout returns the layout of a memory in block RAM on fabrics with LUTs of four inputs, as Yosys chooses it
// (memory_libmap). All blocks have one shape: the one for which blocks and logic together cost the least. Banks lie
// side by side in blocks, as far as these are wide enough. If table is true, the memory is only read. Otherwise each
// word starts at a group of bits that a block can write separately.
func (f Fabric) BankedLayout(rows, width int, table bool) BankedMemory {
	block := &FamilyOfFabric(f).Block
	var best BankedMemory
	least := 0
	for _, shape := range block.Shapes {
		held, bits := shape[0], shape[1]
		word := width
		if !table {
			word = ceil(width, min(block.WriteGroup, bits)) * min(block.WriteGroup, bits)
		}
		b := BankedMemory{Banks: ceil(rows, held)}
		b.Blocks = ceil(b.Banks*word, bits)
		cost := 2*block.HalfLUTs*b.Blocks + (b.Banks-1)*width // in half LUTs: selecting one bit costs one half
		if !table && b.Banks > 1 {
			cost += b.Banks
		}
		if best.Blocks == 0 || cost < least {
			best, least = b, cost&^1 // Yosys keeps the least cost so far as a whole number
		}
	}
	return best
}

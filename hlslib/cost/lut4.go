package cost

import "hlsgen/boards"

// What differs where LUTs have four inputs: iCE40 (FPGA-DS-02008) and ECP5 (FPGA-DS-02012). Neither has shift
// registers in LUTs; what is one elsewhere is registers here. Logic is not priced higher than where LUTs have six
// inputs: the formulas are fitted on what HLS makes, whose control is larger than that of circuits, by about as much
// as smaller LUTs take more (docs/boards.md has figures).

// lut4 reports whether LUTs have four inputs.
func (f Fabric) lut4() bool { return f == ICE40 || f == ECP5 }

// lut4Rows is the rows of one bit that such a LUT holds.
const lut4Rows = 16

// mux4 is mux with LUTs of four inputs: one chooses of two, two choose of four.
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

// lut4Memory is where an array lies that is to lie in m.
func (f Fabric) lut4Memory(m Memory, rows, width int) Memory {
	switch {
	case m != Distributed && m != Embedded && m != Shift:
		return m
	case f == ECP5:
		return Distributed
	case rows*width >= boards.BlockBits:
		return Block
	}
	return Registers
}

// lut4Storage is the LUTs of an ECP5 that hold a memory: four are 16 rows of four bits with one port to write, one to
// read (TRELLIS_DPR16X4).
func lut4Storage(rows, width int) int { return 4 * ceil(rows, lut4Rows) * ceil(width, 4) }

// lut4RAM is all LUTs of such a memory: two beside four pass the port to write.
func (f Fabric) lut4RAM(rows, width int) float64 {
	banks := ceil(rows, lut4Rows)
	return float64(lut4Storage(rows, width)*3/2+decode(banks)) + f.mux(banks)*float64(width)
}

// shifted is words that move on by one place with each that is written, of which any can be read: registers, as many
// as a power of two.
func (f Fabric) shifted(rows, width int) (luts, registers float64) {
	places := 1 << log2Ceil(rows)
	return f.mux(places) * float64(width), float64(places * width)
}

// ice40Aspects and ecp5Aspects are the shapes of an iCE40's block RAM, SB_RAM40_4K, and of an ECP5's, DP16KD and
// PDPW16KD.
var (
	ice40Aspects = []aspect{{2048, 2}, {1024, 4}, {512, 8}, {256, 16}}
	ecp5Aspects  = []aspect{{16384, 1}, {8192, 2}, {4096, 4}, {2048, 9}, {1024, 18}, {512, 36}}
)

// A Banked is a memory in so many blocks: of which so many banks hold some of its rows each, and logic chooses among
// the words of these.
type Banked struct{ Blocks, Banks int }

// Banked is a memory in block RAM where LUTs have four inputs, as Yosys makes it (memory_libmap): of one shape, by
// which blocks and logic together cost least. Banks lie side by side in blocks, as far as these are wide. A table is
// only read; words of others begin at the bits of an ECP5's blocks that are written apart.
func (f Fabric) Banked(rows, width int, table bool) Banked {
	shapes, block, apart := ice40Aspects, 64, 1
	if f == ECP5 {
		shapes, block, apart = ecp5Aspects, 128, 9
	}
	var best Banked
	least := 0
	for _, a := range shapes {
		word := width
		if !table {
			word = ceil(width, min(apart, a.width)) * min(apart, a.width)
		}
		b := Banked{Banks: ceil(rows, a.rows)}
		b.Blocks = ceil(b.Banks*word, a.width)
		cost := 2*block*b.Blocks + (b.Banks-1)*width // in halves: a choice of one bit is one of them
		if !table && b.Banks > 1 {
			cost += b.Banks
		}
		if best.Blocks == 0 || cost < least {
			best, least = b, cost&^1 // what is least so far, Yosys has as a whole number
		}
	}
	return best
}

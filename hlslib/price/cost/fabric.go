package cost

import (
	"slices"

	"hlsgen/boards"
	"hlsgen/boards/family"
)

// A Fabric is a family of devices with the same LUTs, memories and DSP slices.
type Fabric uint8

// The fabrics. The zero value is UltraScale+, on which the coefficients were measured.
const (
	FabricUltraScale Fabric = iota // UltraScale and UltraScale+: DSP48E2
	FabricSeries7                  // Artix, Kintex, Virtex 7, Zynq 7000: DSP48E1
	// DSP58; no wide multiplexers beside the LUTs, no block RAM narrower than 9 bits
	FabricVersal
	firstFamily // from here on: the families of boards.Families, whose LUTs have four inputs
)

// FabricICE40 and FabricECP5 are the fabrics of the iCE40 UltraPlus and of the ECP5.
var FabricICE40, FabricECP5 = fabricOfFamily(boards.FamilyICE40U), fabricOfFamily(boards.FamilyECP5)

// fabricOfFamily returns the fabric of a family of the table.
func fabricOfFamily(name boards.Family) Fabric {
	return firstFamily + Fabric(slices.Index(boards.Families, name.Row()))
}

// FabricOf returns the fabric of the board's device: by its family, or for AMD's devices by the type of their DSP
// slices.
func FabricOf(b boards.Board) Fabric {
	if b.Family != boards.FamilyAMD {
		return fabricOfFamily(b.Family)
	}
	switch b.DSPType {
	case "DSP48E1":
		return FabricSeries7
	case "DSP58":
		return FabricVersal
	}
	return FabricUltraScale
}

// FamilyOfFabric returns the row of the fabric's family, or nil for AMD's devices.
func FamilyOfFabric(f Fabric) *family.DeviceFamily {
	if f < firstFamily {
		return nil
	}
	return boards.Families[f-firstFamily]
}

// CanStoreInLUTs reports whether LUTs of the fabric can be a memory.
func CanStoreInLUTs(f Fabric) bool { return f < firstFamily || FamilyOfFabric(f).Logic.Memory }

// mux returns the number of LUTs that select one bit of ways bits. A LUT selects one of four; two selections of one in
// two, by the same signal, share a LUT. Except on Versal, the slice's own multiplexers join LUTs for up to sixteen
// inputs (UG474, UG574: F7, F8).
func (f Fabric) mux(ways int) float64 {
	switch {
	case ways <= 1:
		return 0
	case f.lut4():
		return f.mux4(ways)
	case ways == 2:
		return .5
	case ways <= 4:
		return 1
	case f == FabricVersal:
		return float64(ceil(ways, 4)) + f.mux(ceil(ways, 4))
	case ways <= 16:
		return float64(ceil(ways, 4))
	}
	groups := ceil(ways, 16)
	// Outputs of F8 cannot share a LUT.
	return float64(ceil(ways, 4)) + max(1, f.mux(groups))
}

// decode returns the LUTs that select one of ways banks of a memory. There is one for each, and four more if address
// and enable have more than six bits.
func decode(ways int) int {
	switch {
	case ways <= 1:
		return 0
	case ways <= 32:
		return ways
	}
	return ways + 4
}

// A lutGroup is a memory that several LUTs of one slice make together: its bits per row, and its number of LUTs.
type lutGroup struct{ bits, luts int }

// lutGroups returns the groups for at most 32 rows, or at most 64, the widest first. They are RAM32M16 and RAM64M8 of
// UltraScale and Versal (UG974), RAM32M and RAM64M of the 7 series (UG953), and two LUTs for one bit.
func (f Fabric) lutGroups(rows int) []lutGroup {
	switch {
	case f == FabricSeries7 && rows <= 32:
		return []lutGroup{{6, 4}, {1, 2}}
	case f == FabricSeries7:
		return []lutGroup{{3, 4}, {1, 2}}
	case rows <= 32:
		return []lutGroup{{14, 8}, {6, 4}, {1, 2}}
	}
	return []lutGroup{{7, 8}, {3, 4}, {1, 2}}
}

// lutBank returns the LUTs of a dual-port memory of rows words of width bits, at most 64. It consists of whole groups,
// and the smallest group that holds the rest.
func (f Fabric) lutBank(rows, width int) int {
	groups := f.lutGroups(rows)
	n := width / groups[0].bits * groups[0].luts
	rest := width % groups[0].bits
	if rest == 0 {
		return n
	}
	least := groups[0].luts
	for _, g := range groups {
		if g.bits >= rest {
			least = g.luts
		}
	}
	return n + least
}

// lutStorage returns the LUTs that hold a dual-port memory, without those that select among its banks of 64 rows.
func (f Fabric) lutStorage(rows, width int) int {
	if f.lut4() {
		return lut4Storage(rows, width)
	}
	n := rows / 64 * f.lutBank(64, width)
	if rest := rows % 64; rest > 0 {
		n += f.lutBank(rest, width)
	}
	return n
}

// lutRAM returns all LUTs of a dual-port memory of rows words of width bits: storage, write decoding and read
// multiplexers.
func (f Fabric) lutRAM(rows, width int) float64 {
	if f.lut4() {
		return f.lut4RAM(rows, width)
	}
	banks := ceil(rows, 64)
	return float64(f.lutStorage(rows, width)+decode(banks)) + f.mux(banks)*float64(width)
}

// lutROM returns the LUTs of a table of rows words of width bits. A LUT holds 64 rows of one bit, or 32 of two bits.
// Multiplexers are added beyond what the slice itself joins (eight LUTs with F9, four with F8, none on Versal).
func (f Fabric) lutROM(rows, width int) float64 {
	if f.lut4() {
		return (float64(ceil(rows, lut4Rows)) + f.mux(ceil(rows, lut4Rows))) * float64(width)
	}
	if rows <= 32 {
		return float64(ceil(width, 2))
	}
	banks, joined := ceil(rows, 64), 8
	switch f {
	case FabricSeries7:
		joined = 4
	case FabricVersal:
		joined = 1
	}
	return float64(banks*width) + f.mux(ceil(banks, joined))*float64(width)
}

// An aspect is a shape that a block RAM can have: its rows, and the bits of each.
type aspect struct{ rows, width int }

// aspects returns the shapes of a block RAM, the widest first: those of a RAMB18 (UG473, UG573). A RAMB18E5 has none
// narrower than nine bits (AM007).
func (f Fabric) aspects() []aspect {
	if f == FabricVersal {
		return blockAspects[:3]
	}
	return blockAspects
}

var blockAspects = []aspect{{512, 36}, {1024, 18}, {2048, 9}, {4096, 4}, {8192, 2}, {16384, 1}}

// Memories of more than rounded rows are not rounded up to a power of two by synthesis, but to whole banks of bank
// rows: a RAMB36 of 32768 single bits.
const bank, rounded = 32768, 65536

// depth returns the number of rows, at least least, that synthesis gives a memory which needs the given rows.
func depth(least, rows int) int {
	if rows > rounded {
		return ceil(rows, bank) * bank
	}
	return max(least, 1<<log2Ceil(rows))
}

// blocks returns the number of block RAMs of a memory, in RAMB18 on AMD's devices. A memory is columns as deep as
// itself, in the combination of shapes that takes the least. A column of the 7 series is one RAMB36, or columns of
// single bits joined by their cascade and by multiplexers. Later fabrics cascade every shape.
func (f Fabric) blocks(rows, width int) int {
	if f.lut4() {
		return f.BankedLayout(rows, width, false).Blocks
	}
	aspects := f.aspects()
	tall := depth(aspects[0].rows, rows)
	n, least := 0, 0 // of the columns so far, and of the best complete combination
	for i, a := range aspects {
		column := ceil(tall, a.rows)
		if f == FabricSeries7 && column > 2 && a.width > 1 {
			continue
		}
		if all := n + ceil(width, a.width)*column; least == 0 || all < least {
			least = all
		}
		if i+1 < len(aspects) {
			n += width / a.width * column
			width %= a.width
		}
		if width == 0 {
			break
		}
	}
	return least
}

// blockDepth returns the most rows that a memory of width bits can have in the block RAMs that the given rows take.
func (f Fabric) blockDepth(rows, width int) int {
	n := f.blocks(rows, width)
	if f.lut4() {
		for f.blocks(rows+1, width) == n {
			rows++
		}
		return rows
	}
	tall := depth(f.aspects()[0].rows, rows)
	for f.blocks(tall+1, width) == n {
		tall = depth(0, tall+1)
	}
	return tall
}

// ultraBlocks returns the number of URAM288 for a memory of rows words of width bits. On UltraScale+ each is 4096 x 72.
// On Versal they can also be deeper and narrower, and synthesis takes columns as deep as the memory, without the parity
// bits (UG1387).
func (f Fabric) ultraBlocks(rows, width int) int {
	if f != FabricVersal || rows <= ultraRows {
		return ceil(rows, ultraRows) * ceil(width, 72)
	}
	tall := depth(ultraRows, rows)
	narrow := min(tall/ultraRows, 8)
	return ceil(tall, narrow*ultraRows) * ceil(width, 64/narrow)
}

// ultraRows is the number of rows of a URAM288 at its full width.
const ultraRows = 4096

package boards

import (
	"hlsgen/boards/family"
	"hlsgen/boards/family/ecp5"
	"hlsgen/boards/family/ice40"
)

// A Family is the name of a group of devices with the same cells, for which the same tools make bitstreams.
type Family string

// The families. The zero value stands for AMD's devices, which DSPType distinguishes further.
const (
	FamilyAMD    Family = ""
	FamilyICE40U Family = "ice40up" // iCE40 UltraPlus
	FamilyECP5   Family = "ecp5"
)

// Families lists the families other than AMD's. A family is a Go file with its row in a folder of its own, the JSON
// files of its boards, and a row here. AMD's devices are not in it: they have formulas of their own.
var Families = []*family.DeviceFamily{
	ice40.Family(),
	ecp5.Family(),
}

// Row returns the row of the table for the family, or nil for AMD's devices and names that are not in it.
func (f Family) Row() *family.DeviceFamily {
	for _, row := range Families {
		if row.Name == string(f) {
			return row
		}
	}
	return nil
}

// FamilyOfPart returns the family of a part number. It is FamilyAMD if the part is not a supported one of another
// family.
func FamilyOfPart(part string) Family {
	for _, f := range Families {
		if f.Part.MatchString(part) {
			return Family(f.Name)
		}
	}
	return FamilyAMD
}

// MinArrayBitsForBlockRAM is the smallest size in bits of an array that goes into block RAM although LUTs were asked
// for. This concerns devices whose LUTs cannot be memory; smaller arrays become registers there.
const MinArrayBitsForBlockRAM = 96

// NearestClock returns the clock in MHz that a design gets which is asked for with wanted, and the SystemVerilog of the
// PLL that makes it (family.PLL). A board whose top runs at the oscillator of its pins makes others by a PLL, if its
// family has one, up to the family's MostMHz. All other boards are taken to make any clock. cell is empty where there
// is no PLL.
func (b Board) NearestClock(wanted float64) (mhz float64, cell string) {
	row := b.Family.Row()
	if row == nil || row.PLL == nil || len(b.Pins) == 0 || wanted == b.ClockMHz {
		return wanted, ""
	}
	if mhz, cell = row.PLL(b.ClockMHz, min(wanted, row.MostMHz)); mhz == 0 { // the oscillator is too slow for it
		return b.ClockMHz, ""
	}
	return mhz, cell
}

// NextpnrDevice returns the board's device in nextpnr's terms. The board's family must not be FamilyAMD.
func (b Board) NextpnrDevice() family.NextpnrDevice {
	f := b.Family.Row()
	return f.Device(f.Part.FindStringSubmatch(b.Part))
}

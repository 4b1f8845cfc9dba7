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
// devices have one that hlsgen writes, up to a frequency that designs are known to reach or that the device passes on.
// All other boards are taken to make any clock. cell is empty where there is no PLL.
func (b Board) NearestClock(wanted float64) (mhz float64, cell string) {
	pll, most := b.pll()
	if pll == nil || len(b.Pins) == 0 || wanted == b.ClockMHz {
		return wanted, ""
	}
	if mhz, cell = pll(b.ClockMHz, min(wanted, most)); mhz == 0 { // the oscillator is too slow for it
		return b.ClockMHz, ""
	}
	return mhz, cell
}

// pll returns the PLL of the board's devices, and the fastest clock that is asked of it. It is nil if hlsgen writes
// none.
func (b Board) pll() (pll family.PLL, mostMHz float64) {
	if row := b.Family.Row(); row != nil {
		return row.PLL, row.MostMHz
	}
	if b.DSPType == "DSP48E1" {
		return mmcm, mostBufferedMHz
	}
	return nil, 0
}

// NextpnrDevice returns the board's device in nextpnr's terms. The board's family must not be FamilyAMD.
func (b Board) NextpnrDevice() family.NextpnrDevice {
	f := b.Family.Row()
	return f.Device(f.Part.FindStringSubmatch(b.Part))
}

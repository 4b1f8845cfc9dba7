package boards

import (
	"regexp"
	"strings"
)

// A Family is a group of devices with the same cells, for which the same tools make bitstreams.
type Family string

// The families. The zero value stands for AMD's devices, which DSPType distinguishes further.
const (
	FamilyAMD    Family = ""
	FamilyICE40U Family = "ice40up" // iCE40 UltraPlus
	FamilyECP5   Family = "ecp5"
)

var (
	ice40Part = regexp.MustCompile(`^iCE40(UP[35]K)-(SG48|UWG30)$`)
	ecp5Part  = regexp.MustCompile(`^LFE5(U|UM|UM5G)-([1248][245])F-([678])(BG|MG)([0-9]{3})[CI]$`)
)

// A kind holds what the devices of a family other than AMD have in common.
type kind struct {
	dsp    string         // name of the multiplier
	block  string         // name of the block RAM
	kbit   int            // size of a block RAM in Kbit
	lutram bool           // whether LUTs can be a memory
	part   *regexp.Regexp // pattern of the parts that the tools support
}

// kinds holds, by family, the facts of FPGA-DS-02008 (iCE40 UltraPlus Family Data Sheet) and FPGA-DS-02012 (ECP5
// and ECP5-5G Family Data Sheet). AMD's devices are not in it.
var kinds = map[Family]kind{
	FamilyICE40U: {"SB_MAC16", "EBR", 4, false, ice40Part},
	FamilyECP5:   {"MULT18X18D", "EBR", 18, true, ecp5Part},
}

// FamilyOfPart returns the family of a part number. It is FamilyAMD if the part is not a supported one of another
// family.
func FamilyOfPart(part string) Family {
	for f, k := range kinds {
		if k.part.MatchString(part) {
			return f
		}
	}
	return FamilyAMD
}

// MinArrayBitsForBlockRAM is the smallest size in bits of an array that goes into block RAM although LUTs were asked
// for. This concerns devices whose LUTs cannot be memory; smaller arrays become registers there.
const MinArrayBitsForBlockRAM = 96

// A NextpnrDevice names a device, its package and its speed grade in the terms of the options of nextpnr, the
// place-and-route tool. Speed is empty if nextpnr needs none.
type NextpnrDevice struct{ Name, Package, Speed string }

// NextpnrDevice returns the board's device in nextpnr's terms. The board's family must not be FamilyAMD.
func (b Board) NextpnrDevice() NextpnrDevice {
	m := kinds[b.Family].part.FindStringSubmatch(b.Part)
	if b.Family == FamilyICE40U {
		return NextpnrDevice{Name: strings.ToLower(m[1]), Package: strings.ToLower(m[2])}
	}
	name := m[2] + "k"
	if m[1] != "U" {
		name = strings.ToLower(m[1]) + "-" + name
	}
	ball := map[string]string{"BG": "CABGA", "MG": "CSFBGA"}[m[4]]
	return NextpnrDevice{Name: name, Package: ball + m[5], Speed: m[3]}
}

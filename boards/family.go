package boards

import (
	"regexp"
	"strings"
)

// A Family is devices that have the same cells, and that the same tools make bitstreams for.
type Family string

// The families. The zero value is AMD's devices, which DSPType tells apart.
const (
	AMD    Family = ""
	ICE40U Family = "ice40up" // iCE40 UltraPlus
	ECP5   Family = "ecp5"
)

var (
	ice40Part = regexp.MustCompile(`^iCE40(UP[35]K)-(SG48|UWG30)$`)
	ecp5Part  = regexp.MustCompile(`^LFE5(U|UM|UM5G)-([1248][245])F-([678])(BG|MG)([0-9]{3})[CI]$`)
)

// A kind is what all devices of a family have in common.
type kind struct {
	dsp    string         // the name of its multiplier
	block  string         // the name of its block RAM
	kbit   int            // of a block RAM
	lutram bool           // LUTs can be a memory
	part   *regexp.Regexp // of the parts that there are tools for
}

// kinds are by FPGA-DS-02008 (iCE40 UltraPlus Family Data Sheet) and FPGA-DS-02012 (ECP5 and ECP5-5G Family Data
// Sheet).
var kinds = map[Family]kind{
	ICE40U: {"SB_MAC16", "EBR", 4, false, ice40Part},
	ECP5:   {"MULT18X18D", "EBR", 18, true, ecp5Part},
}

// FamilyOf is the family that a part is of.
func FamilyOf(part string) Family {
	for f, k := range kinds {
		if k.part.MatchString(part) {
			return f
		}
	}
	return AMD
}

// BlockBits is the size from which on an array that is to lie in LUTs lies in block RAM, where no LUT is a memory;
// smaller ones are registers.
const BlockBits = 96

// A Device is a part as nextpnr is told of it. Speed is empty where it does not ask.
type Device struct{ Name, Package, Speed string }

// Device is the part of a board with a family.
func (b Board) Device() Device {
	m := kinds[b.Family].part.FindStringSubmatch(b.Part)
	if b.Family == ICE40U {
		return Device{Name: strings.ToLower(m[1]), Package: strings.ToLower(m[2])}
	}
	name := m[2] + "k"
	if m[1] != "U" {
		name = strings.ToLower(m[1]) + "-" + name
	}
	ball := map[string]string{"BG": "CABGA", "MG": "CSFBGA"}[m[4]]
	return Device{Name: name, Package: ball + m[5], Speed: m[3]}
}

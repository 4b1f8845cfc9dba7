package boards

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A ProcessingSystem names the processor beside the logic of a device, which AMD calls the processing system.
type ProcessingSystem string

// The processors for which hlsgen writes block designs. The zero value means no processor, or an unknown one.
const (
	PSNone     ProcessingSystem = ""
	PSZynq7000 ProcessingSystem = "zynq7000" // UG585
	PSZynqMP   ProcessingSystem = "zynqmp"   // UG1085
)

// A processor holds what a board file may state for a ProcessingSystem: the pattern of its memory ports' names, and
// their possible widths. pll is the frequency in MHz of the IO PLL on most of its boards (UG585 and UG1085, clocks of
// the PL; board presets). With the crystals of some boards it is 1499.985 rather than 1500.
type processor struct {
	port   *regexp.Regexp
	widths []int
	pll    int
}

var processors = map[ProcessingSystem]processor{
	PSZynq7000: {regexp.MustCompile(`^S_AXI_HP[0-3]$`), []int{32, 64}, 1000},
	PSZynqMP:   {regexp.MustCompile(`^S_AXI_HP[0-3]_FPD$`), []int{32, 64, 128}, 1500},
}

// PSPLLMHz returns the frequency in MHz of the PLL from which the PS makes the logic's clock, or 0 if there is no PS.
// If the board file does not state it, it is that of most boards with this PS, and verified is false.
func (b Board) PSPLLMHz() (mhz int, verified bool) {
	if b.PLLMHz > 0 {
		return b.PLLMHz, true
	}
	return processors[b.PS].pll, false
}

// bank matches the name of a memory bank of a card's platform, as the linker v++ writes it.
var bank = regexp.MustCompile(`^(DDR|HBM|PLRAM)\[[0-9]{1,2}\]$`)

// kernelBits lists the widths in bits that a kernel's memory port may have on a card (UG1393 recommends 512).
var kernelBits = []int{32, 64, 128, 256, 512}

// maxPorts limits the memory ports in a board file. No ProcessingSystem or linker has as many.
const maxPorts = 32

// boardPartPattern matches the name that Vivado has for a board. A star stands for any version.
const boardPartPattern = `^[A-Za-z0-9._-]+:[A-Za-z0-9._-]+:part0:(\*|[0-9]+(\.[0-9]+)*)$`

// connectionsPattern matches connectors, each with the name that Vivado has for what is at its other end.
const connectionsPattern = `^` + connectionPattern + `( ` + connectionPattern + `)*$`

const connectionPattern = `[A-Za-z0-9_]+ [A-Za-z0-9._-]+(:[A-Za-z0-9._-]+){3}`

// hostKeys are the keys of a board file that describe the processor, its memory ports and the card's platform.
var hostKeys = []key{
	{"ps", true, ps},
	{"pll_mhz", true, figure(func(b *Board) *int { return &b.PLLMHz }, 100, 3000)},
	{"memory_ports", true, memoryPorts},
	{"board_part", true, word(func(b *Board) *string { return &b.BoardPart }, boardPartPattern)},
	{"board_files", true, word(func(b *Board) *string { return &b.BoardFiles }, `^[^\x00-\x1f\x7f{}\\]{0,400}$`)},
	{"board_connections", true, word(func(b *Board) *string { return &b.Connections }, connectionsPattern)},
	{"platform", true, word(func(b *Board) *string { return &b.Platform }, `^[A-Za-z0-9_]{1,100}$`)},
	{"ps_source", true, source(func(b *Board) *string { return &b.PSSource })},
	{"pll_source", true, source(func(b *Board) *string { return &b.PLLSource })},
	{"board_part_source", true, source(func(b *Board) *string { return &b.BoardPartSource })},
	{"platform_source", true, source(func(b *Board) *string { return &b.PlatformSource })},
}

func ps(b *Board, v any) string {
	s, ok := v.(string)
	if !ok {
		return "wants a string"
	}
	if _, known := processors[ProcessingSystem(s)]; !known && s != "none" {
		return fmt.Sprintf("%q is none of none, %s, %s", s, PSZynq7000, PSZynqMP)
	}
	if s != "none" {
		b.PS = ProcessingSystem(s)
	}
	return ""
}

func memoryPorts(b *Board, v any) string {
	list, ok := v.([]any)
	if !ok {
		return "wants a list of strings"
	}
	if len(list) > maxPorts {
		return fmt.Sprintf("%d names are more than %d", len(list), maxPorts)
	}
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return "wants a list of strings"
		}
		if slices.Contains(b.MemoryPorts, s) {
			return fmt.Sprintf("%q is given twice", s)
		}
		b.MemoryPorts = append(b.MemoryPorts, s)
	}
	return ""
}

// hostContradicts returns a key about the processor, the memory ports or the platform whose value contradicts the other
// keys, and the reason. Both are empty if all agree.
func (b *Board) hostContradicts() (key, reason string) {
	pattern := bank
	switch {
	case b.PS != PSNone && b.Platform != "":
		return "platform", "a board with a ps has none"
	case b.PS == PSNone && b.PLLMHz > 0:
		return "pll_mhz", "a board without a ps has none"
	case b.PS != PSZynqMP && b.Connections != "":
		return "board_connections", "only a module with a ps zynqmp has them"
	case b.PS != PSNone:
		pattern = processors[b.PS].port
		if b.Family != FamilyAMD {
			return "ps", "only AMD's devices have one, and their files state no family"
		}
		if widths := processors[b.PS].widths; !slices.Contains(widths, b.HostPortBits) {
			return "host_port_bits", fmt.Sprintf("%d is not a width of a port of %s (%s)", b.HostPortBits, b.PS,
				strings.Trim(fmt.Sprint(widths), "[]"))
		}
		if b.BoardPart == "" {
			return "board_part", "missing: Vivado needs the board's preset to set up the ps"
		}
	case b.Platform != "" && !slices.Contains(kernelBits, b.HostPortBits):
		return "host_port_bits", fmt.Sprintf("%d is not a width of a kernel's memory port (%s)", b.HostPortBits,
			strings.Trim(fmt.Sprint(kernelBits), "[]"))
	case b.Platform == "" && len(b.MemoryPorts) > 0:
		return "memory_ports", "a board with neither ps nor platform has none"
	}
	if (b.PS != PSNone || b.Platform != "") && len(b.MemoryPorts) == 0 {
		return "memory_ports", "missing"
	}
	for _, p := range b.MemoryPorts {
		if !pattern.MatchString(p) {
			return "memory_ports", fmt.Sprintf("%q does not match %s", p, pattern)
		}
	}
	return "", ""
}

// MaxBurstBeats returns the most beats of a burst at the memory port, or 0 if there is none. A burst has at most 1 KiB
// and, on a Zynq-7000, at most AXI3's 16 beats.
func (b *Board) MaxBurstBeats() int {
	if b.HostPortBits == 0 {
		return 0
	}
	most := 256
	if b.PS == PSZynq7000 {
		most = 16
	}
	return min(most, 1024*8/b.HostPortBits)
}

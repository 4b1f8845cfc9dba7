// Package boards holds what is known of the boards: part, resources, host port. One JSON file per board; every figure
// names its source.
//
// In comes a name or a file; out comes a Board, or what is wrong with it. It sees regular and suggest.
package boards

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"hlsgen/internal/regular"
	"hlsgen/internal/suggest"
)

// A Board is one target. Block RAM is counted in BRAM36 on AMD's devices, as their data sheets do (each is two RAMB18),
// and in BRAM, blocks of BRAMKbit, on others. MemoryGBps is in 10^9 bytes a second.
type Board struct {
	Name string `json:"name"`
	// other names that Find knows it by; without effect in a file given by path
	Aliases    []string `json:"aliases,omitempty"`
	Family     Family   `json:"family,omitempty"`
	Part       string   `json:"part"`
	SpeedGrade string   `json:"speed_grade,omitempty"` // as part numbers spell it: -1, -2LV; empty where not known
	LUT        int      `json:"lut"`                   // of six inputs on AMD's devices, of four on others
	LUTRAM     int      `json:"lutram"`                // of the LUTs, those that can be a memory or a shift register
	FF         int      `json:"ff"`
	BRAM36     int      `json:"bram36"`
	BRAM       int      `json:"bram,omitempty"`
	BRAMKbit   int      `json:"bram_kbit,omitempty"`
	SPRAM      int      `json:"spram,omitempty"` // memories of 256 Kbit with one port, which no bitstream fills
	URAM       int      `json:"uram"`
	DSP        int      `json:"dsp"`
	DSPType    string   `json:"dsp_type"` // DSP48E1, DSP48E2, DSP58, SB_MAC16 or MULT18X18D
	// width of the port to the processor's memory, or of a kernel's on a card; 0 where none or not known
	HostPortBits int `json:"host_port_bits"`
	PS           PS  `json:"ps,omitempty"` // the processor beside the logic
	// the PS's ports to its memory, or banks of the platform's, in the order in which streams take them
	MemoryPorts []string `json:"memory_ports,omitempty"`
	BoardPart   string   `json:"board_part,omitempty"`  // Vivado's name of the board, * for any version
	BoardFiles  string   `json:"board_files,omitempty"` // where Vivado's files of the board are had
	Platform    string   `json:"platform,omitempty"`    // of a card, as v++ names it
	MemoryGBps  float64  `json:"memory_gbps"`           // its peak, of one bank on a card; 0 where none or not known
	ClockMHz    float64  `json:"default_clock_mhz"`     // used without --clock: one that designs close at
	// where the pins of the UART top are, each as "NAME SITE"; ClockMHz is what the clock pin carries
	Pins            []string `json:"pins,omitempty"`
	Unverified      bool     `json:"unverified,omitempty"` // the resources were compared with no table; a build says so
	PartSource      string   `json:"part_source"`
	ResourceSource  string   `json:"resource_source"`
	LUTRAMSource    string   `json:"lutram_source"`
	MemorySource    string   `json:"memory_source"`
	PSSource        string   `json:"ps_source,omitempty"` // of the PS and its ports
	BoardPartSource string   `json:"board_part_source,omitempty"`
	PlatformSource  string   `json:"platform_source,omitempty"` // of the platform and its banks
	ClockSource     string   `json:"clock_source"`              // why that clock
	PinSource       string   `json:"pin_source,omitempty"`
}

// InitialisesURAM reports whether a bitstream can fill UltraRAM, so that it can hold a table: on Versal (the devices
// with DSP58), not on UltraScale+.
func (b Board) InitialisesURAM() bool { return b.URAM > 0 && b.DSPType == "DSP58" }

// MemoryBits is the width of each of MemoryPorts, 0 where there is none.
func (b Board) MemoryBits() int {
	if len(b.MemoryPorts) == 0 {
		return 0
	}
	return b.HostPortBits
}

// Blocks is the block RAMs that costs are counted in: RAMB18, or the device's own.
func (b Board) Blocks() int {
	if b.Family == AMD {
		return 2 * b.BRAM36
	}
	return b.BRAM
}

// BlockName is what one of them is called: RAMB18, or what the device's data sheet has.
func (b Board) BlockName() string {
	if b.Family == AMD {
		return "RAMB18"
	}
	return kinds[b.Family].block
}

// StoresInLUTs reports whether LUTs can be a memory.
func (b Board) StoresInLUTs() bool { return b.Family == AMD || b.LUTRAM > 0 }

// PinNames are the pins of the UART top: clock, reset (low while its button is pressed), the line that the FPGA hears,
// the one on which it speaks, and a LED.
var PinNames = []string{"clk", "reset_n", "rx", "tx", "led"}

// Pin is the site of a pin of PinNames; empty where the board's are not known.
func (b Board) Pin(name string) string {
	for _, p := range b.Pins {
		if site, ok := strings.CutPrefix(p, name+" "); ok {
			return site
		}
	}
	return ""
}

// An UnknownError says that no board has the name. Nearest is the closest name or alias, empty where none is close;
// Known are the names.
type UnknownError struct {
	Name, Nearest string
	Known         []string
}

func (e *UnknownError) Error() string {
	if e.Nearest != "" {
		return fmt.Sprintf("unknown board %q, did you mean %q?", e.Name, e.Nearest)
	}
	return fmt.Sprintf("unknown board %q; known are %s", e.Name, strings.Join(e.Known, ", "))
}

//go:embed *.json
var files embed.FS

var all = sync.OnceValue(load)

// load reads the embedded files. They are ours, so a bad one is a defect.
func load() []Board {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err)
	}
	var list []Board
	for _, e := range entries {
		data, err := files.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		b, err := Parse(data)
		if err != nil {
			panic(fmt.Sprintf("boards: %s: %v", e.Name(), err))
		}
		list = append(list, b)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

// All is every board that hlsgen knows, by name.
func All() []Board {
	list := slices.Clone(all())
	for i := range list {
		b := &list[i]
		b.Aliases, b.Pins, b.MemoryPorts = slices.Clone(b.Aliases), slices.Clone(b.Pins), slices.Clone(b.MemoryPorts)
	}
	return list
}

// maxFile bounds a board file, so that a wrong path cannot fill the memory.
const maxFile = 64 << 10

// An AmbiguousError says that a part, or the beginning of a name, is that of several boards.
type AmbiguousError struct {
	Name   string
	Boards []Board
}

func (e *AmbiguousError) Error() string {
	var names []string
	for _, b := range e.Boards {
		names = append(names, b.Name)
	}
	last := len(names) - 1
	return fmt.Sprintf("%q may be %s or %s", e.Name, strings.Join(names[:last], ", "), names[last])
}

// IsPath reports whether a board is given by the path of a file: whatever contains a slash or ends in .json.
func IsPath(nameOrPath string) bool {
	return strings.ContainsAny(nameOrPath, `/\`) || strings.HasSuffix(strings.ToLower(nameOrPath), ".json")
}

// Find returns the board of that name, alias or part number, in any case, or the one described by the JSON file at that
// path (IsPath). The error is an *AmbiguousError where several boards have the part, or begin so, an *UnknownError for
// another name, an *InvalidError for a file whose content is wrong, and the operating system's for a file that cannot
// be read.
func Find(nameOrPath string) (Board, error) {
	if IsPath(nameOrPath) {
		return read(nameOrPath)
	}
	var names, aliases []string
	for _, b := range All() {
		for _, name := range append([]string{b.Name}, b.Aliases...) {
			if strings.EqualFold(name, nameOrPath) {
				return b, nil
			}
		}
		names = append(names, b.Name)
		aliases = append(aliases, b.Aliases...)
	}
	switch meant := meant(nameOrPath); {
	case len(meant) == 1 && strings.EqualFold(meant[0].Part, nameOrPath):
		return meant[0], nil
	case len(meant) > 1:
		return Board{}, &AmbiguousError{nameOrPath, meant}
	}
	return Board{}, &UnknownError{nameOrPath, suggest.Nearest(strings.ToLower(nameOrPath),
		append(slices.Clip(names), aliases...)), names}
}

// leastStart is the length of the shortest text that counts as the beginning of a name.
const leastStart = 3

// meant returns the boards that have the part, or else those whose name, alias or part begins so.
func meant(text string) (list []Board) {
	text = strings.ToLower(text)
	for _, b := range All() {
		if strings.ToLower(b.Part) == text {
			list = append(list, b)
		}
	}
	if list != nil || len(text) < leastStart {
		return list
	}
	for _, b := range All() {
		names := append([]string{b.Name, strings.ToLower(b.Part)}, b.Aliases...)
		if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, text) }) {
			list = append(list, b)
		}
	}
	return list
}

func read(path string) (Board, error) {
	data, err := regular.ReadFile(path, maxFile)
	if e := new(regular.Error); errors.As(err, &e) {
		return Board{}, &InvalidError{Path: path, Reason: "it " + e.Reason}
	}
	if err != nil {
		return Board{}, err
	}
	b, err := Parse(data)
	if e, ok := err.(*InvalidError); ok {
		e.Path = path
	}
	return b, err
}

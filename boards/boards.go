// Package boards holds the known facts about boards: part, resources and host port. There is one JSON file per
// board, which names the source of every figure.
//
// In comes a name or a file; out comes a Board, or what is wrong with it. family.go has the table of device families,
// mmcm.go the PLL of AMD's 7 series, host.go the keys of the host's side, and parse.go the parser.
package boards

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"hlsgen/internal/safefile"
	"hlsgen/internal/suggest"
)

// A Board is a target board with its device. The unit of block RAM is BRAM36 on AMD's devices, as in their data
// sheets (a BRAM36 is two RAMB18). On other devices it is BRAM, a block of BRAMKbit. MemoryGBps is in 10^9 bytes
// per second.
type Board struct {
	Name string `json:"name"`
	// further names that FindBoard accepts; without effect in a file given by path
	Aliases    []string `json:"aliases,omitempty"`
	Family     Family   `json:"family,omitempty"`
	Part       string   `json:"part"`
	SpeedGrade string   `json:"speed_grade,omitempty"` // as in part numbers: -1, -2LV; empty if not known
	LUT        int      `json:"lut"`                   // with six inputs on FamilyAMD's devices, with four on others
	LUTRAM     int      `json:"lutram"`                // number of LUTs that can be a memory or a shift register
	FF         int      `json:"ff"`
	BRAM36     int      `json:"bram36"`
	BRAM       int      `json:"bram,omitempty"`
	BRAMKbit   int      `json:"bram_kbit,omitempty"`
	SPRAM      int      `json:"spram,omitempty"` // single-port memories of 256 Kbit, which a bitstream cannot fill
	URAM       int      `json:"uram"`
	DSP        int      `json:"dsp"`
	DSPType    string   `json:"dsp_type"` // DSP48E1, DSP48E2, DSP58, SB_MAC16 or MULT18X18D
	// width of the port to the processor's memory, or of a kernel's port on a card; 0 if none or not known
	HostPortBits int              `json:"host_port_bits"`
	PS           ProcessingSystem `json:"ps,omitempty"` // the processor beside the logic
	// frequency in MHz of the PS's IO PLL, from which two dividers make the logic's clock; 0 if no source states it
	PLLMHz int `json:"pll_mhz,omitempty"`
	// the ProcessingSystem's ports to its memory, or banks of the platform's memory, in the order in which streams use
	// them
	MemoryPorts []string `json:"memory_ports,omitempty"`
	BoardPart   string   `json:"board_part,omitempty"`  // Vivado's name of the board, with * for any version
	BoardFiles  string   `json:"board_files,omitempty"` // source of Vivado's files for the board
	// of a module on a carrier: the carrier's connectors, for Vivado's property board_connections
	Connections string  `json:"board_connections,omitempty"`
	Platform    string  `json:"platform,omitempty"` // platform of a card, as v++ names it
	MemoryGBps  float64 `json:"memory_gbps"`        // peak, of one bank on a card; 0 if none or not known
	ClockMHz    float64 `json:"default_clock_mhz"`  // default clock: one at which designs meet timing
	// sites of the pins of the UART top, each as "NAME SITE"; ClockMHz is the frequency at the clock pin
	Pins            []string `json:"pins,omitempty"`
	Unverified      bool     `json:"unverified,omitempty"` // resources not checked against a table; a build says so
	PartSource      string   `json:"part_source"`
	ResourceSource  string   `json:"resource_source"`
	LUTRAMSource    string   `json:"lutram_source"`
	MemorySource    string   `json:"memory_source"`
	PSSource        string   `json:"ps_source,omitempty"` // source of the ProcessingSystem and its ports
	PLLSource       string   `json:"pll_source,omitempty"`
	BoardPartSource string   `json:"board_part_source,omitempty"`
	PlatformSource  string   `json:"platform_source,omitempty"` // source of the platform and its banks
	ClockSource     string   `json:"clock_source"`              // reason for the default clock
	PinSource       string   `json:"pin_source,omitempty"`
}

// CanInitialiseURAM reports whether a bitstream can fill the board's UltraRAM, so that this can hold a table. It can on
// Versal (the devices with DSP58), but not on UltraScale+. It is false if there is no UltraRAM.
func (b Board) CanInitialiseURAM() bool { return b.URAM > 0 && b.DSPType == "DSP58" }

// MemoryPortBits returns the width of each of MemoryPorts in bits, or 0 if there is none.
func (b Board) MemoryPortBits() int {
	if len(b.MemoryPorts) == 0 {
		return 0
	}
	return b.HostPortBits
}

// BlockRAMCount returns the number of block RAMs in the unit of costs: RAMB18 on AMD's devices, else the device's
// own blocks.
func (b Board) BlockRAMCount() int {
	if b.Family == FamilyAMD {
		return 2 * b.BRAM36
	}
	return b.BRAM
}

// BlockRAMUnitName returns the name of the unit of BlockRAMCount: RAMB18, or the name of a block in the device's data
// sheet.
func (b Board) BlockRAMUnitName() string {
	if b.Family == FamilyAMD {
		return "RAMB18"
	}
	return b.Family.Row().Block.Name
}

// CanStoreInLUTs reports whether some of the device's LUTs can be a memory.
func (b Board) CanStoreInLUTs() bool { return b.Family == FamilyAMD || b.LUTRAM > 0 }

// UARTTopPinNames lists the pins of the UART top: clock, reset (low while its button is pressed), the FPGA's receiving
// and sending lines, and a LED.
var UARTTopPinNames = []string{"clk", "reset_n", "rx", "tx", "led"}

// PinSite returns the site of a pin, whose name is one of UARTTopPinNames. It returns "" if the board's pins are not
// known.
func (b Board) PinSite(name string) string {
	for _, p := range b.Pins {
		if site, ok := strings.CutPrefix(p, name+" "); ok {
			return site
		}
	}
	return ""
}

// An UnknownNameError states that no board has the name. Nearest is the most similar name or alias, or "" if none is
// similar. Known lists the names of all boards.
type UnknownNameError struct {
	Name, Nearest string
	Known         []string
}

func (e *UnknownNameError) Error() string {
	if e.Nearest != "" {
		return fmt.Sprintf("unknown board %q, did you mean %q?", e.Name, e.Nearest)
	}
	return fmt.Sprintf("unknown board %q; known are %s", e.Name, strings.Join(e.Known, ", "))
}

//go:embed *.json
var files embed.FS

var all = sync.OnceValue(load)

// load returns the boards of the embedded files, sorted by name. It panics on a bad file, which would be a bug of
// hlsgen.
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

// AllBoards returns copies of all boards that hlsgen knows, sorted by name. The caller may change them.
func AllBoards() []Board {
	list := slices.Clone(all())
	for i := range list {
		b := &list[i]
		b.Aliases, b.Pins, b.MemoryPorts = slices.Clone(b.Aliases), slices.Clone(b.Pins), slices.Clone(b.MemoryPorts)
	}
	return list
}

// maxFile limits the size of a board file in bytes, so that a wrong path cannot fill the memory.
const maxFile = 64 << 10

// An AmbiguousNameError states that the text Name may mean several boards. They have it as their part number, or have
// names, aliases or part numbers that begin with it.
type AmbiguousNameError struct {
	Name   string
	Boards []Board
}

func (e *AmbiguousNameError) Error() string {
	var names []string
	for _, b := range e.Boards {
		names = append(names, b.Name)
	}
	last := len(names) - 1
	return fmt.Sprintf("%q may be %s or %s", e.Name, strings.Join(names[:last], ", "), names[last])
}

// IsBoardFilePath reports whether the argument is the path of a board file: it contains a slash or ends in .json.
func IsBoardFilePath(nameOrPath string) bool {
	return strings.ContainsAny(nameOrPath, `/\`) || strings.HasSuffix(strings.ToLower(nameOrPath), ".json")
}

// FindBoard returns the board with the given name, alias or part number, ignoring case, or that of a JSON file if
// IsBoardFilePath reports true. It returns an *AmbiguousNameError for the part number or the beginning of names of
// several boards, and an *UnknownNameError for any other name. A file gives an *InvalidFileError for wrong content, or
// the operating system's error if it cannot be read.
func FindBoard(nameOrPath string) (Board, error) {
	if IsBoardFilePath(nameOrPath) {
		return read(nameOrPath)
	}
	var names, aliases []string
	for _, b := range AllBoards() {
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
		return Board{}, &AmbiguousNameError{nameOrPath, meant}
	}
	return Board{}, &UnknownNameError{nameOrPath, suggest.NearestWord(strings.ToLower(nameOrPath),
		append(slices.Clip(names), aliases...)), names}
}

// leastStart is the length of the shortest text for which FindBoard returns an *AmbiguousNameError as the beginning of
// names.
const leastStart = 3

// meant returns the boards that have the part number, ignoring case. If there are none, it returns those whose name,
// alias or part number begins with the text, if this is long enough.
func meant(text string) (list []Board) {
	text = strings.ToLower(text)
	for _, b := range AllBoards() {
		if strings.ToLower(b.Part) == text {
			list = append(list, b)
		}
	}
	if list != nil || len(text) < leastStart {
		return list
	}
	for _, b := range AllBoards() {
		names := append([]string{b.Name, strings.ToLower(b.Part)}, b.Aliases...)
		if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, text) }) {
			list = append(list, b)
		}
	}
	return list
}

func read(path string) (Board, error) {
	data, err := safefile.ReadRegularFile(path, maxFile)
	if e := new(safefile.FileRefusedError); errors.As(err, &e) {
		return Board{}, &InvalidFileError{Path: path, Reason: "it " + e.Reason}
	}
	if err != nil {
		return Board{}, err
	}
	b, err := Parse(data)
	if e, ok := err.(*InvalidFileError); ok {
		e.Path = path
	}
	return b, err
}

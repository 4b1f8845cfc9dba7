package measured

import (
	"slices"
	"strings"
	"testing"
)

// A netlist is a module that Yosys has synthesised, in the JSON that it writes. Connected bits are numbers,
// constant ones strings.
type netlist struct {
	Cells map[string]*cell
}

// A cell has the direction of each port, and the bits connected to it.
type cell struct {
	Type        string
	Directions  map[string]string `json:"port_directions"`
	Connections map[string][]any
}

// A cellCount has the cells of a layer or a network, counted in Yosys' netlist. LUT counts LUT1 to LUT6, shift
// registers and memories in lookup tables (four for a RAM32M), but no inverters. For an ECP5 LUT is the number of
// TRELLIS_COMB that nextpnr makes of the netlist. Levels is the most lookup tables on a path between registers.
type cellCount struct{ LUT, Shift, RAM, FF, BRAM, DSP, Levels int }

// counted counts the cells of a netlist, and those of modules that Yosys keeps apart in it.
func (n netlist) counted(modules map[string]netlist) (c cellCount) {
	for _, x := range n.Cells {
		switch name := x.Type; {
		case slices.Contains([]string{"LUT1", "LUT2", "LUT3", "LUT4", "LUT5", "LUT6", "LUT6_2"}, name),
			name == "SB_LUT4":
			c.LUT++
		case name == "CCU2C": // two lookup tables with their carry
			c.LUT += 2
		case strings.HasPrefix(name, "SRL"):
			c.Shift++
		case name == "RAM32M", name == "RAM64M", name == "RAM128X1D":
			c.RAM += 4
		case name == "TRELLIS_DPR16X4":
			c.RAM, c.LUT = c.RAM+4, c.LUT+2 // two for the write port
		case name == "RAM32X1D", name == "RAM64X1D":
			c.RAM += 2
		case strings.HasPrefix(name, "FD"), strings.HasPrefix(name, "SB_DFF"), name == "TRELLIS_FF":
			c.FF++
		case name == "RAMB18E1", name == "SB_RAM40_4K", name == "DP16KD", name == "PDPW16KD":
			c.BRAM++
		case name == "RAMB36E1":
			c.BRAM += 2
		case name == "DSP48E1", name == "SB_MAC16", name == "MULT18X18D":
			c.DSP++
		case strings.Contains(name, "hlsgen_slice"):
			part := modules[name].counted(modules)
			c.LUT, c.FF, c.DSP = c.LUT+part.LUT, c.FF+part.FF, c.DSP+part.DSP
		}
	}
	c.LUT += c.Shift + c.RAM + n.chainEnds()
	c.Levels = n.levels()
	return c
}

// chainEnds returns the cells that nextpnr-ecp5 adds to carry chains: two before the first CCU2C of a chain, two behind
// the last one, and two where the carry between two of them is read elsewhere (ecp5/pack.cc of nextpnr).
func (n netlist) chainEnds() (cells int) {
	const carryCell = "CCU2C"
	carries, inputs, readers := map[bit]bool{}, map[bit]bool{}, map[bit]int{}
	for _, x := range n.Cells {
		for port, bits := range x.Connections {
			for _, b := range bits {
				at, ok := b.(float64)
				switch {
				case !ok:
				case x.Directions[port] == "input":
					readers[bit(at)]++
					inputs[bit(at)] = inputs[bit(at)] || x.Type == carryCell && port == "CIN"
				case x.Type == carryCell && port == "COUT":
					carries[bit(at)] = true
				}
			}
		}
	}
	for _, x := range n.Cells {
		if x.Type != carryCell {
			continue
		}
		if in, ok := x.Connections["CIN"][0].(float64); !ok || !carries[bit(in)] {
			cells += 4
		}
	}
	for b := range carries {
		if inputs[b] && readers[b] > 1 {
			cells += 2
		}
	}
	return cells
}

// A way leads from a bit through one cell to a bit that it drives. It passes one lookup table, or none.
type way struct {
	from bit
	luts int
}

// A bit numbers a wire of a netlist.
type bit float64

// levels returns the most lookup tables on a path between registers, memories, multipliers and ports. A carry chain
// adds none itself; the lookup tables in front of it and behind it count. Memories in lookup tables count as lookup
// tables where they are read.
func (n netlist) levels() (most int) {
	ways := map[bit][]way{}
	for _, x := range n.Cells {
		for port, bits := range x.Connections {
			if x.Directions[port] == "output" {
				for k, b := range bits {
					if to, ok := b.(float64); ok {
						ways[bit(to)] = x.ways(k)
					}
				}
			}
		}
	}
	levels := map[bit]int{}
	var level func(b bit) int
	level = func(b bit) int {
		if l, ok := levels[b]; ok {
			return l
		}
		levels[b] = 0 // for a loop that comes back here
		l := 0
		for _, w := range ways[b] {
			l = max(l, level(w.from)+w.luts)
		}
		levels[b] = l
		return l
	}
	for b := range ways {
		most = max(most, level(b))
	}
	return most
}

// ways returns the ways through a cell to the k-th bit of its output.
func (x *cell) ways(k int) (list []way) {
	var luts int
	var through func(port string, i int) bool
	all := func(string, int) bool { return true }
	switch name := x.Type; {
	case strings.HasPrefix(name, "LUT"), name == "SB_LUT4", name == "CCU2C":
		luts, through = 1, all
	case strings.HasPrefix(name, "RAM32"), strings.HasPrefix(name, "RAM64"), strings.HasPrefix(name, "RAM128"):
		luts, through = 1, func(port string, _ int) bool {
			return strings.HasPrefix(port, "ADDR") ||
				strings.HasPrefix(port, "DPRA")
		}
	case name == "TRELLIS_DPR16X4":
		luts, through = 1, func(port string, _ int) bool { return port == "RAD" }
	case strings.HasPrefix(name, "SRL"):
		luts, through = 1, func(port string, _ int) bool { return strings.HasPrefix(port, "A") }
	case name == "CARRY4":
		through = func(_ string, i int) bool { return i <= k }
	case name == "SB_CARRY", name == "INV", name == "PFUMX", name == "L6MUX21", strings.HasPrefix(name, "MUXF"):
		through = all
	default:
		return nil
	}
	for port, bits := range x.Connections {
		for i, b := range bits {
			if from, ok := b.(float64); ok && x.Directions[port] == "input" && through(port, i) {
				w := way{bit(from), luts}
				if port == "CIN" {
					w.luts = 0
				}
				list = append(list, w)
			}
		}
	}
	return list
}

func TestLevels(t *testing.T) {
	t.Parallel()
	pins := func(of string, out float64, in ...any) *cell {
		return &cell{of, map[string]string{"Q": "output", "D": "input"}, map[string][]any{"Q": {out}, "D": in}}
	}
	chain := func(k int, out ...any) *cell {
		return &cell{"CARRY4", map[string]string{"O": "output", "S": "input", "CI": "input"},
			map[string][]any{"O": out, "S": {9. + float64(k), 10. + float64(k)}, "CI": {"0"}}}
	}
	for name, tt := range map[string]struct {
		of   []*cell
		want int
	}{
		"none": {[]*cell{pins("FDRE", 2, 1.)}, 0},
		"a register between": {[]*cell{pins("LUT2", 2, 1., "0"), pins("FDRE", 3, 2.), pins("LUT1", 4, 3.),
			pins("LUT1", 5, 4.)}, 2},
		"a chain, whose lowest bit does not depend on the next one": {[]*cell{pins("LUT1", 9, 1.), pins("LUT1", 8, 1.),
			pins("LUT2", 10, 8., 1.), chain(0, 20., 21.), pins("LUT1", 22, 20.)}, 2},
		"behind the chain": {[]*cell{pins("LUT1", 9, 1.), pins("LUT1", 8, 1.), pins("LUT2", 10, 8., 1.),
			chain(0, 20., 21.), pins("LUT1", 22, 21.)}, 3},
	} {
		n := netlist{map[string]*cell{}}
		for i, x := range tt.of {
			n.Cells[string(rune('a'+i))] = x
		}
		if got := n.levels(); got != tt.want {
			t.Errorf("%s: %d levels, want %d", name, got, tt.want)
		}
	}
}

func TestChainEnds(t *testing.T) {
	t.Parallel()
	carry := func(out float64, in any) *cell {
		return &cell{"CCU2C", map[string]string{"CIN": "input", "A0": "input", "COUT": "output"},
			map[string][]any{"CIN": {in}, "A0": {1.}, "COUT": {out}}}
	}
	reader := &cell{"LUT4", map[string]string{"A": "input", "Z": "output"}, map[string][]any{"A": {11.}, "Z": {20.}}}
	for name, tt := range map[string]struct {
		of   []*cell
		want int
	}{
		"none":                      {[]*cell{reader}, 0},
		"a chain from a constant":   {[]*cell{carry(10, "0"), carry(11, 10.)}, 4},
		"a chain from logic":        {[]*cell{carry(10, 20.), carry(11, 10.), reader}, 4},
		"a carry read in its midst": {[]*cell{carry(10, "0"), carry(11, 10.), carry(12, 11.), reader}, 6},
		"two chains":                {[]*cell{carry(10, "0"), carry(12, "1")}, 8},
	} {
		n := netlist{map[string]*cell{}}
		for i, x := range tt.of {
			n.Cells[string(rune('a'+i))] = x
		}
		if got := n.chainEnds(); got != tt.want {
			t.Errorf("%s: %d cells, want %d", name, got, tt.want)
		}
	}
}

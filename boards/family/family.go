// Package family says what the devices of a family have in common: logic, memories, multipliers and tools. Each family
// is a folder beside this file, with the function that makes its row; package boards has the table.
package family

import "regexp"

// A DeviceFamily is a row of the table of families: what their devices have in common. Its devices have LUTs of four
// inputs, and Yosys synthesises for them.
type DeviceFamily struct {
	Name   string         // the value of family in board files
	About  string         // the devices, as text for messages
	Part   *regexp.Regexp // pattern of the parts that the tools support
	Device func(part []string) NextpnrDevice
	Logic  Logic
	Block  BlockRAM
	DSP    Multiplier
	Tools  Tools
	PLL    PLL // nil if hlsgen writes none for the family
	// the fastest clock in MHz that is asked of the PLL: designs are known to reach it
	MostMHz float64
}

// Logic describes LUTs, carry chains and flip-flops, and how Yosys packs logic into them.
type Logic struct {
	Inputs       int  // inputs of a LUT
	WideInputs   int  // most inputs of a function made of LUTs joined by the device's multiplexers
	LUTDelayPS   int  // a LUT with wires of the usual length, in picoseconds: a guess
	CarryDelayPS int  // a bit of a carry chain, in picoseconds: a guess
	ChainDelayPS int  // from a wire to a carry chain and from it to a wire, beside a LUT, in picoseconds
	Memory       bool // LUTs can be a memory

	ShortAdder        int  // most bits of an adder that is logic
	PairedCarry       bool // carry cells take two bits each, and no logic is absorbed in front of them
	ABC9              bool // Yosys maps by ABC9: for few LUTs, as most paths are much shorter than the longest
	PlainCompare      bool // a comparison is the last carry of a chain, whatever the signs and widths of its operands
	JoinsLUTs         bool // three LUTs become two where possible
	AdderAbsorbs      bool // the LUT of an adder's bit absorbs the logic behind it
	EnableTakesResets bool // the enable of a flip-flop with a reset is a condition of both
	ChainCells        int  // cells that place and route adds to a carry chain, at its two ends
	CarryCells        int  // cells that it adds where a carry inside of a chain is read
	SharesCells       bool // a counted LUT is a cell, which a flip-flop or a carry takes that has no LUT of its own

	// the share of the LUTs up to which designs are known to place and to reach their clock; 0 if none is known
	MostLUTs float64

	UART UART

	// LUTs that one counted cell of a purpose takes, by the names of package luts. make measure writes the numbers.
	CellLUTs map[string]float64
}

// A UART holds what the UART top takes around a network with words of one byte, at 12 MHz and 115,200 baud, without the
// memory of its message. Its cells have no LUT.
type UART struct{ LUTs, FlipFlops, Cells int }

// BlockRAM describes the memory blocks.
type BlockRAM struct {
	Name       string
	Kbit       int
	Shapes     [][2]int // rows of a block and the bits of each, in the order in which Yosys tries the shapes
	HalfLUTs   int      // what Yosys takes a block to cost, in half LUTs
	WriteGroup int      // bits of a word that can be written separately
}

// Multiplier describes the multipliers, and what a multiplier with registers takes beside one.
type Multiplier struct {
	Name             string
	Wide, Narrow     int // bits of the two signed factors
	LUTs             int // for a clock enable, if the multiplier has it in another form
	FactorRegisters  int // flip-flops for each bit of the factors
	ProductRegisters int // flip-flops for each bit of the product
}

// Tools says which programs make a bitstream. Texts have placeholders in braces.
type Tools struct {
	Synth    string   // Yosys' command
	Netlist  string   // the same for a netlist that is simulated: modules stay apart
	Models   []string // Verilog of the cells, below Yosys' folder; the first includes the others
	Define   string   // macro to define before the models; may be empty
	BlockRAM bool     // the models include block RAM
	Pins     string   // name of the file of pins
	PinHead  string   // its first lines, with {MHZ}
	PinLine  string   // a line per pin, with {NAME} and {SITE}
	PinTail  string   // its last lines
	Image    string   // ending of the bitstream's file
	Placed   string   // ending of the file from which the bitstream is made
	Route    string   // command of a Makefile from $< to $@, with {DEVICE}, {PACKAGE}, {SPEED} and {MHZ}
	Pack     string   // command of a Makefile from $< to $@; in both, $(call tool,NAME) is the program NAME
	Cells    string   // pattern of the lines about cells in the log of Route
}

// A NextpnrDevice names a device, its package and its speed grade in the terms of the options of nextpnr, the
// place-and-route tool. Speed is empty if nextpnr needs none.
type NextpnrDevice struct{ Name, Package, Speed string }

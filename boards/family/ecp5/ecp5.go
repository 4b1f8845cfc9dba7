// Package ecp5 is the device family of the ECP5 and ECP5-5G (FPGA-DS-02012, ECP5 and ECP5-5G Family Data Sheet).
package ecp5

import (
	"regexp"
	"strings"

	"hlsgen/boards/family"
)

// Family returns the row of the family.
func Family() *family.DeviceFamily {
	return &family.DeviceFamily{
		Name:   "ecp5",
		About:  "an ECP5",
		Part:   regexp.MustCompile(`^LFE5(U|UM|UM5G)-([1248][245])F-([678])(BG|MG)([0-9]{3})[CI]$`),
		Device: device,
		Logic: family.Logic{
			Inputs: 4, WideInputs: 7, LUTDelayPS: 900, CarryDelayPS: 50, Memory: true, // TRELLIS_DPR16X4
			ABC9: true, PlainCompare: true, ShortAdder: 4, PairedCarry: true, ChainCells: 4, CarryCells: 2, // CCU2C
			UART: family.UART{LUTs: 228, FlipFlops: 131},
			CellLUTs: map[string]float64{
				"compressors":        1.00,
				"adders":             1.00,
				"comparators":        1.00,
				"multiplexers":       1.05,
				"gates":              1.00,
				"tables":             1.13,
				"memories":           1.00,
				"states":             1.00,
				"pipeline registers": 1.00,
				"multipliers":        1.00,
				"inverters":          1.00,
			},
		},
		Block: family.BlockRAM{Name: "EBR", Kbit: 18, // DP16KD and PDPW16KD
			Shapes:   [][2]int{{16384, 1}, {8192, 2}, {4096, 4}, {2048, 9}, {1024, 18}, {512, 36}},
			HalfLUTs: 128, WriteGroup: 9},
		DSP: family.Multiplier{Name: "MULT18X18D", Wide: 18, Narrow: 18, FactorRegisters: 1, ProductRegisters: 2},
		PLL: pll, MostMHz: 50,
		Tools: family.Tools{
			Synth:   "synth_ecp5",
			Netlist: "synth_ecp5 -noflatten -nobram -nodsp",
			Models:  []string{"ecp5/cells_sim.v", "ecp5/cells_ff.vh", "ecp5/cells_io.vh"},
			Pins:    "pins.lpf",
			PinHead: "FREQUENCY PORT \"clk\" {MHZ} MHZ;\n",
			PinLine: "LOCATE COMP \"{NAME}\" SITE \"{SITE}\";\nIOBUF PORT \"{NAME}\" IO_TYPE=LVCMOS33;\n",
			PinTail: "IOBUF PORT \"reset_n\" PULLMODE=UP IO_TYPE=LVCMOS33;\n",
			Image:   "bit",
			Placed:  "config",
			Route: "$(call tool,nextpnr-ecp5) -q -l build/nextpnr.log --{DEVICE} --package {PACKAGE} --speed " +
				"{SPEED} --seed 1 \\\n\t\t--json $< --lpf uart/pins.lpf --textcfg $@ --report build/report.json",
			Pack:  "$(call tool,ecppack) --compress $< $@",
			Cells: "(TRELLIS_COMB|TRELLIS_FF|DP16KD|MULT18X18D):",
		},
	}
}

// device returns a device in nextpnr's terms.
func device(part []string) family.NextpnrDevice {
	name := part[2] + "k"
	if part[1] != "U" {
		name = strings.ToLower(part[1]) + "-" + name
	}
	ball := map[string]string{"BG": "CABGA", "MG": "CSFBGA"}[part[4]]
	return family.NextpnrDevice{Name: name, Package: ball + part[5], Speed: part[3]}
}

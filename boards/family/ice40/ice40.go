// Package ice40 is the device family of the iCE40 UltraPlus (FPGA-DS-02008, iCE40 UltraPlus Family Data Sheet).
package ice40

import (
	"regexp"
	"strings"

	"hlsgen/boards/family"
)

// Family returns the row of the family.
func Family() *family.DeviceFamily {
	return &family.DeviceFamily{
		Name:  "ice40up",
		About: "an iCE40 UltraPlus",
		Part:  regexp.MustCompile(`^iCE40(UP[35]K)-(SG48|UWG30)$`),
		Device: func(part []string) family.NextpnrDevice {
			return family.NextpnrDevice{Name: strings.ToLower(part[1]), Package: strings.ToLower(part[2])}
		},
		Logic: family.Logic{
			Inputs: 4, WideInputs: 4, LUTDelayPS: 3300, CarryDelayPS: 350, ChainDelayPS: 3900,
			ShortAdder: 2, JoinsLUTs: true, AdderAbsorbs: true, EnableTakesResets: true,
			SharesCells: true, MostLUTs: 0.97, UART: family.UART{LUTs: 195, FlipFlops: 147, Cells: 50},
			CellLUTs: map[string]float64{
				"compressors":        0.93,
				"adders":             0.91,
				"comparators":        1.00,
				"multiplexers":       1.00,
				"gates":              1.00,
				"tables":             1.00,
				"memories":           1.00,
				"states":             1.00,
				"pipeline registers": 1.00,
				"multipliers":        1.00,
				"inverters":          1.05,
			},
		},
		Block: family.BlockRAM{Name: "EBR", Kbit: 4, // SB_RAM40_4K
			Shapes: [][2]int{{2048, 2}, {1024, 4}, {512, 8}, {256, 16}}, HalfLUTs: 64, WriteGroup: 1},
		// An SB_MAC16 contains all registers but the last. It has a hold input where hlsgen_slice has an enable.
		DSP: family.Multiplier{Name: "SB_MAC16", Wide: 16, Narrow: 16, LUTs: 1, ProductRegisters: 1},
		PLL: pll, MostMHz: 36,
		Tools: family.Tools{
			Synth:    "synth_ice40 -device u -dsp",
			Netlist:  "synth_ice40 -device u -dsp -noflatten",
			Models:   []string{"ice40/cells_sim.v"},
			Define:   "NO_ICE40_DEFAULT_ASSIGNMENTS",
			BlockRAM: true,
			Pins:     "pins.pcf",
			PinLine:  "set_io {NAME} {SITE}\n",
			Image:    "bin",
			Placed:   "asc",
			Route: "$(call tool,nextpnr-ice40) -q -l build/nextpnr.log --{DEVICE} --package {PACKAGE} --freq {MHZ} " +
				"--seed 1 \\\n\t\t--json $< --pcf uart/pins.pcf --asc $@ --report build/report.json",
			Pack:  "$(call tool,icepack) $< $@",
			Cells: "(ICESTORM_LC|ICESTORM_RAM|ICESTORM_DSP):",
		},
	}
}

// Package example4 is a device family that does not exist: slow LUTs of four inputs, and multipliers of 9 bits.
package example4

import (
	"regexp"

	"hlsgen/boards/family"
)

// Family returns the row of the family.
func Family() *family.DeviceFamily {
	return &family.DeviceFamily{
		Name:  "example4",
		About: "an Example 4",
		Part:  regexp.MustCompile(`^EX4-([0-9]+)-QN([0-9]+)$`),
		Device: func(part []string) family.NextpnrDevice {
			return family.NextpnrDevice{Name: "ex" + part[1], Package: "qn" + part[2]}
		},
		Logic: family.Logic{
			Inputs: 4, WideInputs: 5, LUTDelayPS: 2000, CarryDelayPS: 100, Memory: true, ShortAdder: 2,
			CellLUTs: map[string]float64{
				"compressors": 1, "adders": 1, "comparators": 1, "multiplexers": 1, "gates": 1, "tables": 1, "memories": 1,
				"states": 1, "pipeline registers": 1, "multipliers": 1, "inverters": 1,
			},
		},
		Block: family.BlockRAM{Name: "MEM8K", Kbit: 8, Shapes: [][2]int{{1024, 8}, {512, 16}}, HalfLUTs: 80,
			WriteGroup: 8},
		DSP: family.Multiplier{Name: "MULT9", Wide: 9, Narrow: 9, ProductRegisters: 1},
		Tools: family.Tools{
			Synth:   "synth_example4",
			Netlist: "synth_example4 -noflatten",
			Models:  []string{"example4/cells_sim.v"},
			Pins:    "pins.txt",
			PinLine: "{NAME} = {SITE}\n",
			Image:   "img",
			Placed:  "placed",
			Route: "route4 --device {DEVICE} --package {PACKAGE} --json $< --pins uart/pins.txt --out $@ " +
				"--log build/nextpnr.log",
			Pack:  "pack4 $< $@",
			Cells: "(LUT4|DFF):",
		},
	}
}

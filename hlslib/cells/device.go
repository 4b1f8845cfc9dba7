package cells

import "hlsgen/hlslib/cost"

// A Device is what synthesis does on a family of devices, in rules and in numbers.
type Device struct {
	Fabric  cost.Fabric
	Inputs  int     // of a lookup table
	Joined  int     // lookup tables that are one function of more inputs, by multiplexers beside them
	Half    float64 // lookup tables that choose among halves of a table
	Short   int     // bits of adders up to which they are logic
	TakesIn bool    // the lookup table of an adder's bit takes in logic of the second operand
	Pass    float64 // lookup tables of an adder's bit one operand of which is constant
	Ahead   float64 // lookup tables for a bit of an address that is read a clock ahead
	Gates   float64 // lookup tables of control, for each of six inputs
	Shifts  bool    // there are shift registers in lookup tables
	Numbers [Kinds]Number
}

// A Number is what a kind of cells takes, for each that is counted.
type Number struct{ LUT, FF float64 }

// compare is the lookup tables of a comparison of so many bits: along a carry chain two for each group of bits, or
// where there are few groups, logic.
func (d *Device) compare(width int, constant bool) float64 {
	inputs := 2 * width
	if constant {
		inputs = width
	}
	if d.Inputs != 6 {
		return d.tree(inputs)
	}
	if inputs <= 12 {
		return d.tree(inputs)
	}
	return 2 * float64((inputs+5)/6)
}

// tree is the lookup tables of a function of so many bits that is made of smaller ones.
func (d *Device) tree(inputs int) float64 {
	return float64((inputs - 1 + d.Inputs - 2) / (d.Inputs - 1))
}

// fitted are numbers for AMD's devices (internal/measured); make measure writes them.
var fitted = [Kinds]Number{
	Compressors: {LUT: 0.99, FF: 1},
	Adders:      {LUT: 0.99, FF: 1},
	Comparators: {LUT: 0.89, FF: 1},
	Choices:     {LUT: 0.96, FF: 1},
	Gates:       {LUT: 0.69, FF: 1},
	Tables:      {LUT: 0.91, FF: 1},
	Memories:    {LUT: 1.50, FF: 1},
	States:      {LUT: 1.00, FF: 1},
	Pipeline:    {LUT: 1.00, FF: 1},
	Multipliers: {LUT: 1.00, FF: 1},
}

// DeviceOf is that of a fabric.
func DeviceOf(f cost.Fabric) *Device {
	switch f {
	case cost.ICE40:
		return &Device{Fabric: f, Inputs: 4, Joined: 1, Half: 1, Gates: 1.6, Short: 2, Pass: 1, Numbers: fitted}
	case cost.ECP5:
		return &Device{Fabric: f, Inputs: 4, Joined: 8, Half: 1, Gates: 1.6, Short: 4, Pass: 1, Numbers: fitted}
	}
	return &Device{Fabric: f, Inputs: 6, Joined: 4, Half: .5, Gates: 1, Short: 2, TakesIn: true, Ahead: 1, Shifts: true,
		Numbers: fitted}
}

package cells

import "hlsgen/hlslib/cost"

// A Device is what synthesis does on a family of devices, in rules and in numbers.
type Device struct {
	Fabric  cost.Fabric
	Inputs  int     // of a lookup table
	Wide    int     // inputs of logic that is mapped flat: lookup tables, and multiplexers beside them
	Short   int     // bits of adders up to which they are logic
	Maps    bool    // logic is mapped gate by gate (mapping.go); else by the rules of cover.go
	Small   bool    // it is mapped gate by gate in small circuits of constants alone (small.go)
	Packs   bool    // three lookup tables become two where that goes
	TakesIn bool    // the lookup table of an adder's bit takes in logic of the second operand
	Around  bool    // a word goes round a block memory that is read while it is written
	Ahead   float64 // lookup tables for a bit of an address that is read a clock ahead
	Shifts  bool    // there are shift registers in lookup tables
	Numbers [Kinds]Number
}

// A Number is what a kind of cells takes, for each that is counted.
type Number struct{ LUT, FF float64 }

// compare is the lookup tables of a comparison of so many bits that does not fit one, on AMD's devices: along a carry
// chain, two for each three bits of both numbers, or six of one; or where there are few bits, logic.
func (d *Device) compare(width int, constant bool) float64 {
	switch {
	case constant && width <= 12:
		return d.tree(width)
	case constant:
		return 2 * float64((width+5)/6)
	case width <= 4:
		return d.tree(2 * width)
	case width <= 6:
		return float64(2*width - 7)
	}
	return 2 * float64((width+2)/3)
}

// wide is the lookup tables of a function of so many bits that is made flat.
func (d *Device) wide(inputs int) int { return 1 << max(0, inputs-d.Inputs) }

// tree is the lookup tables of a function of so many bits that is made of smaller ones.
func (d *Device) tree(inputs int) float64 {
	return float64((inputs - 1 + d.Inputs - 2) / (d.Inputs - 1))
}

// fitted are numbers for AMD's devices (internal/measured); make measure writes them, and those of the others.
var fitted = [Kinds]Number{
	Compressors: {LUT: 1.04, FF: 1},
	Adders:      {LUT: 0.98, FF: 1},
	Comparators: {LUT: 1.06, FF: 1},
	Choices:     {LUT: 0.98, FF: 1},
	Gates:       {LUT: 0.50, FF: 1},
	Tables:      {LUT: 1.07, FF: 1},
	Memories:    {LUT: 2.00, FF: 1},
	States:      {LUT: 1.00, FF: 1},
	Pipeline:    {LUT: 1.00, FF: 1},
	Multipliers: {LUT: 1.00, FF: 1},
	Inverters:   {LUT: 1.00, FF: 1},
}

// fittedICE40 are those for an iCE40.
var fittedICE40 = [Kinds]Number{
	Compressors: {LUT: 0.92, FF: 1},
	Adders:      {LUT: 0.91, FF: 1},
	Comparators: {LUT: 1.00, FF: 1},
	Choices:     {LUT: 1.00, FF: 1},
	Gates:       {LUT: 1.00, FF: 1},
	Tables:      {LUT: 1.00, FF: 1},
	Memories:    {LUT: 1.00, FF: 1},
	States:      {LUT: 1.00, FF: 1},
	Pipeline:    {LUT: 1.00, FF: 1},
	Multipliers: {LUT: 1.00, FF: 1},
	Inverters:   {LUT: 1.10, FF: 1},
}

// fittedECP5 are those for an ECP5.
var fittedECP5 = [Kinds]Number{
	Compressors: {LUT: 1.00, FF: 1},
	Adders:      {LUT: 1.00, FF: 1},
	Comparators: {LUT: 1.00, FF: 1},
	Choices:     {LUT: 1.00, FF: 1},
	Gates:       {LUT: 1.00, FF: 1},
	Tables:      {LUT: 0.84, FF: 1},
	Memories:    {LUT: 1.00, FF: 1},
	States:      {LUT: 1.00, FF: 1},
	Pipeline:    {LUT: 1.00, FF: 1},
	Multipliers: {LUT: 1.00, FF: 1},
	Inverters:   {LUT: 1.00, FF: 1},
}

// DeviceOf is that of a fabric.
func DeviceOf(f cost.Fabric) *Device {
	switch f {
	case cost.ICE40:
		return &Device{Fabric: f, Inputs: 4, Wide: 4, Short: 2, Maps: true, Packs: true, Around: true,
			Numbers: fittedICE40}
	case cost.ECP5:
		return &Device{Fabric: f, Inputs: 4, Wide: 7, Short: 4, Maps: true, Around: true, Numbers: fittedECP5}
	}
	return &Device{Fabric: f, Inputs: 6, Wide: 8, Short: 2, Small: true, TakesIn: true, Ahead: 1, Shifts: true,
		Numbers: fitted}
}

package cells

import "hlsgen/hlslib/cost"

// A Device is what synthesis does on a family of devices, in rules and in numbers.
type Device struct {
	Fabric  cost.Fabric
	Inputs  int     // of a lookup table
	Wide    int     // inputs of logic that is made flat: lookup tables, and multiplexers beside them
	Joined  int     // lookup tables that are one function of more inputs, by multiplexers beside them
	Short   int     // bits of adders up to which they are logic
	TakesIn bool    // the lookup table of an adder's bit takes in logic of the second operand
	Pass    float64 // lookup tables of an adder's bit one operand of which is constant
	Turn    float64 // lookup tables for a bit of what an adder takes away, besides
	Around  bool    // a word goes round a block memory that is read while it is written
	Ring    float64 // lookup tables for a bit of the address of a FIFO that is read a clock ahead
	Ahead   float64 // lookup tables for a bit of an address that is read a clock ahead
	Gates   float64 // lookup tables of control, for each of six inputs
	Maps    bool    // logic is mapped gate by gate
	Packs   bool    // three lookup tables are made of two where that goes
	Shifts  bool    // there are shift registers in lookup tables
	Numbers [Kinds]Number
}

// A Number is what a kind of cells takes, for each that is counted.
type Number struct{ LUT, FF float64 }

// compare is the lookup tables of a comparison of so many bits that does not fit one: along a carry chain, or where
// there are few bits, logic. AMD's devices have two for each three bits of both numbers, or six of one; on an iCE40 the
// chain needs no tables but those that turn one number round; on an ECP5 it is made of tables.
func (d *Device) compare(width int, constant, first bool) float64 {
	switch {
	case d.Fabric == cost.ICE40 && constant && first:
		return 1 + float64(width)/3
	case d.Fabric == cost.ICE40 && constant:
		return 1
	case d.Fabric == cost.ICE40:
		return float64(width + 1)
	case d.Fabric == cost.ECP5 && constant:
		return float64(width + 1)
	case d.Fabric == cost.ECP5:
		return 2 * float64(width)
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
func (d *Device) wide(inputs int) float64 { return float64(int(1) << max(0, inputs-d.Inputs)) }

// tree is the lookup tables of a function of so many bits that is made of smaller ones.
func (d *Device) tree(inputs int) float64 {
	return float64((inputs - 1 + d.Inputs - 2) / (d.Inputs - 1))
}

// fitted are numbers for AMD's devices (internal/measured); make measure writes them, and those of the others.
var fitted = [Kinds]Number{
	Compressors: {LUT: 1.04, FF: 1},
	Adders:      {LUT: 0.98, FF: 1},
	Comparators: {LUT: 1.08, FF: 1},
	Choices:     {LUT: 0.98, FF: 1},
	Gates:       {LUT: 0.50, FF: 1},
	Tables:      {LUT: 0.84, FF: 1},
	Memories:    {LUT: 2.00, FF: 1},
	States:      {LUT: 1.00, FF: 1},
	Pipeline:    {LUT: 1.00, FF: 1},
	Multipliers: {LUT: 1.00, FF: 1},
	Inverters:   {LUT: 1.00, FF: 1},
}

// fittedICE40 are those for an iCE40.
var fittedICE40 = [Kinds]Number{
	Compressors: {LUT: 0.93, FF: 1},
	Adders:      {LUT: 0.67, FF: 1},
	Comparators: {LUT: 0.91, FF: 1},
	Choices:     {LUT: 1.00, FF: 1},
	Gates:       {LUT: 1.07, FF: 1},
	Tables:      {LUT: 0.84, FF: 1},
	Memories:    {LUT: 0.74, FF: 1},
	States:      {LUT: 1.00, FF: 1},
	Pipeline:    {LUT: 1.00, FF: 1},
	Multipliers: {LUT: 1.00, FF: 1},
	Inverters:   {LUT: 1.00, FF: 1},
}

// fittedECP5 are those for an ECP5.
var fittedECP5 = [Kinds]Number{
	Compressors: {LUT: 1.70, FF: 1},
	Adders:      {LUT: 1.39, FF: 1},
	Comparators: {LUT: 0.69, FF: 1},
	Choices:     {LUT: 1.05, FF: 1},
	Gates:       {LUT: 0.89, FF: 1},
	Tables:      {LUT: 1.00, FF: 1},
	Memories:    {LUT: 0.96, FF: 1},
	States:      {LUT: 1.00, FF: 1},
	Pipeline:    {LUT: 1.00, FF: 1},
	Multipliers: {LUT: 1.00, FF: 1},
	Inverters:   {LUT: 1.00, FF: 1},
}

// DeviceOf is that of a fabric.
func DeviceOf(f cost.Fabric) *Device {
	switch f {
	case cost.ICE40:
		return &Device{Fabric: f, Inputs: 4, Maps: true, Packs: true, Wide: 4, Joined: 1, Gates: 1.6, Short: 2, Pass: 1, Turn: 1, Around: true,
			Ring: 5.5, Numbers: fittedICE40}
	case cost.ECP5:
		return &Device{Fabric: f, Inputs: 4, Maps: true, Wide: 7, Joined: 8, Gates: 2, Short: 4, Pass: 1, Around: true, Ring: 14,
			Numbers: fittedECP5}
	}
	return &Device{Fabric: f, Inputs: 6, Wide: 6, Joined: 4, Gates: 1, Short: 2, TakesIn: true, Ring: 5.5, Ahead: 1,
		Shifts: true, Numbers: fitted}
}

package luts

import "hlsgen/hlslib/price/cost"

// A SynthesisRules holds the rules and numbers of synthesis for a family of devices.
type SynthesisRules struct {
	Fabric  cost.Fabric
	Inputs  int     // inputs of a lookup table
	Wide    int     // most inputs of a function made of lookup tables joined by the device's multiplexers
	Short   int     // most bits of an adder that is logic
	Maps    bool    // whether logic is mapped gate by gate (mapping.go); if not, by the rules of cover.go
	Small   bool    // whether small circuits of constants alone are mapped gate by gate (small.go)
	Packs   bool    // whether three lookup tables become two where possible
	TakesIn bool    // whether the lookup table of an adder's bit absorbs logic of the second operand
	Around  bool    // whether a word bypasses a block memory that is read while it is written
	Ahead   float64 // lookup tables per bit of an address that is read a clock ahead
	Shifts  bool    // whether lookup tables can be shift registers
	Numbers [CellPurposeCount]CostPerCell
}

// A CostPerCell holds the LUTs and flip-flops that one counted cell of a purpose takes.
type CostPerCell struct{ LUT, FF float64 }

// compare returns the LUTs of a comparison of width bits that does not fit in one, on AMD's devices. Along a carry
// chain, two of them take three bits of both numbers, or six bits if one number is constant. Short comparisons are
// logic.
func (d *SynthesisRules) compare(width int, constant bool) float64 {
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

// wide returns the number of LUTs that form one function of the given inputs, joined by the device's multiplexers.
func (d *SynthesisRules) wide(inputs int) int { return 1 << max(0, inputs-d.Inputs) }

// tree returns the number of LUTs that form one function of the given inputs as a tree of smaller ones.
func (d *SynthesisRules) tree(inputs int) float64 {
	return float64((inputs - 1 + d.Inputs - 2) / (d.Inputs - 1))
}

// fitted holds the resources per cell on AMD's devices, which internal/measured fits. make measure writes these, and
// those of the other devices.
var fitted = [CellPurposeCount]CostPerCell{
	purposeCompressor:       {LUT: 1.04, FF: 1},
	purposeAdder:            {LUT: 0.98, FF: 1},
	purposeComparator:       {LUT: 1.06, FF: 1},
	purposeSelector:         {LUT: 0.98, FF: 1},
	purposeGate:             {LUT: 0.50, FF: 1},
	purposeConstantTable:    {LUT: 1.07, FF: 1},
	purposeMemory:           {LUT: 2.00, FF: 1},
	purposeStateRegister:    {LUT: 1.00, FF: 1},
	purposePipelineRegister: {LUT: 1.00, FF: 1},
	purposeMultiplier:       {LUT: 1.00, FF: 1},
	purposeInverter:         {LUT: 1.00, FF: 1},
}

// fittedICE40 holds the resources per cell on an iCE40.
var fittedICE40 = [CellPurposeCount]CostPerCell{
	purposeCompressor:       {LUT: 0.92, FF: 1},
	purposeAdder:            {LUT: 0.91, FF: 1},
	purposeComparator:       {LUT: 1.00, FF: 1},
	purposeSelector:         {LUT: 1.00, FF: 1},
	purposeGate:             {LUT: 1.00, FF: 1},
	purposeConstantTable:    {LUT: 1.00, FF: 1},
	purposeMemory:           {LUT: 1.00, FF: 1},
	purposeStateRegister:    {LUT: 1.00, FF: 1},
	purposePipelineRegister: {LUT: 1.00, FF: 1},
	purposeMultiplier:       {LUT: 1.00, FF: 1},
	purposeInverter:         {LUT: 1.10, FF: 1},
}

// fittedECP5 holds the resources per cell on an ECP5.
var fittedECP5 = [CellPurposeCount]CostPerCell{
	purposeCompressor:       {LUT: 1.00, FF: 1},
	purposeAdder:            {LUT: 1.00, FF: 1},
	purposeComparator:       {LUT: 1.00, FF: 1},
	purposeSelector:         {LUT: 1.00, FF: 1},
	purposeGate:             {LUT: 1.00, FF: 1},
	purposeConstantTable:    {LUT: 0.84, FF: 1},
	purposeMemory:           {LUT: 1.00, FF: 1},
	purposeStateRegister:    {LUT: 1.00, FF: 1},
	purposePipelineRegister: {LUT: 1.00, FF: 1},
	purposeMultiplier:       {LUT: 1.00, FF: 1},
	purposeInverter:         {LUT: 1.00, FF: 1},
}

// SynthesisRulesOf returns the rules of synthesis for a fabric.
func SynthesisRulesOf(f cost.Fabric) *SynthesisRules {
	switch f {
	case cost.FabricICE40:
		return &SynthesisRules{Fabric: f, Inputs: 4, Wide: 4, Short: 2, Maps: true, Packs: true, Around: true,
			Numbers: fittedICE40}
	case cost.FabricECP5:
		return &SynthesisRules{Fabric: f, Inputs: 4, Wide: 7, Short: 4, Maps: true, Around: true, Numbers: fittedECP5}
	}
	return &SynthesisRules{Fabric: f, Inputs: 6, Wide: 8, Short: 2, Small: true, TakesIn: true, Ahead: 1, Shifts: true,
		Numbers: fitted}
}

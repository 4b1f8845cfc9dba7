package luts

import (
	"hlsgen/boards"
	"hlsgen/boards/family"
	"hlsgen/hlslib/price/cost"
)

// A SynthesisRules holds the rules and numbers of synthesis for a family of devices.
type SynthesisRules struct {
	Fabric  cost.Fabric
	Inputs  int     // inputs of a lookup table
	Wide    int     // most inputs of a function made of lookup tables joined by the device's multiplexers
	Short   int     // most bits of an adder that is logic
	Maps    bool    // whether logic is mapped gate by gate (mapping.go); if not, by the rules of cover.go
	ABC9    bool    // whether that makes few lookup tables, of paths of any length
	Plain   bool    // whether a comparison is the last carry of a chain, whatever the signs and widths of its operands
	Small   bool    // whether small circuits of constants alone are mapped gate by gate (small.go)
	Packs   bool    // whether three lookup tables become two where possible
	TakesIn bool    // whether the lookup table of an adder's bit absorbs logic of the second operand
	Around  bool    // whether a word bypasses a block memory that is read while it is written
	Ahead   float64 // lookup tables per bit of an address that is read a clock ahead
	Shifts  bool    // whether lookup tables can be shift registers
	Paired  bool    // whether carry cells take two bits each
	Absorbs bool    // whether the lookup table of an adder's bit absorbs the logic behind it
	Resets  bool    // whether the enable of a register includes its reset
	Banks   bool    // whether lookup tables of four inputs can be memory, each with some of the rows
	Ends    int     // cells that place and route adds at the two ends of a carry chain
	Between int     // cells that it adds where a carry inside of a chain is read
	Shares  bool    // whether registers and carries that share no cell with a lookup table take cells of their own

	Multiplier family.Multiplier // the zero value for AMD's, which contains all its registers
	Numbers    [CellPurposeCount]CostPerCell
	known      *KnownParts
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
// those of the other families (family.Logic).
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

// SynthesisRulesOf returns the rules of synthesis for a fabric.
func SynthesisRulesOf(f cost.Fabric) *SynthesisRules {
	d := amdRules
	if row := cost.FamilyOfFabric(f); row != nil {
		d = familyRules[row.Name]
	}
	d.Fabric, d.known = f, new(KnownParts)
	return &d
}

// amdRules holds the rules for AMD's devices, and familyRules those for each family of boards.Families.
var (
	amdRules = SynthesisRules{Inputs: 6, Wide: 8, Short: 2, Small: true, TakesIn: true, Ahead: 1, Shifts: true,
		Numbers: fitted}
	familyRules = rulesOfFamilies()
)

func rulesOfFamilies() map[string]SynthesisRules {
	all := map[string]SynthesisRules{}
	for _, row := range boards.Families {
		l := &row.Logic
		d := SynthesisRules{Inputs: l.Inputs, Wide: l.WideInputs, Short: l.ShortAdder, Maps: true, ABC9: l.ABC9,
			Plain: l.PlainCompare, Packs: l.JoinsLUTs,
			Around: true, Paired: l.PairedCarry, Absorbs: l.AdderAbsorbs, Resets: l.EnableTakesResets, Banks: l.Memory,
			Ends: l.ChainCells, Between: l.CarryCells, Shares: l.SharesCells, Multiplier: row.DSP}
		for purpose, name := range names {
			d.Numbers[purpose] = CostPerCell{LUT: l.CellLUTs[name], FF: 1}
		}
		all[row.Name] = d
	}
	return all
}

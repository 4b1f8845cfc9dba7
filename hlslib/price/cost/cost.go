// Package cost holds the resource formulas of layers, memories and streams. Every formula is a sum of named parts, so
// that a report can say where the LUTs go, and names its source. Formulas take and return plain numbers: layers know
// which of their figures a formula needs.
//
// Everything with a cost has two formulas. FormulaFitted is this project's: parts with a physical meaning and the
// coefficients of fittedCoefficients, fitted to published results of synthesis; docs/estimator.md shows its errors.
// FormulaFINN reproduces FINN's own estimates exactly. It serves to compare with FINN, and counts no FF.
//
// In come figures (bits, words, counts of operations) and a fabric; out come costs by named part. The files:
//
//	cost, model, coefficients    parts and their sums; the formula and the device; the fitted numbers
//	arithmetic, products, dsp    adders and multipliers, in LUTs or DSP slices; float has those of minifloats
//	logic, fabric, threshold     counters, multiplexers, memories of LUTs; families of devices; step functions
//	lut4                         families whose LUTs have four inputs
//	mvau, mvau_fitted, vvau      layers with weights, by FINN's formulas and by the fit
//	constants                    sums of products with weights that are constants
//	stream, fifo, window, host   width converters, FIFOs, line buffers, the host's port
package cost

import "math/bits"

// Resources counts the resources of an FPGA. BRAM is in RAMB18 halves, or in the block RAMs of devices with other ones.
// LUTRAM is the part of LUT that is memory. The fields are those of dataflow.Resources, so that one type converts to
// the other.
type Resources struct{ LUT, LUTRAM, FF, BRAM, URAM, DSP int }

// Plus returns the sum r + o, resource by resource.
func (r Resources) Plus(o Resources) Resources {
	return Resources{r.LUT + o.LUT, r.LUTRAM + o.LUTRAM, r.FF + o.FF, r.BRAM + o.BRAM, r.URAM + o.URAM, r.DSP + o.DSP}
}

// A CostPart is one named part of a cost.
type CostPart struct {
	Name string
	Resources
}

// A CostFormula selects the fitted formula or FINN's.
type CostFormula uint8

// The two formulas of every cost.
const (
	FormulaFitted CostFormula = iota
	FormulaFINN
)

// A HasFormulaCosts has its cost by both formulas. FINNCost returns no parts for things that FINN takes to be free.
type HasFormulaCosts interface {
	FittedCost() []CostPart
	FINNCost() []CostPart
}

// A HasFittedLogicCost is a layer with memories. FittedLogicCost returns the parts of FittedCost without them.
// FittedCost includes the memories of the designs that were measured; this project prices each memory where it lies
// (CostModel.MemoryCost).
type HasFittedLogicCost interface {
	HasFormulaCosts
	FittedLogicCost() []CostPart
}

// CostPartsOf returns the cost of x by the formula f, as named parts.
func (f CostFormula) CostPartsOf(x HasFormulaCosts) []CostPart {
	if f == FormulaFINN {
		return x.FINNCost()
	}
	return x.FittedCost()
}

// MemoryStyle is the memory of a table or FIFO, in the terms of FINN's mem_mode and ram_style.
type MemoryStyle uint8

// The memories. The zero value stands for no memory.
const (
	StyleBlockRAM       MemoryStyle = iota + 1 // decoupled, ram_style block; FINN counts auto the same
	StyleDistributedRAM                        // decoupled, ram_style distributed
	StyleUltraRAM                              // decoupled, ram_style ultra
	// in the kernel: LUTs up to 128 rows; above that FINN counts both block RAM and UltraRAM
	StyleInKernel
	// flip-flops with a multiplexer, as HLS makes a partitioned array; not for FINN's formulas
	StyleRegisters
	StyleShiftRegister // shift registers in LUTs; for FIFOs FINN's style rtl
)

// embeddedRows is the number of rows up to which FINN counts a table in the kernel as LUTs.
const embeddedRows = 128

// bram18 returns FINN's number of RAMB18 for a memory of rows words of width bits (MVAU bram_estimation). FIFOs of
// style vivado use the same formula.
func bram18(width, rows int) int {
	switch {
	case width == 1:
		return ceil(rows, 16384)
	case width == 2:
		return ceil(rows, 8192)
	case width <= 4:
		return ceil(rows, 4096) * ceil(width, 4)
	case width <= 9:
		return ceil(rows, 2048) * ceil(width, 9)
	case width <= 18 || rows > 512:
		return ceil(rows, 1024) * ceil(width, 18)
	}
	return ceil(rows, 512) * ceil(width, 36)
}

// uram returns the number of UltraRAM blocks, of 4096 x 72 bits, for a memory of rows words of width bits.
func uram(width, rows int) int { return ceil(rows, 4096) * ceil(width, 72) }

func ceil(a, b int) int { return (a + b - 1) / b }

// log2Ceil returns the number of bits with which n things can be numbered from 0; n is at least 1.
func log2Ceil(n int) int { return bits.Len(uint(n - 1)) }

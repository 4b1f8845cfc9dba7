// Package cost holds the resource formulas of layers, memories and streams. Every formula is a sum of named parts, so
// that a report can say where the LUTs go, and names its source. Plain numbers go in and come out: layers know which
// of their figures a formula asks for.
//
// Each thing that costs has two formulas. Fitted is this project's: parts with a physical meaning and the coefficients
// of Coefficients, fitted on published results of synthesis; docs/estimator.md shows how far off it is. FINN
// reproduces FINN's own estimates to the last LUT. It is for comparison with FINN; it counts no FF.
//
// In come figures (bits, words, counts of operations) and a fabric; out come costs by named part. It sees boards and
// num. The files:
//
//	cost, model, coefficients    parts and their sums; what a formula needs of a device; what was fitted
//	arithmetic, products, dsp    adders and multipliers, in LUTs or DSP slices; float has those of minifloats
//	logic, fabric, threshold     counters, multiplexers, memories of LUTs; families of devices; step functions
//	lut4                         families whose LUTs have four inputs
//	mvau, mvau_fitted, vvau      layers with weights, by FINN's formulas and by the fit
//	constants                    sums of products with weights that are constants
//	stream, fifo, window, host   width converters, FIFOs, line buffers, the host's port
package cost

import "math/bits"

// Resources counts what an FPGA has; BRAM is in RAMB18 halves, or in the block RAMs of a device that has
// others; LUTRAM the part of LUT that is memory. It has the fields
// of dataflow.Resources, so that one converts to the other.
type Resources struct{ LUT, LUTRAM, FF, BRAM, URAM, DSP int }

// Plus adds.
func (r Resources) Plus(o Resources) Resources {
	return Resources{r.LUT + o.LUT, r.LUTRAM + o.LUTRAM, r.FF + o.FF, r.BRAM + o.BRAM, r.URAM + o.URAM, r.DSP + o.DSP}
}

// A Part is one contribution to a sum.
type Part struct {
	Name string
	Resources
}

// A Formula is which of the two formulas counts.
type Formula uint8

// The formulas.
const (
	Fitted Formula = iota
	FINN
)

// Costly is what has both formulas. A thing that FINN takes to be free has no parts by FINN.
type Costly interface {
	Fitted() []Part
	FINN() []Part
}

// A Storing is a layer with memories. Logic is Fitted without them: a layer of this project prices its own where they
// lie (Model.Memory), while Fitted has those of the designs that were measured.
type Storing interface {
	Costly
	Logic() []Part
}

// Parts is the cost of x by the formula.
func (f Formula) Parts(x Costly) []Part {
	if f == FINN {
		return x.FINN()
	}
	return x.Fitted()
}

// Memory is where a table lies, in the terms of FINN's mem_mode and ram_style.
type Memory uint8

// The memories. The zero value says that there is none.
const (
	Block       Memory = iota + 1 // decoupled, ram_style block; FINN counts auto alike
	Distributed                   // decoupled, ram_style distributed
	Ultra                         // decoupled, ram_style ultra
	// in the kernel: LUTs up to 128 rows, beyond that FINN counts block and ultra RAM both
	Embedded
	Registers // flip-flops with a multiplexer, as HLS makes a partitioned array; not for FINN's formulas
	Shift     // shift registers in LUTs; of FIFOs FINN's style rtl
)

// embeddedRows is the depth up to which FINN takes an embedded table to be LUTs.
const embeddedRows = 128

// bram18 is FINN's number of RAMB18 for rows of width bits (MVAU bram_estimation; FIFOs of style vivado use the same).
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

// uram is the number of 4096 x 72 blocks for rows of width bits.
func uram(width, rows int) int { return ceil(rows, 4096) * ceil(width, 72) }

func ceil(a, b int) int { return (a + b - 1) / b }

// log2Ceil is the number of bits that count n things; n is at least 1.
func log2Ceil(n int) int { return bits.Len(uint(n - 1)) }

package formats

import (
	"fmt"

	"hlsgen/hlslib/mac"
	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// DotProductWidthsAndLUTs holds what CompareDotProducts finds of one number format: its range, accumulator widths and
// LUTs.
type DotProductWidthsAndLUTs struct {
	Format    string  `json:"format"`
	Bits      int     `json:"bits"`
	Exponent  int     `json:"exponent"` // exponent bits; 0 for integers
	Mantissa  int     `json:"mantissa"` // mantissa bits; for integers the bits without the sign
	Largest   float64 `json:"largest"`
	Published int     `json:"published"` // accumulator bits by the paper's rule
	Exact     int     `json:"exact"`     // accumulator bits that the largest magnitudes need
	Held      string  `json:"held"`      // type that a kernel uses for it: narrower than integers, or integers
	Stored    int     `json:"stored"`    // bits of a weight in a table
	// LUTs of a multiply-accumulate: LUT is the estimate for the C++ kernel, Cells the cells of the circuit in
	// SystemVerilog. Cells is missing if no layer accumulates in so many bits.
	LUT   int           `json:"lut"`
	Parts []MACPartLUTs `json:"parts"`
	Cells *int          `json:"cells,omitempty"`
}

// A MACPartLUTs names one part of a multiply-accumulate and states how many LUTs it takes.
type MACPartLUTs struct {
	Name string `json:"name"`
	LUT  int    `json:"lut"`
}

// MaxDotProductLength is the largest number of products in a sum that CompareDotProducts accepts.
const MaxDotProductLength = 1 << 24

// CompareDotProducts returns the figures of each format of FormatsToCompare, for exact sums of n products of two
// numbers of the format on the target. It returns an error unless n is from 1 to MaxDotProductLength.
func CompareDotProducts(n int, t dataflow.Target) ([]DotProductWidthsAndLUTs, error) {
	if n < 1 || n > MaxDotProductLength {
		return nil, fmt.Errorf("sums of %d products: give 1 to %d", n, MaxDotProductLength)
	}
	fabric := cost.FabricOf(t.Board)
	var rows []DotProductWidthsAndLUTs
	for _, f := range FormatsToCompare() {
		values := f.valuesInLeastUnits()
		factor := mac.WeightFactorOf(values)
		one := f.product(n)
		r := DotProductWidthsAndLUTs{Format: f.Name, Bits: f.Bits, Exponent: f.Exponent, Mantissa: f.Mantissa,
			Largest:   f.largestReal(),
			Published: f.publishedAccumulatorBits(n), Exact: f.ExactAccumulatorBits(n), Held: factor.Elem.String(),
			Stored: factor.StoredBitsPerValue(values)}
		for _, p := range one.KernelCost(fabric) {
			if p.LUT > 0 {
				r.Parts = append(r.Parts, MACPartLUTs{p.Name, p.LUT})
				r.LUT += p.LUT
			}
		}
		if parts, ok := one.CircuitCost(fabric, t.CircuitTiming(), n); ok {
			all := 0
			for _, p := range parts {
				all += p.LUT
			}
			r.Cells = &all
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// product returns the description of a multiplier of two numbers of the format whose products are added, exactly, n at
// a time.
func (f SignedFormat) product(n int) mac.Multiplication {
	factor := mac.WeightFactorOf(f.valuesInLeastUnits())
	return mac.NewMultiplication(factor, factor, f.ExactAccumulatorBits(n))
}

// BuildMACCircuit returns a multiply-accumulate of two numbers of the format in SystemVerilog for a target. It takes
// one product per clock and outputs the sum of n products. ok is false if no layer accumulates in so many bits.
func (f SignedFormat) BuildMACCircuit(n int, t dataflow.Target) (m *circuit.Module, ok bool) {
	return f.product(n).Circuit(t.CircuitTiming(), n)
}

package formats

import (
	"fmt"

	"hlsgen/hlslib/mac"
	"hlsgen/hlslib/price/cost"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// A FormatRow holds the figures of a format.
type FormatRow struct {
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
	LUT   int       `json:"lut"`
	Parts []MACPart `json:"parts"`
	Cells *int      `json:"cells,omitempty"`
}

// A MACPart is a part of a multiply-accumulate with its LUTs.
type MACPart struct {
	Name string `json:"name"`
	LUT  int    `json:"lut"`
}

// MaxLength is the largest number of products in a sum that Compare accepts.
const MaxLength = 1 << 24

// Compare returns a row for each format of All. A row describes exact sums of n products of two numbers of its format
// on the target. It returns an error unless n is from 1 to MaxLength.
func Compare(n int, t dataflow.Target) ([]FormatRow, error) {
	if n < 1 || n > MaxLength {
		return nil, fmt.Errorf("sums of %d products: give 1 to %d", n, MaxLength)
	}
	fabric := cost.FabricOf(t.Board)
	var rows []FormatRow
	for _, f := range All() {
		values := f.Values()
		factor := mac.FactorOf(values)
		one := f.product(n)
		r := FormatRow{Format: f.Name, Bits: f.Bits, Exponent: f.Exponent, Mantissa: f.Mantissa,
			Largest:   f.LargestReal(),
			Published: f.PublishedWidth(n), Exact: f.ExactWidth(n), Held: factor.Elem.String(),
			Stored: factor.StoredBits(values)}
		for _, p := range one.Estimate(fabric) {
			if p.LUT > 0 {
				r.Parts = append(r.Parts, MACPart{p.Name, p.LUT})
				r.LUT += p.LUT
			}
		}
		if parts, ok := one.CircuitCost(fabric, t.Rate(), n); ok {
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
	factor := mac.FactorOf(f.Values())
	return mac.NewMultiplication(factor, factor, f.ExactWidth(n))
}

// Circuit returns a multiply-accumulate of two numbers of the format in SystemVerilog for a target. It takes one
// product per clock and outputs the sum of n products. ok is false if no layer accumulates in so many bits.
func (f SignedFormat) Circuit(n int, t dataflow.Target) (m *circuit.Module, ok bool) {
	return f.product(n).Circuit(t.Rate(), n)
}

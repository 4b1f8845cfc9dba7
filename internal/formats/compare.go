package formats

import (
	"fmt"

	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/mac"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
)

// A Row is what a format takes.
type Row struct {
	Format    string  `json:"format"`
	Bits      int     `json:"bits"`
	Exponent  int     `json:"exponent"` // bits; 0 of integers
	Mantissa  int     `json:"mantissa"` // bits; of integers those without the sign
	Largest   float64 `json:"largest"`
	Published int     `json:"published"` // accumulator bits by the paper's rule
	Exact     int     `json:"exact"`     // and those that the largest magnitudes need
	Held      string  `json:"held"`      // the type that a kernel has for it: narrower than integers, or these
	Stored    int     `json:"stored"`    // bits of a weight in a table
	// LUTs of a multiply-accumulate: the estimate of the C++ kernel, and cells of the circuit in SystemVerilog; there
	// are none where no layer accumulates in so many bits.
	LUT   int    `json:"lut"`
	Parts []Part `json:"parts"`
	Cells *int   `json:"cells,omitempty"`
}

// A Part is what some part of a multiply-accumulate takes.
type Part struct {
	Name string `json:"name"`
	LUT  int    `json:"lut"`
}

// MaxLength bounds the sums that are compared.
const MaxLength = 1 << 24

// Compare has a row for each format: of products of two of its numbers, n of which are summed exactly on a target.
func Compare(n int, t dataflow.Target) ([]Row, error) {
	if n < 1 || n > MaxLength {
		return nil, fmt.Errorf("sums of %d products: give 1 to %d", n, MaxLength)
	}
	fabric := cost.FabricOf(t.Board)
	var rows []Row
	for _, f := range All() {
		values := f.Values()
		factor := mac.FactorOf(values)
		one := f.product(n)
		r := Row{Format: f.Name, Bits: f.Bits, Exponent: f.Exponent, Mantissa: f.Mantissa, Largest: f.Real(),
			Published: f.Published(n), Exact: f.Exact(n), Held: factor.Elem.String(), Stored: factor.Stored(values)}
		for _, p := range one.Estimate(fabric) {
			if p.LUT > 0 {
				r.Parts = append(r.Parts, Part{p.Name, p.LUT})
				r.LUT += p.LUT
			}
		}
		if parts, ok := one.Cells(fabric, t.Rate(), n); ok {
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

// product is one of two numbers of the format, n of which are summed.
func (f Format) product(n int) mac.One {
	factor := mac.FactorOf(f.Values())
	return mac.OneOf(factor, factor, f.Exact(n))
}

// Circuit is a multiply-accumulate of two numbers of the format in SystemVerilog, a product a clock: the sum of n of
// them leaves. ok is false where no layer accumulates in so many bits.
func (f Format) Circuit(n int, t dataflow.Target) (m *circuit.Module, ok bool) {
	return f.product(n).Circuit(t.Rate(), n)
}

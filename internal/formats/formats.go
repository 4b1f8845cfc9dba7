// Package formats compares number formats, as arXiv 2311.12359 does: integers and minifloats of 3 to 8 bits, the widths
// of accumulators for their products, and the cost of a multiply-accumulate. In come the length of a sum and a device,
// and folders of labelled models; out come rows of figures.
//
//   - formats.go defines the formats and the rules for accumulators
//   - compare.go computes the cost of a multiply-accumulate
//   - models.go measures the accuracy of models
package formats

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"hlsgen/internal/num"
)

// A SignedFormat is a number format with a sign: an integer in two's complement, or a minifloat of sign, exponent and
// mantissa.
type SignedFormat struct {
	Name     string
	Bits     int
	Exponent int // exponent bits; 0 for an integer
	Mantissa int // mantissa bits; for an integer the bits without the sign
	Top      int // number of codes of magnitudes that are infinities or NaN
}

// FormatsToCompare returns the formats to compare: integers of 3 to 8 bits and minifloats of the same widths with 2 to
// 5 exponent bits. The 8-bit formats of the Open Compute Project, which reserve the highest codes for NaN and
// infinities, come last.
func FormatsToCompare() (list []SignedFormat) {
	for n := 3; n <= 8; n++ {
		list = append(list, SignedFormat{Name: fmt.Sprintf("INT%d", n), Bits: n, Mantissa: n - 1})
		for e := 2; e < n && e <= 5; e++ {
			m := n - 1 - e
			list = append(list, SignedFormat{Name: fmt.Sprintf("E%dM%d", e, m), Bits: n, Exponent: e, Mantissa: m})
		}
	}
	return append(list, SignedFormat{"OCP E4M3", 8, 4, 3, 1}, SignedFormat{"OCP E5M2", 8, 5, 2, 4})
}

// IsMinifloat reports whether f is a minifloat.
func (f SignedFormat) IsMinifloat() bool { return f.Exponent > 0 }

// largestInLeastUnits returns the largest magnitude of the format, in units of its least positive number. For an
// integer format that is the magnitude of the most negative number.
func (f SignedFormat) largestInLeastUnits() int64 {
	if !f.IsMinifloat() {
		return 1 << f.Mantissa
	}
	return f.value(f.codes() - 1)
}

// codes returns the number of magnitudes of the format, zero included, without the codes of infinities and NaN.
func (f SignedFormat) codes() int64 { return 1<<(f.Exponent+f.Mantissa) - int64(f.Top) }

// value returns the magnitude with the given code, in units of the least positive number. Code 0 is zero. The format
// must be a minifloat.
func (f SignedFormat) value(code int64) int64 {
	return num.Type{Kind: num.KindUFloat, Width: f.Exponent + f.Mantissa, Mantissa: f.Mantissa}.ValueOfCode(code)
}

// valuesInLeastUnits returns all numbers of the format, each once, in units of the least positive number. Those of a
// minifloat are not sorted.
func (f SignedFormat) valuesInLeastUnits() (list []int64) {
	if !f.IsMinifloat() {
		for v := -f.largestInLeastUnits(); v < f.largestInLeastUnits(); v++ {
			list = append(list, v)
		}
		return list
	}
	list = append(list, 0)
	for code := int64(1); code < f.codes(); code++ {
		list = append(list, f.value(code), -f.value(code))
	}
	return list
}

// largestReal returns the largest magnitude as a real number. A minifloat has the usual exponent bias, 2^(exponent
// bits-1) - 1. For an integer format it is the magnitude of the most negative number.
func (f SignedFormat) largestReal() float64 {
	if !f.IsMinifloat() {
		return float64(f.largestInLeastUnits())
	}
	bias := 1<<(f.Exponent-1) - 1
	return math.Ldexp(float64(f.largestInLeastUnits()), 1-bias-f.Mantissa) // exact, since it has few bits
}

// publishedAccumulatorBits returns the accumulator width for n products of two numbers of the format, by the rule of
// arXiv 2311.12359. For integers of b bits that is 2b + ceil(log2 n) + 1. With e exponent and m mantissa bits, it is
// 2(2^e + m) + ceil(log2 n) - 1.
func (f SignedFormat) publishedAccumulatorBits(n int) int {
	log := bits.Len(uint(n - 1))
	if !f.IsMinifloat() {
		return 2*f.Bits + log + 1
	}
	return 2*(1<<f.Exponent+f.Mantissa) + log - 1
}

// ExactAccumulatorBits returns the bits in two's complement that hold every sum of n products of two numbers of the
// format.
func (f SignedFormat) ExactAccumulatorBits(n int) int {
	most := big.NewInt(f.largestInLeastUnits())
	most.Mul(most, most).Mul(most, big.NewInt(int64(n)))
	return most.BitLen() + 1
}

package quantise

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

// A QuantFormat is a number format: integers of Bits bits, or minifloats if Bits is 0.
type QuantFormat struct {
	Bits               int
	Exponent, Mantissa int
	largest            float64 // the largest minifloat
}

// These bounds apply to the bits of integers. Weights of one bit would be signs, which do not follow from rounding
// trained weights.
const (
	minBits = 2
	maxBits = 16
)

// ocp holds the largest value of each 8-bit format of the Open Compute Project (OCP) whose highest codes stand for
// infinities and NaN. Other formats use all codes for numbers.
var ocp = map[string]float64{"e4m3": 448, "e5m2": 57344}

var minifloat = regexp.MustCompile(`^e([1-8])m([1-7])$`)

// parseQuantFormat parses a format: the bits of integers, from 2 to 16, or the exponent bits (1 to 8) and mantissa bits
// (1 to 7) of minifloats, such as e4m3. It returns an error for any other text.
func parseQuantFormat(s string) (QuantFormat, error) {
	if n, err := strconv.Atoi(s); err == nil && minBits <= n && n <= maxBits && strconv.Itoa(n) == s {
		return QuantFormat{Bits: n}, nil
	}
	m := minifloat.FindStringSubmatch(s)
	if m == nil {
		return QuantFormat{},
			fmt.Errorf("format %.20q: want the bits of integers, %d to %d, or a minifloat such as e4m3", s,
				minBits, maxBits)
	}
	f := QuantFormat{Exponent: int(m[1][0] - '0'), Mantissa: int(m[2][0] - '0')}
	if f.largest = ocp[s]; f.largest == 0 {
		f.largest = (2 - math.Exp2(-float64(f.Mantissa))) * math.Exp2(math.Exp2(float64(f.Exponent))-1-f.bias())
	}
	return f, nil
}

// String returns the format in the form that parseQuantFormat reads.
func (f QuantFormat) String() string {
	if f.Bits > 0 {
		return strconv.Itoa(f.Bits)
	}
	return fmt.Sprintf("e%dm%d", f.Exponent, f.Mantissa)
}

// bias returns the exponent bias of a minifloat.
func (f QuantFormat) bias() float64 { return math.Exp2(float64(f.Exponent)-1) - 1 }

// A code is a number format with the least and the largest of its values at a scale of 1.
type code struct {
	QuantFormat
	lo, hi float64 // the least and the greatest value
}

// of returns the format as a code for signed or unsigned values. A narrow signed code is symmetric: it lacks the least
// value. Minifloats are always signed and symmetric.
func (f QuantFormat) of(signed, narrow bool) code {
	switch n := math.Exp2(float64(f.Bits)); {
	case f.Bits == 0:
		return code{f, -f.largest, f.largest}
	case !signed:
		return code{f, 0, n - 1}
	case narrow:
		return code{f, 1 - n/2, n/2 - 1}
	default:
		return code{f, -n / 2, n/2 - 1}
	}
}

// nearest returns the value of the code to which y is rounded, at a scale of 1.
func (c code) nearest(y float64) float64 {
	if c.Bits == 0 && y != 0 {
		_, e := math.Frexp(y) // |y| is in [2^(e-1), 2^e)
		step := math.Exp2(math.Max(float64(e-1), 1-c.bias()) - float64(c.Mantissa))
		y = step * math.RoundToEven(y/step)
	} else {
		y = math.RoundToEven(y)
	}
	return math.Min(math.Max(y, c.lo), c.hi)
}

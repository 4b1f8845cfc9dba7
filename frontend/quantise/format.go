package quantise

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

// A Format is how numbers are kept: integers of so many bits, or, where Bits is 0, minifloats.
type Format struct {
	Bits               int
	Exponent, Mantissa int
	largest            float64 // of minifloats
}

// The bits of integers. Weights of one bit are signs, and no rounding of trained weights gives them.
const (
	minBits = 2
	maxBits = 16
)

// ocp are the formats of the OCP's 8-bit specifications, whose codes for infinity and NaN take some of the largest
// values; others end with the largest that their bits hold.
var ocp = map[string]float64{"e4m3": 448, "e5m2": 57344}

var minifloat = regexp.MustCompile(`^e([1-8])m([1-7])$`)

// ParseFormat reads 2 to 16, bits of integers, or exponent and mantissa of minifloats, such as e4m3.
func ParseFormat(s string) (Format, error) {
	if n, err := strconv.Atoi(s); err == nil && minBits <= n && n <= maxBits && strconv.Itoa(n) == s {
		return Format{Bits: n}, nil
	}
	m := minifloat.FindStringSubmatch(s)
	if m == nil {
		return Format{}, fmt.Errorf("format %.20q: want the bits of integers, %d to %d, or a minifloat such as e4m3", s,
			minBits, maxBits)
	}
	f := Format{Exponent: int(m[1][0] - '0'), Mantissa: int(m[2][0] - '0')}
	if f.largest = ocp[s]; f.largest == 0 {
		f.largest = (2 - math.Exp2(-float64(f.Mantissa))) * math.Exp2(math.Exp2(float64(f.Exponent))-1-f.bias())
	}
	return f, nil
}

// String is what ParseFormat reads.
func (f Format) String() string {
	if f.Bits > 0 {
		return strconv.Itoa(f.Bits)
	}
	return fmt.Sprintf("e%dm%d", f.Exponent, f.Mantissa)
}

// bias is that of a minifloat's exponent.
func (f Format) bias() float64 { return math.Exp2(float64(f.Exponent)-1) - 1 }

// A code is a format with what else says which values there are at a scale of 1.
type code struct {
	Format
	lo, hi float64 // the least and the greatest
}

// of is the code of values that may be negative or not; narrow ones are symmetric.
func (f Format) of(signed, narrow bool) code {
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

// nearest is the value of the code that a number becomes, at a scale of 1.
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

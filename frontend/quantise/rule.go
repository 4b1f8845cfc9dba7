package quantise

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Rule says how the scale of a quantiser follows from the values that it is for.
type Rule string

// The rules.
const (
	MaxAbs     Rule = "max"        // the largest value is the largest code
	Percentile Rule = "percentile" // so is the one that 99.9 % of the values do not exceed
	MSE        Rule = "mse"        // the mean square error is the least
)

// Rules lists them, the default first.
var Rules = []string{string(MSE), string(MaxAbs), string(Percentile)}

// ParseRule reads a rule.
func ParseRule(s string) (Rule, error) {
	if !slices.Contains(Rules, s) {
		return "", fmt.Errorf("want %s", strings.Join(Rules, ", "))
	}
	return Rule(s), nil
}

// share is that of values that Percentile does not cut off.
const share = 0.999

// MSE tries so many scales from the one of MaxAbs down to a thirtieth of it, each 2^-(1/8) of the one before; or, of
// powers of two, fewer.
const (
	tries  = 40
	powers = 7
)

// A choosing is what the scale of values depends on besides these.
type choosing struct {
	rule Rule
	code code
	grid float64
}

// scale is a scale of a code for values, a float32 above 0. A grid above 0 restricts it to that times powers of two.
func (r Rule) scale(c code, values []float64, grid float64) float64 {
	full := c.covering(values)
	if r == Percentile {
		full = c.covering(within(values))
	}
	if full == 0 {
		return usable(grid)
	}
	list := r.candidates(full, grid)
	best, least := list[0], math.Inf(1)
	for _, s := range list {
		if l := c.loss(values, s); l < least {
			best, least = s, l
		}
	}
	return best
}

// quantiser returns the code and the scale of activations of a format. Where few values lie below 0, and not far, as
// behind a GELU, codes without a sign may have the less square error: MSE tries both.
func (r Rule) quantiser(f Format, values []float64, signed bool, grid float64) (code, float64) {
	c := f.of(signed, false)
	scale := r.scale(c, values, grid)
	if plain := f.of(false, false); plain.lo == 0 && signed && (r == MSE || r == "") {
		if s := r.scale(plain, values, grid); plain.loss(values, s) < c.loss(values, scale) {
			return plain, s
		}
	}
	return c, scale
}

// eighths are the powers of two from 2^0 down to 2^-(7/8), the same on every processor.
var eighths = [...]float64{1, 0x1.d5818dcfba487p-1, 0x1.ae89f995ad3adp-1, 0x1.8ace5422aa0dbp-1, 0x1.6a09e667f3bcdp-1,
	0x1.4bfdad5362a27p-1, 0x1.306fe0a31b715p-1, 0x1.172b83c7d517bp-1}

// candidates are the scales to choose from, the first first: full is that which cuts nothing off.
func (r Rule) candidates(full, grid float64) (list []float64) {
	n := 1
	if r == MSE || r == "" {
		n = tries
	}
	for i := range n {
		s := full * eighths[i%8] * math.Exp2(-float64(i/8))
		if grid > 0 {
			s = grid * math.Exp2(math.Ceil(math.Log2(full/grid)-1e-9)-float64(i))
		}
		list = append(list, usable(s))
		if grid > 0 && i == powers-1 {
			break
		}
	}
	return list
}

// usable is a scale as a float32 that can be divided by.
func usable(s float64) float64 {
	if s = float64(float32(s)); s < 0x1p-120 || math.IsInf(s, 0) || math.IsNaN(s) {
		return 1
	}
	return s
}

// covering is the least scale at which no value lies outside of the codes; 0 where all are 0.
func (c code) covering(values []float64) (s float64) {
	for _, v := range values {
		switch {
		case v > 0 && c.hi > 0:
			s = max(s, v/c.hi)
		case v < 0 && c.lo < 0:
			s = max(s, v/c.lo)
		}
	}
	return s
}

// within is the values without the largest magnitudes, by Percentile's share.
func within(values []float64) []float64 {
	sorted := slices.Clone(values)
	slices.SortFunc(sorted, func(a, b float64) int {
		switch a, b := math.Abs(a), math.Abs(b); {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	})
	return sorted[:int(math.Ceil(share*float64(len(sorted))))]
}

// loss is the sum of squares of what rounding changes.
func (c code) loss(values []float64, scale float64) (sum float64) {
	for _, v := range values {
		e := float64(c.nearest(v/scale)*scale) - v
		sum += float64(e * e)
	}
	return sum
}

package quantise

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A ScaleRule says how the scale of a quantiser follows from the values that it is to quantise.
type ScaleRule string

// These are the rules.
const (
	scaleRuleMaxAbs ScaleRule = "max" // the largest magnitude becomes the largest code
	// a magnitude that 99.9 % of the values do not exceed becomes the largest code
	scaleRulePercentile ScaleRule = "percentile"
	scaleRuleMSE        ScaleRule = "mse" // the mean square error is minimal
)

// ScaleRuleNames lists all rules, the default first.
var ScaleRuleNames = []string{string(scaleRuleMSE), string(scaleRuleMaxAbs), string(scaleRulePercentile)}

// ParseScaleRule parses the name of a rule. It returns an error unless s is one of ScaleRuleNames.
func ParseScaleRule(s string) (ScaleRule, error) {
	if !slices.Contains(ScaleRuleNames, s) {
		return "", fmt.Errorf("want %s", strings.Join(ScaleRuleNames, ", "))
	}
	return ScaleRule(s), nil
}

// share is the share of the values that scaleRulePercentile does not clip.
const share = 0.999

// These are the numbers of scales that scaleRuleMSE tries: tries scales from that of scaleRuleMaxAbs down to a
// thirtieth of it, each 2^-(1/8) times the one before, or powers scales that are powers of two.
const (
	tries  = 40
	powers = 7
)

// A choosing holds everything besides the weights on which the scale of weights depends. It is the key of cached
// scales.
type choosing struct {
	rule ScaleRule
	code code
	grid float64
}

// scale returns the scale, a float32 above 0, with which the rule lets a code represent values. If grid is above 0, the
// scale is grid times a power of two.
func (r ScaleRule) scale(c code, values []float64, grid float64) float64 {
	full := c.covering(values)
	if r == scaleRulePercentile {
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

// quantiser returns the code and the scale that the rule gives activations of a format. If few values lie slightly
// below 0, as after a GELU, an unsigned code may have a smaller square error; scaleRuleMSE tries both.
func (r ScaleRule) quantiser(f QuantFormat, values []float64, signed bool, grid float64) (code, float64) {
	c := f.of(signed, false)
	scale := r.scale(c, values, grid)
	if plain := f.of(false, false); plain.lo == 0 && signed && (r == scaleRuleMSE || r == "") {
		if s := r.scale(plain, values, grid); plain.loss(values, s) < c.loss(values, scale) {
			return plain, s
		}
	}
	return c, scale
}

// eighths holds 2^0, 2^-(1/8) ... 2^-(7/8) as constants, so that they are the same on every processor.
var eighths = [...]float64{1, 0x1.d5818dcfba487p-1, 0x1.ae89f995ad3adp-1, 0x1.8ace5422aa0dbp-1, 0x1.6a09e667f3bcdp-1,
	0x1.4bfdad5362a27p-1, 0x1.306fe0a31b715p-1, 0x1.172b83c7d517bp-1}

// candidates returns the scales to choose from; the first one is the default. full is the smallest scale that clips no
// value.
func (r ScaleRule) candidates(full, grid float64) (list []float64) {
	n := 1
	if r == scaleRuleMSE || r == "" {
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

// usable returns s rounded to float32, or 1 if the result is no number by which one can divide.
func usable(s float64) float64 {
	if s = float64(float32(s)); s < 0x1p-120 || math.IsInf(s, 0) || math.IsNaN(s) {
		return 1
	}
	return s
}

// covering returns the least scale at which the code clips none of the values, or 0 if all values are 0.
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

// within returns, sorted by magnitude, the values that scaleRulePercentile does not clip.
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

// loss returns the sum of the squares of the errors that the code makes with the values at a scale.
func (c code) loss(values []float64, scale float64) (sum float64) {
	for _, v := range values {
		e := float64(c.nearest(v/scale)*scale) - v
		sum += float64(e * e)
	}
	return sum
}

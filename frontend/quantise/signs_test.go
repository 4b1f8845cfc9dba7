package quantise

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSigns checks that the rule that tries unsigned codes chooses them for values that hardly go below 0, if these
// codes lose less, and for no other values.
func TestSigns(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(9, 10))
	var normal, gelu, above []float64
	for range 4000 {
		x := 3 * rnd.NormFloat64()
		normal, above = append(normal, x), append(above, math.Abs(x))
		gelu = append(gelu, x*(1+math.Erf(x/math.Sqrt2))/2)
	}
	for _, c := range []struct {
		name   string
		rule   ScaleRule
		bits   int
		values []float64
		below  bool
		signed bool
	}{
		{"normal", scaleRuleMSE, 8, normal, true, true},
		{"above 0", scaleRuleMSE, 8, above, false, false},
		{"GELU, few codes", scaleRuleMSE, 4, gelu, true, false},
		{"GELU, codes enough for what lies below 0", scaleRuleMSE, 8, gelu, true, true},
		{"GELU", scaleRuleMaxAbs, 4, gelu, true, true},
		{"GELU", scaleRulePercentile, 4, gelu, true, true},
	} {
		f := QuantFormat{Bits: c.bits}
		got, scale := c.rule.quantiser(f, c.values, c.below, 0)
		if got.lo < 0 != c.signed {
			t.Errorf("%s, %d bits, %s: codes from %v", c.name, c.bits, c.rule, got.lo)
		}
		for _, other := range []code{f.of(true, false), f.of(false, false)} {
			s := c.rule.scale(other, c.values, 0)
			if c.rule == scaleRuleMSE && other.loss(c.values, s) < got.loss(c.values, scale) {
				t.Errorf("%s, %d bits: codes from %v lose less", c.name, c.bits, other.lo)
			}
		}
	}
	minifloats, err := parseQuantFormat("e4m3")
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := scaleRuleMSE.quantiser(minifloats, gelu, true, 0); c.lo == 0 {
		t.Error("minifloats have no sign")
	}
}

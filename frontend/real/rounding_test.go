package real

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

var modes = []RoundingMode{RoundingModeHalfEven, RoundingModeTowardsPositiveInf, RoundingModeTowardsNegativeInf,
	RoundingModeAwayFromZero, RoundingModeTowardsZero,
	RoundingModeHalfAwayFromZero, RoundingModeHalfTowardsZero}

// TestRoundingTable is QONNX's own table of modes: half modes speak of magnitude, UP is away from zero.
func TestRoundingTable(t *testing.T) {
	t.Parallel()
	values := []float64{-2.5, -1.7, -1.5, -1.2, -1, -0.5, -0.2, 0, 0.2, 0.5, 1, 1.2, 1.5, 1.7, 2.5, 3.5}
	want := map[RoundingMode][]float64{
		RoundingModeHalfEven:           {-2, -2, -2, -1, -1, 0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 4},
		RoundingModeTowardsPositiveInf: {-2, -1, -1, -1, -1, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 4},
		RoundingModeTowardsNegativeInf: {-3, -2, -2, -2, -1, -1, -1, 0, 0, 0, 1, 1, 1, 1, 2, 3},
		RoundingModeAwayFromZero:       {-3, -2, -2, -2, -1, -1, -1, 0, 1, 1, 1, 2, 2, 2, 3, 4},
		RoundingModeTowardsZero:        {-2, -1, -1, -1, -1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 3},
		RoundingModeHalfAwayFromZero:   {-3, -2, -2, -1, -1, -1, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4},
		RoundingModeHalfTowardsZero:    {-2, -2, -1, -1, -1, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3},
	}
	for _, m := range modes {
		for i, v := range values {
			if got := m.round(v); got != want[m][i] {
				t.Errorf("%v of %v = %v, want %v", m, v, got, want[m][i])
			}
			if got := m.roundRat(rat(v)); got.Int64() != int64(want[m][i]) {
				t.Errorf("%v of the rational %v = %v, want %v", m, v, got, want[m][i])
			}
		}
	}
}

// nearest defines the modes a second time, by comparing with the integers on both sides.
func nearest(m RoundingMode, v *big.Rat) *big.Int {
	lo := new(big.Int).Div(v.Num(), v.Denom())
	rest := new(big.Rat).Sub(v, new(big.Rat).SetInt(lo))
	if rest.Sign() == 0 {
		return lo
	}
	hi := new(big.Int).Add(lo, big.NewInt(1))
	inner, outer := lo, hi // by magnitude
	if v.Sign() < 0 {
		inner, outer = hi, lo
	}
	switch side := rest.Cmp(big.NewRat(1, 2)); {
	case m == RoundingModeTowardsPositiveInf:
		return hi
	case m == RoundingModeTowardsNegativeInf:
		return lo
	case m == RoundingModeAwayFromZero:
		return outer
	case m == RoundingModeTowardsZero:
		return inner
	case side < 0:
		return lo
	case side > 0:
		return hi
	case m == RoundingModeHalfAwayFromZero:
		return outer
	case m == RoundingModeHalfTowardsZero:
		return inner
	case lo.Bit(0) == 0:
		return lo
	}
	return hi
}

func TestRoundingOfFloatsAndRationals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	check := func(v float64) {
		x := rat(v)
		for _, m := range modes {
			want := nearest(m, x)
			if got := m.roundRat(x); got.Cmp(want) != 0 {
				t.Errorf("%v of %s = %v, want %v", m, x.RatString(), got, want)
			}
			if got := rat(m.round(v)); got.Cmp(new(big.Rat).SetInt(want)) != 0 {
				t.Errorf("%v of %v = %v, want %v", m, v, got.RatString(), want)
			}
		}
	}
	for k := -9; k <= 9; k++ {
		half := float64(k) / 2
		check(half)
		check(up(half))
		check(down(half))
	}
	for _, v := range edges {
		check(v)
		check(-v)
	}
	for range rounds(2000) {
		check(draw(r))
		// where float64 ends to have halves
		check(math.Ldexp(float64(r.Int64N(1<<53)), r.IntN(4)-2) * float64(1-2*r.IntN(2)))
		third := big.NewRat(r.Int64N(2001)-1000, 1+r.Int64N(12))
		for _, m := range modes {
			if got, want := m.roundRat(third), nearest(m, third); got.Cmp(want) != 0 {
				t.Errorf("%v of %s = %v, want %v", m, third, got, want)
			}
		}
	}
	for _, m := range modes {
		for _, v := range []float64{math.Inf(1), math.Inf(-1)} {
			if m.round(v) != v {
				t.Errorf("%v of %v = %v", m, v, m.round(v))
			}
		}
	}
}

func TestParseRounding(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]RoundingMode{"ROUND": RoundingModeHalfEven, "HALF_EVEN": RoundingModeHalfEven,
		"CEIL":  RoundingModeTowardsPositiveInf,
		"FLOOR": RoundingModeTowardsNegativeInf,
		"UP":    RoundingModeAwayFromZero, "DOWN": RoundingModeTowardsZero, "ROUND_TO_ZERO": RoundingModeTowardsZero,
		"HALF_UP":   RoundingModeHalfAwayFromZero,
		"HALF_DOWN": RoundingModeHalfTowardsZero} {
		for _, s := range []string{name, strings.ToLower(name), name[:1] + strings.ToLower(name[1:])} {
			if got, err := ParseRoundingMode(s); err != nil || got != want {
				t.Errorf("ParseRounding(%q) = %v, %v, want %v", s, got, err, want)
			}
		}
	}
	for _, s := range []string{"", "round ", "NEAREST", "HALF", "HALF UP", "STOCHASTIC", "\x00"} {
		if got, err := ParseRoundingMode(s); err == nil {
			t.Errorf("ParseRounding(%q) = %v, want an error", s, got)
		}
	}
	for _, m := range modes {
		if got, err := ParseRoundingMode(m.String()); err != nil || got != m {
			t.Errorf("ParseRounding(%q) = %v, %v", m, got, err)
		}
	}
}

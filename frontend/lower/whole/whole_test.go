package whole

import (
	"math/big"
	"testing"

	"hlsgen/internal/num"
)

// TestUnit holds that every value is a whole multiple of the unit, and that no larger unit does.
func TestUnit(t *testing.T) {
	t.Parallel()
	rat := func(v ...float64) (out []*big.Rat) {
		for _, f := range v {
			out = append(out, new(big.Rat).SetFloat64(f))
		}
		return out
	}
	thirds := []*big.Rat{big.NewRat(2, 3), big.NewRat(-4, 9), new(big.Rat)}
	for _, c := range []struct {
		values []*big.Rat
		want   *big.Rat
	}{
		{rat(0, 0), big.NewRat(1, 1)},
		{rat(0.5, -1.5, 2), big.NewRat(1, 2)},
		{rat(6, -9, 0), big.NewRat(3, 1)},
		{rat(-4), big.NewRat(4, 1)},
		{thirds, big.NewRat(2, 9)},
		{rat(1e-41, -3e-41), nil},
		{nil, big.NewRat(1, 1)},
	} {
		got := Unit(c.values)
		if got.Sign() <= 0 || c.want != nil && got.Cmp(c.want) != 0 {
			t.Errorf("the unit of %v is %v, want %v", c.values, got, c.want)
		}
		gcd := new(big.Int)
		for _, v := range c.values {
			q := new(big.Rat).Quo(v, got)
			if !q.IsInt() {
				t.Errorf("%v is no multiple of %v", v, got)
			}
			gcd.GCD(nil, nil, gcd, new(big.Int).Abs(q.Num()))
		}
		if gcd.Cmp(big.NewInt(1)) > 0 {
			t.Errorf("a unit %v times %v would do for %v", gcd, got, c.values)
		}
	}
}

func TestShared(t *testing.T) {
	t.Parallel()
	a, b := num.Step{Value: []int64{1}}, num.Step{At: []int64{0}, Value: []int64{1, 2}}
	for _, c := range []struct {
		steps []num.Step
		want  int
	}{{[]num.Step{a, a, a}, 1}, {[]num.Step{a, b}, 2}, {[]num.Step{b}, 1}} {
		if got := len(Shared(c.steps)); got != c.want {
			t.Errorf("%v: %d step functions, want %d", c.steps, got, c.want)
		}
	}
}

package frontend

import (
	"math"
	"math/big"
	"testing"

	"hlsgen/frontend/real"
	"hlsgen/internal/num"
)

// TestHostCode compares the values of codes with exact arithmetic where float64 is not enough: in the middle between
// two float32 numbers, and next to it.
func TestHostCode(t *testing.T) {
	t.Parallel()
	power := func(e int) *big.Rat { return new(big.Rat).SetFloat64(math.Ldexp(1, e)) }
	sum := func(terms ...*big.Rat) *big.Rat {
		s := new(big.Rat)
		for _, x := range terms {
			s.Add(s, x)
		}
		return s
	}
	third := big.NewRat(1, 3)
	for _, c := range []struct {
		name        string
		scale, bias *big.Rat
		r           num.Range
		except      int
	}{
		{"above the middle by less than float64 sees", power(0), sum(power(-24), power(-80)),
			num.Range{Lo: -40, Hi: 40}, -1},
		{"the middle itself", power(0), power(-24), num.Range{Lo: -40, Hi: 40}, 0},
		{"a third", third, new(big.Rat), num.Range{Lo: -1 << 17, Hi: 1 << 17}, 0},
		{"few codes have a value each", third, sum(power(-24), power(-80)), num.Range{Lo: -2, Hi: 3}, 0},
		{"no code but one", third, third, num.SingleValueRange(7), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := real.Add(real.Mul(real.Var(0), real.ConstantExpr(c.scale)),
				real.ConstantExpr(c.bias))
			code := hostCode(e, c.r, num.Float32Format)
			if code == nil {
				t.Fatal("nothing is said")
			}
			for q := c.r.Lo; q <= c.r.Hi; q++ {
				v := new(big.Rat).SetInt64(q)
				want, _ := v.Add(v.Mul(v, c.scale), c.bias).Float32()
				if got := code.ValueOfCode(q, num.Float32Format); got != float64(want) {
					t.Fatalf("code %d means %v, want %v", q, got, want)
				}
				_, listed := code.Except[q]
				if fused := code.FusedFormulaValue(q, num.Float32Format); code.Values == nil && !listed &&
					fused != float64(want) {
					t.Fatalf("code %d means %v where product and sum are rounded together, want %v", q, fused, want)
				}
			}
			if n := len(code.Except); c.except >= 0 && n != c.except || c.except < 0 && n == 0 {
				t.Errorf("%d exceptions", n)
			}
		})
	}
}

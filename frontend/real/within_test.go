package real

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// randomExpr is an expression in n variables.
func randomExpr(rng *rand.Rand, n, depth int) *Expr {
	if depth == 0 || rng.IntN(5) == 0 {
		if rng.IntN(2) == 0 {
			return ConstantExprOfFloat(float64(rng.IntN(9)-4) / 2)
		}
		return Var(rng.IntN(n))
	}
	x := func() *Expr { return randomExpr(rng, n, depth-1) }
	switch rng.IntN(9) {
	case 0:
		return Add(x(), x())
	case 1:
		return Sub(x(), x())
	case 2:
		return Mul(x(), x())
	case 3:
		return Neg(x())
	case 4:
		return Abs(x())
	case 5:
		return Min(x(), x())
	case 6:
		return Max(x(), x())
	case 7:
		return Round(x(), RoundingModeHalfEven)
	}
	return Div(x(), ConstantExprOfFloat(float64(1+rng.IntN(4))))
}

func valueAt(t *testing.T, e *Expr, vars ...int64) *big.Rat {
	t.Helper()
	in := make([]Num, len(vars))
	for i, v := range vars {
		in[i] = NumberOfRational(new(big.Rat).SetInt64(v))
	}
	y, err := Compile(e).EvaluateExactly(in, WorkingPrecisionBits[0])
	if err != nil || y.r == nil {
		t.Fatal(err)
	}
	return y.r
}

// TestWithin checks that SimplifyWithin changes no value within the ranges.
func TestWithin(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 9))
	shorter := 0
	for range 2000 {
		e := randomExpr(rng, 2, 4)
		r := num.Range{Lo: int64(rng.IntN(5)) - 2}
		r.Hi = r.Lo + int64(rng.IntN(4))
		span := Interval{float64(r.Lo), float64(r.Hi)}
		s := e.SimplifyWithin([]Interval{span, span})
		if len(Compile(s).code) < len(Compile(e).code) {
			shorter++
		}
		for a := r.Lo; a <= r.Hi; a++ {
			for b := r.Lo; b <= r.Hi; b++ {
				if x, y := valueAt(t, e, a, b), valueAt(t, s, a, b); x.Cmp(y) != 0 {
					t.Fatalf("at %d, %d: %v became %v", a, b, x, y)
				}
			}
		}
	}
	if shorter < 300 {
		t.Errorf("%d of 2000 expressions became shorter", shorter)
	}
}

// TestDirection checks that the direction read from an expression is that of its values.
func TestDirection(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 9))
	known := map[int]int{}
	for range 4000 {
		e := randomExpr(rng, 1, 4)
		d, ok := e.MonotonicDirection()
		if !ok {
			continue
		}
		known[d]++
		for v := int64(-4); v < 4; v++ {
			if c := valueAt(t, e, v+1).Cmp(valueAt(t, e, v)); c*d < 0 || d == 0 && c != 0 {
				t.Fatalf("direction %d, but from %d to %d it is %d", d, v, v+1, c)
			}
		}
	}
	for d := -1; d <= 1; d++ {
		if known[d] < 100 {
			t.Errorf("direction %d was found %d times", d, known[d])
		}
	}
	sigmoid := Div(ConstantExprOfFloat(1), Add(ConstantExprOfFloat(1), Exp(Neg(Var(0)))))
	if d, ok := sigmoid.MonotonicDirection(); d != 1 || !ok {
		t.Errorf("a sigmoid: %d, %t", d, ok)
	}
}

// TestTakenApart checks that the parts that AsFuncOfLinear and AsFuncOfProduct return have the value of the whole
// together.
func TestTakenApart(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for k, c := range []struct {
		what         string
		draws, least int
		apart        func(e *Expr) (inner func(x, y *big.Rat) *big.Rat, outer *Expr, ok bool)
	}{
		{"sum", 4000, 500, func(e *Expr) (func(x, y *big.Rat) *big.Rat, *Expr, bool) {
			inner, outer, ok := e.AsFuncOfLinear(2)
			return func(x, y *big.Rat) *big.Rat {
				x, y = new(big.Rat).Mul(inner.Scale[0], x), new(big.Rat).Mul(inner.Scale[1], y)
				return x.Add(inner.Bias, x.Add(x, y))
			}, outer, ok
		}},
		{"product", 20000, 100, func(e *Expr) (func(x, y *big.Rat) *big.Rat, *Expr, bool) {
			offset, outer, ok := e.AsFuncOfProduct()
			return func(x, y *big.Rat) *big.Rat {
				return new(big.Rat).Mul(new(big.Rat).Add(x, offset[0]), new(big.Rat).Add(y, offset[1]))
			}, outer, ok
		}},
	} {
		rng := rand.New(rand.NewPCG(uint64(3+k), 9))
		found := 0
		for range c.draws {
			e := randomExpr(rng, 2, 4)
			inner, outer, ok := c.apart(e)
			if !ok {
				continue
			}
			found++
			for range 10 {
				a, b := int64(rng.IntN(9)-4), int64(rng.IntN(9)-4)
				v := ConstantExpr(inner(new(big.Rat).SetInt64(a), new(big.Rat).SetInt64(b)))
				if x, y := valueAt(t, e, a, b), valueAt(t, outer.SubstituteVariables([]*Expr{v}), 0); x.Cmp(y) != 0 {
					t.Fatalf("at %d, %d: %v, taken apart %v", a, b, x, y)
				}
			}
		}
		if found < c.least {
			t.Errorf("%d of %d expressions are functions of one %s", found, c.draws, c.what)
		}
	}
}

package real

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestStrict checks that a function that is reported to rise or fall does so with every change of its argument.
func TestStrict(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 9))
	known := map[int]int{}
	for range 6000 {
		e := randomExpr(rng, 1, 4)
		d, ok := e.StrictMonotonicDirection()
		if !ok {
			continue
		}
		known[d]++
		for v := int64(-4); v < 4; v++ {
			if c := valueAt(t, e, v+1).Cmp(valueAt(t, e, v)); c != d {
				t.Fatalf("strictly %d, but from %d to %d it is %d", d, v, v+1, c)
			}
		}
	}
	if known[1] < 100 || known[-1] < 100 {
		t.Errorf("%d functions rise, %d fall", known[1], known[-1])
	}
}

func TestStrictOf(t *testing.T) {
	t.Parallel()
	x, n := Var(0), ConstantExprOfFloat
	leaky := func(slope float64) *Expr { return Add(Max(x, n(0)), Mul(n(slope), Min(x, n(0)))) }
	for _, c := range []struct {
		name string
		e    *Expr
		want int // 0: not strict, or not known
	}{
		{"sigmoid", Div(n(1), Add(n(1), Exp(Neg(x)))), 1},
		{"a falling sigmoid", Div(n(-3), Add(n(1), Exp(Neg(x)))), -1},
		{"tanh", Sub(n(1), Div(n(2), Add(Exp(Mul(n(2), x)), n(1)))), 1},
		{"softplus", Log(Add(n(1), Exp(x))), 1},
		{"softsign", Div(x, Add(n(1), Abs(x))), 1},
		{"leaky", leaky(0.125), 1},
		{"leaky without a leak", leaky(0), 0},
		{"leaky with a negative slope", leaky(-0.5), 0},
		{"exponential unit", Add(Max(x, n(0)), Mul(n(2), Sub(Exp(Min(x, n(0))), n(1)))), 1},
		{"rectifier", Max(x, n(0)), 0},
		{"clip", Min(Max(x, n(-1)), n(1)), 0},
		{"absolute value", Abs(x), 0},
		{"square", Mul(x, x), 0},
		{"swish", Div(x, Add(n(1), Exp(Neg(x)))), 0},
		{"reciprocal", Div(n(1), x), 0},
		{"reciprocal of what is positive", Div(n(1), Exp(x)), -1},
		{"nothing", Mul(n(0), x), 0},
		{"constant", n(4), 0},
		{"floor", Round(x, RoundingModeTowardsNegativeInf), 0},
		{"the greater of two that rise", Max(Mul(n(2), x), Add(x, n(math.Pi))), 1},
	} {
		if d, ok := c.e.StrictMonotonicDirection(); d != c.want || ok != (d != 0) {
			t.Errorf("%s: %d, %t, want %d", c.name, d, ok, c.want)
		}
	}
}

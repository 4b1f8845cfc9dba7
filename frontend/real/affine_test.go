package real

import (
	"math/big"
	"testing"
)

func TestAffine(t *testing.T) {
	t.Parallel()
	x := Var(0)
	third := frac(1, 3)
	for _, c := range []struct {
		name        string
		e           *Expr
		scale, bias *big.Rat // nil: not affine
	}{
		{"constant", n(5), new(big.Rat), big.NewRat(5, 1)},
		{"variable", x, big.NewRat(1, 1), new(big.Rat)},
		{"scale and bias", Add(Mul(x, third), n(2)), big.NewRat(1, 3), big.NewRat(2, 1)},
		{"constant on the left", Mul(n(2), Sub(n(1), x)), big.NewRat(-2, 1), big.NewRat(2, 1)},
		{"quotient", Div(Add(x, n(1)), n(4)), big.NewRat(1, 4), big.NewRat(1, 4)},
		{"difference", Sub(x, Mul(x, third)), big.NewRat(2, 3), new(big.Rat)},
		{"it cancels", Sub(x, x), new(big.Rat), new(big.Rat)},
		{"negation", Neg(Add(x, n(1))), big.NewRat(-1, 1), big.NewRat(-1, 1)},
		{"folded root", Div(x, Sqrt(Add(n(3), n(1)))), big.NewRat(1, 2), new(big.Rat)},
		{"folded rounding", Mul(x, Round(n(2.5), RoundingModeHalfEven)), big.NewRat(2, 1), new(big.Rat)},
		{"folded bounds", Mul(x, Max(Min(n(7), n(3)), Abs(n(-4)))), big.NewRat(4, 1), new(big.Rat)},
		{"zero times x", Mul(n(0), x), new(big.Rat), new(big.Rat)},
		{"pruned", Mul(Mul(x, n(0)), x), new(big.Rat), new(big.Rat)},
		{"square", Mul(x, x), nil, nil},
		{"quotient by x", Div(n(1), x), nil, nil},
		{"quotient by zero", Div(x, n(0)), nil, nil},
		{"constant quotient by zero", Add(x, Div(n(1), n(0))), nil, nil},
		{"irrational root", Mul(x, Sqrt(n(2))), nil, nil},
		{"root of a negative", Mul(x, Sqrt(n(-4))), nil, nil},
		{"relu", Max(x, n(0)), nil, nil},
		{"abs", Abs(x), nil, nil},
		{"rounding", Round(x, RoundingModeHalfEven), nil, nil},
		{"root of x", Sqrt(x), nil, nil},
	} {
		a, ok := c.e.AsAffine()
		if ok != (c.scale != nil) || ok && (a.Scale.Cmp(c.scale) != 0 || a.Bias.Cmp(c.bias) != 0) {
			t.Errorf("%s = %v, %v, want %v*x + %v", c.name, a, ok, c.scale, c.bias)
		}
	}
}

// deep shares each part twice. Written out, it would have 2^60 leaves, and reading all of them would not end.
func deep(join func(x, y *Expr) *Expr) *Expr {
	e := Var(0)
	for range 60 {
		e = join(e, e)
	}
	return e
}

func TestSharedPartsAreReadOnce(t *testing.T) {
	t.Parallel()
	a, ok := deep(Add).AsAffine()
	if want := new(big.Rat).SetInt64(1 << 60); !ok || a.Scale.Cmp(want) != 0 {
		t.Errorf("2^60*x = %v %v", a, ok)
	}
	if a, ok := deep(Max).AsAffine(); ok {
		t.Errorf("a maximum is read as %v", a)
	}
	if !deep(Add).HasSameForm(deep(Add)) {
		t.Error("equal expressions are not equal")
	}
	if deep(Add).HasSameForm(deep(Mul)) {
		t.Error("a sum equals a product")
	}
	s := deep(Mul).SubstituteVariables([]*Expr{ConstantExprOfFloat(1)})
	if y, sure := Compile(s).EvaluateInterval(nil); !sure || y != NewPointInterval(1) {
		t.Errorf("1^(2^60) = %v %v", y, sure)
	}
	if a, ok := deep(Mul).SubstituteVariables([]*Expr{ConstantExprOfFloat(3)}).AsAffine(); ok {
		t.Errorf("3^(2^60) is read as a number of %d bits", size(a.Bias))
	}
}

func TestSubstituteAndEqual(t *testing.T) {
	t.Parallel()
	x, y := Var(0), Var(1)
	e := Add(Mul(x, n(2)), Round(Div(y, x), RoundingModeHalfAwayFromZero))
	s := e.SubstituteVariables([]*Expr{n(4), Sub(Var(0), n(1))})
	want := Add(Mul(n(4), n(2)), Round(Div(Sub(Var(0), n(1)), n(4)), RoundingModeHalfAwayFromZero))
	if !s.HasSameForm(want) || s.HasSameForm(e) {
		t.Error("the substitution is not as written")
	}
	if got, err := at(t, s, 7); err != nil || got.RationalOrNil().Cmp(big.NewRat(10, 1)) != 0 {
		t.Errorf("8 + round(6/4) = %v %v", got.RationalOrNil(), err)
	}
	if n(1).SubstituteVariables(nil) == nil || !Add(x, x).SubstituteVariables([]*Expr{y}).HasSameForm(Add(y, y)) {
		t.Error("constants and shared parts do not survive")
	}
	for _, c := range []struct {
		name string
		a, b *Expr
		want bool
	}{
		{"constants by value", n(0.5), ConstantExpr(big.NewRat(1, 2)), true},
		{"other constants", n(0.5), n(0.25), false},
		{"other variables", Var(0), Var(1), false},
		{"other modes", Round(x, RoundingModeHalfAwayFromZero), Round(x, RoundingModeHalfTowardsZero), false},
		{"other order", Sub(x, y), Sub(y, x), false},
		{"other operation", Min(x, y), Max(x, y), false},
		{"a constant and a variable", n(0), x, false},
	} {
		if c.a.HasSameForm(c.b) != c.want || c.b.HasSameForm(c.a) != c.want {
			t.Errorf("%s: want %v", c.name, c.want)
		}
	}
}

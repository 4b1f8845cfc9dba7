package real

import (
	"fmt"
	"testing"
)

// TestPolynomial reads functions of one polynomial, and refuses others.
func TestPolynomial(t *testing.T) {
	t.Parallel()
	x, y, z := Var(0), Var(1), Var(2)
	two := ConstantExprOfFloat(2)
	for _, c := range []struct {
		name string
		e    *Expr
		want string // "" where it is none
	}{
		{"a sum of products", Add(Mul(x, y), Mul(Sub(ConstantExprOfFloat(1), x), z)), "[0 1]*1 [0 2]*-1 [2]*1 "},
		{"behind a function", Exp(Neg(Div(Mul(Mul(x, two), Add(y, two)), two))), "[0]*-2 [0 1]*-1 "},
		{"in two places", Add(Exp(Mul(x, y)), Mul(Mul(x, two), y)), "[0 1]*1 "},
		{"of which nothing stays", Sub(Mul(x, y), Mul(y, x)), ""},
		{"two that are no multiples", Add(Exp(Mul(x, y)), z), "none"},
		{"a quotient of variables", Div(x, y), "none"},
		{"of a high degree", Mul(Mul(Mul(x, x), Mul(x, x)), x), "none"},
	} {
		terms, outer, ok := c.e.AsFuncOfPolynomial()
		got := ""
		for _, t := range terms {
			got += fmt.Sprintf("%v*%s ", t.Vars, t.Scale.RatString())
		}
		if !ok {
			got = "none"
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if !ok {
			continue
		}
		v := []Interval{NewPointInterval(3), NewPointInterval(-2), NewPointInterval(5)}
		sum := 0.0
		for _, t := range terms {
			f, _ := t.Scale.Float64()
			for _, i := range t.Vars {
				f *= v[i].Lo
			}
			sum += f
		}
		want, _ := Compile(c.e).EvaluateInterval(v)
		if y, _ := Compile(outer).EvaluateInterval([]Interval{NewPointInterval(sum)}); y.Lo > want.Hi ||
			y.Hi < want.Lo {
			t.Errorf("%s: %v, want %v", c.name, y, want)
		}
	}
}

package real

import (
	"math"
	"slices"
	"testing"

	"hlsgen/internal/num"
)

// TestStepLike checks that a guess of the steps changes nothing but the effort.
func TestStepLike(t *testing.T) {
	t.Parallel()
	wide := num.Range{Lo: -1 << 52, Hi: 1 << 52}
	sigmoid := func(scale, bias float64) *Func {
		x := Add(Mul(Var(0), ConstantExprOfFloat(scale)), ConstantExprOfFloat(bias))
		return Compile(Round(Div(ConstantExprOfFloat(127), Add(ConstantExprOfFloat(1), Exp(Neg(x)))),
			RoundingModeHalfEven))
	}
	f := sigmoid(0.00001234, 0.1)
	want, err := f.StepFunctionOver(wide, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		like []int64
		each float64 // evaluations per step, at most; 0: any number
	}{
		{"itself", want.At, 4.2},
		{"another bias", stepsOf(t, sigmoid(0.00001234, -0.7), wide), 4.2},
		{"another scale", stepsOf(t, sigmoid(0.00004321, 0.3), wide), 0},
		{"a finer scale", stepsOf(t, sigmoid(0.000001, 0.3), wide), 0},
		{"one step", []int64{0}, 0},
		{"fewer", want.At[:50], 0},
		{"more", append([]int64{-1 << 51, -1 << 50}, want.At...), 0},
		{"falling", []int64{5, 3, -7}, 0},
		{"the ends", []int64{math.MinInt64, math.MaxInt64}, 0},
	} {
		got, err := f.StepFunctionLike(num.StepFunction{At: c.like}, wide, 1000)
		if err != nil || !slices.Equal(got.At, want.At) || !slices.Equal(got.Value, want.Value) {
			t.Errorf("like %s: %v, %v, want %v", c.name, got, err, want)
		}
		b := &searcher{f: f, limit: 1000, like: c.like}
		if err := b.run(wide.Lo, wide.Hi); err != nil {
			t.Error(err)
		}
		if each := float64(b.count) / float64(len(b.step.At)); c.each > 0 && each > c.each {
			t.Errorf("like %s: a step takes %.1f evaluations, at most %.1f", c.name, each, c.each)
		}
	}
}

func stepsOf(t *testing.T, f *Func, r num.Range) []int64 {
	s, err := f.StepFunctionOver(r, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return s.At
}

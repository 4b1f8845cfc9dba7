package real

import (
	"fmt"
	"math"
	"testing"
)

// TestLineTells checks that a line that is rounded and clipped, in any order, takes hardly more than one evaluation per
// step. Its steps must equal those found integer by integer.
func TestLineTells(t *testing.T) {
	t.Parallel()
	between := func(x *Expr, lo, hi float64) *Expr {
		return Min(Max(x, ConstantExprOfFloat(lo)), ConstantExprOfFloat(hi))
	}
	for _, slope := range []float64{0.1137, -0.1137, 0.02137, 0.25, -3} {
		for _, mode := range []RoundingMode{RoundingModeHalfEven, RoundingModeTowardsNegativeInf,
			RoundingModeTowardsPositiveInf, RoundingModeHalfAwayFromZero,
			RoundingModeHalfTowardsZero} {
			x := Add(Mul(Var(0), ConstantExprOfFloat(slope)), ConstantExprOfFloat(0.3))
			for name, e := range map[string]*Expr{
				"behind":   between(Round(x, mode), -8, 7),
				"in front": Round(between(x, -8, 7), mode),
				"ReLU": between(Round(Div(Max(x, ConstantExprOfFloat(0)), ConstantExprOfFloat(0.166)), mode), 0,
					15),
			} {
				t.Run(fmt.Sprint(name, mode, slope), func(t *testing.T) {
					b := &searcher{f: Compile(e), limit: 100}
					if err := b.run(-500, 500); err != nil {
						t.Fatal(err)
					}
					for v := int64(-500); v <= 500; v++ {
						y, _ := Compile(e).EvaluateInterval([]Interval{NewPointInterval(float64(v))})
						if got := b.step.Apply(v); y.IsPoint() && math.Abs(float64(got)-y.Lo) != 0 {
							t.Fatalf("%d at %d, want %v", got, v, y)
						}
					}
					if most := 2*len(b.step.At) + 32; b.count > most {
						t.Errorf("%d evaluations for %d steps, at most %d", b.count, len(b.step.At), most)
					}
				})
			}
		}
	}
}

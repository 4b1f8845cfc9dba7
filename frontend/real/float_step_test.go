package real

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// A firstQuantiser is one that numbers of a format meet, behind functions that rise or fall.
type firstQuantiser struct {
	front      string
	scale, pre float64 // pre is a factor or a summand in front
	zero       float64
	lo, hi     int64
	mode       RoundingMode
}

// fronts are functions of x in front of a quantiser.
var fronts = map[string]func(x *Expr, by float64) *Expr{
	"":     func(x *Expr, by float64) *Expr { return x },
	"Mul":  func(x *Expr, by float64) *Expr { return Mul(x, ConstantExprOfFloat(by)) },
	"Add":  func(x *Expr, by float64) *Expr { return Add(x, ConstantExprOfFloat(by)) },
	"Tanh": func(x *Expr, by float64) *Expr { return tanh(Mul(x, ConstantExprOfFloat(by))) },
	"Relu": func(x *Expr, by float64) *Expr { return Max(x, ConstantExprOfFloat(0)) },
	"Abs":  func(x *Expr, by float64) *Expr { return Neg(Abs(x)) },
}

// tanh is 1 - 2/(exp(2x)+1), as models' operator is written out.
func tanh(x *Expr) *Expr {
	return Sub(ConstantExprOfFloat(1), Div(ConstantExprOfFloat(2), Add(Exp(Mul(ConstantExprOfFloat(2), x)),
		ConstantExprOfFloat(1))))
}

func (q firstQuantiser) expr() *Expr {
	x := Add(Div(fronts[q.front](Var(0), q.pre), ConstantExprOfFloat(q.scale)), ConstantExprOfFloat(q.zero))
	return Round(Max(Min(x, ConstantExprOfFloat(float64(q.hi))), ConstantExprOfFloat(float64(q.lo))), q.mode)
}

// at is the code of one number, which no search has seen: it is decided in exact arithmetic.
func (q firstQuantiser) at(t *testing.T, x float64) int64 {
	t.Helper()
	f := Compile(q.expr())
	for _, bits := range WorkingPrecisionBits {
		y, err := f.EvaluateExactly([]Num{NumberOfRational(new(big.Rat).SetFloat64(x))}, bits)
		if err == nil && y.r != nil && y.r.IsInt() {
			return y.r.Num().Int64()
		}
	}
	t.Fatalf("%+v has no code at %v", q, x)
	return 0
}

// TestStepOverFloats compares quantisers' codes of numbers of every format with exact arithmetic: on both sides of
// every breakpoint, at zero, at the least and the greatest numbers, and at random. Zero is a threshold of many
// quantisers, for example with FLOOR and a whole zero point.
func TestStepOverFloats(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(1, 2))
	list := []firstQuantiser{
		{"", 0.0625, 0, 0, -8, 7, RoundingModeHalfEven}, {"", float64(float32(0.0123)), 0, -34, -128, 127,
			RoundingModeTowardsNegativeInf},
		{"", float64(float32(1e-30)), 0, 0, -2, 1, RoundingModeHalfAwayFromZero}, {"", 1e15, 0, -1e5, 0, 3,
			RoundingModeTowardsPositiveInf},
	}
	n := 60
	if tier.Long() {
		n = 1000
	}
	modes := []RoundingMode{RoundingModeHalfEven, RoundingModeHalfAwayFromZero, RoundingModeHalfTowardsZero,
		RoundingModeAwayFromZero, RoundingModeTowardsZero, RoundingModeTowardsPositiveInf,
		RoundingModeTowardsNegativeInf}
	zeros := []float64{0, 0, 1, 0.5, 1.5, -2, 3, -0.5}
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range fronts {
			if !yield(name) {
				return
			}
		}
	})
	for i := range n {
		q := firstQuantiser{front: names[r.IntN(len(names))], scale: float64(float32(math.Exp(r.NormFloat64()*2 - 2))),
			pre: float64(float32(r.NormFloat64())), zero: zeros[r.IntN(len(zeros))], lo: -8, hi: 7,
			mode: modes[i%len(modes)]}
		list = append(list, q)
	}
	for _, of := range []num.FloatFormat{num.Float32Format, num.Float64Format, num.Float16Format, num.BFloat16Format} {
		for _, q := range list {
			t.Run(fmt.Sprint(of.Digits, q), func(t *testing.T) {
				t.Parallel()
				step, err := Compile(q.expr()).StepFunctionOverFloats(of, 1000)
				if err != nil || step.Verify() != nil {
					t.Fatal(err, step.Verify())
				}
				keys := []int64{of.FinitePositions().Lo, of.FinitePositions().Lo + 1, -2, -1, 0, 1, 2,
					of.FinitePositions().Hi - 1, of.FinitePositions().Hi}
				for _, at := range step.At {
					keys = append(keys, at-1, at, at+1)
				}
				r := rand.New(rand.NewPCG(1, 2))
				for range 50 {
					keys = append(keys, r.Int64N(of.FinitePositions().Hi)-r.Int64N(of.FinitePositions().Hi),
						of.PositionOf(max(-of.Max, min(of.Max, of.RoundToNearest(r.NormFloat64()*q.scale*10)))))
				}
				for _, key := range keys {
					if of.FinitePositions().Contains(key) {
						if got, want := step.Apply(key), q.at(t, of.NumberAtPosition(key)); got != want {
							t.Fatalf("%g has code %d, want %d", of.NumberAtPosition(key), got, want)
						}
					}
				}
			})
		}
	}
}

// TestSwings checks that the search gives up at once on functions that go up and down over all floating-point numbers,
// and searches those that turn a few times.
func TestSwings(t *testing.T) {
	t.Parallel()
	round := func(x *Expr) *Expr {
		return Round(Max(Min(Div(x, ConstantExprOfFloat(0.25)), ConstantExprOfFloat(7)), ConstantExprOfFloat(-8)),
			RoundingModeHalfEven)
	}
	sine := Sin(Var(0))
	for _, c := range []struct {
		name   string
		of     *Expr
		swings bool
	}{
		{"sine", sine, true},
		{"sine of a product", Sin(Mul(Var(0), ConstantExprOfFloat(0.01))), true},
		{"|x| that is cut", Min(Abs(Var(0)), ConstantExprOfFloat(1)), false},
		{"a bump", Exp(Neg(Mul(Var(0), Var(0)))), false},
		{"sine near zero", Sin(Max(Min(Var(0), ConstantExprOfFloat(9)), ConstantExprOfFloat(-9))), false},
		{"W", Abs(Sub(Abs(Sub(Abs(Var(0)), ConstantExprOfFloat(1))), ConstantExprOfFloat(0.5))), false},
	} {
		for _, format := range []num.FloatFormat{num.Float64Format, num.Float32Format, num.BFloat16Format} {
			b := &searcher{f: Compile(round(c.of)), at: format.NumberAtPosition}
			if b.swings(format.FinitePositions()) != c.swings {
				t.Errorf("%s, %+v: want %t", c.name, format, c.swings)
			}
		}
	}
}

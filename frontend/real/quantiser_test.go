package real

import (
	"math/rand/v2"
	"testing"

	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// quantised draws a quantiser of 12 to 18 bits as models spell them: a scale and a bias, perhaps a ReLU, the division
// by a scale, a zero point in front of the rounding or behind it, limits on either side, perhaps turned round.
func quantised(r *rand.Rand) *Expr {
	float := func(most float64) *Expr { return ConstantExprOfFloat(float64(float32(most * (r.Float64() + 0.01)))) }
	power := func() *Expr { return ConstantExprOfFloat(1 / float64(int64(1)<<r.IntN(10))) }
	scale := func() *Expr {
		if r.IntN(2) == 0 {
			return power()
		}
		return float(1)
	}
	bits := 12 + r.IntN(7)
	lo, hi := ConstantExprOfFloat(0), ConstantExprOfFloat(float64(int64(1)<<bits-1))
	if r.IntN(2) == 0 {
		lo, hi = ConstantExprOfFloat(-float64(int64(1)<<(bits-1))), ConstantExprOfFloat(float64(int64(1)<<(bits-1)-1))
	}
	e := Add(Mul(scale(), Var(0)), Sub(float(100), float(100)))
	if r.IntN(3) == 0 {
		e = Sub(float(10), e)
	}
	if r.IntN(2) == 0 {
		e = Max(e, ConstantExprOfFloat(0))
	}
	e = Div(e, scale())
	zero := ConstantExprOfFloat(float64(2 * r.IntN(1<<(bits-2))))
	before := r.IntN(2) == 0
	if before {
		e = Add(e, zero)
	}
	mode := []RoundingMode{RoundingModeHalfEven, RoundingModeHalfAwayFromZero, RoundingModeHalfTowardsZero,
		RoundingModeTowardsNegativeInf, RoundingModeTowardsPositiveInf,
		RoundingModeAwayFromZero, RoundingModeTowardsZero}[r.IntN(7)]
	switch r.IntN(3) {
	case 0:
		e = Round(Min(Max(e, lo), hi), mode)
	case 1:
		e = Max(Min(Round(e, mode), hi), lo)
	default:
		e = Round(Max(Round(Min(e, hi), mode), lo), RoundingModeHalfEven)
	}
	if !before && (mode == RoundingModeHalfEven || mode == RoundingModeTowardsNegativeInf ||
		mode == RoundingModeTowardsPositiveInf) {
		e = Add(e, zero)
	}
	if r.IntN(4) == 0 {
		e = Neg(e)
	}
	return e
}

// TestQuantiser compares the quantisers that are read from expressions, and the multiplications and shifts made of
// them, with the exact evaluator.
func TestQuantiser(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(17, 18))
	scaled := 0
	for i := range 400 {
		e := quantised(r)
		q, ok := e.AsQuantiser()
		if !ok {
			t.Fatalf("expression %d is not read", i)
		}
		x := num.Range{Lo: -r.Int64N(1 << 20), Hi: r.Int64N(1 << 20)}
		s, ok := q.FindScalingOver(x, 0)
		if ok {
			scaled++
		}
		f := Compile(e)
		for n := range int64(60) {
			at := x.Lo + r.Int64N(x.ValueCount())
			if n < 4 {
				at = []int64{x.Lo, x.Hi, max(x.Lo, -n), min(x.Hi, n)}[n]
			}
			exact, err := f.StepFunctionOver(num.SingleValueRange(at), 1)
			if err != nil {
				t.Fatal(err)
			}
			want := exact.Value[0]
			if got := q.CodeAt(at); got != want {
				t.Fatalf("expression %d: %+v is %d at %d, want %d", i, q, got, at, want)
			}
			sum := s.Multiplier*at + s.Bias
			if got := min(max(s.Mode.DivideByPowerOfTwo(sum, s.Shift), q.Lo), q.Hi); ok && got != want {
				t.Fatalf("expression %d: %+v is %d at %d, want %d", i, s, got, at, want)
			}
		}
	}
	if scaled < 300 {
		t.Errorf("%d of 400 quantisers are scaled", scaled)
	}
	for name, e := range map[string]*Expr{
		"no rounding": Mul(Var(0), ConstantExprOfFloat(0.5)),
		"a root":      Round(Sqrt(Var(0)), RoundingModeTowardsNegativeInf),
		"two roundings": Round(Mul(Round(Var(0), RoundingModeTowardsNegativeInf), ConstantExprOfFloat(0.5)),
			RoundingModeTowardsNegativeInf),
		"limits between": Min(Round(Mul(Var(0), ConstantExprOfFloat(0.5)), RoundingModeTowardsNegativeInf),
			ConstantExprOfFloat(1.5)),
		"an odd offset": Add(Round(Mul(Var(0), ConstantExprOfFloat(0.5)), RoundingModeHalfEven),
			ConstantExprOfFloat(1)),
	} {
		if q, ok := e.AsQuantiser(); ok {
			t.Errorf("%s: read as %+v", name, q)
		}
	}
}

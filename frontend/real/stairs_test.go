package real

import (
	"math/rand/v2"
	"testing"
)

// TestStairs compares the answers of stairs with evaluation. It uses random functions of variable 0 that round once,
// with another variable that stays, at points and intervals around them.
func TestStairs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 9))
	functions, known := 0, 0
	for range 4000 {
		modes := []RoundingMode{RoundingModeHalfEven, RoundingModeHalfAwayFromZero, RoundingModeHalfTowardsZero,
			RoundingModeTowardsNegativeInf, RoundingModeTowardsPositiveInf,
			RoundingModeAwayFromZero, RoundingModeTowardsZero}
		inner := randomExpr(rng, 2, 3)
		e := Mul(Max(Round(inner, modes[rng.IntN(len(modes))]), ConstantExprOfFloat(-3)), Add(Var(1),
			ConstantExprOfFloat(0.5)))
		f, fresh := Compile(e), Compile(e)
		if !f.IsOnlyRoundedIn(0) {
			continue
		}
		functions++
		var s RoundingPlateauCache
		beside := NewPointInterval(float64(rng.IntN(9)) - 4)
		for range 60 {
			x := NewPointInterval(float64(rng.IntN(64))/8 - 4)
			if rng.IntN(3) == 0 {
				x.Hi += float64(rng.IntN(5)) / 32
			}
			want, sure := fresh.EvaluateInterval([]Interval{x, beside})
			if y, ok := s.CachedValueAt(x); ok {
				known++
				if sure && !y.same(want) || y.Lo > want.Hi || y.Hi < want.Lo {
					t.Fatalf("function %d at %v, %v is %v, want %v", functions, x, beside, y, want)
				}
			}
			if y, sure := f.EvaluateInterval([]Interval{x, beside}); sure {
				s.AddValue(f, 0, y)
			}
		}
	}
	if functions < 1000 || known < 20*functions {
		t.Errorf("%d of 4000 functions, %d places known", functions, known)
	}
}

// TestRoundsOnce has functions that do and do not depend on a variable through one rounding alone.
func TestRoundsOnce(t *testing.T) {
	t.Parallel()
	x, y := Var(0), Var(1)
	for name, c := range map[string]struct {
		e    *Expr
		want bool
	}{
		"a quantiser":            {Mul(Round(Div(x, y), RoundingModeHalfEven), y), true},
		"no rounding":            {Add(x, y), false},
		"what a rounding leaves": {Sub(x, Round(x, RoundingModeHalfEven)), false},
		"two roundings": {Round(Add(x, Round(y, RoundingModeTowardsNegativeInf)),
			RoundingModeTowardsNegativeInf), false},
		"a comparison": {AtLeast(x, y), false},
	} {
		if got := Compile(c.e).IsOnlyRoundedIn(0); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestManySteps has more steps than stairs keep.
func TestManySteps(t *testing.T) {
	t.Parallel()
	f := Compile(Round(Var(0), RoundingModeTowardsNegativeInf))
	var s RoundingPlateauCache
	for n := range 2 * maxTreads {
		y, _ := f.EvaluateInterval([]Interval{NewPointInterval(float64(n) + 0.5)})
		s.AddValue(f, 0, y)
	}
	if y, ok := s.CachedValueAt(NewPointInterval(7.5)); ok {
		t.Errorf("7.5 is known to give %v", y)
	}
}

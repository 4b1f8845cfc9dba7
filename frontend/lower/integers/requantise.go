package integers

import (
	"math/big"
	"slices"

	"hlsgen/frontend/real"
	"hlsgen/internal/num"
)

// FindRequantisation returns integers m and a step function f with f(sum of m[i]*q[i]) = outer(inner(q)) for all q
// within the ranges. f has at most limit steps. m holds the scales as multiples of their common unit or, for two
// tensors, smaller integers that give the same codes. If int64s are too short, the error is real.ErrTooManySteps.
func FindRequantisation(inner real.LinearForm, outer *real.Expr, ranges []num.Range, limit int) ([]int64,
	num.StepFunction, error) {
	unit := GreatestCommonUnitOf(inner.Scale)
	exact := make([]int64, len(ranges))
	sum := num.Range{}
	for i, v := range inner.Scale {
		m, reject := CountUnits(v, unit)
		term, ok := ranges[i].TimesConstant(m)
		if ok {
			sum, ok = sum.Plus(term)
		}
		if reject != nil || !ok {
			return nil, num.StepFunction{}, real.ErrTooManySteps
		}
		exact[i] = m
	}
	f, err := real.Compile(outer.SubstituteVariables([]*real.Expr{real.Mul(real.Var(0),
		real.ConstantExpr(unit))})).StepFunctionOver(sum, limit)
	if err != nil {
		return nil, num.StepFunction{}, err
	}
	if len(ranges) != 2 || exact[0] == 0 || exact[1] == 0 {
		return exact, f, nil
	}
	if m, g, ok := approximate([2]int64(exact), f, [2]num.Range(ranges)); ok {
		return m[:], g, nil
	}
	return exact, f, nil
}

// Limits of the search for smaller multipliers: maxPairs is the number of pairs of thresholds and integers that are
// examined per candidate, and maxCandidates the number of candidates.
const (
	maxPairs      = 1 << 20
	maxCandidates = 256
)

// approximate looks for smaller multipliers m, in place of exact, and a step function g of their sum that equals f of
// the exact sum. It tries ratios close to the exact one, the smallest terms first. ok is false if it finds none.
func approximate(exact [2]int64, f num.StepFunction, ranges [2]num.Range) (m [2]int64, g num.StepFunction, ok bool) {
	// Make both multipliers positive, and the first tensor the one with fewer values.
	var sign [2]int64
	for i, v := range exact {
		if sign[i] = 1; v < 0 {
			sign[i], exact[i], ranges[i] = -1, -v, ranges[i].Negated()
		}
	}
	swap := ranges[0].ValueCount() > ranges[1].ValueCount()
	if swap {
		exact[0], exact[1], ranges[0], ranges[1] = exact[1], exact[0], ranges[1], ranges[0]
	}
	if n := ranges[0].ValueCount(); n > maxPairs || n*int64(len(f.At)+1) > maxPairs {
		return m, g, false
	}
	for tried, c := range candidates(exact) {
		if tried == maxCandidates || c[0] >= exact[0] && c[1] >= exact[1] {
			break
		}
		if g, ok = equivalent(exact, c, f, ranges); ok {
			m = c
			if swap {
				m[0], m[1] = m[1], m[0]
			}
			return [2]int64{m[0] * sign[0], m[1] * sign[1]}, g, true
		}
	}
	return m, g, false
}

// candidates walks down the Stern-Brocot tree towards the ratio of two positive integers. It yields better and
// better approximations with larger and larger terms, up to the ratio itself.
func candidates(v [2]int64) func(yield func(int, [2]int64) bool) {
	return func(yield func(int, [2]int64) bool) {
		lo, hi := [2]int64{0, 1}, [2]int64{1, 0}
		for n := 0; ; n++ {
			mid := [2]int64{lo[0] + hi[0], lo[1] + hi[1]}
			if !yield(n, mid) {
				return
			}
			a := new(big.Int).Mul(big.NewInt(v[0]), big.NewInt(mid[1]))
			switch a.Cmp(new(big.Int).Mul(big.NewInt(v[1]), big.NewInt(mid[0]))) {
			case 0:
				return
			case 1:
				lo = mid
			default:
				hi = mid
			}
		}
	}
}

// equivalent returns the step function over m[0]*x + m[1]*y that equals f over a[0]*x + a[1]*y for all x, y of the
// ranges. ok is false if there is none. All multipliers must be positive.
func equivalent(a, m [2]int64, f num.StepFunction, ranges [2]num.Range) (g num.StepFunction, ok bool) {
	g.Value = []int64{f.Value[0]}
	x, y := ranges[0], ranges[1]
	for i, at := range f.At {
		var below, from int64 // the largest sum below, and the least sum that reaches
		hasBelow, hasFrom := false, false
		for v := x.Lo; v <= x.Hi; v++ {
			least := ceilDiv(at-a[0]*v, a[1])
			if least > y.Lo {
				if sum := m[0]*v + m[1]*min(least-1, y.Hi); !hasBelow || sum > below {
					below, hasBelow = sum, true
				}
			}
			if least <= y.Hi {
				if sum := m[0]*v + m[1]*max(least, y.Lo); !hasFrom || sum < from {
					from, hasFrom = sum, true
				}
			}
			if hasBelow && hasFrom && below >= from {
				return g, false
			}
		}
		switch n := len(g.At); {
		case !hasFrom: // never reached
		case !hasBelow: // always reached
			g.Value[0] = f.Value[i+1]
		case n > 0 && g.At[n-1] == from: // no sum lies in between
			g.Value[n] = f.Value[i+1]
		default:
			g.At, g.Value = append(g.At, from), append(g.Value, f.Value[i+1])
		}
	}
	g.At = slices.Clone(g.At) // with minimal capacity, since it is kept
	return g, true
}

// ceilDiv returns a/b rounded up, for a positive b.
func ceilDiv(a, b int64) int64 {
	q := a / b
	if a%b > 0 {
		q++
	}
	return q
}

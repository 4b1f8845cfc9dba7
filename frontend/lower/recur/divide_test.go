package recur

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"hlsgen/frontend/lower/integers"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// modes maps roundings to the names that the model uses.
var modes = map[num.Rounding]real.RoundingMode{num.RoundingHalfEven: real.RoundingModeHalfEven,
	num.RoundingHalfAwayFromZero: real.RoundingModeHalfAwayFromZero,
	num.RoundingHalfTowardZero:   real.RoundingModeHalfTowardsZero,
	num.RoundingFloor:            real.RoundingModeTowardsNegativeInf,
	num.RoundingCeil:             real.RoundingModeTowardsPositiveInf,
	num.RoundingTowardZero:       real.RoundingModeTowardsZero,
	num.RoundingAwayFromZero:     real.RoundingModeAwayFromZero}

// TestDivided compares codes of at least 14 bits, computed from sums of products, with the real numbers. It checks
// random sums, and sums beside a change of the code, of which every third is a tie.
func TestDivided(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(9, 2))
	for mode, meant := range modes {
		changed := map[int64]bool{}
		for n := range 24 {
			bits := []int{0, 3, 20, 90}[r.IntN(4)]
			v := &value{kind: code, units: 1 + r.IntN(2), step: &program.Step{}}
			var ranges []num.Range
			for range 3 {
				lo := -r.Int64N(1 << (1 + r.IntN(15)))
				ranges = append(ranges, num.Range{Lo: lo, Hi: lo + 1 + r.Int64N(1<<(1+r.IntN(15)))})
				v.args = append(v.args, &value{kind: sum, units: v.units})
			}
			for _, a := range v.args {
				for u := range v.units {
					a.ranges = append(a.ranges, ranges[u])
				}
			}
			terms := [][]int{{0}, {1, 2}}
			size := int64(1) << (13 + r.IntN(9))
			q := &integers.ProductRounding{Mode: mode, Codes: num.Range{Lo: -size, Hi: size - 1 - r.Int64N(2)},
				Before: new(big.Rat)}
			if n%3 == 0 {
				q.Behind = r.Int64N(2*size) - size
				q.Codes.Lo, q.Codes.Hi = 0, 2*size
			}
			units, bias := make([]polynomial, v.units), make([]*big.Rat, v.units)
			for u := range units {
				p := &units[u]
				for _, term := range terms {
					s := far(r, bits)
					if n%4 == 0 {
						s = big.NewRat(1+r.Int64N(9), []int64{2, 6, 10}[r.IntN(3)])
					}
					p.scale, p.ranges = append(p.scale, s), append(p.ranges, v.productRange(term, u))
				}
				if bias[u] = big.NewRat(r.Int64N(100), 1+r.Int64N(6)); n%2 == 0 {
					bias[u] = new(big.Rat)
				}
			}
			args := v.args
			if _, ok := v.divided(q, terms, units, bias); !ok {
				t.Fatalf("%s: no division of %v", mode, units)
			}
			for range 120 {
				u := r.IntN(v.units)
				known := map[*value]int64{}
				for i, a := range args {
					if known[a] = a.ranges[u].Lo + r.Int64N(a.ranges[u].ValueCount()); r.IntN(3) == 0 && i > 0 {
						known[a] = min(max(r.Int64N(3)-1, a.ranges[u].Lo), a.ranges[u].Hi)
					}
				}
				x := new(big.Rat).Set(bias[u])
				for k, term := range terms {
					p := big.NewInt(1)
					for _, i := range term {
						p.Mul(p, big.NewInt(known[args[i]]))
					}
					x.Add(x, new(big.Rat).Mul(units[u].scale[k], new(big.Rat).SetInt(p)))
				}
				e := real.Add(real.Round(real.ConstantExpr(x), meant), integer(q.Behind))
				e = real.Min(real.Max(e, integer(q.Codes.Lo)), integer(q.Codes.Hi))
				want, err := real.Compile(e).StepFunctionOver(num.SingleValueRange(0), 1)
				if err != nil {
					t.Fatal(err)
				}
				if got := compute(v, u, known); got != want.Value[0] {
					t.Fatalf("%s with %d behind, bias %v, scales %v: the code of %v is %d, want %d", mode, q.Behind,
						bias[u], units[u].scale, x.FloatString(9), got, want.Value[0])
				}
				changed[want.Value[0]] = true
			}
		}
		if len(changed) < 300 {
			t.Errorf("%s: %d codes are too few to tell", mode, len(changed))
		}
	}
}

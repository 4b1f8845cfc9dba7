package num

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// code returns the code of a scaling with limits.
func (s WideScaling) code(x int64, lo, hi int64) int64 {
	v := new(big.Int).Mul(s.Multiplier, big.NewInt(x))
	v.Add(v, s.Bias)
	v = rounded(v.Rsh(v, uint(s.Shift-s.Kept)), new(big.Int).Lsh(big.NewInt(1), uint(s.Kept)), s.Mode)
	if !v.IsInt64() {
		return map[bool]int64{true: hi, false: lo}[v.Sign() > 0]
	}
	return min(max(v.Int64(), lo), hi)
}

// around returns the ends of x, and up to n pairs of neighbours between which the quantiser's code changes.
func around(r *rand.Rand, q ExactQuantiser, x Range, n int) (list []int64) {
	list = []int64{x.Lo, x.Hi}
	for range n {
		lo, hi := x.Lo, x.Hi
		a, b := q.CodeAt(lo), q.CodeAt(hi)
		if a == b {
			return list
		}
		wanted := min(a, b) + 1 + r.Int64N(max(a, b)-min(a, b))
		for uint64(hi)-uint64(lo) > 1 {
			if m := lo + int64((uint64(hi)-uint64(lo))/2); (q.CodeAt(m) >= wanted) == (b >= wanted) {
				hi = m
			} else {
				lo = m
			}
		}
		list = append(list, lo, hi)
	}
	return list
}

// TestWideScalings compares scalings of any size with the quantiser, on both sides of steps. Scales are quotients of
// three numbers of float32, as an exporter's are, and inputs have up to 44 bits.
func TestWideScalings(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(4, 7))
	float := func() *big.Rat { return new(big.Rat).SetFloat64(float64(float32(0.5 + r.Float64()))) }
	down, rounded := 0, 0
	for i := range 400 {
		q, x := quantisers(r, 13+r.IntN(4))
		if i%2 == 0 {
			x.Lo, x.Hi = x.Lo<<r.IntN(24), x.Hi<<r.IntN(24)
			q.Scale = new(big.Rat).Mul(float(), new(big.Rat).Quo(float(), float()))
			q.Scale.Mul(q.Scale, new(big.Rat).SetFrac64(q.Hi-q.Lo, x.ValueCount()))
			q.Bias = new(big.Rat).SetInt64(r.Int64N(1 << 16))
			q.Mode = []Rounding{RoundingHalfEven, RoundingHalfOdd, RoundingHalfUp}[r.IntN(3)]
		}
		check := func(s WideScaling) {
			for _, v := range around(r, q, x, 20) {
				if got, want := s.code(v, q.Lo, q.Hi), q.CodeAt(v); got != want {
					t.Fatalf("%+v over %v: %+v gives %d at %d, want %d", q, x, s, got, v, want)
				}
			}
		}
		if s, ok := q.FindWideScalingOver(x, r.IntN(4)); ok {
			down++
			check(s)
		}
		if kept, cut := q.FractionBits()+r.IntN(2), CutOffBits(x)+r.IntN(3); q.Mode != RoundingHalfOdd {
			rounded++
			check(q.RoundedScalingOver(x, kept, cut))
		}
	}
	if down < 250 || rounded < 250 {
		t.Errorf("%d of 400 quantisers have scalings that round down, %d others", down, rounded)
	}
}

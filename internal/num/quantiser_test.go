package num

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// quantisers draws a quantiser of the given number of bits, and a range of sums. Most of these reach most of its
// codes.
func quantisers(r *rand.Rand, bits int) (q ExactQuantiser, x Range) {
	q.Mode = Roundings[r.IntN(len(Roundings))]
	if q.Lo, q.Hi = 0, 1<<bits-1; r.IntN(2) == 0 {
		q.Lo, q.Hi = -1<<(bits-1), 1<<(bits-1)-1
	}
	if r.IntN(3) == 0 {
		q.Lo = max(q.Lo, 0) // as after a ReLU
	}
	x = Range{Lo: -r.Int64N(1 << (bits - 2 + r.IntN(6))), Hi: r.Int64N(1 << (bits - 2 + r.IntN(6)))}
	float := func(of float64) *big.Rat { return new(big.Rat).SetFloat64(float64(float32(of))) }
	steps := float64(int64(1)<<bits) / float64(x.ValueCount())
	switch r.IntN(4) {
	case 0: // powers of two, with ties
		q.Scale = new(big.Rat).SetFrac64(1+2*r.Int64N(4), 1<<r.IntN(8))
		q.Bias = new(big.Rat).SetFrac64(r.Int64N(1<<12)-1<<11, 1<<r.IntN(8))
	case 1: // few bits behind the binary point, with ties
		q.Scale = big.NewRat(1+r.Int64N(30), 1+r.Int64N(60))
		q.Bias = big.NewRat(r.Int64N(2000)-1000, 1+r.Int64N(60))
	case 2: // real numbers, as exporters write them
		q.Scale = float((0.5 + r.Float64()) * steps)
		q.Bias = float(r.NormFloat64() * 100)
	default: // the scale of the codes
		own := float(0.001 + r.Float64())
		q.Scale = new(big.Rat).Quo(float((0.5+r.Float64())*steps), own)
		q.Bias = new(big.Rat).Quo(float(r.NormFloat64()*100), own)
	}
	if r.IntN(3) == 0 {
		q.Scale.Neg(q.Scale)
	}
	return q, x
}

// TestScaledOver compares scalings with the quantiser: at every integer of narrow ranges, at some thousand integers
// of wide ones.
func TestScaledOver(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(1, 7))
	found, missed := map[string]int{}, map[string]int{}
	for i := range 4000 {
		bits := 2 + r.IntN(4)
		if i < 300 {
			bits = 12 + r.IntN(7)
		}
		q, x := quantisers(r, bits)
		s, ok := q.FindScalingOver(x, r.IntN(4))
		name := fmt.Sprint(q.Mode)
		if !ok {
			missed[name]++
			continue
		}
		found[name]++
		for v := x.Lo; v <= x.Hi; v += 1 + r.Int64N(1+x.ValueCount()/(1<<12)) {
			got := min(max(s.Mode.DivideByPowerOfTwo(s.Multiplier*v+s.Bias, s.Shift), q.Lo), q.Hi)
			if want := q.CodeAt(v); got != want {
				t.Fatalf("%v*x + %v by %s in %d..%d over %v: %+v gives %d at %d, want %d", q.Scale, q.Bias, q.Mode,
					q.Lo, q.Hi, x, s, got, v, want)
			}
		}
	}
	for _, mode := range Roundings {
		if n := string(mode); found[n] < 10*missed[n] || found[n] < 300 {
			t.Errorf("%s: %d scalings found, %d not", n, found[n], missed[n])
		}
	}
}

// TestSteps compares step functions with the quantiser: at every integer of small ranges, and around every step in
// wide ranges.
func TestSteps(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(3, 7))
	many := 0
	for i := range 3000 {
		bits := 2 + r.IntN(7)
		q, x := quantisers(r, bits)
		if i%7 == 0 {
			q.Scale = new(big.Rat).Mul(q.Scale, big.NewRat(1<<r.IntN(12), 1))
		}
		if i%11 == 0 {
			x = Range{x.Lo, x.Lo + r.Int64N(9)}
		}
		const limit = 100
		s, few := q.StepFunctionOver(x, limit)
		want := StepFunction{Value: []int64{q.CodeAt(x.Lo)}}
		for v := x.Lo + 1; v <= x.Hi; v++ {
			if y := q.CodeAt(v); y != want.Value[len(want.Value)-1] {
				want.At, want.Value = append(want.At, v), append(want.Value, y)
			}
		}
		if few != (len(want.At) <= limit) || few && !s.Equal(want) {
			t.Fatalf("%+v over %v: %v, %v, want %v", q, x, s, few, want)
		}
		if !few {
			many++
		}
	}
	if many < 50 {
		t.Errorf("%d have too many steps", many)
	}
}

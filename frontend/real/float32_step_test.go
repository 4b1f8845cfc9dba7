package real

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestFloat32Key holds that keys are the order of float32.
func TestFloat32Key(t *testing.T) {
	t.Parallel()
	if Float32Key(float32(math.Copysign(0, -1))) != 0 || Float32Keys.Hi != 0x7f7fffff {
		t.Error("zero, or the greatest number, has another key")
	}
	before := Float32At(Float32Keys.Lo)
	for key := Float32Keys.Lo + 1; key <= Float32Keys.Hi; key += 99991 {
		x := Float32At(key)
		if x <= before || Float32Key(x) != key || Float32Key(math.Nextafter32(x, float32(math.Inf(1)))) != key+1 {
			t.Fatalf("key %d is of %g, behind %g", key, x, before)
		}
		before = x
	}
}

// TestStepOverFloat32 holds quantisers' codes at float32 numbers against exact arithmetic: at both sides of every
// breakpoint, and at random.
func TestStepOverFloat32(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scale, bias float64
		lo, hi      int64
		mode        Rounding
		falls       bool
	}{
		{0.0625, 0, -8, 7, HalfEven, false},
		{float64(float32(1. / 255)), 0, 0, 255, HalfEven, false},
		{float64(float32(0.0123)), -0.4242, -128, 127, Floor, false},
		{float64(float32(1e-30)), 0, -2, 1, HalfUp, false},
		{1e15, 1e20, 0, 3, Ceil, false},
		{0.5, 0, -128, 127, HalfEven, true},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 2))
			x := Var(0)
			if c.falls {
				x = Neg(Abs(x))
			}
			f := Compile(Round(Max(Min(Div(Sub(x, Float(c.bias)), Float(c.scale)), Float(float64(c.hi))),
				Float(float64(c.lo))), c.mode))
			step, err := f.StepOverFloat32(1000)
			if err != nil || step.Verify() != nil {
				t.Fatal(err, step.Verify())
			}
			want := func(key int64) int64 {
				v := new(big.Rat).SetFloat64(float64(Float32At(key)))
				if c.falls && v.Sign() > 0 {
					v.Neg(v)
				}
				v.Sub(v, new(big.Rat).SetFloat64(c.bias))
				v.Quo(v, new(big.Rat).SetFloat64(c.scale))
				if hi := big.NewRat(c.hi, 1); v.Cmp(hi) > 0 {
					v = hi
				}
				if lo := big.NewRat(c.lo, 1); v.Cmp(lo) < 0 {
					v = lo
				}
				return c.mode.roundRat(v).Int64()
			}
			keys := []int64{Float32Keys.Lo, -1, 0, 1, Float32Keys.Hi}
			for _, at := range step.At {
				keys = append(keys, at-1, at, at+1)
			}
			for range 200 {
				keys = append(keys, r.Int64N(2*Float32Keys.Hi)-Float32Keys.Hi,
					Float32Key(float32(r.NormFloat64()*c.scale*10)))
			}
			for _, key := range keys {
				if got := step.Apply(key); got != want(key) {
					t.Fatalf("%g has code %d, want %d", Float32At(key), got, want(key))
				}
			}
			if n := len(step.At); n != int(c.hi-c.lo) && !c.falls {
				t.Errorf("%d breakpoints of codes from %d to %d", n, c.lo, c.hi)
			}
		})
	}
}

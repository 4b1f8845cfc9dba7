package num

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestFormatRound compares Round with its definition: no number of the format is nearer, and a tie goes to the even
// number.
func TestFormatRound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ x, want float64 }{
		"float16":  {2049, 2048},
		"bfloat16": {257, 256},
		"float32":  {1<<24 + 1, 1 << 24},
		"float64":  {0x1p-1074, 0x1p-1074},
	} {
		f, ok := FloatFormatNamed(name)
		if got := f.RoundToNearest(c.x); !ok || got != c.want {
			t.Errorf("%s of %v is %v, want %v", name, c.x, got, c.want)
		}
	}
	if _, ok := FloatFormatNamed("float8e5m2"); ok {
		t.Error("float8e5m2 is a format of inputs")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range []FloatFormat{Float16Format, BFloat16Format, Float32Format} {
		for range 20000 {
			x := math.Ldexp(r.Float64()*2-1, r.IntN(60)-30)
			if r.IntN(4) == 0 {
				x = math.Ldexp(x, f.Least+20)
			}
			y := f.RoundToNearest(x)
			if math.IsInf(y, 0) {
				if math.Abs(x) < f.Max {
					t.Fatalf("%v of %v is %v", f, x, y)
				}
				continue
			}
			_, exp := math.Frexp(y)
			unit := math.Ldexp(1, max(exp-f.Digits, f.Least))
			if n := y / unit; n != math.Trunc(n) || math.Abs(y-x) > unit/2 ||
				math.Abs(y-x) == unit/2 && math.Mod(n, 2) != 0 {
				t.Fatalf("%v of %v is %v, off by %v of %v", f, x, y, math.Abs(y-x), unit)
			}
		}
		if m := f.Max; f.RoundToNearest(m) != m || !math.IsInf(f.RoundToNearest(m*(1+0x1p-8)), 1) ||
			!math.IsInf(f.RoundToNearest(-2*m), -1) ||
			f.RoundToNearest(math.Ldexp(1, f.Least)) == 0 || f.RoundToNearest(math.Ldexp(0.5, f.Least)) != 0 {
			t.Errorf("%v: its ends are wrong", f)
		}
	}
}

// TestOdd rounds rationals twice, to an odd float64 and then to a format. It compares the result with big.Float,
// which rounds once.
func TestOdd(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		// Close to the middle between two numbers of float16, closer than a float64 can tell.
		v := big.NewRat(int64(2*r.IntN(1024)+2049), 4096)
		v.Add(v, new(big.Rat).SetFrac(big.NewInt(int64(r.IntN(3)-1)), new(big.Int).Lsh(big.NewInt(1), 80)))
		near, _ := v.Float64()
		want, _ := new(big.Float).SetPrec(11).SetRat(v).Float64()
		if got := Float16Format.RoundToNearest(RoundToOdd(near, v.Cmp(new(big.Rat).SetFloat64(near)))); got != want {
			t.Fatalf("%v is %v, want %v", v, got, want)
		}
	}
}

// TestFormatKeys checks that keys number the values of a format in order, without gaps. It does so for formats that
// package math knows, too.
func TestFormatKeys(t *testing.T) {
	t.Parallel()
	if Float32Format.FinitePositions().Hi != 0x7f7fffff || Float64Format.FinitePositions().Hi != 0x7fefffffffffffff ||
		Float16Format.FinitePositions().Hi != 0x7bff ||
		BFloat16Format.FinitePositions().Hi != 0x7f7f {
		t.Error("the greatest number has another key")
	}
	for _, f := range []FloatFormat{Float64Format, Float32Format, Float16Format, BFloat16Format} {
		if f.PositionOf(0) != 0 || f.PositionOf(math.Copysign(0, -1)) != 0 ||
			f.PositionOf(f.Max) != f.FinitePositions().Hi {
			t.Errorf("%v: zero, or the greatest number, has another key", f)
		}
		r := rand.New(rand.NewPCG(5, 6))
		for n := range 10000 {
			key := r.Int64N(f.FinitePositions().Hi) - r.Int64N(f.FinitePositions().Hi)
			if n < 2000 {
				key = int64(n - 1000)
			}
			x, next := f.NumberAtPosition(key), f.NumberAtPosition(key+1)
			if f.RoundToNearest(x) != x || f.PositionOf(x) != key || f.PositionOf(-x) != -key || x >= next ||
				f.PositionOf(next) != key+1 {
				t.Fatalf("%v: key %d is of %v, which has key %d; the next is %v", f, key, x, f.PositionOf(x), next)
			}
			if f == Float32Format && float64(math.Nextafter32(float32(x), float32(math.Inf(1)))) != next ||
				f == Float64Format && math.Nextafter(x, math.Inf(1)) != next {
				t.Fatalf("%v: %v is behind %v", f, next, x)
			}
			if mid := x + (next-x)/2; f != Float64Format && f.RoundToNearest(mid) != x &&
				f.RoundToNearest(mid) != next {
				t.Fatalf("%v: %v between %v and %v is rounded to %v", f, mid, x, next, f.RoundToNearest(mid))
			}
		}
	}
}

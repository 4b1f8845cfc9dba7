package num

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// exact computes clip(round(x*scale)) by definition. It takes the nearest integer, and decides ties by the mode.
func exact(x int64, scale *big.Rat, mode Rounding, lo, hi int64) int64 {
	r := new(big.Rat).Mul(new(big.Rat).SetInt64(x), scale)
	below := int64(math.Floor(must(r.Float64()))) - 1 // near enough to start the search
	for new(big.Rat).SetInt64(below+1).Cmp(r) <= 0 {
		below++
	}
	above := below
	if new(big.Rat).SetInt64(below).Cmp(r) != 0 {
		above++
	}
	toBelow, toAbove := new(big.Rat).Sub(r, new(big.Rat).SetInt64(below)),
		new(big.Rat).Sub(new(big.Rat).SetInt64(above), r)
	v := below
	switch near := toBelow.Cmp(toAbove); {
	case mode == RoundingFloor, mode == RoundingTowardZero && r.Sign() >= 0, mode == RoundingAwayFromZero &&
		r.Sign() < 0:
	case mode == RoundingCeil, mode == RoundingTowardZero, mode == RoundingAwayFromZero, near > 0:
		v = above
	case near == 0:
		switch mode {
		case RoundingHalfEven:
			v = below + below&1*(above-below)
		case RoundingHalfUp:
			v = above
		case RoundingHalfTowardZero:
			if r.Sign() < 0 {
				v = above
			}
		case RoundingHalfAwayFromZero:
			if r.Sign() > 0 {
				v = above
			}
		}
	}
	return min(max(v, lo), hi)
}

func must(f float64, _ bool) float64 { return f }

func TestRequantApply(t *testing.T) {
	t.Parallel()
	// In quarters, there are ties at 2, 6, -2 and -6.
	xs := []int64{-7, -6, -5, -4, -2, -1, 0, 1, 2, 3, 6, 7}
	for mode, want := range map[Rounding][]int64{
		RoundingHalfEven:         {-2, -2, -1, -1, 0, 0, 0, 0, 0, 1, 2, 2},
		RoundingHalfUp:           {-2, -1, -1, -1, 0, 0, 0, 0, 1, 1, 2, 2},
		RoundingHalfTowardZero:   {-2, -1, -1, -1, 0, 0, 0, 0, 0, 1, 1, 2},
		RoundingHalfAwayFromZero: {-2, -2, -1, -1, -1, 0, 0, 0, 1, 1, 2, 2},
		RoundingFloor:            {-2, -2, -2, -1, -1, -1, 0, 0, 0, 0, 1, 1},
		RoundingTowardZero:       {-1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 1, 1},
		RoundingCeil:             {-1, -1, -1, -1, 0, 0, 0, 1, 1, 1, 2, 2},
		RoundingAwayFromZero:     {-2, -2, -2, -1, -1, -1, 0, 1, 1, 1, 2, 2},
	} {
		for i, x := range xs {
			if got := (Requant{Multiplier: 1, Shift: 2, Mode: mode, Lo: -9, Hi: 9}).Apply(x); got != want[i] {
				t.Errorf("%s of %d/4: %d, want %d", mode, x, got, want[i])
			}
		}
	}
	wide := Requant{Multiplier: 1, Shift: 62, Mode: RoundingHalfAwayFromZero, Lo: math.MinInt64, Hi: math.MaxInt64}
	for x, want := range map[int64]int64{1 << 61: 1, 1<<61 - 1: 0, -1 << 61: -1, -1 << 62: -1, 1<<62 - 1: 1} {
		if got := wide.Apply(x); got != want {
			t.Errorf("%d over 2^62: %d, want %d", x, got, want)
		}
	}
}

// TestRoundingLeast checks that Least is the first p whose DivideByPowerOfTwo reaches a value.
func TestRoundingLeast(t *testing.T) {
	t.Parallel()
	for _, mode := range Roundings {
		for shift := range 6 {
			for v := int64(-9); v <= 9; v++ {
				p := mode.LeastDividendReaching(v, shift)
				if at, before := mode.DivideByPowerOfTwo(p, shift), mode.DivideByPowerOfTwo(p-1, shift); at < v ||
					before >= v {
					t.Errorf("%s to %d by %d: %d, where it is %d, and %d before", mode, v, shift, p, at, before)
				}
			}
		}
	}
}

// TestRequantRange tries every input.
func TestRequantRange(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		q := Requant{Multiplier: r.Int64N(41) - 20, Shift: r.IntN(6), Mode: Roundings[r.IntN(len(Roundings))],
			Lo: r.Int64N(20) - 30, Hi: r.Int64N(20) + 5}
		in := Range{r.Int64N(40) - 30, 0}
		in.Hi = in.Lo + r.Int64N(40)
		want := SingleValueRange(q.Apply(in.Lo))
		for x := in.Lo; x <= in.Hi; x++ {
			y := q.Apply(x)
			if exact := exact(x, big.NewRat(q.Multiplier, 1<<q.Shift), q.Mode, q.Lo, q.Hi); y != exact ||
				q.WithLeastShift().Apply(x) != exact {
				t.Fatalf("%+v of %d: %d, reduced %d, want %d", q, x, y, q.WithLeastShift().Apply(x), exact)
			}
			want = want.Union(SingleValueRange(y))
		}
		if got, ok := q.ResultRange(in); got != want || !ok {
			t.Errorf("%+v over %v: %v, want %v", q, in, got, want)
		}
	}
	for _, tt := range []struct {
		q  Requant
		in Range
		ok bool
	}{
		{Requant{Multiplier: 1 << 40}, Range{-1 << 22, 1<<22 - 1}, true},
		{Requant{Multiplier: 1 << 40}, Range{0, 1 << 22}, false},
		{Requant{Multiplier: 3}, Range{math.MinInt64, 0}, false},
	} {
		if _, ok := tt.q.ResultRange(tt.in); ok != tt.ok {
			t.Errorf("%+v over %v: %t", tt.q, tt.in, ok)
		}
	}
}

func TestRequantVerify(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		q    Requant
		want string
	}{
		{Requant{Mode: RoundingFloor}, ""},
		{Requant{}, `unknown rounding ""`},
		{Requant{Mode: halfDown}, `unknown rounding "half-down"`},
		{Requant{Mode: RoundingFloor, Shift: 63}, "a shift by 63, want 0..62"},
		{Requant{Mode: RoundingFloor, Shift: -1}, "a shift by -1, want 0..62"},
		{Requant{Mode: RoundingFloor, Lo: 1}, "results from 1 up to 0"},
	} {
		if err := tt.q.Verify(); (err == nil) != (tt.want == "") || err != nil && err.Error() != tt.want {
			t.Errorf("%+v: %v, want %q", tt.q, err, tt.want)
		}
	}
}

// TestFitRequant checks that a found Requant equals the function at every integer, and that no smaller shift has a
// multiplier that does.
func TestFitRequant(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(3, 4))
	dyadic, short, none := 0, 0, 0
	for range 600 {
		scale := big.NewRat(r.Int64N(2001)-1000, 1+r.Int64N(3000))
		if r.IntN(4) == 0 {
			scale = big.NewRat(r.Int64N(2001)-1000, 1<<r.IntN(14))
		}
		mode := Roundings[r.IntN(len(Roundings))]
		in := Range{r.Int64N(500) - 400, 0}
		in.Hi = in.Lo + r.Int64N(600)
		lo, hi := r.Int64N(300)-350, r.Int64N(300)-20
		lo, hi = min(lo, hi), max(lo, hi)
		equals := func(q Requant) bool {
			for x := in.Lo; x <= in.Hi; x++ {
				if q.Apply(x) != exact(x, scale, mode, lo, hi) {
					return false
				}
			}
			return true
		}
		around := func(shift int) [2]Requant {
			below := rounded(new(big.Int).Lsh(scale.Num(), uint(shift)), scale.Denom(), RoundingFloor).Int64()
			return [2]Requant{{below, shift, mode, lo, hi}, {below + 1, shift, mode, lo, hi}}
		}
		q, ok := FitRequant(scale, mode, in, lo, hi)
		if !ok { // where an exact integer or tie has no room in either direction
			none++
			for _, q := range around(40) {
				if equals(q) {
					t.Errorf("%v %s on %v to %d..%d: none, but %+v does", scale, mode, in, lo, hi, q)
				}
			}
			continue
		}
		if !equals(q) {
			t.Fatalf("%v %s on %v to %d..%d: %+v", scale, mode, in, lo, hi, q)
		}
		if scale.Sign() != 0 && scale.Cmp(big.NewRat(q.Multiplier, 1<<q.Shift)) == 0 {
			dyadic++
		}
		if q.Shift > 0 {
			short++
			for _, smaller := range around(q.Shift - 1) {
				if equals(smaller) {
					t.Errorf("%v %s on %v to %d..%d: %+v, but %+v does too", scale, mode, in, lo, hi, q, smaller)
				}
			}
		}
	}
	if dyadic < 50 || short < 300 || none < 3 || none > 100 {
		t.Errorf("%d exact scales, %d shifts, %d without: too few to tell", dyadic, short, none)
	}
}

func TestFitRequantLimits(t *testing.T) {
	t.Parallel()
	wide := Range{-1 << 40, 1<<40 - 1}
	for _, tt := range []struct {
		name   string
		scale  *big.Rat
		in     Range
		lo, hi int64
		want   Requant
		ok     bool
	}{
		{"nothing", new(big.Rat), wide, -5, 5, Requant{0, 0, RoundingHalfEven, -5, 5}, true},
		{"an eighth", big.NewRat(1, 8), wide, math.MinInt64, math.MaxInt64,
			Requant{1, 3, RoundingHalfEven, math.MinInt64, math.MaxInt64}, true},
		{"a third of few", big.NewRat(1, 3), Range{-4, 4}, -9, 9, Requant{5, 4, RoundingHalfEven, -9, 9}, true},
		{"integers at both signs, all rounded up", big.NewRat(1, 3), Range{-4, 4}, -9, 9, Requant{}, false},
		{"too many changes", big.NewRat(1, 3), wide, math.MinInt64, math.MaxInt64, Requant{}, false},
		{"a third of many, clipped", big.NewRat(1, 3), Range{-1 << 30, 1 << 30}, -100, 100,
			Requant{341, 10, RoundingHalfEven, -100, 100}, true},
		{"products too wide", big.NewRat(3, 1<<40), Range{0, 1 << 61}, 0, math.MaxInt64, Requant{}, false},
		{"an empty clip", big.NewRat(1, 2), wide, 1, 0, Requant{}, false},
		{"an input too wide", big.NewRat(1, 2), Range{0, math.MaxInt64}, 0, 1, Requant{}, false},
	} {
		mode := RoundingHalfEven
		if strings.HasSuffix(tt.name, "rounded up") {
			mode = RoundingCeil
		}
		q, ok := FitRequant(tt.scale, mode, tt.in, tt.lo, tt.hi)
		if ok != tt.ok || ok && q != tt.want {
			t.Errorf("%s: %+v, %t, want %+v, %t", tt.name, q, ok, tt.want, tt.ok)
		}
	}
}

// TestFitRequantCell checks that requantisers for LSTM cells are found at once: 16 bits from a product of 8 by 16
// bits, with a scale of two float32 factors.
func TestFitRequantCell(t *testing.T) {
	t.Parallel()
	f := new(big.Rat).SetFloat64(float64(float32(0.0037)))
	scale := f.Mul(f, new(big.Rat).SetFloat64(float64(float32(0.97))))
	in := Range{-32768 * 255, 32767 * 255}
	q, ok := FitRequant(scale, RoundingHalfEven, in, -32768, 32767)
	if !ok || q.Shift > 45 {
		t.Fatalf("%+v, %t", q, ok)
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		x := in.Lo + r.Int64N(in.Hi-in.Lo+1)
		if got, want := q.Apply(x), exact(x, scale, RoundingHalfEven, q.Lo, q.Hi); got != want {
			t.Fatalf("%d: %d, want %d", x, got, want)
		}
	}
	t.Logf("%+v", q)
}

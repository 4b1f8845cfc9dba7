package real

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// rounds is n, or ten times as many in the long tier.
func rounds(n int) int {
	if tier.Long() {
		return 10 * n
	}
	return n
}

const smallest = math.SmallestNonzeroFloat64

// edges are values at which float64 arithmetic changes its nature.
var edges = []float64{0, math.Copysign(0, -1), 1, -1, 2, 0.5, 3, 1.0 / 3, smallest, -smallest, 3 * smallest, 0x1p-1022,
	-0x1p-1022, math.Nextafter(0x1p-1022, 0), 0x1p-537, 0x1p-538, 0x1p-500, 0x1p-512, tiny, math.Nextafter(tiny, 0),
	math.Nextafter(tiny, 1), 1e-41, 1e-51,
	0x1p52, 0x1p53, 0x1p53 + 2, 0x1p511, 0x1p512, 0x1p1022, 0x1p1023, math.MaxFloat64, -math.MaxFloat64,
	math.Nextafter(math.MaxFloat64, 0),
	math.MaxFloat64 / 2, math.MaxFloat32, float64(float32(0.1)), 0.1, math.Nextafter(1, 2), math.Nextafter(1, 0), 2.5,
	-3.5}

// draw is a finite float64 of one of many sorts.
func draw(r *rand.Rand) float64 {
	sign := float64(1 - 2*r.IntN(2))
	switch r.IntN(7) {
	case 0:
		return edges[r.IntN(len(edges))]
	case 1:
		return sign * float64(r.IntN(1<<12))
	case 2:
		return sign * math.Ldexp(float64(1+r.IntN(15)), r.IntN(20)-10) // ties and exact quotients
	case 3:
		return sign * float64(float32(r.NormFloat64()))
	case 4:
		return sign * math.Ldexp(r.Float64(), -1000-r.IntN(75)) // denormals and their neighbours
	case 5:
		return sign * math.Ldexp(1+r.Float64(), 1000+r.IntN(24))
	}
	for {
		if v := math.Float64frombits(r.Uint64()); !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
	}
}

// hold checks that x contains truth and is as tight as float64 allows: a point where truth is a float64, else two
// neighbours.
func hold(t *testing.T, what string, x Interval, truth *big.Rat) {
	t.Helper()
	lo, hi := big.NewFloat(x.Lo), big.NewFloat(x.Hi)
	v := new(big.Float).SetPrec(4000).SetRat(truth)
	f, _ := truth.Float64()
	exact := !math.IsInf(f, 0) && rat(f).Cmp(truth) == 0
	switch {
	case lo.Cmp(v) > 0 || hi.Cmp(v) < 0:
		t.Errorf("%s = %v does not hold %s", what, x, truth.RatString())
	case exact && !x.IsPoint():
		t.Errorf("%s = %v, wants the point %s", what, x, truth.RatString())
	case !x.IsPoint() && x.Hi != math.Nextafter(x.Lo, math.Inf(1)):
		t.Errorf("%s = %v is wider than two neighbours", what, x)
	}
}

func TestPointsAgainstRationals(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(1, 2))
	check := func(a, b float64) {
		x, y := rat(a), rat(b)
		hold(t, "sum", NewPointInterval(a).Add(NewPointInterval(b)), new(big.Rat).Add(x, y))
		hold(t, "difference", NewPointInterval(a).sub(NewPointInterval(b)), new(big.Rat).Sub(x, y))
		hold(t, "product", NewPointInterval(a).Mul(NewPointInterval(b)), new(big.Rat).Mul(x, y))
		if b != 0 {
			hold(t, "quotient", NewPointInterval(a).div(NewPointInterval(b)), new(big.Rat).Quo(x, y))
		} else if got := NewPointInterval(a).div(NewPointInterval(b)); got != IntervalOfAllReals {
			t.Errorf("%v/0 = %v, wants everything", a, got)
		}
		if t.Failed() {
			t.Fatalf("operands %v (%x) and %v (%x)", a, a, b, b)
		}
	}
	for _, a := range edges {
		for _, b := range edges {
			check(a, b)
			check(-a, b)
		}
	}
	check(-4.445750820695169e+307, math.MaxFloat64) // the error-free transformation itself goes beyond float64
	for range rounds(4000) {
		a, b := draw(r), draw(r)
		check(a, b)
		check(a, math.Nextafter(-a, b)) // cancellation
	}
}

func TestRoots(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	check := func(a float64) {
		got := NewPointInterval(a).sqrt()
		if a < 0 {
			if got != IntervalOfAllReals {
				t.Errorf("root of %v = %v, wants everything", a, got)
			}
			return
		}
		lo, hi := rat(got.Lo), rat(got.Hi)
		lo.Mul(lo, lo)
		hi.Mul(hi, hi)
		truth := rat(a)
		square := lo.Cmp(truth) == 0 || hi.Cmp(truth) == 0
		if lo.Cmp(truth) > 0 || hi.Cmp(truth) < 0 || square != got.IsPoint() || !got.IsPoint() && got.Hi != up(got.Lo) {
			t.Errorf("root of %v = %v", a, got)
		}
	}
	for _, a := range edges {
		check(a)
	}
	for range rounds(4000) {
		a := draw(r)
		check(math.Abs(a))
		if b := float64(float32(a)); !math.IsInf(b, 0) && b*b <= math.MaxFloat64 {
			check(b * b)
		}
	}
}

// between is a rational in x, an end as often as not.
func between(r *rand.Rand, x Interval) *big.Rat {
	lo, hi := rat(x.Lo), rat(x.Hi)
	w := big.NewRat(int64(r.IntN(5)), 4)
	return lo.Add(lo, w.Mul(w, hi.Sub(hi, lo)))
}

func drawInterval(r *rand.Rand) Interval {
	a, b := draw(r), draw(r)
	if r.IntN(3) == 0 {
		b = math.Nextafter(a, b)
	}
	return Interval{min(a, b), max(a, b)}
}

func holds(x Interval, v *big.Rat) bool {
	lo, hi := big.NewFloat(x.Lo), big.NewFloat(x.Hi)
	f := new(big.Float).SetPrec(5000).SetRat(v)
	return lo.Cmp(f) <= 0 && f.Cmp(hi) <= 0
}

func TestIntervalsHoldEveryResult(t *testing.T) {
	t.Parallel()
	rat2 := func(f func(z, x, y *big.Rat) *big.Rat) func(x, y *big.Rat) *big.Rat {
		return func(x, y *big.Rat) *big.Rat { return f(new(big.Rat), x, y) }
	}
	pick := func(sign int) func(x, y *big.Rat) *big.Rat {
		return func(x, y *big.Rat) *big.Rat {
			if x.Cmp(y)*sign <= 0 {
				return x
			}
			return y
		}
	}
	ops := []struct {
		name string
		got  func(x, y Interval) Interval
		want func(x, y *big.Rat) *big.Rat
	}{
		{"add", Interval.Add, rat2((*big.Rat).Add)},
		{"sub", Interval.sub, rat2((*big.Rat).Sub)},
		{"mul", Interval.Mul, rat2((*big.Rat).Mul)},
		{"div", Interval.div, rat2((*big.Rat).Quo)},
		{"min", Interval.min, pick(1)},
		{"max", Interval.max, pick(-1)},
		{"neg", func(x, _ Interval) Interval { return x.neg() },
			func(x, _ *big.Rat) *big.Rat { return new(big.Rat).Neg(x) }},
		{"abs", func(x, _ Interval) Interval { return x.abs() },
			func(x, _ *big.Rat) *big.Rat { return new(big.Rat).Abs(x) }},
		{"square", func(x, _ Interval) Interval { return square(x) },
			func(x, _ *big.Rat) *big.Rat { return new(big.Rat).Mul(x, x) }},
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range rounds(1500) {
		x, y := drawInterval(r), drawInterval(r)
		a, b := between(r, x), between(r, y)
		for _, op := range ops {
			if op.name == "div" && y.Lo <= 0 && y.Hi >= 0 {
				if got := op.got(x, y); got != IntervalOfAllReals {
					t.Errorf("%v / %v = %v, wants everything", x, y, got)
				}
				continue
			}
			if got, v := op.got(x, y), op.want(a, b); !holds(got, v) {
				t.Errorf("%s of %v and %v = %v does not hold %s", op.name, x, y, got, v.RatString())
			}
		}
	}
}

// TestUnboundedIntervals computes on with results beyond float64: an infinite end stands for any finite value.
func TestUnboundedIntervals(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	wild := []Interval{IntervalOfAllReals, {-inf, -1}, {-inf, 0}, {-inf, 5}, {0, inf}, {2, inf}, {math.MaxFloat64, inf},
		{-inf, -math.MaxFloat64}, {-1, 1}, {0, 0}, {3, 3}, {-2, -2}, {smallest, smallest}, {-smallest, 0},
		{math.MaxFloat64, math.MaxFloat64}}
	samples := func(x Interval) (out []*big.Rat) {
		clip := func(v float64) *big.Rat {
			if math.IsInf(v, 0) {
				huge := new(big.Rat).Mul(rat(math.MaxFloat64), rat(math.MaxFloat64))
				if v < 0 {
					huge.Neg(huge)
				}
				return huge
			}
			return rat(v)
		}
		lo, hi := clip(x.Lo), clip(x.Hi)
		mid := new(big.Rat).Add(lo, hi)
		return []*big.Rat{lo, hi, mid.Mul(mid, big.NewRat(1, 2))}
	}
	for _, x := range wild {
		for _, y := range wild {
			for _, a := range samples(x) {
				for _, b := range samples(y) {
					for name, v := range map[string]struct {
						got  Interval
						want *big.Rat
					}{
						"sum":        {x.Add(y), new(big.Rat).Add(a, b)},
						"difference": {x.sub(y), new(big.Rat).Sub(a, b)},
						"product":    {x.Mul(y), new(big.Rat).Mul(a, b)},
						"square":     {square(x), new(big.Rat).Mul(a, a)},
						"|x|":        {x.abs(), new(big.Rat).Abs(a)},
					} {
						if !wide(v.got, v.want) {
							t.Errorf("%s of %v and %v = %v does not hold %v", name, x, y, v.got, v.want.FloatString(3))
						}
					}
					if b.Sign() != 0 {
						if got := x.div(y); !wide(got, new(big.Rat).Quo(a, b)) {
							t.Errorf("%v / %v = %v does not hold a quotient", x, y, got)
						}
					}
				}
			}
		}
		if got := x.sqrt(); x.Lo >= 0 && (got.Lo*got.Lo > x.Lo && x.Lo > smallest || got.Hi*got.Hi < x.Hi) {
			t.Errorf("root of %v = %v", x, got)
		}
	}
}

func wide(x Interval, v *big.Rat) bool {
	if math.IsNaN(x.Lo) || math.IsNaN(x.Hi) {
		return false
	}
	return (math.IsInf(x.Lo, -1) || !math.IsInf(x.Lo, 1) && rat(x.Lo).Cmp(v) <= 0) &&
		(math.IsInf(x.Hi, 1) || !math.IsInf(x.Hi, -1) && rat(x.Hi).Cmp(v) >= 0)
}

func TestAroundIsTight(t *testing.T) {
	t.Parallel()
	third := big.NewRat(1, 3)
	if x := around(third); x.Hi != up(x.Lo) || rat(x.Lo).Cmp(third) >= 0 || rat(x.Hi).Cmp(third) <= 0 {
		t.Errorf("1/3 lies in %v", x)
	}
	huge := new(big.Rat).Mul(rat(math.MaxFloat64), big.NewRat(3, 1))
	if x, want := around(huge), (Interval{math.MaxFloat64, math.Inf(1)}); x != want {
		t.Errorf("3*max lies in %v, wants %v", x, want)
	}
	if x, want := around(huge.Neg(huge)), (Interval{math.Inf(-1), -math.MaxFloat64}); x != want {
		t.Errorf("-3*max lies in %v, wants %v", x, want)
	}
	less := new(big.Rat).Mul(rat(smallest), big.NewRat(1, 3))
	if x, want := around(less), (Interval{0, smallest}); x != want {
		t.Errorf("a third of the smallest lies in %v, wants %v", x, want)
	}
}

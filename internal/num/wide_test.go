package num

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// bigOf returns a number as a big.Int.
func bigOf(a Wide) *big.Int {
	v := new(big.Int).Lsh(big.NewInt(a.Hi), 64)
	return v.Add(v, new(big.Int).SetUint64(a.Lo))
}

// wideOf returns v modulo 2^128, and whether v is the result.
func wideOf(v *big.Int) (a Wide, ok bool) {
	low := new(big.Int).And(v, new(big.Int).SetUint64(^uint64(0)))
	high := new(big.Int).Rsh(v, 64)
	high.And(high, new(big.Int).SetUint64(^uint64(0)))
	a = Wide{int64(high.Uint64()), low.Uint64()}
	return a, bigOf(a).Cmp(v) == 0
}

// randomWide returns a random number of random width, often near a power of two.
func randomWide(r *rand.Rand) Wide {
	width := 1 + r.IntN(128)
	if r.IntN(3) == 0 {
		return Wide{Lo: 1}.Shifted(width - 1).Plus(WideOf(r.Int64N(5) - 2))
	}
	return Wide{r.Int64() ^ -r.Int64N(2), r.Uint64()}.LowBits(width, width == 128 || r.IntN(2) == 0)
}

// randomWideRange returns a random range.
func randomWideRange(r *rand.Rand) WideRange {
	a, b := randomWide(r), randomWide(r)
	if r.IntN(4) == 0 {
		b = a
	}
	return WideRange{LesserWide(a, b), GreaterWide(a, b)}
}

// TestWide compares arithmetic of 128 bits, and ranges, with math/big.
func TestWide(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(128, 1))
	for range 5000 {
		a, b, n := randomWide(r), randomWide(r), r.IntN(280)-140
		x, y := bigOf(a), bigOf(b)
		shifted := new(big.Int).Rsh(x, uint(max(0, -n)))
		shifted.Lsh(shifted, uint(max(0, n)))
		for name, c := range map[string]struct {
			got  Wide
			want *big.Int
		}{
			"plus":  {a.Plus(b), new(big.Int).Add(x, y)},
			"minus": {a.Minus(b), new(big.Int).Sub(x, y)},
			"times": {a.Times(b), new(big.Int).Mul(x, y)},
			"shift": {a.Shifted(n), shifted},
		} {
			if want, _ := wideOf(c.want); c.got != want {
				t.Fatalf("%s of %v and %v by %d is %v, want %v", name, a, b, n, c.got, want)
			}
		}
		p, ok := a.product(b)
		if want, fits := wideOf(new(big.Int).Mul(x, y)); ok != fits || p != want {
			t.Fatalf("%v * %v is %v, %v, want %v, %v", a, b, p, ok, want, fits)
		}
		if a.Less(b) != (x.Cmp(y) < 0) || a.String() != x.String() {
			t.Fatalf("%v is less than %v: %v", a, b, a.Less(b))
		}
		if v, ok := a.Int64(); ok != x.IsInt64() || ok && v != x.Int64() {
			t.Fatalf("%v as int64: %d, %v", a, v, ok)
		}
		k := r.IntN(150)
		if got := a.Bit(k); got != int64(new(big.Int).Rsh(x, uint(k)).Bit(0)) {
			t.Fatalf("bit %d of %v is %d", k, a, got)
		}
	}
}

// TestWideRange compares ranges of sums, differences, products and shifts with those that math/big gives, and types.
func TestWideRange(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(128, 2))
	whole := WideRange{Wide{Hi: -1 << 63}, Wide{1<<63 - 1, ^uint64(0)}}
	for range 5000 {
		a, b, n := randomWideRange(r), randomWideRange(r), r.IntN(260)-130
		ends := func(f func(x, y *big.Int) *big.Int) (want WideRange, fits bool) {
			var lo, hi *big.Int
			for _, x := range []Wide{a.Lo, a.Hi} {
				for _, y := range []Wide{b.Lo, b.Hi} {
					v := f(bigOf(x), bigOf(y))
					if lo == nil || v.Cmp(lo) < 0 {
						lo = v
					}
					if hi == nil || v.Cmp(hi) > 0 {
						hi = v
					}
				}
			}
			w, ok1 := wideOf(lo)
			v, ok2 := wideOf(hi)
			return WideRange{w, v}, ok1 && ok2
		}
		of := func(f func(a, b WideRange) (WideRange, bool)) func() (WideRange, bool) {
			return func() (WideRange, bool) { return f(a, b) }
		}
		for name, f := range map[string]struct {
			got  func() (WideRange, bool)
			want func(x, y *big.Int) *big.Int
		}{
			"plus":  {of(WideRange.Plus), func(x, y *big.Int) *big.Int { return x.Add(x, y) }},
			"minus": {of(WideRange.Minus), func(x, y *big.Int) *big.Int { return x.Sub(x, y) }},
			"times": {of(WideRange.Times), func(x, y *big.Int) *big.Int { return x.Mul(x, y) }},
			"shift": {func() (WideRange, bool) { return a.Shifted(n) }, func(x, _ *big.Int) *big.Int {
				return x.Lsh(x.Rsh(x, uint(max(0, -n))), uint(max(0, n)))
			}},
		} {
			got, ok := f.got()
			if want, fits := ends(f.want); ok != fits || ok && got != want {
				t.Fatalf("%s of %v and %v by %d is %v, %v, want %v, %v", name, a, b, n, got, ok, want, fits)
			}
		}
		typ := a.NarrowestIntType()
		narrower := typ
		narrower.Width--
		if !a.IsWithin(typ.WideRange()) || typ.IsSigned() != (a.Lo.Hi < 0) ||
			narrower.Width > 0 && a.IsWithin(narrower.WideRange()) {
			t.Fatalf("%v has type %v", a, typ)
		}
		if n, ok := a.Narrow(); ok && (NarrowestIntTypeFor(n) != typ || n.Wide() != a) {
			t.Fatalf("%v is %v of type %v", a, n, typ)
		}
		u := a.Union(b)
		if !a.IsWithin(u) || !b.IsWithin(u) || !u.Contains(a.Lo) || !u.Contains(b.Hi) || !u.IsWithin(whole) {
			t.Fatalf("%v and %v are in %v", a, b, u)
		}
	}
}

// TestWideRounding compares all roundings of numbers of 128 bits with exact ones.
func TestWideRounding(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(128, 3))
	for range 5000 {
		p, shift := randomWide(r), r.IntN(128)
		if r.IntN(2) == 0 && shift > 0 { // near a half
			p = p.Shifted(-shift).Shifted(shift).Plus(Wide{Lo: 1}.Shifted(shift - 1)).Plus(WideOf(r.Int64N(3) - 1))
		}
		for _, mode := range Roundings {
			got := bigOf(mode.DivideWideByPowerOfTwo(p, shift))
			at := new(big.Rat).SetFrac(bigOf(p), new(big.Int).Lsh(big.NewInt(1), uint(shift)))
			if want := integerOf(mode, at); got.Cmp(want) != 0 {
				t.Fatalf("%v / 2^%d, %s, is %v, want %v", p, shift, mode, got, want)
			}
		}
	}
}

// integerOf returns the integer to which a mode rounds x.
func integerOf(mode Rounding, x *big.Rat) *big.Int {
	floor := new(big.Int).Div(x.Num(), x.Denom())
	rest := new(big.Rat).Sub(x, new(big.Rat).SetInt(floor))
	half := rest.Cmp(big.NewRat(1, 2))
	up := map[Rounding]bool{
		RoundingFloor: false, RoundingCeil: rest.Sign() > 0,
		RoundingTowardZero:       x.Sign() < 0 && rest.Sign() > 0,
		RoundingAwayFromZero:     x.Sign() > 0 && rest.Sign() > 0,
		RoundingHalfUp:           half >= 0,
		RoundingHalfEven:         half > 0 || half == 0 && floor.Bit(0) == 1,
		RoundingHalfTowardZero:   half > 0 || half == 0 && x.Sign() < 0,
		RoundingHalfAwayFromZero: half > 0 || half == 0 && x.Sign() > 0,
	}[mode]
	if up {
		floor.Add(floor, big.NewInt(1))
	}
	return floor
}

// TestSignedDigitsOfWide checks that digits sum to the number modulo 2^128, and that no two are adjacent.
func TestSignedDigitsOfWide(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(128, 4))
	for range 5000 {
		m := randomWide(r)
		var sum Wide
		last := -2
		for _, d := range SignedDigitsOfWide(m) {
			v := Wide{Lo: 1}.Shifted(d.Weight)
			if d.Negative {
				v = Wide{}.Minus(v)
			}
			if sum = sum.Plus(v); d.Weight <= last+1 || d.Weight > 127 {
				t.Fatalf("%v has a digit of weight %d behind one of %d", m, d.Weight, last)
			}
			last = d.Weight
		}
		if sum != m {
			t.Fatalf("digits of %v sum to %v", m, sum)
		}
	}
}

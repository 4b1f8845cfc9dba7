package quantise

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestParseRecipe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want string // what the error says; empty where there is none
	}{
		{"w8a8", ""},
		{"w4a16", ""},
		{"we4m3ae5m2", ""},
		{"w2ae2m1", ""},
		{"w4a4p12", ""},
		{"w1a8", "bits of integers"},
		{"w17a8", "bits of integers"},
		{"w08a8", "bits of integers"},
		{"w8", "not of the form"},
		{"8a8", "not of the form"},
		{"w8a8p", "not of the form"},
		{"w8a8p012", "not of the form"},
		{"w8a8p99", "want 4 to 48"},
		{"we4m3a8p16", "not both integers"},
		{"we9m3a8", "minifloat"},
		{"", "not of the form"},
	} {
		r, err := ParseRecipe(c.text)
		switch {
		case c.want == "" && (err != nil || r.String() != c.text):
			t.Errorf("%q gives %v, %v", c.text, r, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q gives the error %v, want one with %q", c.text, err, c.want)
		}
	}
}

// values returns the values of a format, by its definition.
func (c code) values() (list []float64) {
	if c.Bits > 0 {
		for v := c.lo; v <= c.hi; v++ {
			list = append(list, v)
		}
		return list
	}
	for e := range 1 << c.Exponent {
		for m := range 1 << c.Mantissa {
			v := (1 + float64(m)/math.Exp2(float64(c.Mantissa))) * math.Exp2(float64(e)-c.bias())
			if e == 0 {
				v = float64(m) / math.Exp2(float64(c.Mantissa)) * math.Exp2(1-c.bias())
			}
			if v <= c.largest {
				list = append(list, v, -v)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// TestNearest compares rounding with a search through all values of a format.
func TestNearest(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, f := range []string{"2", "4", "8", "e2m1", "e3m2", "e4m3", "e5m2", "e1m2"} {
		format, err := parseQuantFormat(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []code{format.of(true, false), format.of(true, true), format.of(false, false)} {
			list := c.values()
			if list[0] != c.lo || list[len(list)-1] != c.hi {
				t.Errorf("%s has values from %v to %v, its code from %v to %v", f, list[0], list[len(list)-1],
					c.lo, c.hi)
			}
			for range 2000 {
				x := (2*rnd.Float64() - 1) * c.hi * math.Exp2(float64(rnd.IntN(8)-6))
				got, least := c.nearest(x), math.Inf(1)
				for _, v := range list {
					least = min(least, math.Abs(v-x))
				}
				if !slices.Contains(list, got) || math.Abs(got-x) != least {
					t.Fatalf("%s: %v becomes %v, at a distance of %v; the nearest is at %v", f, x, got, math.Abs(got-x),
						least)
				}
			}
		}
	}
}

// TestOCPMaxima compares formats with the largest values in the OCP's specifications.
func TestOCPMaxima(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]float64{"e2m1": 6, "e3m2": 28, "e2m3": 7.5, "e4m3": 448, "e5m2": 57344} {
		if f, err := parseQuantFormat(name); err != nil || f.largest != want {
			t.Errorf("%s ends at %v (%v), want %v", name, f.largest, err, want)
		}
	}
}

// TestShrinkIsTheNearest checks the projection against its definition: no point of the ball is nearer.
func TestShrinkIsTheNearest(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 4))
	norm := func(v []float64) (sum float64) {
		for _, x := range v {
			sum += math.Abs(x)
		}
		return sum
	}
	distance := func(a, b []float64) (sum float64) {
		for i := range a {
			sum += (a[i] - b[i]) * (a[i] - b[i])
		}
		return sum
	}
	for range 200 {
		w := make([]float64, 1+rnd.IntN(6))
		for i := range w {
			w[i] = rnd.NormFloat64() * 5
		}
		r := rnd.Float64() * 10
		got := slices.Clone(w)
		shrink(got, r, math.Abs)
		if n := norm(got); n > r*(1+1e-12) || norm(w) <= r && !slices.Equal(got, w) {
			t.Fatalf("%v on the ball of %v is %v, of norm %v", w, r, got, n)
		}
		for range 200 {
			other := slices.Clone(got)
			for i := range other {
				other[i] += rnd.NormFloat64() * math.Exp2(float64(-rnd.IntN(12)))
			}
			if n := norm(other); n > r {
				for i := range other {
					other[i] *= r / n
				}
			}
			if distance(other, w) < distance(got, w)*(1-1e-9) {
				t.Fatalf("%v on the ball of %v is %v; %v is nearer", w, r, got, other)
			}
		}
	}
}

// TestBallHolds checks that weights projected onto the ball, and codes fitted into it, keep their sums within the
// accumulator for all inputs.
func TestBallHolds(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(5, 6))
	touched := 0
	for range 3000 {
		n := float64(int(1) << (1 + rnd.IntN(8)))
		b := ball{minAccBits + rnd.IntN(14), 0, n - 1}
		if rnd.IntN(2) == 0 {
			b.lo, b.hi = -n/2, n/2-1
		}
		w := make([]float64, 1+rnd.IntN(40))
		for i := range w {
			w[i] = rnd.NormFloat64()
		}
		c := QuantFormat{Bits: 2 + rnd.IntN(7)}.of(true, true)
		s := b.scale(c, w)
		codes := b.fitting(w, s, c)
		on := b.onto(scaled(w, s), c)
		if !b.holds(codes) || !b.holds(on) {
			t.Fatalf("%+v does not hold %v or %v", b, codes, on)
		}
		if exact := width(codes, b.lo, b.hi); exact > b.bits {
			t.Fatalf("%+v: %v needs %d bits", b, codes, exact)
		}
		for _, q := range codes {
			if q != math.Trunc(q) || q < c.lo || q > c.hi {
				t.Fatalf("%v is no code of %+v", q, c)
			}
		}
		if slices.ContainsFunc(codes, func(q float64) bool { return q != 0 }) {
			touched++
		}
	}
	if touched < 1000 {
		t.Errorf("only %d of 3000 channels have any weights left", touched)
	}
}

func scaled(w []float64, s float64) []float64 {
	out := make([]float64, len(w))
	for i := range w {
		out[i] = w[i] / s
	}
	return out
}

// width is the bits of the sums of weights times inputs in [lo, hi].
func width(codes []float64, lo, hi float64) int {
	least, most := 0.0, 0.0
	for _, q := range codes {
		least += min(q*lo, q*hi)
		most += max(q*lo, q*hi)
	}
	bits := 1
	for least < -math.Exp2(float64(bits-1)) || most > math.Exp2(float64(bits-1))-1 {
		bits++
	}
	return bits
}

// TestRules checks the scales that each rule chooses.
func TestRules(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(7, 8))
	values := make([]float64, 4000)
	for i := range values {
		values[i] = rnd.NormFloat64()
	}
	values[17] = 40 // one that is far off
	c := QuantFormat{Bits: 4}.of(true, false)
	if got, want := scaleRuleMaxAbs.scale(c, values, 0), float64(float32(40.0/7)); got != want {
		t.Errorf("max gives the scale %v, want %v", got, want)
	}
	if s := scaleRulePercentile.scale(c, values, 0); s < 0.3 || s > 0.7 {
		t.Errorf("percentile gives the scale %v, for values of which 99.9 %% are below 3.5", s)
	}
	best := scaleRuleMSE.scale(c, values, 0)
	for _, s := range []float64{scaleRuleMaxAbs.scale(c, values, 0), scaleRulePercentile.scale(c, values, 0)} {
		if c.loss(values, best) > c.loss(values, s)*1.05 { // between two that it tries there may be a better one
			t.Errorf("mse gives the scale %v with the error %v; %v has %v", best, c.loss(values, best), s,
				c.loss(values, s))
		}
	}
	for _, r := range []ScaleRule{scaleRuleMSE, scaleRuleMaxAbs, scaleRulePercentile} {
		if s := r.scale(c, values, 0.75); math.Exp2(math.Round(math.Log2(s/0.75)))*0.75 != s {
			t.Errorf("%s gives %v, which is not 0.75 times a power of two", r, s)
		}
		if s := r.scale(c, []float64{0, 0}, 0); s != 1 {
			t.Errorf("%s gives the scale %v for zeros", r, s)
		}
	}
}

// TestKeptValues checks which of many values are kept: evenly spaced ones, and the least and the largest.
func TestKeptValues(t *testing.T) {
	t.Parallel()
	var v values
	for i := range 10 * maxKept {
		v.add([]float64{float64(i)})
	}
	if v.min != 0 || v.max != 10*maxKept-1 || len(v.kept) >= maxKept || len(v.kept) < maxKept/4 {
		t.Errorf("%d values kept, from %v to %v", len(v.kept), v.min, v.max)
	}
	for i, x := range v.kept {
		if x != float64(i*v.every) {
			t.Fatalf("value %d kept is %v, one of %d", i, x, v.every)
		}
	}
}

// TestScalesAreThoseOfAllValues checks that a scale that was chosen for some values is chosen anew when others are
// added.
func TestScalesAreThoseOfAllValues(t *testing.T) {
	t.Parallel()
	f, v := QuantFormat{Bits: 4}, values{}
	last := 0.0
	for _, list := range [][]float64{{1, -2, 0.5}, {7, 3}, {100, -90, 80}} {
		v.add(list)
		for range 2 {
			_, want := scaleRuleMSE.quantiser(f, v.all(), v.min < 0, 0)
			if got := v.quantiser(scaleRuleMSE, f, 0).scale; got != want || got == last {
				t.Errorf("scale %v of %v, want %v", got, v.all(), want)
			}
		}
		last = v.quantiser(scaleRuleMSE, f, 0).scale
	}
}

package integers

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend/real"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// TestUnit checks that every value is an integer multiple of the unit, and that this holds for no larger unit.
func TestUnit(t *testing.T) {
	t.Parallel()
	rat := func(v ...float64) (out []*big.Rat) {
		for _, f := range v {
			out = append(out, new(big.Rat).SetFloat64(f))
		}
		return out
	}
	thirds := []*big.Rat{big.NewRat(2, 3), big.NewRat(-4, 9), new(big.Rat)}
	for _, c := range []struct {
		values []*big.Rat
		want   *big.Rat
	}{
		{rat(0, 0), big.NewRat(1, 1)},
		{rat(0.5, -1.5, 2), big.NewRat(1, 2)},
		{rat(6, -9, 0), big.NewRat(3, 1)},
		{rat(-4), big.NewRat(4, 1)},
		{thirds, big.NewRat(2, 9)},
		{rat(1e-41, -3e-41), nil},
		{nil, big.NewRat(1, 1)},
	} {
		got := GreatestCommonUnitOf(c.values)
		if got.Sign() <= 0 || c.want != nil && got.Cmp(c.want) != 0 {
			t.Errorf("the unit of %v is %v, want %v", c.values, got, c.want)
		}
		gcd := new(big.Int)
		for _, v := range c.values {
			q := new(big.Rat).Quo(v, got)
			if !q.IsInt() {
				t.Errorf("%v is no multiple of %v", v, got)
			}
			gcd.GCD(nil, nil, gcd, new(big.Int).Abs(q.Num()))
		}
		if gcd.Cmp(big.NewInt(1)) > 0 {
			t.Errorf("a unit %v times %v would do for %v", gcd, got, c.values)
		}
	}
}

func TestShared(t *testing.T) {
	t.Parallel()
	a, b := num.StepFunction{Value: []int64{1}}, num.StepFunction{At: []int64{0}, Value: []int64{1, 2}}
	for _, c := range []struct {
		steps []num.StepFunction
		want  int
	}{{[]num.StepFunction{a, a, a}, 1}, {[]num.StepFunction{a, b}, 2}, {[]num.StepFunction{b}, 1}} {
		if got := len(MergeEqualStepFunctions(c.steps)); got != c.want {
			t.Errorf("%v: %d step functions, want %d", c.steps, got, c.want)
		}
	}
}

// TestRequantise compares the multipliers and steps with the expression itself, for every pair of integers.
func TestRequantise(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	rng := rand.New(rand.NewPCG(7, 8))
	narrower := 0
	for range 400 {
		scales := make([]*big.Rat, 2)
		for i := range scales {
			scales[i] = new(big.Rat).SetFloat64(float64(float32((rng.Float64() - 0.3) * 2)))
		}
		ranges := []num.Range{random(rng, 20), random(rng, 40)}
		bias := new(big.Rat).SetFloat64(float64(float32(rng.Float64()*4 - 2)))
		step := new(big.Rat).SetFloat64(float64(float32(0.2 + rng.Float64())))
		// This is clip(round((sum + bias)/step), -7, 7).
		x := real.Add(real.Var(0), real.ConstantExpr(bias))
		outer := real.Min(real.Max(real.Round(real.Div(x, real.ConstantExpr(step)),
			real.RoundingModeHalfEven), real.ConstantExprOfFloat(-7)),
			real.ConstantExprOfFloat(7))
		m, f, err := FindRequantisation(real.LinearForm{Scale: scales, Bias: new(big.Rat)}, outer, ranges, 64)
		if err != nil {
			t.Fatal(err)
		}
		unit := GreatestCommonUnitOf(scales)
		if exact, _ := CountUnits(scales[0], unit); max(m[0], -m[0]) < max(exact, -exact) {
			narrower++
		}
		for a := ranges[0].Lo; a <= ranges[0].Hi; a++ {
			for b := ranges[1].Lo; b <= ranges[1].Hi; b++ {
				v := new(big.Rat).Mul(scales[0], new(big.Rat).SetInt64(a))
				v.Add(v, new(big.Rat).Mul(scales[1], new(big.Rat).SetInt64(b)))
				expr := real.Compile(outer.SubstituteVariables([]*real.Expr{real.ConstantExpr(v)}))
				want, err := expr.StepFunctionOver(num.Range{}, 1)
				if err != nil {
					t.Fatal(err)
				}
				if got := f.Apply(m[0]*a + m[1]*b); got != want.Value[0] {
					t.Fatalf("%v*%d + %v*%d by %v: %d, want %d", scales[0], a, scales[1], b, m, got, want.Value[0])
				}
			}
		}
	}
	if narrower < 300 {
		t.Errorf("multipliers became narrower in %d of 400 cases only", narrower)
	}
}

func random(rng *rand.Rand, n int) num.Range {
	lo := int64(rng.IntN(n)) - int64(n)/2
	return num.Range{Lo: lo, Hi: lo + int64(rng.IntN(n))}
}

// TestColumn checks that integers times their unit give the weights, and that they are as small as possible. It
// checks that inputs of a single scale, which other code handles, give the same.
func TestColumn(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(5, 9))
	third, half := big.NewRat(1, 3), big.NewRat(1, 2)
	for range 500 {
		column, in := make([]float64, 1+rnd.IntN(6)), []real.Affine(nil)
		step, dead := math.Ldexp(float64(1+rnd.IntN(30)), rnd.IntN(40)-30), min(1, rnd.IntN(8))
		for k := range column {
			column[k] = step * float64(rnd.IntN(31)-15) * float64(dead)
			in = append(in, real.Affine{Scale: new(big.Rat).Set(third), Bias: big.NewRat(int64(rnd.IntN(2)), 7)})
		}
		row, of, reject := WeightColumnToIntegers(column, in)
		if reject != nil {
			t.Fatalf("%v: %v", column, reject)
		}
		bias := new(big.Rat)
		for k, w := range column {
			v := new(big.Rat).SetFloat64(w)
			bias.Add(bias, new(big.Rat).Mul(v, in[k].Bias))
			if q := new(big.Rat).SetInt64(row[k]); q.Mul(q, of.Scale).Cmp(v.Mul(v, third)) != 0 {
				t.Fatalf("%v: weight %d is %d in units of %v", column, k, row[k], of.Scale)
			}
		}
		if bias.Cmp(of.Bias) != 0 {
			t.Fatalf("%v: bias %v, want %v", column, of.Bias, bias)
		}
		// An input of another scale whose weight is 0 changes nothing.
		more, _, reject := WeightColumnToIntegers(append(column, 0), append(in, real.Affine{Scale: half,
			Bias: new(big.Rat)}))
		if reject != nil || !slices.Equal(more[:len(row)], row) {
			t.Fatalf("%v: %v for inputs of one scale, %v for others, %v", column, row, more, reject)
		}
	}
}

// TestWideColumn counts the bits of weights that are not quantised, down to the smallest float.
func TestWideColumn(t *testing.T) {
	t.Parallel()
	one := real.Affine{Scale: big.NewRat(1, 1), Bias: new(big.Rat)}
	for _, c := range []struct {
		column []float64
		bits   string // "" where they are few enough
	}{
		{[]float64{1, math.Ldexp(1, -23)}, ""},
		{[]float64{1, math.Ldexp(1, -24)}, ""}, // as in minifloats
		{[]float64{1<<12 - 1, math.Ldexp(1, -24)}, ""},
		{[]float64{1<<12 + 1, math.Ldexp(1, -24)}, "37 bits"},
		{[]float64{1, math.Ldexp(1, -61)}, ""},
		{[]float64{1, math.Ldexp(1, -62)}, "63 bits"},
		{[]float64{3, math.Ldexp(1, -70)}, "72 bits"},
		{[]float64{1, math.SmallestNonzeroFloat64}, "1075 bits"},
		{[]float64{math.SmallestNonzeroFloat64, -3 * math.SmallestNonzeroFloat64}, ""},
		{[]float64{0.1, 0.3}, "54 bits"},
	} {
		_, _, reject := WeightColumnToIntegers(c.column, []real.Affine{one, one})
		if few := c.bits == ""; few != (reject == nil) || !few && !strings.Contains(reject.Error(), c.bits) {
			t.Errorf("%v: %v, want %q", c.column, reject, c.bits)
		}
	}
}

// TestBlocks checks that weights form blocks by the number of which they are small multiples.
func TestBlocks(t *testing.T) {
	t.Parallel()
	a, b := float64(float32(0.1234567)), float64(float32(0.0345678))
	for _, c := range []struct {
		name    string
		columns [][]float64
		want    []int // nil: no blocks
	}{
		{"one", [][]float64{{a, -3 * a, 0, 127 * a}}, []int{0, 0, 0, 0}},
		{"two", [][]float64{{a, 2 * a, 3 * b, 5 * b}, {b, -b, a, 8 * a}}, []int{0, 0, 1, 1}},
		{"that come back", [][]float64{{a, 2 * a, 3 * b, 5 * b, 7 * a, b}}, []int{0, 0, 1, 1, 0, 1}},
		{"zeros belong to any", [][]float64{{0, a, 3 * b, 0, 5 * b, 0}}, []int{0, 0, 1, 1, 1, 1}},
		{"scales that are alike", [][]float64{{a, 2 * a, 16 * a, 0.5 * a}}, []int{0, 0, 0, 0}},
		{"no quantiser", [][]float64{{0.1, 0.2002, 0.30303, 0.7}}, nil},
		{"one column without", [][]float64{{1, 2, 3, 4}, {0.1, 0.2002, 0.30303, 0.7}}, nil},
	} {
		of, count := GroupElementsByWeightUnit(len(c.columns[0]), len(c.columns), func(k, at int) []float64 {
			return []float64{c.columns[at][k]}
		})
		want := 0
		for _, i := range c.want {
			want = max(want, i+1)
		}
		if !slices.Equal(of, c.want) || count != want {
			t.Errorf("%s: %v, %d", c.name, of, count)
		}
	}
}

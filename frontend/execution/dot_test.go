package execution_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"hlsgen/frontend/execution"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/graphtest"
	"hlsgen/internal/testsupport/tier"
)

// factors are kinds of numbers that networks multiply, and some that they should not.
var factors = map[string]func(r *rand.Rand) float64{
	"codes":             func(r *rand.Rand) float64 { return float64(r.IntN(31) - 15) },
	"codes times 1/8":   func(r *rand.Rand) float64 { return float64(r.IntN(31)-15) / 8 },
	"scaled codes":      func(r *rand.Rand) float64 { return float64(r.IntN(255)-127) * float64(float32(0.0123)) },
	"float32":           func(r *rand.Rand) float64 { return float64(float32(r.NormFloat64())) },
	"float64":           func(r *rand.Rand) float64 { return r.NormFloat64() },
	"far apart":         func(r *rand.Rand) float64 { return math.Ldexp(r.NormFloat64(), r.IntN(200)-100) },
	"below normal":      func(r *rand.Rand) float64 { return math.Ldexp(float64(r.IntN(100)), -1074) },
	"large":             func(r *rand.Rand) float64 { return math.Ldexp(r.NormFloat64(), 500) },
	"mostly zero":       func(r *rand.Rand) float64 { return float64(r.IntN(8)/7) * 0.3 },
	"at the limit 2^53": func(r *rand.Rand) float64 { return float64(1<<53 - r.Int64N(3)) },
	"near cancellation": func(r *rand.Rand) float64 {
		return float64(2*r.IntN(2)-1) * (1 +
			0x1p-52*float64(r.IntN(2)))
	},
}

// scaled are the kinds whose sums are points wherever a float64 holds them.
var scaled = map[string]bool{"codes": true, "codes times 1/8": true, "scaled codes": true, "mostly zero": true}

// TestSumsOfProducts holds the intervals of sums against exact rationals: they contain the truth, are points where the
// factors are codes, and are narrow where these are scaled.
func TestSumsOfProducts(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(8, 1))
	const rows, inner, columns = 4, 19, 5
	for a, drawA := range factors {
		for b, drawB := range factors {
			for _, radius := range []float64{0, 0x1p-40} {
				x, w := make([]float64, rows*inner), make([]float64, inner*columns)
				for i := range x {
					x[i] = drawA(r)
				}
				for i := range w {
					w[i] = drawB(r)
				}
				y := product(t, around(x, radius), graphtest.Reals([]int{inner, columns}, w...), rows)
				for i := range y.Lo {
					truth, size := new(big.Rat), new(big.Rat)
					for k := range inner {
						p := new(big.Rat).SetFloat64(x[i/columns*inner+k])
						p.Mul(p, new(big.Rat).SetFloat64(w[k*columns+i%columns]))
						truth.Add(truth, p)
						size.Add(size, p.Abs(p))
					}
					got, scale := y.IntervalAt(i), graph.FloatIntervalOfRational(size).Hi
					if lo, hi := new(big.Rat).SetFloat64(got.Lo), new(big.Rat).SetFloat64(got.Hi); lo == nil ||
						hi == nil || truth.Cmp(lo) < 0 || truth.Cmp(hi) > 0 {
						t.Fatalf("%s by %s, radius %g: %v misses %s", a, b, radius, got, truth.FloatString(30))
					}
					if most := scale*(4*radius+inner*0x1p-50) + 0x1p-900; got.Hi-got.Lo > most {
						t.Errorf("%s by %s, radius %g: %v is wider than %g", a, b, radius, got, most)
					}
					if f, exact := truth.Float64(); exact && radius == 0 && scaled[a] && scaled[b] && !got.IsPoint() {
						t.Errorf("%s by %s: %v is no point, %v is one", a, b, got, f)
					}
				}
			}
		}
	}
}

// around is intervals with a relative radius.
func around(v []float64, radius float64) *program.Reals {
	out := &program.Reals{Shape: []int{len(v)}, Lo: make([]float64, len(v)), Hi: make([]float64, len(v))}
	for i, x := range v {
		out.Lo[i], out.Hi[i] = x-math.Abs(x)*radius, x+math.Abs(x)*radius
	}
	return out
}

// product runs a matrix product.
func product(t *testing.T, x *program.Reals, w *graph.ConstantTensor, rows int) *program.Reals {
	t.Helper()
	data := graphtest.Reals([]int{rows, len(x.Lo) / rows}, x.Lo...)
	w.DType, data.DType = graph.DTypeFloat64, graph.DTypeFloat64
	var d diag.List
	p := operators.Prepare(graphtest.Single("", "MatMul", 13, nil, func(i int) bool { return i == 0 }, data, w), "m",
		operators.Options{},
		&d)
	if p == nil {
		t.Fatal(d.Diags)
	}
	part, err := execution.NewProgramPart(p, []string{"x0"}, []string{"y"})
	if err != nil {
		t.Fatal(err)
	}
	_, first, err := part.Run([]*program.Reals{x})
	if err != nil {
		t.Fatal(err)
	}
	_, again, err := part.Fork().Run([]*program.Reals{x}) // finds the weights laid out
	if err != nil {
		t.Fatal(err)
	}
	for i := range first["y"].Lo {
		if first["y"].IntervalAt(i) != again["y"].IntervalAt(i) {
			t.Errorf("element %d is %v, and %v in a second run", i, first["y"].IntervalAt(i), again["y"].IntervalAt(i))
		}
	}
	return again["y"]
}

// TestUnboundedSums multiplies by what has no end.
func TestUnboundedSums(t *testing.T) {
	t.Parallel()
	x := &program.Reals{Shape: []int{2}, Lo: []float64{math.Inf(-1), 1}, Hi: []float64{3, 1}}
	y := product(t, x, graphtest.Reals([]int{2, 2}, 1, -1, 2, 0), 1)
	if got := []any{y.IntervalAt(0), y.IntervalAt(1)}; y.Hi[0] != 5 || !math.IsInf(y.Lo[0], -1) || y.Lo[1] != -3 ||
		!math.IsInf(y.Hi[1], 1) {
		t.Errorf("got %v", got)
	}
}

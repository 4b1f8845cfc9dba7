package real

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestFloatsAreNearTheTruth compares every function of float64 with its exact value.
func TestFloatsAreNearTheTruth(t *testing.T) {
	t.Parallel()
	x := Var(0)
	one, two := ConstantExprOfFloat(1), ConstantExprOfFloat(2)
	tests := []struct {
		name     string
		e        *Expr
		lo, hi   float64
		relative float64 // units of the last place of the value
		absolute float64
	}{
		{"exp", Exp(x), -700, 700, 3, 0},
		{"exp near 0", Exp(x), -1e-3, 1e-3, 2, 0},
		{"exp of what is small", Exp(x), -744, -700, 3, 5e-324},
		{"log", Log(x), 1e-300, 1e300, 3, 0},
		{"log near 1", Log(x), 0.6, 1.6, 4, 0},
		{"erf", Erf(x), -7, 7, 4, 0},
		{"erf near 0", Erf(x), -1e-3, 1e-3, 4, 0},
		{"sine", Sin(x), -30, 30, 4, 1e-16},
		{"cosine", Cos(x), -1000, 1000, 4, 1e-16},
		{"distant sine", Sin(x), 1e10, 1e12, 1, 0},
		{"arc", Atan(x), -20, 20, 4, 0},
		{"arc near 0", Atan(x), -0.1, 0.1, 4, 0},
		{"expm1", Sub(Exp(x), one), -0.1, 0.1, 4, 0},
		{"tanh", Sub(one, Div(two, Add(Exp(Mul(two, x)), one))), -1e-2, 1e-2, 6, 0},
		{"wide tanh", Sub(one, Div(two, Add(Exp(Mul(two, x)), one))), -30, 30, 6, 0},
		{"softplus", Log(Add(one, Exp(x))), -50, 50, 6, 0},
		{"root", Sqrt(x), 0, 1e6, 1, 0},
		{"sigmoid", Div(one, Add(one, Exp(Neg(x)))), -30, 30, 6, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 2))
			in := make([]float64, 50)
			for i := range in {
				in[i] = test.lo + (test.hi-test.lo)*r.Float64()
			}
			out := make([]float64, len(in))
			CompileBatchFloatFunc(test.e).EvaluateBatch(out, [][]float64{in})
			for i, v := range in {
				n, err := Compile(test.e).EvaluateExactly([]Num{NumberOfRational(new(big.Rat).SetFloat64(v))}, 256)
				if err != nil {
					t.Fatal(err)
				}
				want, _ := n.FloatInterval().Lo, n.FloatInterval().Hi
				ulp := math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want)
				if off := math.Abs(out[i] - want); off > test.relative*ulp+test.absolute {
					t.Errorf("at %v: %v, want %v: off by %.2g units", v, out[i], want, off/ulp)
				}
			}
		})
	}
}

func TestFloatsAtTheEnds(t *testing.T) {
	t.Parallel()
	x, inf := Var(0), math.Inf(1)
	for _, test := range []struct {
		name    string
		e       *Expr
		in, out float64
	}{
		{"exp", Exp(x), 800, inf}, {"exp", Exp(x), -800, 0}, {"exp", Exp(x), 0, 1}, {"exp", Exp(x), -inf, 0},
		{"log", Log(x), 0, -inf}, {"log", Log(x), 1, 0}, {"log", Log(x), 0x1p-1074, -744.4400719213812},
		{"erf", Erf(x), 0, 0}, {"erf", Erf(x), 9, 1}, {"erf", Erf(x), -inf, -1},
		{"atan", Atan(x), inf, math.Pi / 2}, {"atan", Atan(x), 1, math.Pi / 4},
		{"cos", Cos(x), 0, 1}, {"sin", Sin(x), 0, 0}, {"power below", FloorPowerOfTwo(x), -5, 4},
		{"rounding", Round(x, RoundingModeHalfEven), 2.5, 2}, {"at least", AtLeast(x, ConstantExprOfFloat(3)), 3, 1},
		{"constant", ConstantExprOfFloat(7), 1, 7}, {"variable", x, 3, 3}, {"less", Sub(ConstantExprOfFloat(1), x), 3,
			-2},
		{"greater", Max(x, ConstantExprOfFloat(2)), 1, 2}, {"smaller", Min(Abs(x), Neg(x)), 1, -1},
	} {
		out := make([]float64, 1)
		CompileBatchFloatFunc(test.e).Fork().EvaluateBatch(out, [][]float64{{test.in}})
		if out[0] != test.out {
			t.Errorf("%s of %v is %v, want %v", test.name, test.in, out[0], test.out)
		}
	}
}

// TestFloatsKeepWhatIsUsedAgain draws expressions with shared parts, and compares them with plain arithmetic.
func TestFloatsKeepWhatIsUsedAgain(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		parts := []*Expr{Var(0), Var(1), ConstantExprOfFloat(3)}
		values := []float64{1.5, -2, 3}
		for range 12 {
			i, k := r.IntN(len(parts)), r.IntN(len(parts))
			switch r.IntN(3) {
			case 0:
				parts, values = append(parts, Add(parts[i], parts[k])), append(values, values[i]+values[k])
			case 1:
				parts, values = append(parts, Max(parts[i], parts[k])), append(values, max(values[i], values[k]))
			default:
				parts, values = append(parts, Neg(parts[i])), append(values, -values[i])
			}
		}
		out := make([]float64, 1)
		CompileBatchFloatFunc(parts[len(parts)-1]).EvaluateBatch(out, [][]float64{{1.5}, {-2}})
		if want := values[len(values)-1]; out[0] != want {
			t.Fatalf("%v, want %v", out[0], want)
		}
	}
}

package real

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestCurves compares the exact readings with digits from tables.
func TestCurves(t *testing.T) {
	t.Parallel()
	x := Var(0)
	for _, c := range []struct {
		name string
		e    *Expr
		at   float64
		want string
	}{
		{"erf", Erf(x), 0.5, "0.52049987781304653768274665389196452873645157575796"},
		{"erf", Erf(x), -2, "-0.99532226501895273416206925636725292861089179704006"},
		{"erf", Erf(x), 5, "0.99999999999846254020557196514981165651461662110988"},
		{"sin", Sin(x), 1, "0.84147098480789650665250232163029899962256306079837"},
		{"sin", Sin(x), -100, "0.50636564110975879365655761045978543206503272129066"},
		{"cos", Cos(x), 1, "0.54030230586813971740093660744297660373231042061792"},
		{"atan", Mul(ConstantExprOfFloat(4), Atan(x)), 1, "3.14159265358979323846264338327950288419716939937510"},
		{"atan", Atan(x), -0.5, "-0.46364760900080611621425623146121440202853705428612"},
		{"atan", Atan(x), 1000, "1.5697963271282297525647978820048308980869637651332848"},
	} {
		want, _, _ := big.ParseFloat(c.want, 10, 400, big.ToNearestEven)
		for _, prec := range WorkingPrecisionBits[:2] {
			y, err := Compile(c.e).EvaluateExactly([]Num{NumberOfRational(rat(c.at))}, prec)
			if err != nil {
				t.Fatalf("%s(%v): %v", c.name, c.at, err)
			}
			for _, end := range []*big.Float{y.lo, y.hi} {
				off, _ := new(big.Float).Sub(end, want).Float64()
				if math.Abs(off) > max(1e-48, math.Exp2(20-float64(prec))) {
					t.Errorf("%s(%v) at %d bits is off by %g", c.name, c.at, prec, off)
				}
			}
			if y.lo.Cmp(y.hi) >= 0 {
				t.Errorf("%s(%v) at %d bits: from %v to %v", c.name, c.at, prec, y.lo, y.hi)
			}
		}
	}
}

// TestCurvesSaturate checks that a value that comes near a whole number, but never reaches it, lies beside it. At zero,
// values are exact.
func TestCurvesSaturate(t *testing.T) {
	t.Parallel()
	x := Var(0)
	gauss := Mul(x, Add(ConstantExprOfFloat(1), Erf(x)))
	for _, c := range []struct {
		f        *Expr
		at, want float64
	}{
		{Round(Erf(x), RoundingModeTowardsNegativeInf), 1e6, 0},
		{Round(Erf(x), RoundingModeTowardsPositiveInf), 1e6, 1},
		{Round(Erf(x), RoundingModeTowardsNegativeInf), -1e6, -1},
		{Round(gauss, RoundingModeTowardsNegativeInf), -1e6, -1},
		{Round(gauss, RoundingModeTowardsPositiveInf), -1e6, 0},
		{Round(gauss, RoundingModeHalfEven), -1e6, 0},
		{Round(Atan(x), RoundingModeTowardsPositiveInf), 1e-300, 1},
		{Round(Atan(x), RoundingModeTowardsNegativeInf), -1e-300, -1},
		{Round(Sin(x), RoundingModeTowardsNegativeInf), -1e-9, -1},
		{Round(Cos(x), RoundingModeTowardsNegativeInf), 1e-9, 0},
		{Erf(x), 0, 0}, {Sin(x), 0, 0}, {Cos(x), 0, 1}, {Atan(x), 0, 0},
	} {
		var n Num
		err := ErrInsufficientPrecision
		for _, prec := range WorkingPrecisionBits {
			if n, err = Compile(c.f).EvaluateExactly([]Num{NumberOfRational(rat(c.at))}, prec); err == nil {
				break
			}
		}
		if err != nil || n.RationalOrNil() == nil || n.FloatInterval() != NewPointInterval(c.want) {
			t.Errorf("at %v: %v %v, want %v", c.at, n.FloatInterval(), err, c.want)
		}
	}
}

// TestWaves checks that the interval of a stretch contains all values in it, peaks and troughs included.
func TestWaves(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 5))
	for range rounds(400) {
		lo := math.Ldexp(r.NormFloat64(), r.IntN(12)-2)
		hi := lo + math.Abs(math.Ldexp(r.NormFloat64(), r.IntN(8)-5))
		for _, c := range []struct {
			e *Expr
			f func(float64) float64
		}{{Sin(Var(0)), math.Sin}, {Cos(Var(0)), math.Cos}, {Atan(Var(0)), math.Atan}, {Erf(Var(0)), math.Erf}} {
			y, sure := Compile(c.e).EvaluateInterval([]Interval{{lo, hi}})
			for i := range 41 {
				if v := c.f(lo + (hi-lo)*float64(i)/40); !sure || v < y.Lo-1e-15 || v > y.Hi+1e-15 {
					t.Fatalf("%v lies outside %v, from %v to %v", v, y, lo, hi)
				}
			}
		}
	}
}

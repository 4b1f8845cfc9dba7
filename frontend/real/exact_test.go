package real

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

func n(v float64) *Expr     { return ConstantExprOfFloat(v) }
func frac(a, b int64) *Expr { return ConstantExpr(big.NewRat(a, b)) }
func at(t *testing.T, e *Expr, v ...int64) (Num, error) {
	t.Helper()
	vars := make([]Num, len(v))
	for i, x := range v {
		vars[i] = NumberOfRational(new(big.Rat).SetInt64(x))
	}
	var y Num
	var err error
	for _, prec := range WorkingPrecisionBits {
		if y, err = Compile(e).EvaluateExactly(vars, prec); !errors.Is(err, ErrInsufficientPrecision) {
			break
		}
	}
	return y, err
}

func TestExactRationals(t *testing.T) {
	t.Parallel()
	x := Var(0)
	for _, c := range []struct {
		name string
		e    *Expr
		x    int64
		want *big.Rat
	}{
		{"sum of thirds", Add(frac(1, 3), frac(2, 3)), 0, big.NewRat(1, 1)},
		{"a 49th of 7", Mul(x, frac(1, 49)), 7, big.NewRat(1, 7)},
		{"quotient", Div(x, n(3)), 7, big.NewRat(7, 3)},
		{"root of a square", Sqrt(Mul(x, x)), -12, big.NewRat(12, 1)},
		{"root of a fraction", Sqrt(Div(frac(9, 1), n(16))), 0, big.NewRat(3, 4)},
		{"root of zero", Sqrt(Sub(x, x)), 5, new(big.Rat)},
		{"zero times a root", Mul(n(0), Sqrt(n(2))), 0, new(big.Rat)},
		{"a root times zero", Mul(Sqrt(n(2)), Sub(x, n(4))), 4, new(big.Rat)},
		{"zero over a root", Div(Sub(x, n(4)), Sqrt(n(2))), 4, new(big.Rat)},
		{"minimum of a root and a third", Min(Sqrt(n(2)), frac(1, 3)), 0, big.NewRat(1, 3)},
		{"maximum of a negative root and zero", Max(Neg(Sqrt(n(2))), n(0)), 0, new(big.Rat)},
		{"maximum keeps a rational", Max(frac(10, 3), Sqrt(n(2))), 0, big.NewRat(10, 3)},
		{"rounding of a root", Round(Mul(x, Sqrt(n(2))), RoundingModeHalfEven), 10, big.NewRat(14, 1)},
		{"|x|", Abs(Neg(x)), 3, big.NewRat(3, 1)},
		{"a tie", Round(Div(x, n(2)), RoundingModeHalfEven), 5, big.NewRat(2, 1)},
		{"a tie of fractions", Round(Mul(frac(5, 3), frac(3, 2)), RoundingModeHalfAwayFromZero), 0, big.NewRat(3, 1)},
		{"a denormal", Mul(n(smallest), n(smallest)), 0, new(big.Rat).SetFrac(big.NewInt(1),
			new(big.Int).Lsh(big.NewInt(1), 2148))},
	} {
		y, err := at(t, c.e, c.x)
		if err != nil || y.RationalOrNil() == nil || y.RationalOrNil().Cmp(c.want) != 0 {
			t.Errorf("%s = %v %v, want %v", c.name, y.RationalOrNil(), err, c.want)
		}
	}
}

func TestExactFailures(t *testing.T) {
	t.Parallel()
	x, two, huge := Var(0), Sqrt(ConstantExprOfFloat(2)), enormous()
	for _, c := range []struct {
		name string
		e    *Expr
		want error
	}{
		{"division by zero", Div(n(1), Sub(x, n(1))), ErrDivisionByZero},
		{"zero over zero", Div(Sub(x, n(1)), Sub(x, n(1))), ErrDivisionByZero},
		{"a root over zero", Div(two, Sub(x, n(1))), ErrDivisionByZero},
		{"division by what may be zero", Div(n(1), Sub(two, two)), ErrInsufficientPrecision},
		{"zero over what may be zero", Div(n(0), Sub(two, two)), ErrInsufficientPrecision},
		{"root of a negative", Sqrt(n(-2)), ErrRootOfNegative},
		{"root of a negative enclosure", Sqrt(Neg(two)), ErrRootOfNegative},
		{"root of what may be negative", Sqrt(Sub(two, two)), ErrInsufficientPrecision},
		{"a tie that no precision sees", Round(Mul(Mul(two, two), n(0.25)), RoundingModeHalfEven),
			ErrInsufficientPrecision},
		{"an integer beyond all floats", Round(huge, RoundingModeTowardsNegativeInf), ErrInsufficientPrecision},
		{"a power of two below anything", FloorPowerOfTwo(Div(huge, huge)), ErrInsufficientPrecision},
		{"infinity less infinity", Round(Sub(huge, huge), RoundingModeTowardsNegativeInf), ErrInsufficientPrecision},
		{"infinity less infinity, or zero", AtLeast(Sub(huge, huge), n(0)), ErrInsufficientPrecision},
	} {
		if y, err := at(t, c.e, 1); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, error %v, want %v", c.name, y.FloatInterval(), err, c.want)
		}
	}
}

// enormous is beyond 2^(2^40).
func enormous() *Expr {
	e := Mul(n(0x1p1000), Sqrt(n(2)))
	for range 30 {
		e = Mul(e, e)
	}
	return e
}

// TestUnbounded decides expressions with numbers that are known only to be larger, or smaller, than any bound.
func TestUnbounded(t *testing.T) {
	t.Parallel()
	huge, tiny := enormous(), Div(n(1), enormous())
	round := func(e *Expr) *Expr { return Round(e, RoundingModeTowardsNegativeInf) }
	for _, c := range []struct {
		name string
		e    *Expr
		want int64
	}{
		{"a clipped one", Min(huge, n(7)), 7},
		{"a clipped one below", Max(Neg(huge), n(-7)), -7},
		{"the least", round(tiny), 0},
		{"the least below", round(Neg(tiny)), -1},
		{"one less the least", round(Sub(n(1), tiny)), 0},
		{"a product of the least", round(Sub(n(1), Mul(tiny, tiny))), 0},
		{"a product of both signs", Max(Mul(huge, Neg(huge)), n(-1)), -1},
		{"its root", Min(Sqrt(huge), n(1)), 1},
		{"its exponential", Min(Exp(huge), n(1)), 1},
		{"one over its exponential", round(Div(n(1), Exp(huge))), 0},
		{"its negative's exponential", round(Neg(Exp(Neg(huge)))), -1},
		{"its logarithm", Min(Log(huge), n(1)), 1},
		{"the logarithm of one and the least", round(Neg(Log(Add(n(1), tiny)))), -1},
		{"the logarithm of one less the least", round(Log(Sub(n(1), tiny))), -1},
		{"the least over the largest", round(Sub(n(1), Div(tiny, huge))), 0},
		{"a comparison", AtLeast(huge, Neg(huge)), 1},
		{"a comparison of neighbours", AtLeast(Sub(n(1), tiny), n(1)), 0},
		{"the exponential of the least", round(Exp(tiny)), 1},
		{"the exponential of less", round(Exp(Neg(tiny))), 0},
	} {
		y, err := at(t, c.e, 0)
		if err != nil || y.RationalOrNil() == nil || y.RationalOrNil().Cmp(big.NewRat(c.want, 1)) != 0 {
			t.Errorf("%s: %v, %v, want %d", c.name, y.FloatInterval(), err, c.want)
		}
	}
}

// TestLargeLogarithms takes logarithms of exponentials, which are enclosed with two million bits.
func TestLargeLogarithms(t *testing.T) {
	t.Parallel()
	for _, v := range []float64{0.5, 700, 1e4, 1e6, -1e6, -1e4} {
		y, err := at(t, Log(Exp(n(v))), 0)
		if err != nil || y.FloatInterval().Lo > v || y.FloatInterval().Hi < v ||
			y.FloatInterval().Hi-y.FloatInterval().Lo > 1e-9 {
			t.Errorf("ln(e^%v) is %v, %v", v, y.FloatInterval(), err)
		}
	}
}

// TestExactEnclosures checks roots against their squares and that more precision gives a narrower enclosure.
func TestExactEnclosures(t *testing.T) {
	t.Parallel()
	for _, v := range []float64{2, 3, 0.1, 1e-5, float64(float32(1e-41)), smallest, math.MaxFloat64, 1 + 0x1p-52} {
		last := new(big.Float).SetInf(false)
		for _, prec := range WorkingPrecisionBits {
			y, err := Compile(Sqrt(ConstantExprOfFloat(v))).EvaluateExactly(nil, prec)
			if err != nil {
				t.Fatal(err)
			}
			if y.RationalOrNil() != nil {
				continue
			}
			lo, _ := y.lo.Rat(nil)
			hi, _ := y.hi.Rat(nil)
			x := rat(v)
			if lo.Mul(lo, lo).Cmp(x) > 0 || hi.Mul(hi, hi).Cmp(x) < 0 {
				t.Errorf("the root of %v at %d bits is not in [%v, %v]", v, prec, y.lo, y.hi)
			}
			width := new(big.Float).Sub(y.hi, y.lo)
			if width.Cmp(last) >= 0 {
				t.Errorf("the root of %v at %d bits is no narrower than before", v, prec)
			}
			last = width
			f, ok := y.RoundToFormat(num.Float64Format)
			if want := math.Sqrt(v); !ok || f != want {
				t.Errorf("the root of %v = %v %v, want %v", v, f, ok, want)
			}
			if g, ok := y.RoundToFormat(num.Float32Format); !ok || g != float64(float32(f)) {
				t.Errorf("the root of %v as float32 = %v %v", v, g, ok)
			}
			if i := y.FloatInterval(); !holds(i, lo.SetFloat64(f)) || i.Hi != up(i.Lo) {
				t.Errorf("the root of %v lies in %v", v, i)
			}
		}
	}
}

// TestPrecisionEscalates rounds a value that parts from a tie by less than 128, then 512 bits show.
func TestPrecisionEscalates(t *testing.T) {
	t.Parallel()
	two := Sqrt(ConstantExprOfFloat(2))
	for _, bits := range []uint{200, 1000, 4000} {
		// root(2) cancels except for its precision. The result is a tie plus or minus 2^-bits.
		less := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), bits))
		base := Sub(Add(two, n(2.5)), two)
		for _, sign := range []int64{1, -1} {
			e := Round(Add(base, ConstantExpr(new(big.Rat).Mul(less, big.NewRat(sign, 1)))),
				RoundingModeHalfEven)
			if _, err := Compile(e).EvaluateExactly(nil, 128); !errors.Is(err, ErrInsufficientPrecision) {
				t.Errorf("a difference of 2^-%d is decided at 128 bits: %v", bits, err)
			}
			want := int64(2)
			if sign > 0 {
				want = 3
			}
			if y, err := at(t, e); err != nil || y.RationalOrNil().Cmp(big.NewRat(want, 1)) != 0 {
				t.Errorf("2.5%+d*2^-%d rounds to %v, %v, want %d", sign, bits, y.RationalOrNil(), err, want)
			}
		}
	}
}

// TestLongFractions lets a chain of fractions grow until it is enclosed: the value stays right.
func TestLongFractions(t *testing.T) {
	t.Parallel()
	e := Var(0)
	for range 14 {
		e = Mul(e, e)
	}
	e = Mul(e, frac(1, 3))
	y, err := at(t, Round(Div(e, Mul(e, frac(2, 5))), RoundingModeTowardsNegativeInf), 7)
	if err != nil || y.RationalOrNil() == nil || y.RationalOrNil().Cmp(big.NewRat(2, 1)) != 0 {
		t.Errorf("the floor of 2.5 by way of 7^16384 = %v, %v", y.RationalOrNil(), err)
	}
	if y, err = at(t, e, 7); err != nil || y.RationalOrNil() != nil || y.lo.Cmp(y.hi) >= 0 {
		t.Errorf("7^16384/3 = %v, %v, want an enclosure", y.RationalOrNil(), err)
	}
	if i := y.FloatInterval(); i != (Interval{math.MaxFloat64, math.Inf(1)}) {
		t.Errorf("7^16384/3 lies in %v", i)
	}
}

// TestComparisonsOfRoots decides x >= y where both are enclosed, and where they are nearer than 128 bits tell.
func TestComparisonsOfRoots(t *testing.T) {
	t.Parallel()
	two, three := Sqrt(n(2)), Sqrt(n(3))
	third := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(3), 300))
	near := Add(Sub(Add(two, frac(1, 3)), two), ConstantExpr(third)) // 1/3 and a little
	for _, c := range []struct {
		name string
		x, y *Expr
		want int64
	}{
		{"roots", three, two, 1}, {"roots the other way", two, three, 0}, {"a root and a number", two, n(1.5), 0},
		{"a number and a root", n(1.5), two, 1},
		{"nearly a third", near, frac(1, 3), 1}, {"a third", frac(1, 3), near, 0},
	} {
		y, err := at(t, AtLeast(c.x, c.y))
		if err != nil || y.RationalOrNil() == nil || y.RationalOrNil().Cmp(big.NewRat(c.want, 1)) != 0 {
			t.Errorf("%s: %v %v, want %d", c.name, y.RationalOrNil(), err, c.want)
		}
		order := -2
		for _, prec := range WorkingPrecisionBits {
			x, err := Compile(c.x).EvaluateExactly(nil, prec)
			if err != nil {
				t.Fatal(err)
			}
			y, err := Compile(c.y).EvaluateExactly(nil, prec)
			if err != nil {
				t.Fatal(err)
			}
			if order, err = CompareNumbers(x, y); !errors.Is(err, ErrInsufficientPrecision) {
				break
			}
		}
		if (order > 0) != (c.want == 1) || order == 0 || order == -2 {
			t.Errorf("%s compare as %d", c.name, order)
		}
	}
	if y, err := at(t, AtLeast(Mul(two, two), n(2))); !errors.Is(err, ErrInsufficientPrecision) {
		t.Errorf("a tie of roots is decided: %v %v", y.RationalOrNil(), err)
	}
}

// TestExpLogIntervals compares the float64 intervals with 512 bits, denormal and huge values included.
func TestExpLogIntervals(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(7, 8))
	check := func(e *Expr, v float64) {
		f := Compile(e)
		iv, _ := f.EvaluateInterval([]Interval{NewPointInterval(v)})
		y, err := f.EvaluateExactly([]Num{NumberOfRational(rat(v))}, 512)
		if err != nil {
			t.Errorf("at %v: %v", v, err)
			return
		}
		lo, hi := y.lo, y.hi
		if y.r != nil {
			lo, hi = y.enclose(512)
		}
		if e.op == sin || e.op == cos { // what encloses them may reach beyond
			lo, hi = greater(lo, big.NewFloat(-1)), lesser(hi, big.NewFloat(1))
		}
		if math.IsNaN(iv.Lo) || math.IsNaN(iv.Hi) || new(big.Float).SetFloat64(iv.Lo).Cmp(lo) > 0 ||
			new(big.Float).SetFloat64(iv.Hi).Cmp(hi) < 0 {
			t.Errorf("at %v: %v does not hold [%v, %v]", v, iv, lo, hi)
		}
	}
	for _, v := range []float64{0, 1, -1, 1e-300, -1e-300, smallest, 0.5, 88.7, -103.9, 708.3, 709.7, 709.8, 710, 1e4,
		-707, -708.4, -720, -740, -744.4, -745.1, -745.2, -746, -1e4, -2e6, -1e300} {
		check(Exp(Var(0)), v)
	}
	for _, v := range []float64{1, 2, 0.5, up(1), down(1), 1 + 1e-10, smallest, 0x1p-1022, math.MaxFloat64, math.E} {
		check(Log(Var(0)), v)
	}
	curves := []*Expr{Erf(Var(0)), Sin(Var(0)), Cos(Var(0)), Atan(Var(0))}
	for _, v := range []float64{0, 1, -1, 1e-300, smallest, -smallest, 0.5, 0.84375, 1.25, 2.857, 5.9, 6, -6.1, 20, 1e6,
		math.Pi, math.Pi / 2, -1.5 * math.Pi, 355, 1e-9} {
		for _, e := range curves {
			check(e, v)
		}
	}
	for range rounds(500) {
		for _, e := range curves {
			check(e, math.Ldexp(r.NormFloat64(), 4-r.IntN(40)))
		}
		check(Exp(Var(0)), (r.Float64()-0.5)*1500)
		check(Exp(Var(0)), math.Ldexp(r.NormFloat64(), -r.IntN(60)))
		if v := math.Abs(draw(r)); v > 0 {
			check(Log(Var(0)), v)
		}
		check(Log(Var(0)), 1+math.Ldexp(r.NormFloat64(), -4-r.IntN(48)))
	}
}

func TestIntervalOfFunc(t *testing.T) {
	t.Parallel()
	x, y := Var(0), Var(1)
	for _, c := range []struct {
		name string
		e    *Expr
		in   []Interval
		want Interval
		sure bool
	}{
		{"shared square", Mul(x, x), []Interval{{-2, 3}}, Interval{0, 9}, true},
		{"product", Mul(x, y), []Interval{{-2, 3}, {-2, 3}}, Interval{-6, 9}, true},
		{"rounding of a run", Round(x, RoundingModeHalfEven), []Interval{{0.6, 1.4}}, Interval{1, 1}, true},
		{"rounding that is open", Round(x, RoundingModeHalfEven), []Interval{{0.4, 1.4}}, Interval{0, 1}, false},
		{"open inside, closed outside", Min(Round(x, RoundingModeHalfEven), ConstantExprOfFloat(0)), []Interval{{0.4,
			1.4}}, Interval{0, 0},
			false},
		{"clamp", Min(Max(x, ConstantExprOfFloat(-1)), ConstantExprOfFloat(1)), []Interval{{-5, 5}}, Interval{-1, 1},
			true},
		{"abs", Abs(x), []Interval{{-5, 2}}, Interval{0, 5}, true},
	} {
		f := Compile(c.e)
		for range 2 { // the scratch space is used again
			if got, sure := f.EvaluateInterval(c.in); got != c.want || sure != c.sure {
				t.Errorf("%s = %v %v, want %v %v", c.name, got, sure, c.want, c.sure)
			}
			f = f.Fork()
		}
	}
}

// TestExpLog compares three readings: float64, intervals, and big enclosures. The enclosures must lie within the
// interval and become narrow, and log must undo exp.
func TestExpLog(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		x := rnd.NormFloat64() * math.Exp2(float64(rnd.IntN(16)-10))
		for _, c := range []struct {
			name string
			f    *Expr
			arg  float64
		}{{"exp", Exp(Var(0)), x}, {"log", Log(Var(0)), math.Abs(x)}, {"log of exp", Log(Exp(Var(0))), x}} {
			f := Compile(c.f)
			iv, sure := f.EvaluateInterval([]Interval{NewPointInterval(c.arg)})
			if !sure || iv.Lo > iv.Hi {
				t.Fatalf("%s(%v) = %v", c.name, c.arg, iv)
			}
			for _, prec := range []uint{128, 512} {
				n, err := f.EvaluateExactly([]Num{NumberOfRational(new(big.Rat).SetFloat64(c.arg))}, prec)
				if err != nil {
					t.Fatalf("%s(%v): %v", c.name, c.arg, err)
				}
				if n.lo.Cmp(n.hi) > 0 {
					t.Fatalf("%s(%v) at %d bits: empty", c.name, c.arg, prec)
				}
				if a := n.FloatInterval(); a.Hi < iv.Lo || a.Lo > iv.Hi {
					t.Fatalf("%s(%v): interval %v, exact %v", c.name, c.arg, iv, a)
				}
				width, _ := new(big.Float).Sub(n.hi, n.lo).Float64()
				mid, _ := n.hi.Float64()
				if width > math.Exp2(40-float64(prec))*(1+math.Abs(mid)) {
					t.Fatalf("%s(%v) at %d bits is %g wide", c.name, c.arg, prec, width)
				}
				if c.name == "log of exp" {
					xf := new(big.Float).SetFloat64(x)
					if n.lo.Cmp(xf) > 0 || n.hi.Cmp(xf) < 0 {
						t.Fatalf("log(exp(%v)) does not hold it", x)
					}
				}
			}
		}
	}
}

func TestTranscendentalEdges(t *testing.T) {
	t.Parallel()
	at := func(e *Expr, x float64) (Num, error) {
		return Compile(e).EvaluateExactly([]Num{NumberOfRational(new(big.Rat).SetFloat64(x))}, 128)
	}
	for _, c := range []struct {
		e       *Expr
		x, want float64
	}{{Exp(Var(0)), 0, 1}, {Log(Var(0)), 1, 0}, {AtLeast(Var(0), ConstantExprOfFloat(0.5)), 0.5, 1},
		{AtLeast(Var(0), ConstantExprOfFloat(0.5)), 0.49, 0}} {
		n, err := at(c.e, c.x)
		if err != nil || n.RationalOrNil() == nil || n.FloatInterval() != NewPointInterval(c.want) {
			t.Errorf("at %v: %v %v, want exactly %v", c.x, n.FloatInterval(), err, c.want)
		}
		if y, sure := Compile(c.e).EvaluateInterval([]Interval{NewPointInterval(c.x)}); !sure ||
			y != NewPointInterval(c.want) {
			t.Errorf("interval at %v: %v, want %v", c.x, y, c.want)
		}
	}
	for _, x := range []float64{0, -1} {
		if _, err := at(Log(Var(0)), x); err != ErrLogOfNonPositive {
			t.Errorf("log(%v): %v", x, err)
		}
	}
	if y, sure := Compile(AtLeast(Var(0), ConstantExprOfFloat(0))).EvaluateInterval([]Interval{{-1, 1}}); sure ||
		y != (Interval{0, 1}) {
		t.Errorf("an open comparison gave %v, %v", y, sure)
	}
	if n, err := at(Exp(Var(0)), -1e7); err != nil || n.FloatInterval().Hi > 1e-300 {
		t.Errorf("exp(-1e7) is %v, %v", n.FloatInterval(), err)
	}
}

// TestSaturation rounds values that agree with a whole number to thousands of bits. They must still lie beside it.
func TestSaturation(t *testing.T) {
	t.Parallel()
	one, two := ConstantExprOfFloat(1), ConstantExprOfFloat(2)
	tanh := Sub(one, Div(two, Add(Exp(Mul(two, Var(0))), one)))
	for _, c := range []struct {
		f    *Expr
		x    float64
		want float64
	}{
		{Round(tanh, RoundingModeTowardsNegativeInf), 16384, 0},
		{Round(tanh, RoundingModeTowardsPositiveInf), 16384, 1},
		{Round(tanh, RoundingModeTowardsPositiveInf), -16384, 0},
		{Round(tanh, RoundingModeTowardsNegativeInf), -16384, -1},
		{Round(Add(tanh, ConstantExprOfFloat(0.5)), RoundingModeHalfEven), 16384, 1}, // just below 1.5
		// just below 2.5, where ties go
		{Round(Add(tanh, ConstantExprOfFloat(1.5)), RoundingModeHalfEven), 16384, 2},
		// just below -0.5: would be -1 at the tie, too
		{Round(Sub(tanh, ConstantExprOfFloat(1.5)), RoundingModeHalfAwayFromZero), 16384, -1},
		{Round(Sub(Neg(tanh), ConstantExprOfFloat(1.5)), RoundingModeHalfEven), 16384, -2},
		{AtLeast(tanh, one), 16384, 0},
		{AtLeast(one, tanh), 16384, 1},
		{FloorPowerOfTwo(tanh), 16384, 0.5},
	} {
		var n Num
		err := ErrInsufficientPrecision
		for _, prec := range WorkingPrecisionBits {
			if n, err = Compile(c.f).EvaluateExactly([]Num{NumberOfRational(new(big.Rat).SetFloat64(c.x))},
				prec); err == nil {
				break
			}
		}
		if err != nil || n.FloatInterval() != NewPointInterval(c.want) {
			t.Errorf("at %v: %v %v, want %v", c.x, n.FloatInterval(), err, c.want)
		}
	}
}

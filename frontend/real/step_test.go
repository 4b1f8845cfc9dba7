package real

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// A surd is a + b*sqrt(d) with rational a, b and d: the result of a chain with one batch normalisation. Its order is
// decided by squaring, without any enclosure. So it is a second opinion on every rounding.
type surd struct{ a, b, d *big.Rat }

func (s surd) plus(c *big.Rat) surd { return surd{new(big.Rat).Add(s.a, c), s.b, s.d} }
func (s surd) times(c *big.Rat) surd {
	return surd{new(big.Rat).Mul(s.a, c), new(big.Rat).Mul(s.b, c), s.d}
}
func (s surd) sign() int {
	p, q := s.a.Sign(), s.b.Sign()
	if p == q || q == 0 {
		return p
	}
	if p == 0 {
		return q
	}
	aa := new(big.Rat).Mul(s.a, s.a)
	bb := new(big.Rat).Mul(s.b, s.b)
	return p * aa.Cmp(bb.Mul(bb, s.d))
}
func (s surd) cmp(c *big.Rat) int { return s.plus(new(big.Rat).Neg(c)).sign() }

// floor finds the integer below by bisection from a bound on the magnitude.
func (s surd) floor() *big.Int {
	if s.b.Sign() == 0 {
		return new(big.Int).Div(s.a.Num(), s.a.Denom())
	}
	lo, hi := big.NewInt(-1), big.NewInt(1)
	at := func(i *big.Int) int { return s.cmp(new(big.Rat).SetInt(i)) }
	for at(lo) < 0 {
		lo.Lsh(lo, 1)
	}
	for at(hi) >= 0 {
		hi.Lsh(hi, 1)
	}
	for {
		mid := new(big.Int).Add(lo, hi)
		mid.Rsh(mid, 1)
		if mid.Cmp(lo) == 0 {
			return lo
		}
		if at(mid) >= 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
}

func (s surd) round(m RoundingMode) *big.Rat {
	lo := s.floor()
	rest := s.plus(new(big.Rat).Neg(new(big.Rat).SetInt(lo)))
	v := new(big.Rat).SetInt(lo)
	switch side := rest.cmp(big.NewRat(1, 2)); {
	case rest.sign() == 0:
		return v
	case side == 0: // exactly halfway is rational; nearest knows what to do
		return new(big.Rat).SetInt(nearest(m, v.Add(v, big.NewRat(1, 2))))
	case side < 0:
		return new(big.Rat).SetInt(nearest(m, v.Add(v, big.NewRat(1, 4))))
	}
	return new(big.Rat).SetInt(nearest(m, v.Add(v, big.NewRat(3, 4))))
}

// A link is one operation of a chain in both readings.
type link struct {
	name string
	expr func(*Expr) *Expr
	eval func(surd) surd
}

func rational(r *big.Rat) surd { return surd{r, new(big.Rat), new(big.Rat)} }

func scaleBy(c float64) link {
	return link{fmt.Sprintf("*%g", c), func(x *Expr) *Expr { return Mul(x, ConstantExprOfFloat(c)) },
		func(s surd) surd { return s.times(rat(c)) }}
}

func divideBy(c float64) link {
	return link{fmt.Sprintf("/%g", c), func(x *Expr) *Expr { return Div(x, ConstantExprOfFloat(c)) },
		func(s surd) surd { return s.times(new(big.Rat).Inv(rat(c))) }}
}

func addTo(c float64) link {
	return link{fmt.Sprintf("+%g", c), func(x *Expr) *Expr { return Add(x, ConstantExprOfFloat(c)) },
		func(s surd) surd { return s.plus(rat(c)) }}
}

func clamp(lo, hi float64) link {
	return link{fmt.Sprintf("clamp[%g,%g]", lo, hi), func(x *Expr) *Expr {
		return Min(Max(x, ConstantExprOfFloat(lo)),
			ConstantExprOfFloat(hi))
	},
		func(s surd) surd {
			if s.cmp(rat(lo)) <= 0 {
				s = rational(rat(lo))
			}
			if s.cmp(rat(hi)) >= 0 {
				s = rational(rat(hi))
			}
			return s
		}}
}

var relu = link{"relu", func(x *Expr) *Expr { return Max(x, ConstantExprOfFloat(0)) }, func(s surd) surd {
	if s.sign() < 0 {
		return rational(new(big.Rat))
	}
	return s
}}

func batchNorm(mean, variance, gamma, beta float64) link {
	const eps = float64(float32(1e-5))
	v := new(big.Rat).Add(rat(variance), rat(eps))
	return link{fmt.Sprintf("bn(%g,%g,%g,%g)", mean, variance, gamma, beta), func(x *Expr) *Expr {
		y := Div(Sub(x, ConstantExprOfFloat(mean)), Sqrt(Add(ConstantExprOfFloat(variance), ConstantExprOfFloat(eps))))
		return Add(Mul(y, ConstantExprOfFloat(gamma)), ConstantExprOfFloat(beta))
	}, func(s surd) surd {
		// (x-mean)*gamma/sqrt(v) = (x-mean)*gamma/v * sqrt(v)
		b := new(big.Rat).Sub(s.a, rat(mean))
		b.Mul(b, rat(gamma)).Quo(b, v)
		return surd{rat(beta), b, v}
	}}
}

func roundTo(m RoundingMode) link {
	return link{m.String(), func(x *Expr) *Expr { return Round(x, m) },
		func(s surd) surd { return rational(s.round(m)) }}
}

// number draws a float32 of one of the sorts that scales and biases are.
func number(r *rand.Rand) float64 {
	sign := float64(1 - 2*r.IntN(2))
	switch r.IntN(4) {
	case 0:
		return sign * math.Ldexp(1, r.IntN(12)-8)
	case 1:
		return sign * float64(1+r.IntN(40)) / 8
	}
	return float64(float32(r.NormFloat64()))
}

func positive(r *rand.Rand) float64 {
	for {
		if v := math.Abs(number(r)); v > 0 {
			return v
		}
	}
}

// quantiser draws the end of a chain.
func quantiser(r *rand.Rand) []link {
	bits, signed, narrow := 1+r.IntN(8), r.IntN(2), r.IntN(2)
	if bits == 1 {
		signed = 0
	}
	lo, hi := 0.0, math.Exp2(float64(bits))-1-float64(narrow)
	if signed == 1 {
		lo, hi = -math.Exp2(float64(bits-1))+float64(narrow), math.Exp2(float64(bits-1))-1
	}
	scale, zero, m := positive(r)*4, float64(r.IntN(5)-2), modes[r.IntN(len(modes))]
	if r.IntN(2) == 0 { // QONNX
		return []link{divideBy(scale), addTo(zero / 2), clamp(lo, hi), roundTo(m)}
	}
	return []link{divideBy(scale), roundTo(m), addTo(zero), clamp(lo, hi)}
}

func drawChain(r *rand.Rand) (chain []link) {
	chain = append(chain, scaleBy(number(r)/16))
	normalised := false
	for range r.IntN(5) {
		switch r.IntN(6) {
		case 0:
			chain = append(chain, relu)
		case 1:
			chain = append(chain, addTo(number(r)))
		case 2:
			chain = append(chain, scaleBy(number(r)))
		case 3:
			lo, hi := number(r), number(r)
			chain = append(chain, clamp(min(lo, hi), max(lo, hi)))
		case 4:
			chain = append(append(chain, quantiser(r)...), scaleBy(number(r)))
			normalised = false
		case 5:
			if normalised { // two roots in one value are no surd
				continue
			}
			normalised = true
			gammas := []float64{number(r), -positive(r), 2.9e-7, -2.9e-7, float64(float32(1e-41)), 0}
			variances := []float64{positive(r), float64(float32(1e-12)), 0}
			chain = append(chain, batchNorm(number(r), variances[r.IntN(3)], gammas[r.IntN(len(gammas))], number(r)))
		}
	}
	return append(chain, quantiser(r)...)
}

func describe(chain []link) string {
	var names []string
	for _, l := range chain {
		names = append(names, l.name)
	}
	return strings.Join(names, " ")
}

func compileChain(chain []link) *Func {
	e := Var(0)
	for _, l := range chain {
		e = l.expr(e)
	}
	return Compile(e)
}

func evaluate(chain []link, x int64) int64 {
	s := rational(new(big.Rat).SetInt64(x))
	for _, l := range chain {
		s = l.eval(s)
	}
	if s.b.Sign() != 0 || !s.a.IsInt() {
		panic("the chain ends in no integer")
	}
	return s.a.Num().Int64()
}

// checkStep compares f with want at every integer of r and demands that no breakpoint is superfluous.
func checkStep(f num.StepFunction, r num.Range, want func(int64) int64) error {
	if err := f.Verify(); err != nil {
		return err
	}
	i := 0
	for x := r.Lo; x <= r.Hi; x++ {
		if i < len(f.At) && f.At[i] == x {
			if i++; f.Value[i] == f.Value[i-1] {
				return fmt.Errorf("breakpoint %d changes nothing", x)
			}
		}
		if w := want(x); f.Value[i] != w {
			return fmt.Errorf("at %d it is %d, want %d", x, f.Value[i], w)
		}
	}
	if i != len(f.At) {
		return fmt.Errorf("breakpoints %v lie outside %v", f.At[i:], r)
	}
	return nil
}

func TestStepOverAgainstEveryInteger(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for seed := range rounds(200) {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		chain := drawChain(r)
		lo := int64(r.IntN(3000)) - 1500
		over := num.Range{Lo: lo, Hi: lo + int64(r.IntN(400))}
		if seed%20 == 0 {
			over.Hi += 3000
		}
		f, err := compileChain(chain).StepFunctionOver(over, 1<<16)
		if err == nil {
			err = checkStep(f, over, func(x int64) int64 { return evaluate(chain, x) })
		}
		if err != nil {
			t.Errorf("seed %d, %s over %v: %v", seed, describe(chain), over, err)
		}
	}
}

// TestStepOverTies has every second integer on a rounding boundary, in every mode.
func TestStepOverTies(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		for _, zero := range []float64{0, 1, -3} {
			for _, first := range []bool{true, false} {
				chain := []link{scaleBy(0.25), relu, divideBy(0.5), addTo(zero), clamp(0, 15), roundTo(m)}
				if !first {
					chain = []link{scaleBy(-0.25), divideBy(0.5), roundTo(m), addTo(zero), clamp(-8, 7)}
				}
				over := num.Range{Lo: -100, Hi: 100}
				f, err := compileChain(chain).StepFunctionOver(over, 100)
				if err == nil {
					err = checkStep(f, over, func(x int64) int64 { return evaluate(chain, x) })
				}
				if err != nil {
					t.Errorf("%s: %v", describe(chain), err)
				}
			}
		}
	}
}

// TestStepOverHalfToEven is the contract's own example: ReLU to UINT4 with steps of two, where the closed form s/2+s*t
// is wrong at ties.
func TestStepOverHalfToEven(t *testing.T) {
	t.Parallel()
	f, err := compileChain([]link{relu, divideBy(2), clamp(0, 15),
		roundTo(RoundingModeHalfEven)}).StepFunctionOver(num.Range{Lo: -40,
		Hi: 40}, 15)
	want := num.StepFunction{At: []int64{2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30}}
	for v := range int64(16) {
		want.Value = append(want.Value, v)
	}
	if err != nil || !f.Equal(want) {
		t.Errorf("%v, %v, want %v", f, err, want)
	}
}

func TestStepOverLimit(t *testing.T) {
	t.Parallel()
	identity := compileChain([]link{roundTo(RoundingModeTowardsNegativeInf)})
	for _, c := range []struct {
		r     num.Range
		limit int
		ok    bool
	}{{num.Range{Lo: 0, Hi: 10}, 10, true}, {num.Range{Lo: 0, Hi: 10}, 9, false}, {num.SingleValueRange(5), 0, true},
		{num.Range{Lo: math.MinInt64, Hi: math.MaxInt64}, 1 << 12, false}} {
		if f, err := identity.StepFunctionOver(c.r, c.limit); (err == nil) != c.ok || err != nil &&
			!errors.Is(err, ErrTooManySteps) {
			t.Errorf("over %v with at most %d steps: %d, %v", c.r, c.limit, len(f.At), err)
		}
	}
}

// TestStepOverWideRanges finds single steps among all int64: where float64 skips integers, the step is still exact.
func TestStepOverWideRanges(t *testing.T) {
	t.Parallel()
	all := num.Range{Lo: math.MinInt64, Hi: math.MaxInt64}
	for _, at := range []int64{math.MinInt64 + 1, -1<<53 - 1, -3, 0, 1<<53 + 1, 1<<62 + 3, math.MaxInt64} {
		// x >= at: max(min(x-at+1, 1), 0)
		c := ConstantExpr(new(big.Rat).SetInt(new(big.Int).Sub(big.NewInt(at), big.NewInt(1))))
		e := Max(Min(Sub(Var(0), c), ConstantExprOfFloat(1)), ConstantExprOfFloat(0))
		f, err := Compile(Round(e, RoundingModeTowardsNegativeInf)).StepFunctionOver(all, 1)
		if want := (num.StepFunction{At: []int64{at}, Value: []int64{0, 1}}); err != nil || !f.Equal(want) {
			t.Errorf("step at %d: %v, %v", at, f, err)
		}
	}
}

func TestStepOverErrors(t *testing.T) {
	t.Parallel()
	x, two := Var(0), Sqrt(ConstantExprOfFloat(2))
	r := num.Range{Lo: -4, Hi: 4}
	for _, c := range []struct {
		name string
		e    *Expr
		want error
	}{
		{"division by zero", Round(Div(n(1), x), RoundingModeHalfEven), ErrDivisionByZero},
		{"root of a negative", Round(Sqrt(x), RoundingModeHalfEven), ErrRootOfNegative},
		{"an irrational tie", Round(Mul(x, Mul(Mul(two, two), n(0.25))), RoundingModeHalfEven),
			ErrInsufficientPrecision},
	} {
		if f, err := Compile(c.e).StepFunctionOver(r, 100); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, f, err, c.want)
		}
	}
	if f, err := Compile(Mul(x, n(0.5))).StepFunctionOver(r, 100); err == nil {
		t.Errorf("halves are integers: %v", f)
	}
	if f, err := Compile(Mul(x, n(0x1p70))).StepFunctionOver(num.Range{Lo: 1, Hi: 2}, 100); err == nil {
		t.Errorf("2^70 is an int64: %v", f)
	}
}

// TestStepOverTails searches functions that come near an integer without end, and never reach it.
func TestStepOverTails(t *testing.T) {
	t.Parallel()
	one := ConstantExprOfFloat(1)
	sigmoid := Div(one, Add(one, Exp(Neg(Mul(Var(0), ConstantExprOfFloat(0x1p-32))))))
	x := Mul(Var(0), ConstantExprOfFloat(0x1p-8))
	softsign := Div(x, Add(one, Abs(x)))
	wide := num.Range{Lo: -1 << 52, Hi: 1 << 52}
	for _, c := range []struct {
		e    *Expr
		want []int64
	}{
		{Round(sigmoid, RoundingModeTowardsPositiveInf), []int64{1}},
		{Round(sigmoid, RoundingModeTowardsNegativeInf), []int64{0}},
		{Round(Mul(sigmoid, ConstantExprOfFloat(3)), RoundingModeAwayFromZero), []int64{1, 2, 3}},
		{Round(Mul(sigmoid, ConstantExprOfFloat(-3)), RoundingModeTowardsNegativeInf), []int64{-1, -2, -3}},
		{Round(Mul(softsign, ConstantExprOfFloat(2)), RoundingModeTowardsNegativeInf), []int64{-2, -1, 0, 1}},
		{Round(Mul(softsign, ConstantExprOfFloat(1.5)), RoundingModeHalfAwayFromZero), []int64{-1, 0, 1}},
	} {
		f, err := Compile(c.e).StepFunctionOver(wide, 10)
		if err != nil || !slices.Equal(f.Value, c.want) {
			t.Errorf("%v, %v, want the values %v", f, err, c.want)
		}
	}
}

// activations are the functions that recurrent layers and networks have, written as package graph does.
func activations() map[string]func(x *Expr) *Expr {
	one, zero := n(1), n(0)
	sigmoid := func(x *Expr) *Expr { return Div(one, Add(one, Exp(Neg(x)))) }
	tanh := func(x *Expr) *Expr { return Sub(one, Div(n(2), Add(Exp(Mul(n(2), x)), one))) }
	softplus := func(x *Expr) *Expr { return Log(Add(one, Exp(x))) }
	elu := func(x *Expr) *Expr {
		return Add(Max(x, zero), Mul(n(float64(float32(0.7))), Sub(Exp(Min(x, zero)), one)))
	}
	return map[string]func(x *Expr) *Expr{
		"Sigmoid": sigmoid, "Tanh": tanh, "Softplus": softplus, "Elu": elu,
		"Softsign":        func(x *Expr) *Expr { return Div(x, Add(one, Abs(x))) },
		"ScaledTanh":      func(x *Expr) *Expr { return Mul(n(1.7), tanh(Mul(n(0.6), x))) },
		"HardSigmoid":     func(x *Expr) *Expr { return Max(Min(Add(Mul(n(0.2), x), n(0.5)), one), zero) },
		"LeakyRelu":       func(x *Expr) *Expr { return Add(Max(x, zero), Mul(n(0.01), Min(x, zero))) },
		"ThresholdedRelu": func(x *Expr) *Expr { return Mul(x, Sub(one, AtLeast(one, x))) },
		"Swish":           func(x *Expr) *Expr { return Mul(x, sigmoid(x)) },
		"Mish":            func(x *Expr) *Expr { return Mul(x, tanh(softplus(x))) },
		"LogSigmoid":      func(x *Expr) *Expr { return Neg(softplus(Neg(x))) },
		"SoftShrink":      func(x *Expr) *Expr { return Sub(Max(x, n(0.5)), Min(Neg(x), n(-0.5))) },
	}
}

// TestStepOverAnyScale quantises activation functions of sums that are tiny, huge, and both, in every rounding mode.
// The steps that are found must equal those of single integers.
func TestStepOverAnyScale(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for name, f := range activations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(len(name)), 3))
			for _, unit := range []int{-150, -90, -56, -40, -20, 0, 20, 60} {
				for _, m := range modes {
					scale := []float64{0.125, 0.1, 1, 30, 3e9, 1e-9}[r.IntN(6)] * float64(1-2*r.IntN(2))
					x := Mul(Var(0), ConstantExpr(new(big.Rat).Mul(power(unit), big.NewRat(1+r.Int64N(99),
						64))))
					y := Add(Div(f(x), n(scale)), n(float64(r.IntN(3)-1)))
					g := Compile(Round(Max(Min(y, n(7)), n(-8)), m))
					wide := num.Range{Lo: -1 << 52, Hi: 1 << 52}
					step, err := g.StepFunctionOver(wide, 64)
					if err != nil {
						t.Errorf("%s/%g in units of 2^%d, %v: %v", name, scale, unit, m, err)
						continue
					}
					at := append([]int64{wide.Lo, wide.Hi, -1, 0, 1}, step.At...)
					for _, v := range step.At {
						at = append(at, v-1)
					}
					for range 5 {
						at = append(at, (r.Int64N(1<<53)-1<<52)>>r.IntN(52))
					}
					for _, v := range at {
						one, err := g.StepFunctionOver(num.SingleValueRange(v), 1)
						if err != nil || one.Value[0] != step.Apply(v) {
							t.Errorf("%s/%g in units of 2^%d, %v, at %d: %d of all, %v of one, %v", name, scale, unit,
								m, v, step.Apply(v), one, err)
						}
					}
				}
			}
		})
	}
}

// TestStepOverEnds searches a function that is constant, which intervals do not see. A search at every integer would
// not end.
func TestStepOverEnds(t *testing.T) {
	t.Parallel()
	x := Mul(Var(0), ConstantExprOfFloat(1024))
	f, err := Compile(Round(Sub(x, x), RoundingModeHalfEven)).StepFunctionOver(num.Range{Lo: -1 << 50, Hi: 1 << 50},
		4096)
	if !errors.Is(err, ErrTooManySteps) {
		t.Errorf("x-x over 2^51 integers: %v, %v", f, err)
	}
}

// TestStepOverEffort limits the evaluations for a step: a few where runs are about as long as those before.
func TestStepOverEffort(t *testing.T) {
	t.Parallel()
	scaled := func(scale float64) *Expr { return Mul(Var(0), ConstantExprOfFloat(scale)) }
	quantised := func(e *Expr, bits int) *Expr {
		most := float64(int(1) << (bits - 1))
		return Max(Min(Round(e, RoundingModeHalfEven), ConstantExprOfFloat(most-1)), ConstantExprOfFloat(-most))
	}
	sigmoid := func(e *Expr, top float64) *Expr {
		return Round(Div(ConstantExprOfFloat(top), Add(ConstantExprOfFloat(1), Exp(Neg(e)))), RoundingModeHalfEven)
	}
	for _, c := range []struct {
		name string
		e    *Expr
		most int64 // integers are from -most to most
		each float64
	}{
		{"any scale", quantised(scaled(0.1234567), 8), 5000, 2},
		{"a power of two", quantised(scaled(0.25), 8), 5000, 5},
		{"long runs", quantised(scaled(0.000123), 8), 1 << 21, 8},
		{"many bits", quantised(scaled(0.0123), 16), 1 << 22, 2},
		{"few steps", quantised(scaled(0.000123), 2), 1 << 20, 40},
		{"a sigmoid", sigmoid(scaled(0.01), 127), 1 << 20, 8},
		{"every integer another", Round(scaled(3), RoundingModeHalfEven), 1000, 1.1},
	} {
		b := &searcher{f: Compile(c.e), limit: 1 << 20}
		if err := b.run(-c.most, c.most); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if each := float64(b.count) / float64(len(b.step.At)); each > c.each {
			t.Errorf("%s: %d steps take %.1f evaluations each, at most %.1f", c.name, len(b.step.At), each, c.each)
		}
	}
}

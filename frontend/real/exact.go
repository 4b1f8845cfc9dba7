package real

import (
	"cmp"
	"errors"
	"math"
	"math/big"

	"hlsgen/internal/num"
)

// A Num is a real number: an exact rational r, or an enclosure by big floats lo and hi. Roots of non-squares are
// irrational and have no other finite form. The number lies strictly between lo and hi, because every operation moves
// the ends outwards.
//
// For example, tanh(1000) agrees with 1 to 2,885 bits, but is known to be below 1 at any precision, and its floor is 0.
// lo may be -Inf and hi may be +Inf: tanh(2^40) is 1 - 2/(1 + a number above 2^(2^20)), and its floor is 0, too.
// A Num may also be infinite itself (inf), as the elements of masks are.
type Num struct {
	r      *big.Rat
	lo, hi *big.Float
	inf    int // the sign of an infinity, for which the other fields are nil; otherwise 0
}

// NumberOfRational returns the Num whose value is the rational r, which must not change.
func NumberOfRational(r *big.Rat) Num { return Num{r: r} }

// RationalOrNil returns the number as an exact rational, or nil if it is known only as an enclosure or is infinite.
func (n Num) RationalOrNil() *big.Rat { return n.r }

// FloatInterval returns the smallest float64 interval that holds n.
func (n Num) FloatInterval() Interval {
	if n.inf != 0 {
		return NewPointInterval(math.Inf(n.inf))
	}
	if n.r != nil {
		return around(n.r)
	}
	lo, below := n.lo.Float64()
	if below == big.Above {
		lo = down(lo)
	}
	hi, above := n.hi.Float64()
	if above == big.Below {
		hi = up(hi)
	}
	return Interval{lo, hi}
}

// RoundToFormat returns the number of format f that is nearest to n, ties to even. ok is false if the two ends of the
// enclosure round to different numbers.
func (n Num) RoundToFormat(f num.FloatFormat) (v float64, ok bool) {
	if n.inf != 0 {
		return math.Inf(n.inf), true
	}
	if n.r != nil {
		near, exact := n.r.Float64()
		if exact || f == num.Float64Format || math.IsInf(near, 0) {
			return f.RoundToNearest(near), true
		}
		return f.RoundToNearest(num.RoundToOdd(near, n.r.Cmp(new(big.Rat).SetFloat64(near)))), true
	}
	end := func(x *big.Float) float64 {
		near, is := x.Float64()
		if f == num.Float64Format {
			return near
		}
		return f.RoundToNearest(num.RoundToOdd(near, -int(is)))
	}
	a, b := end(n.lo), end(n.hi)
	return a, a == b
}

// These are the errors of an exact evaluation that fails. After ErrInsufficientPrecision the caller tries again with
// more bits.
var (
	ErrInsufficientPrecision = errors.New("not decided at this precision")
	ErrDivisionByZero        = errors.New("division by zero")
	ErrRootOfNegative        = errors.New("square root of a negative number")
	ErrLogOfNonPositive      = errors.New("logarithm of a number that is not positive")
)

// WorkingPrecisionBits lists the working precisions, in bits, that a decision tries in turn. A rounding that stays
// undecided at the last one is reported as an error, never guessed.
var WorkingPrecisionBits = []uint{128, 512, 2048, 8192}

// maxRatBits limits the size of a rational, in bits. A larger one becomes an enclosure, because long chains of
// fractions grow without bound.
const maxRatBits = 1 << 15

// maxExp bounds the binary exponents of the ends of an enclosure, so that one operation on them cannot overflow a
// big.Float.
const maxExp = 1 << 24

// enclosed returns the number between lo and hi. An end whose magnitude is above 2^(2^24) or below 2^-(2^24) is moved
// outwards: to infinity, to zero or to that limit.
func enclosed(lo, hi *big.Float) Num { return Num{lo: within(lo, -1), hi: within(hi, +1)} }

// within returns v, moved down (dir -1) or up (dir 1) until the magnitude of its exponent is at most maxExp.
func within(v *big.Float, dir int) *big.Float {
	e := v.MantExp(nil)
	if -maxExp <= e && e <= maxExp {
		return v
	}
	out := new(big.Float).SetPrec(v.Prec())
	switch away := v.Sign() == dir; { // whether outwards is away from zero
	case e > 0 && away:
		return out.SetInf(dir < 0)
	case e < 0 && !away:
		return out
	case e > 0:
		e = maxExp
	default:
		e = -maxExp
	}
	return out.SetMantExp(big.NewFloat(float64(v.Sign())), e)
}

// EvaluateExactly returns the value of f for the given values of its variables. Irrational results are enclosed with
// prec bits. The error is ErrInsufficientPrecision if more bits may decide a rounding inside; any other error says that
// f has no value.
func (f *Func) EvaluateExactly(vars []Num, prec uint) (Num, error) {
	s := make([]Num, len(f.code))
	for i, in := range f.code {
		var err error
		switch in.op {
		case constant:
			s[i] = Num{r: in.e.c}
		case variable:
			s[i] = vars[in.e.v]
		case round:
			s[i], err = s[in.a].round(in.e.mode)
		case gate:
			s[i], err = binary(gate, s[in.a], s[in.b], prec)
		case powerBelow:
			s[i], err = s[in.a].powerBelow()
		case neg, abs, sqrt, exp, log, erf, sin, cos, atan:
			if in.soft >= 0 && s[in.soft].positive() {
				s[i], err = s[in.soft].softplus(prec)
			} else {
				s[i], err = unary(in.op, s[in.a], prec)
			}
		case mul:
			s[i], err = product(s[in.a], s[in.b], in.a == in.b, prec)
		default:
			s[i], err = binary(in.op, s[in.a], s[in.b], prec)
		}
		if err != nil {
			return Num{}, err
		}
	}
	return s[len(s)-1], nil
}

// product returns x*y. square says that x and y are the same number; then the result is not negative even if the
// enclosure spans zero.
func product(x, y Num, square bool, prec uint) (Num, error) {
	if square {
		a, err := unary(abs, x, prec)
		if err != nil {
			return a, err
		}
		x, y = a, a
	}
	return binary(mul, x, y, prec)
}

func (n Num) round(mode RoundingMode) (Num, error) {
	if n.inf != 0 {
		return endless(round, n)
	}
	if n.r != nil {
		return Num{r: new(big.Rat).SetInt(mode.roundRat(n.r))}, nil
	}
	if n.coarse() {
		return Num{}, ErrInsufficientPrecision
	}
	a, b := mode.roundRat(beside(n.lo, +1)), mode.roundRat(beside(n.hi, -1))
	if a.Cmp(b) != 0 {
		return Num{}, ErrInsufficientPrecision
	}
	return Num{r: new(big.Rat).SetInt(a)}, nil
}

// coarse reports whether an end of n is infinite, or so large that rounding to prec bits skips integers.
func (n Num) coarse() bool {
	for _, v := range []*big.Float{n.lo, n.hi} {
		if v.IsInf() || v.MantExp(nil) > int(v.Prec())+1 {
			return true
		}
	}
	return false
}

// beside returns a rational that rounds as the numbers just above (dir 1) or just below (dir -1) v do. Every rounding
// mode jumps at multiples of one half only.
func beside(v *big.Float, dir int64) *big.Rat {
	if v.Sign() != 0 && v.MantExp(nil) < -1 { // all numbers up to 1/4 round alike, and v may have a million bits
		return big.NewRat(int64(v.Sign()), 4)
	}
	r, _ := v.Rat(nil)
	if new(big.Rat).Mul(r, big.NewRat(2, 1)).IsInt() {
		r.Add(r, big.NewRat(dir, 4))
	}
	return r
}

// powerBelow returns the greatest power of two that does not exceed |n|.
func (n Num) powerBelow() (Num, error) {
	below := func(v *big.Rat) *big.Rat { // v > 0
		e := v.Num().BitLen() - v.Denom().BitLen()
		p := power(e)
		for p.Cmp(v) > 0 {
			e--
			p = power(e)
		}
		return p
	}
	if n.inf != 0 {
		return endless(powerBelow, n)
	}
	if n.r != nil {
		if n.r.Sign() == 0 {
			return n, nil
		}
		return Num{r: below(new(big.Rat).Abs(n.r))}, nil
	}
	if n.lo.Sign()*n.hi.Sign() <= 0 || n.lo.IsInf() || n.hi.IsInf() {
		return Num{}, ErrInsufficientPrecision
	}
	lo, _ := n.lo.Rat(nil)
	hi, _ := n.hi.Rat(nil)
	small, large := lo.Abs(lo), hi.Abs(hi)
	if small.Cmp(large) > 0 {
		small, large = large, small
	}
	a, b := below(small), below(large)
	if b.Cmp(large) == 0 { // |n| is strictly below b
		b.Mul(b, big.NewRat(1, 2))
	}
	if a.Cmp(b) != 0 {
		return Num{}, ErrInsufficientPrecision
	}
	return Num{r: a}, nil
}

// power returns 2^e.
func power(e int) *big.Rat {
	p := new(big.Int).Lsh(big.NewInt(1), uint(max(e, -e)))
	if e < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), p)
	}
	return new(big.Rat).SetInt(p)
}

// enclose returns the two ends of n. For a rational they are the number, rounded down and up to prec bits.
func (n Num) enclose(prec uint) (lo, hi *big.Float) {
	if n.r == nil {
		return n.lo, n.hi
	}
	return floor(prec).SetRat(n.r), ceil(prec).SetRat(n.r)
}

func floor(prec uint) *big.Float { return new(big.Float).SetPrec(prec).SetMode(big.ToNegativeInf) }
func ceil(prec uint) *big.Float  { return new(big.Float).SetPrec(prec).SetMode(big.ToPositiveInf) }

func unary(op PrimitiveOp, x Num, prec uint) (Num, error) {
	switch {
	case x.inf != 0:
		return endless(op, x)
	case op == sqrt:
		return root(x, prec)
	case op == exp:
		return x.exp(prec)
	case op == log:
		return x.log(prec)
	case op == erf:
		return x.erf(prec)
	case op == sin:
		return x.sine(prec, 0)
	case op == cos:
		return x.sine(prec, 1)
	case op == atan:
		return x.atan(prec)
	case x.r != nil && op == neg:
		return Num{r: new(big.Rat).Neg(x.r)}, nil
	case x.r != nil:
		return Num{r: new(big.Rat).Abs(x.r)}, nil
	case op == abs && x.lo.Sign() >= 0:
		return x, nil
	case op == abs && x.hi.Sign() > 0:
		return Num{}, ErrInsufficientPrecision // the sign of x is not decided
	}
	return Num{lo: new(big.Float).Neg(x.hi), hi: new(big.Float).Neg(x.lo)}, nil
}

func root(x Num, prec uint) (Num, error) {
	if x.r != nil {
		if x.r.Sign() < 0 {
			return Num{}, ErrRootOfNegative
		}
		n, d := new(big.Int).Sqrt(x.r.Num()), new(big.Int).Sqrt(x.r.Denom())
		if new(big.Int).Mul(n, n).Cmp(x.r.Num()) == 0 && new(big.Int).Mul(d, d).Cmp(x.r.Denom()) == 0 {
			return Num{r: new(big.Rat).SetFrac(n, d)}, nil
		}
	}
	lo, hi := x.enclose(prec)
	if lo.Sign() < 0 {
		if hi.Sign() < 0 {
			return Num{}, ErrRootOfNegative
		}
		return Num{}, ErrInsufficientPrecision
	}
	// big.Float.Sqrt applies the receiver's rounding mode only at its end. One more step outwards makes the ends safe.
	a, b := floor(prec).Sqrt(lo), ceil(prec).Sqrt(hi)
	return enclosed(nudge(a, -1), nudge(b, +1)), nil
}

// nudge moves v by two units of its last place in direction dir.
func nudge(v *big.Float, dir int) *big.Float {
	if v.Sign() == 0 {
		return v
	}
	ulp := new(big.Float).SetMantExp(big.NewFloat(1), v.MantExp(nil)-int(v.Prec())+1)
	if dir < 0 {
		return floor(v.Prec()).Sub(v, ulp)
	}
	return ceil(v.Prec()).Add(v, ulp)
}

func binary(op PrimitiveOp, x, y Num, prec uint) (Num, error) {
	if x.inf != 0 || y.inf != 0 {
		return endlessly(op, x, y)
	}
	if op == gate {
		op = mul
	}
	if x.r != nil && y.r != nil {
		z := new(big.Rat)
		switch op {
		case add:
			z.Add(x.r, y.r)
		case sub:
			z.Sub(x.r, y.r)
		case mul:
			z.Mul(x.r, y.r)
		case div:
			if y.r.Sign() == 0 {
				return Num{}, ErrDivisionByZero
			}
			z.Quo(x.r, y.r)
		case atLeast:
			return indicator(x.r.Cmp(y.r) >= 0), nil
		case minimum, maximum:
			if (x.r.Cmp(y.r) <= 0) == (op == minimum) {
				return x, nil
			}
			return y, nil
		}
		if z.Num().BitLen()+z.Denom().BitLen() > maxRatBits {
			return enclosed(nudge(floor(prec).SetRat(z), -1), nudge(ceil(prec).SetRat(z), +1)), nil
		}
		return Num{r: z}, nil
	}
	if op == mul && (x.zero() || y.zero()) {
		return Num{r: new(big.Rat)}, nil // for example, a pruned channel: zero times a root is zero
	}
	xl, xh := x.enclose(prec)
	yl, yh := y.enclose(prec)
	switch op {
	case add:
		return enclosed(floor(prec).Add(xl, yl), ceil(prec).Add(xh, yh)), nil
	case sub:
		return enclosed(floor(prec).Sub(xl, yh), ceil(prec).Sub(xh, yl)), nil
	case mul:
		return corners(op, prec, xl, xh, yl, yh)
	case div:
		switch {
		case y.zero():
			return Num{}, ErrDivisionByZero
		case yl.Sign() <= 0 && yh.Sign() >= 0:
			return Num{}, ErrInsufficientPrecision
		case x.zero():
			return x, nil
		}
		return corners(op, prec, xl, xh, yl, yh)
	case atLeast:
		switch {
		case xl.Cmp(yh) >= 0:
			return indicator(true), nil
		case xh.Cmp(yl) <= 0: // x < y, because each number lies strictly inside its ends
			return indicator(false), nil
		}
		return Num{}, ErrInsufficientPrecision
	case minimum, maximum:
		switch {
		case xh.Cmp(yl) <= 0: // x < y is certain; a rational result stays exact
			return either(op == minimum, x, y), nil
		case yh.Cmp(xl) <= 0:
			return either(op == minimum, y, x), nil
		case x.r != nil || y.r != nil:
			return Num{}, ErrInsufficientPrecision // the order of x and y is not decided
		case op == minimum:
			return enclosed(lesser(xl, yl), lesser(xh, yh)), nil
		}
		// The result lies strictly between these ends. Two equal roots need no decision.
		return enclosed(greater(xl, yl), greater(xh, yh)), nil
	}
	panic("real: invalid primitive")
}

func lesser(x, y *big.Float) *big.Float {
	if x.Cmp(y) <= 0 {
		return x
	}
	return y
}

func greater(x, y *big.Float) *big.Float {
	if x.Cmp(y) >= 0 {
		return x
	}
	return y
}

func either(first bool, x, y Num) Num {
	if first {
		return x
	}
	return y
}

func indicator(b bool) Num {
	if b {
		return Num{r: big.NewRat(1, 1)}
	}
	return Num{r: new(big.Rat)}
}

// prec returns the precision of an enclosure's ends in bits, and 0 for a rational.
func (n Num) prec() uint {
	if n.r != nil || n.inf != 0 {
		return 0
	}
	return n.lo.Prec()
}

// positive reports whether n is certainly above zero.
func (n Num) positive() bool { return n.r != nil && n.r.Sign() > 0 || n.lo != nil && n.lo.Sign() >= 0 }

func (n Num) zero() bool { return n.r != nil && n.r.Sign() == 0 }

// corners returns an enclosure of the products or quotients of two enclosures, from their values at the four corners. A
// corner 0*Inf or Inf/Inf is skipped: the numbers near it lie between the values at the other corners.
func corners(op PrimitiveOp, prec uint, xl, xh, yl, yh *big.Float) (Num, error) {
	var n Num
	f := (*big.Float).Mul
	if op == div {
		f = (*big.Float).Quo
	}
	for _, x := range []*big.Float{xl, xh} {
		for _, y := range []*big.Float{yl, yh} {
			if x.IsInf() && (y.IsInf() && op == div || y.Sign() == 0) || y.IsInf() && x.Sign() == 0 {
				continue
			}
			a, b := f(floor(prec), x, y), f(ceil(prec), x, y)
			if n.lo == nil || a.Cmp(n.lo) < 0 {
				n.lo = a
			}
			if n.hi == nil || b.Cmp(n.hi) > 0 {
				n.hi = b
			}
		}
	}
	return enclosed(n.lo, n.hi), nil
}

// CompareNumbers returns -1, 0 or 1 if x is less than, equal to or greater than y. It returns ErrInsufficientPrecision
// if the enclosures overlap.
func CompareNumbers(x, y Num) (int, error) {
	if x.inf != 0 || y.inf != 0 {
		return cmp.Compare(x.inf, y.inf), nil
	}
	if x.r != nil && y.r != nil {
		return x.r.Cmp(y.r), nil
	}
	xl, xh := x.enclose(y.prec())
	yl, yh := y.enclose(x.prec())
	switch {
	case xh.Cmp(yl) <= 0:
		return -1, nil
	case xl.Cmp(yh) >= 0:
		return 1, nil
	}
	return 0, ErrInsufficientPrecision
}

// AddNumbers returns x+y. An irrational result is enclosed with prec bits. It returns an error for infinities of
// opposite signs.
func AddNumbers(x, y Num, prec uint) (Num, error) { return binary(add, x, y, prec) }

// MultiplyNumbers returns x*y, which is 0 for zero times infinity. An irrational result is enclosed with prec bits. It
// returns ErrInsufficientPrecision if it multiplies an infinity by a number of undecided sign.
func MultiplyNumbers(x, y Num, prec uint) (Num, error) { return binary(mul, x, y, prec) }

package real

import (
	"math"
	"math/big"
)

// This file evaluates exp and log on intervals of float64 and on Nums. At a rational other than 0 (1 for log) their
// values are transcendental (Lindemann). So a value is never exactly on a rounding boundary, and a higher precision
// always decides.

// expInterval returns an interval that holds e^v for each v in x. It relies on math.Exp erring by at most two units of
// the last place for arguments up to 700, and widens each end by four.
func expInterval(x Interval) Interval {
	if math.IsInf(x.Hi, -1) {
		return Interval{}
	}
	return Interval{expPt(x.Lo).Lo, expPt(x.Hi).Hi}
}

func expPt(x float64) Interval {
	switch {
	case x == 0:
		return NewPointInterval(1)
	case math.IsInf(x, 1):
		return NewPointInterval(x)
	case x < -1e4:
		return Interval{0, math.SmallestNonzeroFloat64}
	case x > 1e4:
		return Interval{math.MaxFloat64, math.Inf(1)}
	case math.Abs(x) > 700: // near the limits of float64, math.Exp overflows early on some machines
		half := expPt(x / 2)
		return half.Mul(half)
	}
	y := math.Exp(x)
	return Interval{steps(y, -4), steps(y, 4)}
}

// logInterval returns an interval that holds ln v for each v in x. It returns IntervalOfAllReals if x holds zero or a
// negative number.
func logInterval(x Interval) Interval {
	if x.Lo <= 0 {
		return IntervalOfAllReals
	}
	return Interval{logPt(x.Lo).Lo, logPt(x.Hi).Hi}
}

func logPt(x float64) Interval {
	const least = 0x1p-1022
	switch {
	case x == 1:
		return Interval{}
	case x < least: // math.Log is inexact for subnormals on some machines
		return logPt(x * 0x1p60).sub(NewPointInterval(60).Mul(Interval{down(math.Ln2), up(math.Ln2)}))
	}
	y := math.Log(x)
	return Interval{steps(y, -4), steps(y, 4)}
}

// softplusInterval returns an interval that holds ln(1+e^v) for each v in x.
func softplusInterval(x Interval) Interval { return Interval{softplusPt(x.Lo).Lo, softplusPt(x.Hi).Hi} }

func softplusPt(x float64) Interval {
	if math.IsInf(x, 0) {
		return NewPointInterval(max(x, 0))
	}
	return NewPointInterval(max(x, 0)).Add(logInterval(NewPointInterval(1).Add(expPt(-math.Abs(x)))))
}

// softplus returns ln(1+e^n) for a positive n, computed as n + ln(1+e^-n). The result lies above n, however large n is.
func (n Num) softplus(prec uint) (Num, error) {
	minus, _ := unary(neg, n, prec)
	e, err := minus.exp(prec)
	if err != nil {
		return e, err
	}
	if e, err = AddNumbers(NumberOfRational(big.NewRat(1, 1)), e, prec); err == nil {
		e, err = e.log(prec)
	}
	if err != nil {
		return e, err
	}
	return AddNumbers(n, e, prec)
}

// steps returns the float64 that is n neighbours above v, or -n neighbours below v if n is negative.
func steps(v float64, n int) float64 {
	dir, times := math.Inf(1), n
	if n < 0 {
		dir, times = math.Inf(-1), -n
	}
	for range times {
		v = math.Nextafter(v, dir)
	}
	return v
}

// maxArgument bounds the arguments of exp: e^(2^20) has a million and a half bits before the point.
const maxArgument = 1 << 20

// exp returns e^n, as an interval computed with prec bits. It halves the argument until it is small, applies Taylor's
// series and squares the result. If n is above zero, the result is above 1, and if n is below zero, below 1, however
// small n is.
func (n Num) exp(prec uint) (Num, error) {
	if n.zero() {
		return Num{r: big.NewRat(1, 1)}, nil
	}
	one := big.NewFloat(1).SetPrec(prec)
	lo, hi := n.enclose(prec + 64)
	y := Num{lo: expEnd(lo, prec, -1), hi: expEnd(hi, prec, +1)}
	if lo.Sign() >= 0 {
		y.lo = greater(y.lo, one)
	}
	if hi.Sign() <= 0 {
		y.hi = lesser(y.hi, one)
	}
	return y, nil
}

// expEnd returns e^x rounded in direction dir, with a relative error below 2^-prec. A margin makes the end of the
// enclosure safe.
func expEnd(x *big.Float, prec uint, dir int) *big.Float {
	if f, _ := x.Float64(); math.Abs(f) > maxArgument {
		out := new(big.Float).SetPrec(prec)
		switch {
		case f < 0 && dir < 0:
			return out // 0 is a lower bound of e^-huge
		case f < 0:
			return out.SetMantExp(big.NewFloat(1), -maxArgument) // an upper bound of e^-huge
		case dir < 0:
			return out.SetMantExp(big.NewFloat(1), maxArgument) // a lower bound of e^huge
		case f < maxExp/2:
			return out.SetMantExp(big.NewFloat(1), 2*int(f+1)) // an upper bound of e^huge: 4^huge
		}
		return out.SetInf(false)
	}
	if x.Sign() == 0 {
		return big.NewFloat(1).SetPrec(prec)
	}
	halvings := max(0, x.MantExp(nil)) + 16
	work := prec + 64 + 2*uint(halvings)
	y := new(big.Float).SetPrec(work).SetMantExp(x, -halvings) // |y| < 2^-16
	sum, term := big.NewFloat(1).SetPrec(work), big.NewFloat(1).SetPrec(work)
	for k := int64(1); ; k++ {
		term.Mul(term, y)
		term.Quo(term, new(big.Float).SetPrec(work).SetInt64(k))
		if term.Sign() == 0 || term.MantExp(nil) < -int(work) {
			break
		}
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return margin(sum, prec, dir)
}

// margin returns v rounded to prec bits and moved by four units of the last place in direction dir. v must have been
// computed with at least 64 more bits.
func margin(v *big.Float, prec uint, dir int) *big.Float {
	w := new(big.Float).SetPrec(prec).Set(v)
	return nudge(nudge(w, dir), dir)
}

// log returns ln n, as an interval computed with prec bits, by Newton's iteration on exp. If n is above 1, the result
// is above zero, and if n is below 1, below zero.
func (n Num) log(prec uint) (Num, error) {
	if n.r != nil && n.r.Sign() <= 0 {
		return Num{}, ErrLogOfNonPositive
	}
	if n.r != nil && n.r.Cmp(big.NewRat(1, 1)) == 0 {
		return Num{r: new(big.Rat)}, nil
	}
	lo, hi := n.enclose(prec + 64)
	if lo.Sign() <= 0 {
		if hi.Sign() <= 0 {
			return Num{}, ErrLogOfNonPositive
		}
		return Num{}, ErrInsufficientPrecision
	}
	y := Num{lo: logEnd(lo, prec, -1), hi: logEnd(hi, prec, +1)}
	one, zero := big.NewFloat(1), new(big.Float)
	if lo.Cmp(one) >= 0 {
		y.lo = greater(y.lo, zero)
	}
	if hi.Cmp(one) <= 0 {
		y.hi = lesser(y.hi, zero)
	}
	return y, nil
}

// logEnd returns ln x rounded in direction dir. If x has a large exponent, it adds the logarithms of the fraction and
// of the power of two.
func logEnd(x *big.Float, prec uint, dir int) *big.Float {
	if x.IsInf() {
		return new(big.Float).SetPrec(prec).SetInf(false)
	}
	work := prec + 64
	fraction, power := new(big.Float), new(big.Float).SetPrec(work)
	if e := x.MantExp(fraction); max(e, -e) > 1<<10 {
		x = fraction
		power.Mul(newton(big.NewFloat(2), work), power.SetInt64(int64(e)))
	}
	y := newton(x, work)
	y.Add(y, power)
	// The error of y is about 2^-work, absolute. The margin is relative, so a result near 0 needs an absolute margin.
	tiny := new(big.Float).SetMantExp(big.NewFloat(1), 8-int(prec))
	if dir < 0 {
		return floor(prec).Sub(y, tiny)
	}
	return ceil(prec).Add(y, tiny)
}

// newton returns an approximation of ln x for an x with a small exponent. It starts from the float64 logarithm and
// iterates y += 2(x-e^y)/(x+e^y), which triples the number of correct bits.
func newton(x *big.Float, work uint) *big.Float {
	fraction := new(big.Float)
	e := x.MantExp(fraction)
	m, _ := fraction.Float64()
	y := new(big.Float).SetPrec(work).SetFloat64(math.Log(m) + float64(e)*math.Ln2)
	for bits := uint(40); bits < 3*work; bits *= 3 {
		ey := expEnd(y, work, +1)
		d := new(big.Float).SetPrec(work).Sub(x, ey)
		d.Quo(d.Mul(d, big.NewFloat(2)), new(big.Float).SetPrec(work).Add(x, ey))
		y.Add(y, d)
	}
	return y
}

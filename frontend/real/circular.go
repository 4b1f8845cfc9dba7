package real

import (
	"math"
	"math/big"
)

// This file evaluates the error function, sine, cosine and arc tangent on intervals of float64 and on Nums. At a
// rational other than 0 their values are transcendental, as those of exp are. So a higher precision always decides how
// they round.

// erfInterval returns an interval that holds the error function of each number in x. It relies on math.Erf erring by at
// most one unit of the last place, and widens each end by four.
func erfInterval(x Interval) Interval {
	return Interval{max(around4(math.Erf, x.Lo).Lo, -1), min(around4(math.Erf, x.Hi).Hi, 1)}
}

// atanInterval returns an interval that holds the arc tangent of each number in x. It relies on math.Atan erring by at
// most two units of the last place, and widens each end by four.
func atanInterval(x Interval) Interval {
	return Interval{around4(math.Atan, x.Lo).Lo, around4(math.Atan, x.Hi).Hi}
}

// around4 returns f(x), widened by four units of the last place on each side. f(0) must be 0, and stays exact.
func around4(f func(float64) float64, x float64) Interval {
	if x == 0 {
		return Interval{}
	}
	y := f(x)
	return Interval{steps(y, -4), steps(y, 4)}
}

// farthest is the largest magnitude of arguments for which sines and cosines are computed in float64.
const farthest = 1 << 20

// sinInterval returns an interval that holds the sine, in radians, of each number in x; cosInterval does so for the
// cosine.
func sinInterval(x Interval) Interval {
	if x == (Interval{}) {
		return x
	}
	return wave(x, math.Sin, 1, 3)
}

func cosInterval(x Interval) Interval {
	if x == (Interval{}) {
		return NewPointInterval(1)
	}
	return wave(x, math.Cos, 0, 2)
}

// wave returns an interval that holds f, the sine or the cosine, of each number in x. f is 1 at top quarters of a turn
// and -1 at bottom quarters. If an end of x lies within rounding error of an extremum, the extremum counts as inside x.
func wave(x Interval, f func(float64) float64, top, bottom float64) Interval {
	const wide = 0x1p-48 // more than the error of math.Sin
	y := Interval{-1, 1}
	if !(x.Lo > -farthest && x.Hi < farthest) || x.Hi-x.Lo > 6 {
		return y
	}
	passes := func(at float64) bool {
		turns := func(v float64) float64 { return (v/(math.Pi/2) - at) / 4 }
		return math.Floor(turns(x.Lo)-0x1p-30) != math.Floor(turns(x.Hi)+0x1p-30)
	}
	a, b := f(x.Lo), f(x.Hi)
	if !passes(top) {
		y.Hi = min(1, max(a, b)+wide)
	}
	if !passes(bottom) {
		y.Lo = max(-1, min(a, b)-wide)
	}
	return y
}

// erf returns the error function of n, as an interval computed with prec bits. The result lies strictly between -1 and
// 1 and has the sign of n, however small n is.
func (n Num) erf(prec uint) (Num, error) {
	if n.zero() {
		return n, nil
	}
	one, zero := big.NewFloat(1), new(big.Float)
	lo, hi := n.enclose(prec + 64)
	y := Num{lo: greater(erfEnd(lo, prec, -1), new(big.Float).Neg(one)), hi: lesser(erfEnd(hi, prec, +1), one)}
	return y.beside(lo, hi, zero), nil
}

// beside restricts an enclosure to the sign that all numbers between lo and hi have. If lo and hi have different signs,
// it returns n.
func (n Num) beside(lo, hi, zero *big.Float) Num {
	if lo.Sign() >= 0 {
		n.lo = greater(n.lo, zero)
	}
	if hi.Sign() <= 0 {
		n.hi = lesser(n.hi, zero)
	}
	return n
}

// erfEnd returns erf x, rounded in direction dir (-1 or 1). It computes 2x/sqrt(pi) e^(-x^2) times the sum of (2x^2)^n
// / (1 3 5 ... (2n+1)), whose terms are all positive. 1-erf x is at most e^(-x^2); if that is below 2^-prec, erfEnd
// returns 1 or its neighbour.
func erfEnd(x *big.Float, prec uint, dir int) *big.Float {
	if x.Sign() == 0 {
		return new(big.Float).SetPrec(prec)
	}
	if f, _ := x.Float64(); f*f > float64(prec)*math.Ln2+1 {
		y := big.NewFloat(float64(x.Sign())).SetPrec(prec)
		if x.Sign() == dir {
			return y
		}
		tiny := new(big.Float).SetMantExp(big.NewFloat(float64(dir)), -int(prec))
		return y.Add(y, tiny)
	}
	work := prec + 128
	square := new(big.Float).SetPrec(work).Mul(x, x)
	twice := new(big.Float).SetPrec(work).Mul(square, big.NewFloat(2))
	sum, term := big.NewFloat(1).SetPrec(work), big.NewFloat(1).SetPrec(work)
	for k := int64(1); ; k++ {
		term.Quo(term.Mul(term, twice), new(big.Float).SetPrec(work).SetInt64(2*k+1))
		sum.Add(sum, term)
		if term.MantExp(nil) < sum.MantExp(nil)-int(work) && twice.Cmp(big.NewFloat(float64(k))) < 0 {
			break
		}
	}
	sum.Mul(sum, expEnd(square.Neg(square), work, +1))
	sum.Mul(sum, new(big.Float).SetPrec(work).Mul(x, big.NewFloat(2)))
	return margin(sum.Quo(sum, new(big.Float).SetPrec(work).Sqrt(piAt(work))), prec, dir)
}

// piAt returns an approximation of pi to prec bits, by the Gauss-Legendre algorithm: repeated arithmetic and geometric
// means of 1 and the root of one half.
func piAt(prec uint) *big.Float {
	work := prec + 32
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(work).SetFloat64(v) }
	a, b, t, p := number(1), number(0).Sqrt(number(0.5)), number(0.25), number(1)
	for bits := uint(1); bits < work; bits *= 2 {
		mean := number(0).Quo(number(0).Add(a, b), number(2))
		d := number(0).Sub(a, mean)
		t.Sub(t, number(0).Mul(p, d.Mul(d, d)))
		b.Sqrt(b.Mul(a, b))
		a, p = mean, p.Add(p, p)
	}
	a.Add(a, b)
	return a.Quo(a.Mul(a, a), t.Mul(t, number(4)))
}

// atan returns the arc tangent of n, as an interval computed with prec bits. The result has the sign of n.
func (n Num) atan(prec uint) (Num, error) {
	if n.zero() {
		return n, nil
	}
	lo, hi := n.enclose(prec + 64)
	y := Num{lo: atanEnd(lo, prec, -1), hi: atanEnd(hi, prec, +1)}
	return y.beside(lo, hi, new(big.Float)), nil
}

// atanEnd returns atan x, rounded in direction dir. It halves the arc until it is short and then applies Taylor's
// series. For |x| > 1 it uses atan x = pi/2 - atan(1/x).
func atanEnd(x *big.Float, prec uint, dir int) *big.Float {
	const halvings = 16
	work := prec + 128
	number := func() *big.Float { return new(big.Float).SetPrec(work) }
	if x.Sign() == 0 {
		return new(big.Float).SetPrec(prec)
	}
	one := big.NewFloat(1)
	size := number().Abs(x)
	steep := size.Cmp(one) > 0
	if steep {
		size.Quo(one, size)
	}
	sum := number()
	if size.Sign() > 0 {
		for range halvings {
			h := number().Mul(size, size)
			size.Quo(size, h.Add(h.Sqrt(h.Add(h, one)), one))
		}
		square, power := number().Mul(size, size), number().Set(size)
		sum.Set(size)
		for k := int64(1); power.MantExp(nil) > sum.MantExp(nil)-int(work); k++ {
			power.Neg(power.Mul(power, square))
			sum.Add(sum, number().Quo(power, number().SetInt64(2*k+1)))
		}
		sum.SetMantExp(sum, halvings)
	}
	if steep {
		sum.Sub(number().Quo(piAt(work), big.NewFloat(2)), sum)
	}
	if x.Sign() < 0 {
		sum.Neg(sum)
	}
	return margin(sum, prec, dir)
}

// sine returns the sine of n plus a number of quarter turns, as an interval computed with prec bits; one quarter gives
// the cosine. It evaluates the sine at the lower end of n. It widens the result by the width of n, because the slope of
// a sine is at most 1.
func (n Num) sine(prec uint, quarters int64) (Num, error) {
	if n.zero() {
		return indicator(quarters != 0), nil
	}
	lo, hi := n.enclose(prec + 64)
	if lo.IsInf() || hi.IsInf() || max(lo.MantExp(nil), hi.MantExp(nil)) > 1<<12 {
		return Num{}, ErrInsufficientPrecision
	}
	y := sineOf(lo, prec+64, quarters)
	away := ceil(prec).Sub(hi, lo)
	away.Add(away, new(big.Float).SetMantExp(big.NewFloat(1), -int(prec)-32))
	return enclosed(floor(prec).Sub(y, away), ceil(prec).Add(y, away)), nil
}

// sineOf returns the sine of x plus a number of quarter turns, with an error below 2^-prec. It removes whole turns,
// divides x by 3 eight times, and applies Taylor's series. It then triples the angle eight times by sin 3x = 3 sin x -
// 4 sin^3 x.
func sineOf(x *big.Float, prec uint, quarters int64) *big.Float {
	const thirds = 8
	work := prec + 64 + uint(max(0, x.MantExp(nil)))
	number := func() *big.Float { return new(big.Float).SetPrec(work) }
	quarter := number().Quo(piAt(work), big.NewFloat(2))
	x = number().Add(x, number().Mul(quarter, number().SetInt64(quarters)))
	turn := number().Mul(quarter, big.NewFloat(4))
	turns, _ := number().Quo(x, turn).Int(nil)
	x.Sub(x, turn.Mul(turn, number().SetInt(turns)))
	part := number().Set(x)
	for range thirds {
		part.Quo(part, big.NewFloat(3))
	}
	sum, term, square := number().Set(part), number().Set(part), number().Mul(part, part)
	for k := int64(1); term.Sign() != 0 && term.MantExp(nil) > -int(work); k++ {
		term.Neg(term.Quo(term.Mul(term, square), number().SetInt64(2*k*(2*k+1))))
		sum.Add(sum, term)
	}
	for range thirds {
		cube := number().Mul(sum, number().Mul(sum, sum))
		sum.Sub(sum.Mul(sum, big.NewFloat(3)), cube.Mul(cube, big.NewFloat(4)))
	}
	return sum
}

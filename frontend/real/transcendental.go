package real

import (
	"math"
	"math/big"
)

// exp and log, in both readings. At a rational other than 0 (1 for log) their values are transcendental (Lindemann), so
// a value is never exactly on a rounding boundary, and more precision always decides.

// expInterval relies on math.Exp being within two units of the last place for arguments up to 700; it is widened by
// four.
func expInterval(x Interval) Interval {
	return Interval{expPt(x.Lo).Lo, expPt(x.Hi).Hi}
}

func expPt(x float64) Interval {
	switch {
	case x == 0:
		return Pt(1)
	case math.IsInf(x, 1):
		return Pt(x)
	case x < -1e4:
		return Interval{0, math.SmallestNonzeroFloat64}
	case x > 1e4:
		return Interval{math.MaxFloat64, math.Inf(1)}
	case math.Abs(x) > 700: // near the ends of float64, math.Exp gives up early on some machines
		half := expPt(x / 2)
		return half.Mul(half)
	}
	y := math.Exp(x)
	return Interval{steps(y, -4), steps(y, 4)}
}

// logInterval is Everything where x may be zero or negative.
func logInterval(x Interval) Interval {
	if x.Lo <= 0 {
		return Everything
	}
	return Interval{logPt(x.Lo).Lo, logPt(x.Hi).Hi}
}

func logPt(x float64) Interval {
	const least = 0x1p-1022
	switch {
	case x == 1:
		return Interval{}
	case x < least: // math.Log does not know denormals on some machines
		return logPt(x * 0x1p60).Sub(Pt(60).Mul(Interval{down(math.Ln2), up(math.Ln2)}))
	}
	y := math.Log(x)
	return Interval{steps(y, -4), steps(y, 4)}
}

// steps moves v by n float64 neighbours.
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

// maxArgument bounds arguments of exp: e^(2^20) has a million and a half bits before the point.
const maxArgument = 1 << 20

// exp encloses e^x at prec bits: argument halved until it is small, Taylor's series, squared back.
func (n Num) exp(prec uint) (Num, error) {
	if n.zero() {
		return Num{r: big.NewRat(1, 1)}, nil
	}
	lo, hi := n.enclose(prec + 64)
	return ends(lo, hi, prec, expEnd)
}

// ends is what a rising function, rounded towards a direction, makes of an enclosure.
func ends(lo, hi *big.Float, prec uint, end func(x *big.Float, prec uint, dir int) (*big.Float, error)) (Num, error) {
	a, err := end(lo, prec, -1)
	if err != nil {
		return Num{}, err
	}
	b, err := end(hi, prec, +1)
	return Num{lo: a, hi: b}, err
}

// expEnd is e^x rounded towards dir with an error below 2^-(prec) relative, the enclosure's end made safe by a margin.
func expEnd(x *big.Float, prec uint, dir int) (*big.Float, error) {
	if f, _ := x.Float64(); math.Abs(f) > maxArgument {
		switch {
		case f < 0 && dir < 0:
			return new(big.Float).SetPrec(prec), nil // e^-huge is above 0
		case f < 0:
			return new(big.Float).SetPrec(prec).SetMantExp(big.NewFloat(1), -maxArgument), nil // and below 2^-huge
		case dir < 0:
			return new(big.Float).SetPrec(prec).SetMantExp(big.NewFloat(1), maxArgument), nil // e^huge is above 2^huge
		case f < maxExp/2:
			return new(big.Float).SetPrec(prec).SetMantExp(big.NewFloat(1), 2*int(f+1)), nil // and below 4^huge
		}
		return nil, ErrMagnitude
	}
	if x.Sign() == 0 {
		return big.NewFloat(1).SetPrec(prec), nil
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
	return margin(sum, prec, dir), nil
}

// margin rounds v to prec bits and moves it outwards by four units: v was computed with 64 bits and more to spare.
func margin(v *big.Float, prec uint, dir int) *big.Float {
	w := new(big.Float).SetPrec(prec).Set(v)
	return nudge(nudge(w, dir), dir)
}

// log encloses ln x at prec bits, by Newton's iteration on exp.
func (n Num) log(prec uint) (Num, error) {
	if n.r != nil && n.r.Sign() <= 0 {
		return Num{}, ErrLog
	}
	if n.r != nil && n.r.Cmp(big.NewRat(1, 1)) == 0 {
		return Num{r: new(big.Rat)}, nil
	}
	lo, hi := n.enclose(prec + 64)
	if lo.Sign() <= 0 {
		if hi.Sign() <= 0 {
			return Num{}, ErrLog
		}
		return Num{}, ErrPrecision
	}
	return ends(lo, hi, prec, logEnd)
}

// logEnd iterates y += 2(x-e^y)/(x+e^y), which triples the correct bits each time, from a float64's worth.
func logEnd(x *big.Float, prec uint, dir int) (*big.Float, error) {
	mant := new(big.Float)
	e := x.MantExp(mant)
	m, _ := mant.Float64()
	work := prec + 64
	y := new(big.Float).SetPrec(work).SetFloat64(math.Log(m) + float64(e)*math.Ln2)
	for bits := uint(40); bits < 3*work; bits *= 3 {
		ey, err := expEnd(y, work, +1)
		if err != nil {
			return nil, err
		}
		d := new(big.Float).SetPrec(work).Sub(x, ey)
		d.Quo(d.Mul(d, big.NewFloat(2)), new(big.Float).SetPrec(work).Add(x, ey))
		y.Add(y, d)
	}
	// y's error is about 2^-work absolute; the margin below is relative, so a result near 0 gets an absolute one.
	tiny := new(big.Float).SetMantExp(big.NewFloat(1), 8-int(prec))
	if dir < 0 {
		return floor(prec).Sub(y, tiny), nil
	}
	return ceil(prec).Add(y, tiny), nil
}

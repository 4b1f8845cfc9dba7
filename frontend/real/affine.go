package real

import "math/big"

// An Affine is the function Scale*x + Bias with exact rational coefficients.
type Affine struct{ Scale, Bias *big.Rat }

// AsAffine returns the coefficients with which e, an expression in variable 0 alone, equals Scale*x + Bias. ok is false
// if e is not affine: it rounds, bounds or takes the root of x, or the root of a constant is irrational. It is also
// false if a coefficient becomes very long.
func (e *Expr) AsAffine() (a Affine, ok bool) {
	a, ok = e.affine(map[*Expr]Affine{})
	return a, ok
}

// affine implements AsAffine. found caches the affine subexpressions, so that each shared one is read once. A
// subexpression that is not affine ends the search and needs no entry.
func (e *Expr) affine(found map[*Expr]Affine) (a Affine, ok bool) {
	switch e.op {
	case constant:
		return Affine{new(big.Rat), e.c}, true
	case variable:
		return Affine{big.NewRat(1, 1), new(big.Rat)}, true
	}
	if a, ok := found[e]; ok {
		return a, true
	}
	x, ok := e.args[0].affine(found)
	if !ok {
		return Affine{}, false
	}
	var y Affine
	if e.args[1] != nil {
		if y, ok = e.args[1].affine(found); !ok {
			return Affine{}, false
		}
	}
	if a, ok = e.combine(x, y); !ok || size(a.Scale)+size(a.Bias) > maxRatBits {
		return Affine{}, false
	}
	found[e] = a
	return a, true
}

func size(r *big.Rat) int { return r.Num().BitLen() + r.Denom().BitLen() }

// combine applies e's operation to the affine operands x and y. ok is false if the result is not affine.
func (e *Expr) combine(x, y Affine) (Affine, bool) {
	rat := func() *big.Rat { return new(big.Rat) }
	switch {
	case e.op == add:
		return Affine{rat().Add(x.Scale, y.Scale), rat().Add(x.Bias, y.Bias)}, true
	case e.op == sub:
		return Affine{rat().Sub(x.Scale, y.Scale), rat().Sub(x.Bias, y.Bias)}, true
	case e.op == neg:
		return Affine{rat().Neg(x.Scale), rat().Neg(x.Bias)}, true
	case e.op == mul && y.Scale.Sign() == 0:
		return Affine{rat().Mul(x.Scale, y.Bias), rat().Mul(x.Bias, y.Bias)}, true
	case e.op == mul && x.Scale.Sign() == 0:
		return Affine{rat().Mul(x.Bias, y.Scale), rat().Mul(x.Bias, y.Bias)}, true
	case e.op == div && y.Scale.Sign() == 0 && y.Bias.Sign() != 0:
		return Affine{rat().Quo(x.Scale, y.Bias), rat().Quo(x.Bias, y.Bias)}, true
	case x.Scale.Sign() == 0 && y.constant():
		return e.fold(x, y)
	}
	return Affine{}, false
}

// IsIdentity reports whether Scale is 1 and Bias is 0, so that the function leaves x unchanged.
func (a Affine) IsIdentity() bool {
	return a.Bias.Sign() == 0 && a.Scale.IsInt() && a.Scale.Num().IsInt64() &&
		a.Scale.Num().Int64() == 1
}

// NearestIntegerPreimage returns the integer x for which Scale*x + Bias is nearest to the middle of the interval value,
// ties to even. Scale must not be 0, the ends of value must be finite, and x must fit an int64.
func (a Affine) NearestIntegerPreimage(value Interval) int64 {
	x := new(big.Rat).SetFloat64(value.Lo)
	x.Add(x, new(big.Rat).SetFloat64(value.Hi))
	x.Mul(x, big.NewRat(1, 2)).Sub(x, a.Bias).Quo(x, a.Scale)
	n, _ := NumberOfRational(x).round(RoundingModeHalfEven)
	return n.r.Num().Int64()
}

func (a Affine) constant() bool { return a.Scale == nil || a.Scale.Sign() == 0 }

// fold applies e's operation to the constants x and y. ok is false if the result is no rational number.
func (e *Expr) fold(x, y Affine) (Affine, bool) {
	var n Num
	var err error
	switch {
	case e.op == round:
		n, err = NumberOfRational(x.Bias).round(e.mode)
	case e.args[1] == nil:
		n, err = unary(e.op, NumberOfRational(x.Bias), 64)
	default:
		n, err = binary(e.op, NumberOfRational(x.Bias), NumberOfRational(y.Bias), 64)
	}
	if err != nil || n.r == nil {
		return Affine{}, false
	}
	return Affine{new(big.Rat), n.r}, true
}

package real

import "math/big"

// An Affine is Scale*x + Bias, exactly.
type Affine struct{ Scale, Bias *big.Rat }

// Affine reads e, an expression in variable 0 alone, as Scale*x + Bias. ok is false where it is no such thing: a
// rounding, a bound or a root of x stands in between, or a root of a constant is irrational.
func (e *Expr) Affine() (a Affine, ok bool) {
	a, ok = e.affine(map[*Expr]Affine{})
	return a, ok
}

// affine keeps what it has found, so that shared parts are read once. Parts that are not affine need no record: they
// end the search.
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

// combine applies e's operation to affine operands.
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

// Identity reports whether a is x itself.
func (a Affine) Identity() bool {
	return a.Bias.Sign() == 0 && a.Scale.IsInt() && a.Scale.Num().IsInt64() &&
		a.Scale.Num().Int64() == 1
}

// Integer is the integer whose value is within an interval, or is next to its middle.
func (a Affine) Integer(value Interval) int64 {
	x := new(big.Rat).SetFloat64(value.Lo)
	x.Add(x, new(big.Rat).SetFloat64(value.Hi))
	x.Mul(x, big.NewRat(1, 2)).Sub(x, a.Bias).Quo(x, a.Scale)
	n, _ := Exactly(x).round(HalfEven)
	return n.r.Num().Int64()
}

func (a Affine) constant() bool { return a.Scale == nil || a.Scale.Sign() == 0 }

// fold evaluates an operation on constants.
func (e *Expr) fold(x, y Affine) (Affine, bool) {
	var n Num
	var err error
	switch {
	case e.op == round:
		n, err = Exactly(x.Bias).round(e.mode)
	case e.args[1] == nil:
		n, err = unary(e.op, Exactly(x.Bias), 64)
	default:
		n, err = binary(e.op, Exactly(x.Bias), Exactly(y.Bias), 64)
	}
	if err != nil || n.r == nil {
		return Affine{}, false
	}
	return Affine{new(big.Rat), n.r}, true
}

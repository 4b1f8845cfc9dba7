package real

import (
	"errors"
	"math"
	"math/big"
)

// errUndefinedValue is the error for a function of infinities that has no value, such as the difference of two equal
// ones.
var errUndefinedValue = errors.New("infinity less infinity, or another value that is no number")

// NumberOfFloat returns the Num whose value is v, which may be infinite but not NaN.
func NumberOfFloat(v float64) Num {
	if math.IsInf(v, 0) {
		return infinity(v > 0)
	}
	return Num{r: new(big.Rat).SetFloat64(v)}
}

// infinity returns the infinity with the given sign.
func infinity(positive bool) Num {
	if positive {
		return Num{inf: 1}
	}
	return Num{inf: -1}
}

// sign returns -1, 0 or 1 as the sign of n. ok is false if an enclosure does not determine it.
func (n Num) sign() (s int, ok bool) {
	switch {
	case n.inf != 0:
		return n.inf, true
	case n.r != nil:
		return n.r.Sign(), true
	case n.lo.Sign() >= 0:
		return 1, true
	case n.hi.Sign() <= 0:
		return -1, true
	}
	return 0, false
}

// endless returns the result of a primitive for the infinity x. The error is errUndefinedValue if it has no value.
func endless(op PrimitiveOp, x Num) (Num, error) {
	nought, one := Num{r: new(big.Rat)}, big.NewRat(1, 1)
	up := x.inf > 0
	switch op {
	case neg:
		return infinity(!up), nil
	case abs:
		return infinity(true), nil
	case exp:
		if up {
			return x, nil
		}
		return nought, nil
	case sqrt, log:
		if up {
			return x, nil
		}
	case erf:
		return Num{r: one.Mul(one, big.NewRat(int64(x.inf), 1))}, nil
	case round:
		return x, nil
	}
	return Num{}, errUndefinedValue
}

// endlessly returns the result of a primitive for two numbers, at least one of which is infinite. Zero times infinity
// is zero. The error is errUndefinedValue if the result has no value.
func endlessly(op PrimitiveOp, x, y Num) (Num, error) {
	switch op {
	case sub:
		if y.inf != 0 {
			y.inf = -y.inf
		}
		fallthrough
	case add:
		if x.inf != 0 && y.inf != 0 && x.inf != y.inf {
			return Num{}, errUndefinedValue
		}
		return infinity(x.inf+y.inf > 0), nil
	case mul, gate:
		if x.zero() || y.zero() {
			return Num{r: new(big.Rat)}, nil
		}
		a, known := x.sign()
		b, is := y.sign()
		if !known || !is {
			return Num{}, ErrInsufficientPrecision
		}
		return infinity(a == b), nil
	case div:
		if x.inf == 0 {
			return Num{r: new(big.Rat)}, nil
		}
		b, known := y.sign()
		switch {
		case y.inf != 0:
			return Num{}, errUndefinedValue
		case !known:
			return Num{}, ErrInsufficientPrecision
		case b == 0:
			return Num{}, ErrDivisionByZero
		}
		return infinity(x.inf == b), nil
	case atLeast:
		return indicator(x.inf >= y.inf), nil
	case minimum:
		return either(x.inf <= y.inf, x, y), nil
	case maximum:
		return either(x.inf >= y.inf, x, y), nil
	}
	panic("real: invalid primitive")
}

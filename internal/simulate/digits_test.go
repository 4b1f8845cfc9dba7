package simulate_test

import (
	"math"
	"math/big"
	"sync"
)

// An evaluation of functions with some hundred bits, for tests: it shares nothing with the front end's. Each function
// is computed in another way than there.

// precision is the working precision. What is asked for is 200 bits; the rest is room for what cancels.
const precision = 480

func num0() *big.Float                 { return new(big.Float).SetPrec(precision) }
func numOf(v float64) *big.Float       { return num0().SetFloat64(v) }
func plus(x, y *big.Float) *big.Float  { return num0().Add(x, y) }
func minus(x, y *big.Float) *big.Float { return num0().Sub(x, y) }
func times(x, y *big.Float) *big.Float { return num0().Mul(x, y) }
func over(x, y *big.Float) *big.Float  { return num0().Quo(x, y) }

func lesserOf(x, y *big.Float) *big.Float {
	if x.Cmp(y) < 0 {
		return x
	}
	return y
}

func greaterOf(x, y *big.Float) *big.Float {
	if x.Cmp(y) > 0 {
		return x
	}
	return y
}

// series is first + its successors: next makes a term of the one before.
func series(first *big.Float, next func(term *big.Float, k int64) *big.Float) *big.Float {
	sum, term := num0().Set(first), num0().Set(first)
	for k := int64(1); term.Sign() != 0 && term.MantExp(nil) > -precision; k++ {
		term = next(term, k)
		sum.Add(sum, term)
	}
	return sum
}

// expDigits is e^x: of x times 2^-24, squared so often.
func expDigits(x *big.Float) *big.Float {
	part := num0().SetMantExp(x, -24)
	y := series(numOf(1), func(term *big.Float, k int64) *big.Float {
		return over(times(term, part), num0().SetInt64(k))
	})
	for range 24 {
		y = times(y, y)
	}
	return y
}

// logDigits is ln x, by Newton's iteration.
func logDigits(x *big.Float) *big.Float {
	f, _ := x.Float64()
	y := numOf(math.Log(f))
	for range 3 { // 53 bits, 106, 212, 424
		y = plus(y, minus(times(x, expDigits(num0().Neg(y))), numOf(1)))
	}
	return y
}

// sinCos is sine and cosine, as the series of x itself.
func sinCos(x *big.Float) (sin, cos *big.Float) {
	square := num0().Neg(times(x, x))
	step := func(first *big.Float, from int64) *big.Float {
		return series(first, func(term *big.Float, k int64) *big.Float {
			return over(times(term, square), num0().SetInt64((2*k+from-1)*(2*k+from)))
		})
	}
	return step(x, 1), step(numOf(1), 0)
}

// atanDigits is the arc whose tangent is x, by Newton's iteration.
func atanDigits(x *big.Float) *big.Float {
	f, _ := x.Float64()
	y := numOf(math.Atan(f))
	for range 3 { // 53 bits, 106, 212, 424
		sin, cos := sinCos(y)
		y = plus(y, over(minus(times(x, cos), sin), plus(times(x, sin), cos)))
	}
	return y
}

// piDigits is pi.
var piDigits = sync.OnceValue(func() *big.Float { return times(numOf(4), atanDigits(numOf(1))) })

// erfDigits is the error function by Maclaurin's series, whose terms alternate.
func erfDigits(x *big.Float) *big.Float {
	if f, _ := x.Float64(); math.Abs(f) > 12 { // 1-erf 12 is below 2^-208
		return numOf(math.Copysign(1, f))
	}
	square := num0().Neg(times(x, x))
	power := num0().Set(x) // (-1)^k x^(2k+1) / k!
	sum := series(x, func(_ *big.Float, k int64) *big.Float {
		power = over(times(power, square), num0().SetInt64(k))
		return over(power, num0().SetInt64(2*k+1))
	})
	return over(times(numOf(2), sum), num0().Sqrt(piDigits()))
}

func rootDigits(x *big.Float) *big.Float { return num0().Sqrt(x) }

func tanhDigits(x *big.Float) *big.Float {
	a, b := expDigits(x), expDigits(num0().Neg(x))
	return over(minus(a, b), plus(a, b))
}

// wholeDigits rounds to the nearest integer, ties to even. What comes within 2^-200 of a tie is one.
func wholeDigits(x *big.Float) *big.Int {
	floor, accuracy := x.Int(nil)
	if x.Sign() < 0 && accuracy != big.Exact {
		floor.Sub(floor, big.NewInt(1))
	}
	off := minus(minus(x, num0().SetInt(floor)), numOf(0.5))
	if off.Sign() != 0 && off.MantExp(nil) < -200 {
		off = num0()
	}
	if off.Sign() > 0 || off.Sign() == 0 && floor.Bit(0) == 1 {
		floor.Add(floor, big.NewInt(1))
	}
	return floor
}

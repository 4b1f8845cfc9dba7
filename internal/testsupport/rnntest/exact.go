package rnntest

import (
	"fmt"
	"math/big"
)

// A number is a real number: a rational, or a function that encloses it strictly with any precision.
type number struct {
	exact   *big.Rat
	enclose func(bits uint) (lo, hi *big.Float)
}

// whole returns an integer as a rational.
func whole(v int64) *big.Rat { return new(big.Rat).SetInt64(v) }

// real32 returns a float32 as a rational.
func real32(v float32) *big.Rat { return new(big.Rat).SetFloat64(float64(v)) }

// plus returns a + b.
func plus(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }

// minus returns a - b.
func minus(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }

// times returns a * b.
func times(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }

// smaller returns the smaller of two numbers.
func smaller(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// larger returns the larger of two numbers.
func larger(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

// within returns x clipped to the range from lo to hi.
func within(x *big.Rat, lo, hi int64) *big.Rat { return smaller(larger(x, whole(lo)), whole(hi)) }

// rounded returns a zero with the given precision and rounding mode.
func rounded(bits uint, mode big.RoundingMode) *big.Float {
	return new(big.Float).SetPrec(bits).SetMode(mode)
}

// Beyond the argument widest, exp only returns that e^x is larger than e^widest.
const widest = 1 << 20

// exp encloses e^x, strictly unless x is 0. It sums the series of e^(x/2^k), with x/2^k at most one half, once
// rounding down and once rounding up. Then it squares both sums k times.
func exp(x *big.Rat, bits uint) (lo, hi *big.Float) {
	one := big.NewFloat(1)
	if x.Sign() < 0 {
		a, b := exp(new(big.Rat).Neg(x), bits)
		return rounded(bits, big.ToNegativeInf).Quo(one, b), rounded(bits, big.ToPositiveInf).Quo(one, a)
	}
	if x.Cmp(whole(widest)) > 0 {
		lo, _ = exp(whole(widest), bits)
		return lo, new(big.Float).SetInf(false)
	}
	y, k := new(big.Rat).Set(x), 0
	for y.Cmp(big.NewRat(1, 2)) > 0 {
		y.Quo(y, whole(2))
		k++
	}
	bits += uint(k) + 16
	sum := func(mode big.RoundingMode) *big.Float {
		v, term := rounded(bits, mode).SetInt64(1), rounded(bits, mode).SetInt64(1)
		arg := rounded(bits, mode).SetRat(y)
		for n := int64(1); n < int64(bits); n++ {
			term.Mul(term, arg)
			term.Quo(term, rounded(bits, mode).SetInt64(n))
			v.Add(v, term)
		}
		if mode == big.ToPositiveInf { // the remainder is smaller than the last term, since y is at most one half
			v.Add(v, term)
		}
		for range k {
			v.Mul(v, v)
		}
		return v
	}
	return sum(big.ToNegativeInf), sum(big.ToPositiveInf)
}

// An Activation is a function of ONNX with its parameters.
type Activation struct {
	Op          string
	Alpha, Beta float32
}

// of returns the activation at x.
func (a Activation) of(x *big.Rat) number {
	alpha, beta := real32(a.Alpha), real32(a.Beta)
	zero, one := new(big.Rat), whole(1)
	switch a.Op {
	case "Identity":
		return number{exact: x}
	case "Relu":
		return number{exact: larger(x, zero)}
	case "LeakyRelu":
		if x.Sign() < 0 {
			x = times(alpha, x)
		}
		return number{exact: x}
	case "HardSigmoid":
		return number{exact: within(plus(times(alpha, x), beta), 0, 1)}
	case "Clip": // from -1 to 1: the hard form of tanh
		return number{exact: within(x, -1, 1)}
	case "Affine":
		return number{exact: plus(times(alpha, x), beta)}
	case "Softsign":
		return number{exact: new(big.Rat).Quo(x, plus(one, new(big.Rat).Abs(x)))}
	case "Elu":
		if x.Sign() >= 0 {
			return number{exact: x}
		}
		return number{enclose: func(bits uint) (lo, hi *big.Float) {
			lo, hi = exp(x, bits)
			return scaled(minusOne(lo, big.ToNegativeInf), minusOne(hi, big.ToPositiveInf), alpha)
		}}
	case "Sigmoid":
		if x.Sign() == 0 {
			return number{exact: big.NewRat(1, 2)}
		}
		return number{enclose: func(bits uint) (lo, hi *big.Float) { return sigmoid(x, bits) }}
	case "Tanh":
		return tanh(x)
	case "ScaledTanh":
		t := tanh(times(beta, x))
		if t.exact != nil {
			return number{exact: times(alpha, t.exact)}
		}
		return number{enclose: func(bits uint) (lo, hi *big.Float) {
			lo, hi = t.enclose(bits)
			return scaled(lo, hi, alpha)
		}}
	}
	panic("rnntest: no activation " + a.Op)
}

// minusOne returns v - 1 in the given rounding mode.
func minusOne(v *big.Float, mode big.RoundingMode) *big.Float {
	return rounded(v.Prec(), mode).Sub(v, big.NewFloat(1))
}

// scaled multiplies an enclosure by a positive number.
func scaled(lo, hi *big.Float, by *big.Rat) (*big.Float, *big.Float) {
	f := func(v *big.Float, mode big.RoundingMode) *big.Float {
		return rounded(v.Prec(), mode).Mul(v, new(big.Float).SetPrec(64).SetRat(by)) // by is a float32
	}
	return f(lo, big.ToNegativeInf), f(hi, big.ToPositiveInf)
}

// sigmoid encloses 1/(1+e^-x) strictly. This number is irrational for a rational x that is not 0
// (Lindemann-Weierstrass).
func sigmoid(x *big.Rat, bits uint) (lo, hi *big.Float) {
	a, b := exp(new(big.Rat).Neg(x), bits)
	f := func(e *big.Float, down, up big.RoundingMode) *big.Float {
		v := rounded(bits+64, up).Add(e, big.NewFloat(1))
		return rounded(bits+64, down).Quo(big.NewFloat(1), v)
	}
	return f(b, big.ToNegativeInf, big.ToPositiveInf), f(a, big.ToPositiveInf, big.ToNegativeInf)
}

// tanh returns the hyperbolic tangent, as 2 sigmoid(2x) - 1.
func tanh(x *big.Rat) number {
	if x.Sign() == 0 {
		return number{exact: new(big.Rat)}
	}
	return number{enclose: func(bits uint) (lo, hi *big.Float) {
		lo, hi = sigmoid(times(whole(2), x), bits)
		lo, hi = lo.SetMantExp(lo, 1), hi.SetMantExp(hi, 1)
		return minusOne(lo, big.ToNegativeInf), minusOne(hi, big.ToPositiveInf)
	}}
}

// A Quantiser is a QONNX Quant or, with Linear, a QuantizeLinear and a DequantizeLinear.
type Quantiser struct {
	Scale          float32
	Zero           int64
	Bits           int
	Signed, Narrow bool
	Mode           string // name of the rounding in QONNX
	Linear         bool   // the zero point is added after rounding to nearest even
}

// Limits returns the smallest and the largest code.
func (q *Quantiser) Limits() (lo, hi int64) {
	lo, hi = 0, int64(1)<<q.Bits-1
	if q.Signed {
		lo, hi = -(int64(1) << (q.Bits - 1)), int64(1)<<(q.Bits-1)-1
	}
	switch {
	case q.Narrow && q.Signed:
		lo++
	case q.Narrow:
		hi--
	}
	return lo, hi
}

// roundTo rounds x to an integer.
func roundTo(x *big.Rat, mode string) int64 {
	below := new(big.Int).Div(x.Num(), x.Denom()) // towards minus infinity, since the denominator is positive
	rest := minus(x, new(big.Rat).SetInt(below))
	floor := below.Int64()
	if !below.IsInt64() {
		panic("rnntest: a number beyond 63 bits is rounded")
	}
	if rest.Sign() == 0 {
		return floor
	}
	half := rest.Cmp(big.NewRat(1, 2))
	up := half > 0
	switch mode {
	case "CEIL":
		up = true
	case "FLOOR":
		up = false
	case "UP": // away from zero
		up = floor >= 0
	case "DOWN", "ROUND_TO_ZERO":
		up = floor < 0
	case "ROUND", "HALF_EVEN":
		up = up || half == 0 && floor%2 != 0
	case "HALF_UP": // ties away from zero
		up = up || half == 0 && floor >= 0
	case "HALF_DOWN":
		up = up || half == 0 && floor < 0
	default:
		panic("rnntest: no rounding mode " + mode)
	}
	if up {
		floor++
	}
	return floor
}

// code returns the code of a rational.
func (q *Quantiser) code(x *big.Rat) int64 {
	lo, hi := q.Limits()
	y := new(big.Rat).Quo(x, real32(q.Scale))
	if q.Linear {
		y = within(y, lo-q.Zero-1, hi-q.Zero+1) // same code, but within 63 bits
		return min(max(roundTo(y, "ROUND")+q.Zero, lo), hi)
	}
	return roundTo(within(plus(y, whole(q.Zero)), lo, hi), q.Mode)
}

// maxBits is the precision at which rounding is given up. An irrational number is no tie, so some precision always
// decides.
const maxBits = 1 << 14

// of returns the real value of the code of v.
func (q *Quantiser) of(v number) *big.Rat {
	if v.exact != nil {
		return q.value(q.code(v.exact))
	}
	for bits := uint(64); bits <= maxBits; bits *= 2 {
		lo, hi := v.enclose(bits)
		a, _ := lo.Rat(nil)
		b, _ := hi.Rat(nil)
		if a == nil || b == nil {
			continue
		}
		if middle := times(plus(a, b), big.NewRat(1, 2)); !q.steps(a, b) {
			return q.value(q.code(middle))
		}
	}
	panic(fmt.Sprintf("rnntest: no rounding within %d bits", maxBits))
}

// steps reports whether the code may change somewhere strictly between a and b. Roundings change at multiples of
// 1/2.
func (q *Quantiser) steps(a, b *big.Rat) bool {
	twice := new(big.Rat).Quo(whole(2), real32(q.Scale))
	a, b = times(a, twice), times(b, twice)
	next := new(big.Int).Div(a.Num(), a.Denom())
	next.Add(next, big.NewInt(1)) // the first integer above a
	return new(big.Rat).SetInt(next).Cmp(b) < 0
}

// value returns the real value of a code.
func (q *Quantiser) value(code int64) *big.Rat { return times(whole(code-q.Zero), real32(q.Scale)) }

// quantised returns a rational after the quantiser q, or unchanged if q is nil.
func (q *Quantiser) quantised(x *big.Rat) *big.Rat {
	if q == nil {
		return x
	}
	return q.value(q.code(x))
}

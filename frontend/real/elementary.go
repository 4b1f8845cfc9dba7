package real

import (
	"math"
	"math/big"
	"sync"

	"hlsgen/internal/num"
)

// The functions in this file give the same float64 on every processor. They use only additions, products, quotients and
// roots, in a fixed order. Each product is converted to float64 before it is added to something, because a compiler may
// otherwise fuse the two. The errors are a few units of the last place.

// ln2High + ln2Low is ln 2. Products of ln2High with exponents are exact.
const (
	ln2High = 0x1.62e42fefa38p-1
	ln2Low  = 0x1.ef35793c7673p-45
	perLn2  = 0x1.71547652b82fep+0
)

// toWhole rounds a float64 to the nearest integer, ties to even, when it is added and then subtracted.
const toWhole = 0x1.8p52

// horner evaluates the polynomial with coefficients c, the highest power first, at x.
func horner(x float64, c []float64) float64 {
	y := c[0]
	for _, a := range c[1:] {
		y = float64(y*x) + a
	}
	return y
}

// expTerms holds the coefficients of the polynomial for (e^x - 1 - x)/x^2, the highest power first and 1/2 last.
var expTerms = inverseFactorials(13, 2)

// inverseFactorials returns the list of 1/n! for n from most down to least.
func inverseFactorials(most, least int) (list []float64) {
	for n := most; n >= least; n-- {
		f := 1.0
		for k := 2; k <= n; k++ {
			f *= float64(k) // exact up to 18!
		}
		list = append(list, 1/f)
	}
	return list
}

// expReduced returns an integer n and a small r with x = n ln 2 + r.
func expReduced(x float64) (n, r float64) {
	n = float64(x*perLn2) + toWhole
	n -= toWhole
	return n, (x - float64(n*ln2High)) - float64(n*ln2Low)
}

// exp64 returns e^x in float64, with the same result on every processor.
func exp64(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	}
	n, r := expReduced(x)
	y := float64(float64(r*r)*horner(r, expTerms)) + r
	return scaled(1+y, int(n))
}

// scaled returns y times 2^n for a y near 1. The result may overflow or underflow.
func scaled(y float64, n int) float64 {
	if n > 1000 || n < -1000 {
		half := n / 2
		return y * power2(half) * power2(n-half)
	}
	return y * power2(n)
}

// power2 returns 2^n, which must be a normal number.
func power2(n int) float64 { return math.Float64frombits(uint64(n+1023) << 52) }

// expm164 returns e^x - 1. It keeps the relative precision near 0.
func expm164(x float64) float64 {
	if x > 40 || x < -40 || x != x {
		return exp64(x) - 1
	}
	n, r := expReduced(x)
	y := float64(float64(r*r)*horner(r, expTerms)) + r
	if n == 0 {
		return y
	}
	p := power2(int(n))
	return float64(p*y) + (p - 1)
}

// tanh64 returns the hyperbolic tangent of x in float64, with the same result on every processor.
func tanh64(x float64) float64 {
	size := math.Abs(x)
	if size > 22 {
		return math.Copysign(1, x)
	}
	e := expm164(2 * size)
	return math.Copysign(e/(e+2), x)
}

// logTerms holds 2/(2k+1) for k from 11 down to 1.
var logTerms = func() (list []float64) {
	for k := 11; k > 0; k-- {
		list = append(list, 2/float64(2*k+1))
	}
	return list
}()

// ratio returns ln((1+s)/(1-s)) for a small s.
func ratio(s float64) float64 {
	z := float64(s * s)
	return 2*s + float64(s*float64(z*horner(z, logTerms)))
}

// log64 returns ln x in float64, with the same result on every processor. It returns -Inf for 0 and NaN for negative
// numbers.
func log64(x float64) float64 {
	switch {
	case x != x || math.IsInf(x, 1):
		return x
	case x == 0:
		return math.Inf(-1)
	case x < 0:
		return math.NaN()
	}
	n := 0
	if x < 0x1p-1022 {
		x, n = x*0x1p54, -54
	}
	bits := math.Float64bits(x)
	n += int(bits>>52) - 1023
	f := math.Float64frombits(bits&(1<<52-1) | 1023<<52)
	if f > math.Sqrt2 {
		f, n = f/2, n+1
	}
	f--
	y := ratio(f / (2 + f))
	if n == 0 {
		return y
	}
	return float64(float64(n)*ln2High) + (float64(float64(n)*ln2Low) + y)
}

// softplus64 returns ln(1+e^x) in float64, also where e^x overflows.
func softplus64(x float64) float64 {
	u := exp64(-math.Abs(x))
	if u > 0.4 {
		u = log64(1 + u)
	} else {
		u = ratio(u / (2 + u))
	}
	return max(x, 0) + u
}

// erf64 uses a Taylor series of order erfOrder around the nearest multiple of 1/erfSteps. For |x| >= erfFlat the error
// function rounds to 1 or -1.
const (
	erfFlat  = 6
	erfSteps = 8
	erfOrder = 12
)

// erfTables holds the coefficients of each series, the highest power first.
var erfTables = sync.OnceValue(func() *[erfFlat*erfSteps + 1][erfOrder + 1]float64 {
	var tables [erfFlat*erfSteps + 1][erfOrder + 1]float64
	perRoot := 2 / math.Sqrt(math.Pi)
	for i := range tables {
		c := float64(i) / erfSteps
		slope := perRoot * exp64(-c*c)
		tables[i][erfOrder] = nextTo(Erf, c)
		// The derivative number n+1 is the slope times a Hermite polynomial; h is that polynomial divided by n!.
		before, h, sign := 0.0, 1.0, 1.0
		for n := range erfOrder {
			tables[i][erfOrder-1-n] = float64(slope*float64(sign*h)) / float64(n+1)
			next := float64(float64(2*c*h)-float64(2*before)) / float64(n+1)
			before, h, sign = h, next, -sign
		}
	}
	return &tables
})

// erf64 returns the error function of x in float64, with the same result on every processor.
func erf64(x float64) float64 {
	size := math.Abs(x)
	if size >= erfFlat {
		return math.Copysign(1, x)
	}
	if x != x {
		return x
	}
	tables := erfTables()
	i := int(float64(size*erfSteps) + 0.5)
	h := size - float64(i)/erfSteps
	return math.Copysign(horner(h, tables[i][:]), x)
}

// atanTerms holds the coefficients of atan x / x in x^2, from -1/15 to 1.
var atanTerms = func() (list []float64) {
	for k := 7; k >= 0; k-- {
		list = append(list, float64(1-2*(k%2))/float64(2*k+1))
	}
	return list
}()

// atanEighths holds the arc tangents of 0, 1/8 ... 1.
var atanEighths = sync.OnceValue(func() *[9]float64 {
	var list [9]float64
	for i := range list {
		list[i] = nextTo(Atan, float64(i)/8)
	}
	return &list
})

// atan64 returns the arc tangent of x in float64, with the same result on every processor.
func atan64(x float64) float64 {
	size, far := math.Abs(x), false
	if far = size > 1; far {
		size = 1 / size
	}
	i := int(float64(size*8) + 0.5)
	if x != x {
		return x
	}
	c := float64(i) / 8
	t := (size - c) / (1 + float64(size*c))
	y := atanEighths()[i] + float64(t*horner(float64(t*t), atanTerms))
	if far {
		y = math.Pi/2 - y
	}
	return math.Copysign(y, x)
}

// halfPi1 + halfPi2 + halfPi3 is pi/2. Products of the first two with numbers of quarter turns are exact.
const (
	halfPi1 = 0x1.921fb544p+0
	halfPi2 = 0x1.0b4611a6p-34
	halfPi3 = 0x1.3198a2e037073p-69
)

// sineTerms holds the coefficients of (sin x - x)/x^3 in x^2; cosineTerms holds the coefficients of (cos x - 1)/x^2.
var (
	sineTerms   = alternating(inverseFactorials(17, 3))
	cosineTerms = alternating(inverseFactorials(18, 2))
)

// alternating returns every second term, ending with the last one, with alternating signs. The last term becomes
// negative.
func alternating(terms []float64) (list []float64) {
	first := (len(terms) - 1) % 2
	for i := first; i < len(terms); i += 2 {
		sign := -1.0
		if (len(terms)-1-i)/2%2 == 1 {
			sign = 1
		}
		list = append(list, sign*terms[i])
	}
	return list
}

// sin64 returns the sine of x; cos64 returns the cosine.
func sin64(x float64) float64 {
	if math.Abs(x) > farthest {
		return nextTo(Sin, x)
	}
	return wave64(x, 0)
}

func cos64(x float64) float64 {
	if math.Abs(x) > farthest {
		return nextTo(Cos, x)
	}
	return wave64(x, 1)
}

// wave64 returns the sine of x plus a number of quarter turns, in float64. One quarter gives the cosine.
func wave64(x float64, quarters int) float64 {
	n := float64(x*(2/math.Pi)) + toWhole
	n -= toWhole
	r := ((x - float64(n*halfPi1)) - float64(n*halfPi2)) - float64(n*halfPi3)
	z, at := float64(r*r), int(n)+quarters
	var y float64
	if at%2 == 0 {
		y = float64(float64(r*z)*horner(z, sineTerms)) + r
	} else {
		y = float64(z*horner(z, cosineTerms)) + 1
	}
	if at&2 != 0 {
		return -y
	}
	return y
}

// nextTo returns the float64 nearest to f(x), by exact arithmetic. It returns NaN if x is not finite or the value stays
// undecided at every precision.
func nextTo(f func(*Expr) *Expr, x float64) float64 {
	if math.IsInf(x, 0) || x != x {
		return math.NaN()
	}
	e, in := Compile(f(Var(0))), []Num{NumberOfRational(new(big.Rat).SetFloat64(x))}
	for _, prec := range WorkingPrecisionBits {
		if n, err := e.EvaluateExactly(in, prec); err == nil {
			if y, ok := n.RoundToFormat(num.Float64Format); ok {
				return y
			}
		}
	}
	return math.NaN()
}

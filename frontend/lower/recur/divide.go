package recur

import (
	"math/big"
	"slices"

	"hlsgen/frontend/lower/integers"
	"hlsgen/internal/num"
)

// rounded finds the integers of a code that is a rounded polynomial. It uses a multiplier and a shift exactly, or
// factors that round alike for all integers that occur. If the code has more values than a function may have steps, it
// uses a division, and returns the further values that this needs. ok is false if it finds no integers.
func (v *value) rounded(q *integers.ProductRounding, terms [][]int, units []polynomial) (more []*value, ok bool) {
	bias, ok := v.inCodes(q, units)
	if !ok {
		return nil, false
	}
	if q.Behind == 0 {
		if m, ok := requantised(q, units, bias); ok {
			m.terms = terms
			v.made = m
			return nil, true
		}
	}
	if q.Codes.ValueCount() <= integers.MaxActivationSteps {
		return nil, false
	}
	return v.divided(q, terms, units, bias)
}

// inCodes scales polynomials, in place, so that they count in units of codes, and returns their biases in the same
// units. ok is false if that is impossible; some polynomials are then scaled already.
func (v *value) inCodes(q *integers.ProductRounding, units []polynomial) (bias []*big.Rat, ok bool) {
	for u := range units {
		f, ok := units[u].outer.AsAffine()
		if !ok {
			return nil, false
		}
		p := polynomial{ranges: units[u].ranges}
		f.Scale = new(big.Rat).Quo(f.Scale, q.Scale)
		for _, s := range units[u].scale {
			p.scale = append(p.scale, new(big.Rat).Mul(s, f.Scale))
		}
		units[u] = p
		b := new(big.Rat).Quo(f.Bias, q.Scale)
		bias = append(bias, b.Add(b, q.Before))
	}
	return bias, true
}

// A division computes a code with many bits from a sum of terms: N/m in integers, plus a bias, rounded. The sum N
// is split into digits. Its leading digits give an estimate of the code that is never too large and at most one or
// two too small. The rest of N then decides exactly whether the next code is reached:
//
//	N >= m*(code+1) + offset
//
// where offset, of the rounding and the bias, depends on the parity or sign of code+1 only.
type division struct {
	*limbs
	q    *integers.ProductRounding
	unit *big.Rat // unit of which all scales, and 1, are multiples
	m    *big.Int // the number 1 in units
	bias []*big.Rat

	digit []*value // digits of N, the least first; all but the last are in 0..2^bits-1
	code  *value
}

// limbBits is the number of bits of a digit of N, if products leave room for them.
const limbBits = 28

// maxDigits is the largest number of digits of N, so that sums of digits and codes fit into maxLimb bits.
const maxDigits = 1 << 6

// divided computes a code by division, and returns the further values that this needs. ok is false if products or
// biases are too wide.
func (v *value) divided(q *integers.ProductRounding, terms [][]int, units []polynomial, bias []*big.Rat) ([]*value,
	bool) {
	d := &division{limbs: &limbs{of: v, terms: terms}, q: q, bias: bias}
	scales, most := []*big.Rat{big.NewRat(1, 1)}, big.NewInt(1)
	for _, p := range units {
		scales = append(scales, p.scale...)
		for _, r := range p.ranges {
			most.Add(most, new(big.Int).Abs(big.NewInt(r.Lo))).Add(most, new(big.Int).Abs(big.NewInt(r.Hi)))
		}
	}
	d.unit = integers.GreatestCommonUnitOf(scales)
	d.m = new(big.Int).Set(new(big.Rat).Inv(d.unit).Num())
	if d.bits = min(limbBits, maxLimb-most.BitLen()); d.bits < 1 {
		return nil, false
	}
	reach := new(big.Int)
	for _, p := range units {
		var of limbed
		for _, s := range p.scale {
			of.factors = append(of.factors, new(big.Int).Set(new(big.Rat).Quo(s, d.unit).Num()))
		}
		d.limbs.units = append(d.limbs.units, of)
		for _, f := range of.factors {
			d.digits = max(d.digits, f.BitLen()/d.bits+1)
			if reach.CmpAbs(f) < 0 {
				reach.Abs(f)
			}
		}
	}
	width := max(reach.Mul(reach, most).BitLen(), d.m.BitLen())
	if width/d.bits >= maxDigits {
		return nil, false
	}
	d.split(width)
	rounds, ok := d.estimate()
	if !ok {
		return nil, false
	}
	bits := []*value{d.code}
	for range rounds {
		bits = append(bits, d.climb())
		d.code = d.value(added(len(bits)), bits...)
	}
	d.made = d.made[:len(d.made)-1]
	v.args, v.made = bits, added(len(bits))
	v.made.requant = &num.Requant{Multiplier: 1, Mode: num.RoundingFloor, Lo: q.Codes.Lo, Hi: q.Codes.Hi}
	return d.made, true
}

// added returns the integers of a value that is the sum of n arguments.
func added(n int) *made {
	m := &made{}
	for i := range n {
		m.terms, m.factors = append(m.terms, []int{i}), append(m.factors, []int64{1})
	}
	return m
}

// weighed returns the integers of a value that is a bias plus the arguments times the factors, which must be small or
// powers of two.
func weighed(bias int64, factors ...int64) *made {
	m := added(len(factors))
	for i, f := range factors {
		m.factors[i][0] = f
	}
	if bias != 0 {
		m.bias = []int64{bias}
	}
	return m
}

// split computes the digits of N, which has width bits. The last digit is signed.
func (d *division) split(width int) {
	var carry *value
	last := max(d.digits-1, width/d.bits)
	for k := 0; k <= last; k++ {
		sum := carry
		if k < d.digits {
			sum = d.sum(k, carry)
		}
		digit, args, within := added(1), []*value{sum}, num.Range{Lo: -1 << d.bits, Hi: 1 << d.bits}
		if k < last {
			carry = d.shifted(sum, d.bits, num.Range{Lo: -maxSum, Hi: maxSum})
			digit, args = weighed(0, 1, -1<<d.bits), append(args, carry)
			within = num.Range{Hi: 1<<d.bits - 1}
		}
		digit.requant = &num.Requant{Multiplier: 1, Mode: num.RoundingFloor, Lo: within.Lo, Hi: within.Hi} // unclipped
		d.digit = append(d.digit, d.value(digit, args...))
	}
}

// shifted returns a value divided by 2^shift, rounded down and clipped.
func (d *division) shifted(v *value, shift int, within num.Range) *value {
	m := added(1)
	m.requant = &num.Requant{Multiplier: 1, Shift: shift, Mode: num.RoundingFloor, Lo: within.Lo, Hi: within.Hi}
	return d.value(m, v)
}

// fineBits is the number of fractional bits in the leading digits, in units of codes.
const fineBits = 4

// estimate computes a code from the leading digits of the sum. It is never too large, and too small by at most the
// returned number of codes. ok is false if the numbers for that are too wide.
func (d *division) estimate() (rounds int, ok bool) {
	shift := max(0, d.m.BitLen()-1-fineBits) // of N
	limit := new(big.Int).SetInt64(max(d.q.Codes.Hi, -d.q.Codes.Lo) + max(d.q.Behind, -d.q.Behind) + 8)
	far := new(big.Int)
	for _, b := range d.bias {
		if c := nearest(new(big.Rat).Abs(b)); c.Cmp(far) > 0 {
			far = c
		}
	}
	limit.Add(limit, far)
	limit.Mul(limit, d.m).Rsh(limit, uint(shift)).Add(limit, big.NewInt(1))
	width := limit.BitLen() // of the leading digits
	if width > 44 {
		return 0, false
	}
	first := min(shift/d.bits, len(d.digit)-1)
	bounds := []*big.Int{new(big.Int).Lsh(limit, uint(shift-first*d.bits))} // bounds of the rest from each digit on
	for range len(d.digit) - 1 - first {
		b := new(big.Int).Rsh(bounds[len(bounds)-1], uint(d.bits))
		bounds = append(bounds, b.Add(b, big.NewInt(2)))
	}
	if !bounds[0].IsInt64() || bounds[0].BitLen() > 60 {
		return 0, false
	}
	var left *value
	for k := len(d.digit) - 1; k >= first; k-- {
		m, args := added(1), []*value{d.digit[k]}
		if left != nil {
			m, args = weighed(0, 1, 1<<d.bits), append(args, left)
		}
		r := num.Range{Hi: bounds[k-first].Int64()}
		r.Lo = -r.Hi
		drop := 0
		if k == first {
			drop, r = shift-first*d.bits, num.Range{Lo: -limit.Int64(), Hi: limit.Int64()}
		}
		m.requant = &num.Requant{Multiplier: 1, Shift: drop, Mode: num.RoundingFloor, Lo: r.Lo, Hi: r.Hi}
		left = d.value(m, args...)
	}
	return d.guess(left, shift, width), true
}

// guess multiplies the leading digits, N/2^shift with the given width, by the number of codes that one of their units
// is worth. It returns by how many codes the result may be too small.
func (d *division) guess(left *value, shift, width int) (rounds int) {
	step := shifted(d.unit, shift)
	precision := 60 - width
	factor := floor(shifted(step, precision)).Int64() // for one unit, at most one code
	// bounds of the exact sum minus the computed sum
	slack := shifted(new(big.Rat).SetInt64(1), width-precision)
	low, high := new(big.Rat).Neg(slack), new(big.Rat).Set(slack)
	if shift > 0 {
		high.Add(high, step)
	}
	least, most := d.halves()
	m := weighed(0, factor)
	for _, b := range d.bias {
		at := new(big.Rat).Add(b, least)
		at.Add(at, low).Add(at, big.NewRat(d.q.Behind, 1))
		m.bias = append(m.bias, floor(shifted(at, precision)).Int64()-1)
	}
	m.bias = one(m.bias)
	m.requant = &num.Requant{Multiplier: 1, Shift: precision, Mode: num.RoundingFloor, Lo: d.q.Codes.Lo,
		Hi: d.q.Codes.Hi}
	d.code = d.value(m, left)
	off := most.Sub(most, least)
	off.Add(off, high).Sub(off, low).Add(off, shifted(big.NewRat(2, 1), -precision))
	return int(new(big.Int).Neg(floor(off.Neg(off))).Int64())
}

// boundary returns where a code begins, minus the code. reached is true if the sum with its bias reaches the code
// there, and false if it does so only above.
func (d *division) boundary(code int64) (at *big.Rat, reached bool) {
	at, reached = d.q.Mode.LowerBoundaryOf(code - d.q.Behind)
	return at.Sub(at, big.NewRat(code-d.q.Behind, 1)), reached
}

// halves returns the least and the greatest amount by which rounding may raise a number to the next integer.
func (d *division) halves() (least, most *big.Rat) {
	for k := int64(-2); k <= 2; k++ {
		at, _ := d.boundary(d.q.Behind + k)
		at.Neg(at)
		if least == nil || at.Cmp(least) < 0 {
			least = at
		}
		if most == nil || at.Cmp(most) > 0 {
			most = at
		}
	}
	return least, new(big.Rat).Set(most)
}

// offset returns the least N at which unit u reaches a code, minus m times the code.
func (d *division) offset(u int, code int64) *big.Int {
	at, reached := d.boundary(code)
	at.Sub(at, d.bias[u]).Sub(at, big.NewRat(d.q.Behind, 1)).Quo(at, d.unit)
	if reached {
		return new(big.Int).Neg(floor(at.Neg(at)))
	}
	return new(big.Int).Add(floor(at), big.NewInt(1))
}

// climb returns a value that is 1 if the sum reaches the next code, and 0 otherwise.
func (d *division) climb() *value {
	z := d.q.Behind
	kind, like := d.code, [2]int64{z + 1, z + 1} // codes that represent their kind
	switch d.q.Mode {
	case num.RoundingHalfEven:
		half := weighed(1-z, 1)
		half.requant = &num.Requant{Multiplier: 1, Shift: 1, Mode: num.RoundingFloor, Lo: -maxSum, Hi: maxSum}
		kind, like = d.value(weighed(1-z, 1, -2), d.code, d.value(half, d.code)), [2]int64{z, z + 1}
	case num.RoundingHalfAwayFromZero, num.RoundingHalfTowardZero, num.RoundingTowardZero, num.RoundingAwayFromZero:
		sign := added(1)
		sign.steps = []num.StepFunction{{At: []int64{z}, Value: []int64{0, 1}}}
		kind, like = d.value(sign, d.code), [2]int64{z, z + 1}
	}
	next := d.value(nil, append(slices.Clone(d.digit), d.code, kind)...)
	l := &limbs{of: next, bits: maxLimb - d.bits - 8, digits: 1}
	for k := range next.args {
		l.terms = append(l.terms, []int{k})
	}
	for u := range d.limbs.units {
		first, second := d.offset(u, like[0]), d.offset(u, like[1])
		of := limbed{at: []*big.Int{new(big.Int).Add(d.m, first)}, values: []int64{0, 1}}
		for k := range d.digit {
			of.factors = append(of.factors, new(big.Int).Lsh(big.NewInt(1), uint(k*d.bits)))
		}
		of.factors = append(of.factors, new(big.Int).Neg(d.m), new(big.Int).Sub(first, second))
		l.units = append(l.units, of)
		for _, f := range append(slices.Clone(of.factors), of.at...) {
			l.digits = max(l.digits, f.BitLen()/l.bits+1)
		}
	}
	d.made = d.made[:len(d.made)-1] // it must follow its arguments
	l.write()
	d.made = append(append(d.made, l.made...), next)
	return next
}

package real

import (
	"math/big"

	"hlsgen/internal/num"
)

// wholeModes maps the rounding modes of models to those of hardware.
var wholeModes = map[RoundingMode]num.Rounding{RoundingModeHalfEven: num.RoundingHalfEven,
	RoundingModeHalfAwayFromZero:   num.RoundingHalfAwayFromZero,
	RoundingModeHalfTowardsZero:    num.RoundingHalfTowardZero,
	RoundingModeTowardsNegativeInf: num.RoundingFloor, RoundingModeTowardsPositiveInf: num.RoundingCeil,
	RoundingModeTowardsZero:  num.RoundingTowardZero,
	RoundingModeAwayFromZero: num.RoundingAwayFromZero}

// mirrored returns the mode m' for which rounding -x with m' gives minus x rounded with m.
func mirrored(m RoundingMode) RoundingMode {
	switch m {
	case RoundingModeTowardsNegativeInf:
		return RoundingModeTowardsPositiveInf
	case RoundingModeTowardsPositiveInf:
		return RoundingModeTowardsNegativeInf
	}
	return m
}

// A clipped is min(max(v, lo), hi) + after, where v is a line or, if rounds is set, the rounded line. A limit that is
// nil does not clip. after is an integer that cannot be added before the rounding, such as an odd integer where ties go
// to even numbers.
type clipped struct {
	line   Affine
	rounds bool
	mode   RoundingMode
	lo, hi *big.Rat
	after  *big.Int // nil for 0
}

// AsQuantiser returns e, an expression in variable 0 alone, as a quantiser: a line that is rounded once, and clipped
// before or after the rounding any number of times. A ReLU is a bound as well. ok is false if e has no such form. A
// quantiser that does not clip has limits of 62 bits.
func (e *Expr) AsQuantiser() (q num.ExactQuantiser, ok bool) {
	c, ok := clippedOf(e)
	if !ok || c.after != nil {
		return q, false
	}
	return c.quantiser()
}

// QuantiserOfAnyTies does what AsQuantiser does, and reads an integer that is added behind a rounding of ties to
// even. If that is odd, ties go to odd numbers: the quantiser rounds by num.RoundingHalfOdd.
func QuantiserOfAnyTies(e *Expr) (q num.ExactQuantiser, ok bool) {
	c, ok := clippedOf(e)
	if !ok || c.after != nil && c.mode != RoundingModeHalfEven {
		return q, false
	}
	if q, ok = c.quantiser(); ok && c.after != nil {
		if q.Bias = new(big.Rat).Add(q.Bias, new(big.Rat).SetInt(c.after)); c.after.Bit(0) == 1 {
			q.Mode = num.RoundingHalfOdd
		}
	}
	return q, ok
}

// stairOf returns e as a step function over r, if e has the form that AsQuantiser reads. ok is false for other forms.
// err is ErrTooManySteps if there are more than limit steps.
func stairOf(e *Expr, r num.Range, limit int) (s num.StepFunction, ok bool, err error) {
	c, ok := clippedOf(e)
	if !ok {
		return s, false, nil
	}
	var after int64
	if n := c.after; n != nil {
		if after = n.Int64(); !n.IsInt64() || max(after, -after) > 1<<61 {
			return s, false, nil
		}
		for _, limit := range []**big.Rat{&c.lo, &c.hi} {
			if *limit != nil {
				*limit = new(big.Rat).Sub(*limit, new(big.Rat).SetInt(n))
			}
		}
	}
	q, ok := c.quantiser()
	if !ok {
		return s, false, nil
	}
	s, few := q.StepFunctionOver(r, limit)
	if !few {
		return num.StepFunction{}, true, ErrTooManySteps
	}
	for i := range s.Value {
		s.Value[i] += after
	}
	return s, true, nil
}

// quantiser returns c without after as a num.ExactQuantiser.
func (c *clipped) quantiser() (q num.ExactQuantiser, ok bool) {
	if !c.rounds {
		return q, false
	}
	q = num.ExactQuantiser{Scale: c.line.Scale, Bias: c.line.Bias, Mode: wholeModes[c.mode], Lo: -1 << 62, Hi: 1 << 62}
	for _, limit := range []struct {
		at *big.Rat
		to *int64
	}{{c.lo, &q.Lo}, {c.hi, &q.Hi}} {
		switch {
		case limit.at == nil:
		case !limit.at.IsInt() || limit.at.Num().BitLen() > 62:
			return q, false
		default:
			*limit.to = limit.at.Num().Int64()
		}
	}
	return q, q.Lo <= q.Hi
}

func clippedOf(e *Expr) (c clipped, ok bool) {
	if line, ok := e.AsAffine(); ok {
		return clipped{line: line}, true
	}
	x, y := e.args[0], e.args[1]
	var by Affine // the value of a constant operand
	if y != nil {
		if by, ok = y.AsAffine(); !ok || !by.constant() {
			if by, ok = x.AsAffine(); !ok || !by.constant() || e.op == div {
				return c, false
			}
			x = y
			if e.op == sub {
				if c, ok = clippedOf(x); !ok {
					return c, false
				}
				c.times(big.NewRat(-1, 1))
				return c, c.plus(by.Bias)
			}
		}
	}
	if c, ok = clippedOf(x); !ok {
		return c, false
	}
	switch e.op {
	case add:
		return c, c.plus(by.Bias)
	case sub:
		return c, c.plus(new(big.Rat).Neg(by.Bias))
	case neg:
		return c, c.times(big.NewRat(-1, 1))
	case mul:
		return c, c.times(by.Bias)
	case div:
		return c, by.Bias.Sign() != 0 && c.times(new(big.Rat).Inv(by.Bias))
	case maximum:
		if c.lo = larger(c.lo, by.Bias); c.hi != nil {
			c.hi = larger(c.hi, by.Bias)
		}
		return c, true
	case minimum:
		if c.hi = smaller(c.hi, by.Bias); c.lo != nil {
			c.lo = smaller(c.lo, by.Bias)
		}
		return c, true
	case round:
		return c, c.round(e.mode)
	}
	return c, false
}

// plus adds a constant to c. It returns false if c rounds and the constant is not an integer.
func (c *clipped) plus(b *big.Rat) bool {
	if b.Sign() == 0 {
		return true
	}
	limits := func() {
		for _, limit := range []**big.Rat{&c.lo, &c.hi} {
			if *limit != nil {
				*limit = new(big.Rat).Add(*limit, b)
			}
		}
	}
	if c.rounds && !b.IsInt() {
		return false
	}
	if c.rounds && (c.after != nil || !c.moves(b.Num())) {
		n := new(big.Int).Set(b.Num())
		if c.after != nil {
			n.Add(n, c.after)
		}
		if c.after = n; n.Sign() == 0 {
			c.after = nil
		}
		limits()
		return true
	}
	c.line.Bias = new(big.Rat).Add(c.line.Bias, b)
	limits()
	return true
}

// moves reports whether adding n before the rounding has the same effect as adding it after the rounding.
func (c *clipped) moves(n *big.Int) bool {
	switch c.mode {
	case RoundingModeTowardsNegativeInf, RoundingModeTowardsPositiveInf:
		return true
	case RoundingModeHalfEven:
		return n.Bit(0) == 0
	}
	return false
}

// times multiplies c by a constant. It returns false if c rounds and the factor is neither 1 nor -1.
func (c *clipped) times(f *big.Rat) bool {
	if c.rounds {
		one := big.NewRat(1, 1)
		if new(big.Rat).Abs(f).Cmp(one) != 0 {
			return false
		}
		if f.Sign() < 0 {
			if c.mode = mirrored(c.mode); c.after != nil {
				c.after = new(big.Int).Neg(c.after)
			}
		}
	}
	product := func(v *big.Rat) *big.Rat {
		if v == nil {
			return nil
		}
		return new(big.Rat).Mul(v, f)
	}
	c.line = Affine{product(c.line.Scale), product(c.line.Bias)}
	if c.lo, c.hi = product(c.lo), product(c.hi); f.Sign() < 0 {
		c.lo, c.hi = c.hi, c.lo
	}
	return true
}

// round rounds c. If c is rounded already, only its limits change: they are rounded, too.
func (c *clipped) round(mode RoundingMode) bool {
	for _, limit := range []**big.Rat{&c.lo, &c.hi} {
		if *limit != nil {
			*limit = new(big.Rat).SetInt(mode.roundRat(*limit))
		}
	}
	if !c.rounds {
		c.rounds, c.mode = true, mode
	}
	return true
}

func larger(a, b *big.Rat) *big.Rat {
	if a == nil || a.Cmp(b) < 0 {
		return b
	}
	return a
}

func smaller(a, b *big.Rat) *big.Rat {
	if a == nil || a.Cmp(b) > 0 {
		return b
	}
	return a
}

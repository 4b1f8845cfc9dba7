package graph

import "hlsgen/frontend/real"

// This file builds comparisons and logic: 1 is true, 0 is false. In networks they mostly compute shapes and masks,
// which are constant.

func greaterOrEqual(x, y *real.Expr) *real.Expr { return real.AtLeast(x, y) }
func lessOrEqual(x, y *real.Expr) *real.Expr    { return real.AtLeast(y, x) }
func greater(x, y *real.Expr) *real.Expr        { return not(lessOrEqual(x, y)) }
func less(x, y *real.Expr) *real.Expr           { return not(greaterOrEqual(x, y)) }
func equal(x, y *real.Expr) *real.Expr          { return real.Mul(real.AtLeast(x, y), real.AtLeast(y, x)) }
func either(x, y *real.Expr) *real.Expr         { return real.Abs(real.Sub(x, y)) }
func not(x *real.Expr) *real.Expr               { return real.Sub(one, x) }

// comparison builds a comparison of two tensors of numbers.
func comparison(f joining) definition {
	return func(c *call) { c.elementwise(Bool, f(real.Var(0), real.Var(1)), 0, 1) }
}

// logic builds an operation on two tensors of truth values.
func logic(f joining) definition {
	return func(c *call) {
		for i := range c.in {
			c.holdsTruth(i)
		}
		c.elementwise(Bool, f(real.Var(0), real.Var(1)), 0, 1)
	}
}

func buildNot(c *call) {
	c.holdsTruth(0)
	c.elementwise(Bool, not(real.Var(0)), 0)
}

func (c *call) holdsTruth(slot int) {
	if dt := c.in[slot].DType; dt != Bool {
		invalid("input %d is of type %s, not bool", slot, dt)
	}
}

// buildMod builds the remainder of a division. With fmod it has the sign of the dividend, otherwise of the divisor.
func buildMod(c *call) {
	mode := real.Floor
	switch {
	case c.flag("fmod"):
		mode = real.Down
	case c.promoted().Float():
		invalid("the rest of reals needs fmod")
	}
	divisible(c)
	binary(func(x, y *real.Expr) *real.Expr {
		return real.Sub(x, real.Mul(real.Round(real.Div(x, y), mode), y))
	})(c)
}

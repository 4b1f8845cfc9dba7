package operators

import (
	"math/big"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"
)

// This file has curves: functions of one element that are not piecewise linear. Numbers in a definition's formula are
// exact, such as the 1/6 of HardSwish. Attributes and their defaults are float32.

// gelu returns x times the normal distribution function of x.
func gelu(x *real.Expr) *real.Expr {
	return real.Mul(real.Mul(real.ConstantExprOfFloat(0.5), x), real.Add(one, real.Erf(real.Div(x,
		real.Sqrt(real.ConstantExprOfFloat(2))))))
}

// geluTanh returns the approximation of gelu by a hyperbolic tangent: x/2 (1 + tanh u) = x/(1 + e^(-2u)), with u =
// sqrt(2/pi) (x + 0.044715 x^3).
func geluTanh(x *real.Expr) *real.Expr {
	cubic := real.Add(x, real.Mul(real.ConstantExpr(big.NewRat(44715, 1e6)), real.Mul(x, real.Mul(x, x))))
	u := real.Mul(real.Sqrt(real.Div(real.ConstantExprOfFloat(2), quartersOfPi(4))), cubic)
	return real.Div(x, real.Add(one, real.Exp(real.Mul(real.ConstantExprOfFloat(-2), u))))
}

// quartersOfPi returns pi times quarters/4, as a multiple of the arc tangent of 1.
func quartersOfPi(quarters float64) *real.Expr {
	return real.Mul(real.ConstantExprOfFloat(quarters), real.Atan(one))
}

// swish returns x times the sigmoid of alpha x.
func swish(x, alpha *real.Expr) *real.Expr {
	return real.Div(x, real.Add(one, real.Exp(real.Neg(real.Mul(alpha, x)))))
}

// mish returns x times tanh(ln(1+e^x)), which is 1 - 2/((1+e^x)^2 + 1).
func mish(x *real.Expr) *real.Expr {
	e := real.Add(one, real.Exp(x))
	return real.Mul(x, real.Sub(one, real.Div(real.ConstantExprOfFloat(2), real.Add(real.Mul(e, e), one))))
}

func hardSwish(x *real.Expr) *real.Expr {
	line := real.Add(real.Mul(real.ConstantExpr(big.NewRat(1, 6)), x), real.ConstantExprOfFloat(0.5))
	return real.Mul(x, real.Max(zero, real.Min(one, line)))
}

func buildGelu(c *call) {
	switch form := c.StringAttrOr("approximate", "none"); form {
	case "none":
		unary(gelu)(c)
	case "tanh":
		unary(geluTanh)(c)
	default:
		invalid("the attribute approximate is %q, neither none nor tanh", form)
	}
}

// buildBiased returns the definition of f of the first input, or of its sum with a bias if there is one.
func buildBiased(f func(*real.Expr) *real.Expr) definition {
	return func(c *call) {
		if !c.HasInput(1) {
			unary(f)(c)
			return
		}
		c.elementwise(c.dt, f(real.Add(real.Var(0), real.Var(1))), 0, 1)
	}
}

// buildSwish returns the definition of Swish with a default alpha: 1 in ONNX, 1.702 for an approximate GELU.
func buildSwish(alpha float64) definition {
	return func(c *call) { c.elementwise(c.dt, swish(real.Var(0), c.attr32("alpha", alpha)), 0) }
}

func buildCelu(c *call) {
	alpha := c.FloatAttrOr("alpha", 1)
	if alpha == 0 {
		invalid("alpha is 0, and the definition divides by it")
	}
	scaled := func(x *real.Expr) *real.Expr { return expMinusOne(real.Div(x, real.ConstantExprOfFloat(alpha))) }
	c.elementwise(c.dt, negative(real.Var(0), real.ConstantExprOfFloat(alpha), scaled), 0)
}

func buildThresholdedRelu(c *call) {
	x := real.Var(0)
	c.elementwise(c.dt, real.Mul(x, greater(x, c.attr32("alpha", 1))), 0)
}

// buildShrink builds Shrink: it moves elements beyond lambd on either side by bias, and sets the others to 0.
func buildShrink(c *call) {
	x, bias, limit := real.Var(0), c.attr32("bias", 0), c.attr32("lambd", 0.5)
	below := less(x, real.Neg(limit))
	above := real.Mul(greater(x, limit), not(below))
	c.elementwise(c.dt, real.Add(real.Mul(below, real.Add(x, bias)), real.Mul(above, real.Sub(x, bias))), 0)
}

// halfOfExps returns f(e^x, e^-x)/2.
func halfOfExps(f joining) func(*real.Expr) *real.Expr {
	return func(x *real.Expr) *real.Expr {
		return real.Mul(real.ConstantExprOfFloat(0.5), f(real.Exp(x), real.Exp(real.Neg(x))))
	}
}

func tangent(x *real.Expr) *real.Expr { return real.Div(real.Sin(x), real.Cos(x)) }

// cosOfArcSine returns sqrt(1-x^2).
func cosOfArcSine(x *real.Expr) *real.Expr {
	return real.Sqrt(real.Mul(real.Sub(one, x), real.Add(one, x)))
}

// arcSine returns arcsin x as 2 arctan(x/(1+sqrt(1-x^2))), which also has a value at 1 and -1.
func arcSine(x *real.Expr) *real.Expr {
	return real.Mul(real.ConstantExprOfFloat(2), real.Atan(real.Div(x, real.Add(one, cosOfArcSine(x)))))
}

// arcCosine returns arccos |x| for x >= 0, and pi minus that for negative x.
func arcCosine(x *real.Expr) *real.Expr {
	size := real.Abs(x)
	y := real.Mul(real.ConstantExprOfFloat(2), real.Atan(real.Div(cosOfArcSine(x), real.Add(one, size))))
	right := real.AtLeast(x, zero)
	return real.Add(real.Mul(right, y), real.Mul(not(right), real.Sub(quartersOfPi(4), y)))
}

// areaSine returns arsinh x: ln(x + sqrt(x^2+1)) for positive x, and minus the value at -x for others.
func areaSine(x *real.Expr) *real.Expr {
	of := func(x *real.Expr) *real.Expr {
		return real.Log(real.Add(x, real.Sqrt(real.Add(real.Mul(x, x), one))))
	}
	return real.Sub(of(real.Max(x, zero)), of(real.Max(real.Neg(x), zero)))
}

func areaCosine(x *real.Expr) *real.Expr {
	return real.Log(real.Add(x, real.Sqrt(real.Mul(real.Sub(x, one), real.Add(x, one)))))
}

func areaTangent(x *real.Expr) *real.Expr {
	return real.Mul(real.ConstantExprOfFloat(0.5), real.Log(real.Div(real.Add(one, x), real.Sub(one, x))))
}

// buildMean divides the sum of all inputs by their number.
func buildMean(c *call) {
	fold(real.Add)(c)
	e := c.steps[0].Elem
	e.Expr = real.Div(e.Expr, real.ConstantExprOfFloat(float64(len(c.in))))
}

// buildBitwiseNot inverts all bits.
func buildBitwiseNot(c *call) {
	most := real.ConstantExprOfFloat(-1)
	switch _, hi, ok := c.dt.IntegerLimits(); {
	case !ok:
		invalid("the input is of type %s, no integer", c.dt)
	case c.dt == graph.DTypeUInt64:
		unsupported("cast to int64 before", "the bits of uint64")
	case c.dt.IsUnsigned():
		most = real.ConstantExprOfFloat(hi)
	}
	c.elementwise(c.dt, real.Sub(most, real.Var(0)), 0)
}

// buildNever gives false for every element, because values are real numbers, never infinite or NaN.
func buildNever(c *call) {
	c.elementwise(graph.DTypeBool, chosen(zero, real.Var(0), endsOf(c.reading, 0)), 0)
}

// buildCastLike casts to the type of the second input.
func buildCastLike(c *call) {
	c.last("", OpCast, castTo(c.in[1].DType), c.Inputs[0])
}

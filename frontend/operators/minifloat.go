package operators

import (
	"math"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// maxBias is the largest exponent bias of a minifloat, so that the step of the subnormals stays within float64, down to
// 2^-1074. It is the bias of float64 itself.
const maxBias = 1023

// A minifloat is the format of a FloatQuant, Brevitas' minifloat quantiser (arXiv 2311.12359). A value is an integer
// of at most Mantissa+1 bits times a power of two. That power follows the value's magnitude down to Least, the step of
// the subnormals. Like qonnx' own execution, hlsgen keeps subnormals whatever the attribute has_subnormal says.
type minifloat struct {
	Mantissa   float64 // the number of bits after the leading one
	Least, Top float64
	Mode       real.RoundingMode
}

// MinifloatFieldBits returns the widths of the exponent and of the mantissa of a prepared node that quantises to
// minifloats.
func MinifloatFieldBits(p *program.Program, n *graph.Node) (exponent, mantissa int) {
	e, m := p.Known[n.Inputs[2]].Const, p.Known[n.Inputs[3]].Const
	return int(e.FloatAt(0)), int(m.FloatAt(0))
}

func readFloatQuant(c *reading) minifloat {
	exponent, mantissa := c.constScalar(2, "the exponent bit width"), c.constScalar(3, "the mantissa bit width")
	bias, largest := c.constScalar(4, "the exponent bias"), c.constScalar(5, "the largest value")
	if exponent < 1 || exponent > 11 || mantissa < 0 || mantissa > 52 || exponent != math.Trunc(exponent) ||
		mantissa != math.Trunc(mantissa) || bias != math.Trunc(bias) || math.Abs(bias) > maxBias || largest <= 0 {
		badQuant("minifloats have 1 to 11 exponent bits, 0 to 52 mantissa bits and a bias of whole powers of two",
			"exponent %g, mantissa %g, bias %g, largest %g", exponent, mantissa, bias, largest)
	}
	checkScale(c)
	return minifloat{Mantissa: mantissa, Least: math.Exp2(1 - bias - mantissa), Mode: c.rounding("ROUND"),
		Top: min(largest, (2-math.Exp2(-mantissa))*math.Exp2(math.Exp2(exponent)-1-bias))}
}

// nearest returns the value nearest to y, as a multiple of unit, before saturation.
func (m minifloat) nearest(y *real.Expr, unit float64) *real.Expr {
	step := real.Max(real.Mul(real.FloorPowerOfTwo(y), real.ConstantExprOfFloat(math.Exp2(-m.Mantissa))),
		real.ConstantExprOfFloat(m.Least))
	steps := real.Round(real.Div(y, step), m.Mode)
	if unit != 1 {
		step = real.Div(step, real.ConstantExprOfFloat(unit))
	}
	return real.Mul(step, steps)
}

// unit returns the greatest power of two of which all values are integer multiples.
func (m minifloat) unit() float64 {
	fraction, exponent := math.Frexp(m.Top)
	for fraction != math.Trunc(fraction) {
		fraction, exponent = 2*fraction, exponent-1
	}
	return min(m.Least, math.Ldexp(1, exponent))
}

// buildFloatQuant rounds to a multiple of the value's step, and saturates. If the attributes forbid saturation, it
// refuses values that are too large: they would become infinity or NaN.
func buildFloatQuant(c *call) {
	m := readFloatQuant(c.reading)
	if c.IntAttrOr("saturation", 1) == 0 {
		m.overflows(c)
	}
	q := clamped(m.nearest(real.Div(real.Var(0), real.Var(1)), 1), -m.Top, m.Top)
	c.elementwise(c.dt, real.Mul(q, real.Var(1)), 0, 1)
}

// overflows refuses a quantiser that does not saturate, if its input depends on the model's inputs or holds constants
// that are too large.
func (m minifloat) overflows(c *call) {
	becomes := "has no value"
	switch {
	case c.IntAttrOr("has_inf", 0) != 0:
		becomes = "becomes an infinity"
	case c.IntAttrOr("has_nan", 0) != 0:
		becomes = "becomes NaN"
	}
	const hint = "export the quantiser with saturation=1: integers have neither infinities nor NaN"
	x, scale := c.in[0].Const, c.in[1].Const
	if x == nil {
		badQuant(hint, "it does not saturate: data beyond %g times the scale %s", m.Top, becomes)
	}
	least := math.Inf(1)
	for i := range scale.Len() {
		least = min(least, math.Abs(scale.FloatAt(i)))
	}
	for i := range x.Len() {
		if v := x.FloatAt(i); math.Abs(v) > m.Top*least {
			badQuant(hint, "it does not saturate: element %d, %g, may exceed %g times the scale, and %s", i, v, m.Top,
				becomes)
		}
	}
}

// floatCoding returns the parts of a minifloat quantiser. The code is the value as a multiple of the unit. It returns
// nil if such codes need more than maxBits bits.
func floatCoding(c *reading) *QuantiserParts {
	m := readFloatQuant(c)
	unit := m.unit()
	top := m.Top / unit
	if top >= 1<<maxBits {
		return nil
	}
	attrs := limits(-top, top)
	attrs["mantissa"], attrs["least"] = graph.NewFloatAttr(m.Mantissa), graph.NewFloatAttr(m.Least/unit)
	attrs["unit"], attrs["mode"] = graph.NewFloatAttr(unit), graph.NewIntAttr(int(m.Mode))
	return &QuantiserParts{Op: "Float", Inputs: named(c.Node, 0, 1), Attrs: attrs,
		Value: []ArithmeticOperation{{OpMul, c.constOperand(unit)}, {OpMul, c.like(1)}}}
}

// buildFloatCode builds the internal operator Float. Its inputs are x and the scale. The attributes are lo and hi, the
// limits of the code; unit; least, the step of the subnormals in units; mantissa and mode.
func buildFloatCode(c *call) {
	lo, hi, unit := c.FloatAttrOr("lo", 0), c.FloatAttrOr("hi", 0), c.FloatAttrOr("unit", 1)
	m := minifloat{Mantissa: c.FloatAttrOr("mantissa", 0), Least: c.FloatAttrOr("least", 1) * unit,
		Mode: real.RoundingMode(c.IntAttrOr("mode", 0))}
	checkScale(c.reading)
	y := real.Div(real.Var(0), real.Var(1))
	c.elementwise(graph.DTypeInt64, clamped(m.nearest(y, unit), lo, hi), 0, 1)
}

package operators

import (
	"math"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/internal/diag"
)

// This file builds quantising operators. All are elementwise expressions around one Round.

func badQuant(hint, format string, args ...any) { refuse(diag.QuantiserInvalid, hint, format, args...) }

// A QuantiserParams holds the parameters of a quantising node, in one form for all dialects. The code of x is x/scale,
// rounded, plus the zero point, and clamped to [Lo, Hi]. If ZeroFirst is set, the zero point is added and the result
// clamped before rounding.
type QuantiserParams struct {
	Lo, Hi    float64
	Mode      real.RoundingMode
	ZeroFirst bool // as in QONNX; QuantizeLinear adds the zero point after rounding
	Sign      bool // instead, the code is +1 from 0 on, and -1 below
}

// clamped returns the expression that is x limited to lo..hi.
func clamped(x *real.Expr, lo, hi float64) *real.Expr {
	return real.Min(real.Max(x, real.ConstantExprOfFloat(lo)), real.ConstantExprOfFloat(hi))
}

// code returns the expression that is the code of x for the given scale and zero point.
func (q QuantiserParams) code(x, scale, zero *real.Expr) *real.Expr {
	y := real.Div(x, scale)
	if q.Sign {
		return bipolarCode(real.Add(y, zero))
	}
	if q.ZeroFirst {
		return real.Round(clamped(real.Add(y, zero), q.Lo, q.Hi), q.Mode)
	}
	return clamped(real.Add(real.Round(y, q.Mode), zero), q.Lo, q.Hi)
}

// maxBits is the largest number of bits of a quantiser's codes. Codes of far more bits, and their sums, would still be
// exact in a float64.
const maxBits = 32

func readQuant(c *reading) QuantiserParams {
	bits := c.scalar(diag.QuantiserInvalid, 3, "the bit width")
	checkBits(bits)
	q := QuantiserParams{Mode: c.rounding("ROUND"), ZeroFirst: true}
	checkParameters(c)
	q.Lo, q.Hi = graph.CodeLimitsOfBits(bits, c.IntAttrOr("signed", 1) != 0, c.IsFlagAttrSet("narrow"))
	if c.IntAttrOr("signed", 1) != 0 && bits == 1 { // old exports of bipolar quantisers: the codes are -1 and +1
		q.Lo, q.Hi, q.Sign = -1, 1, true
	}
	if q.Lo > q.Hi {
		badQuant("a narrow unsigned quantiser needs two bits", "no code is left")
	}
	return q
}

func checkBits(widths ...float64) {
	for _, b := range widths {
		if b < 1 || b > maxBits || b != math.Trunc(b) {
			badQuant("bit widths are whole numbers from 1 to 32", "bit width %g", b)
		}
	}
}

// rounding returns the rounding mode that the attribute rounding_mode names, or that of def without the attribute. It
// refuses unknown modes.
func (c *reading) rounding(def string) real.RoundingMode {
	mode, err := real.ParseRoundingMode(c.StringAttrOr("rounding_mode", def))
	if err != nil {
		badQuant("use one of the rounding modes that QONNX defines", "%v", err)
	}
	return mode
}

const constantParameters = "export with constant quantiser parameters"

// checkParameters refuses a node whose scale or zero point, inputs 1 and 2, is not constant.
func checkParameters(c *reading) {
	checkScale(c)
	if c.in[2].Const == nil {
		badQuant(constantParameters, "the zero point is not constant")
	}
}

// checkScale refuses a node whose scale, input 1, is not constant or holds a 0. A negative scale is allowed and
// reverses the order of codes.
func checkScale(c *reading) {
	s := constantScale(c)
	for i := range s.Len() {
		if s.FloatAt(i) == 0 {
			badQuant("scales are not 0", "scale 0 (element %d)", i)
		}
	}
}

// constantScale returns the scale, input 1.
func constantScale(c *reading) *graph.ConstantTensor {
	s := c.in[1].Const
	if s == nil {
		badQuant(constantParameters, "the scale is not constant")
	}
	return s
}

func buildQuant(c *call) {
	q := readQuant(c.reading)
	v := real.Var
	y := real.Mul(real.Sub(q.code(v(0), v(1), v(2)), v(2)), v(1))
	c.elementwise(c.dt, y, 0, 1, 2)
}

// perAxis adds an output computed from the input and from parameters that are scalars or vectors along an axis.
func (c *call) perAxis(dt graph.DType, expr *real.Expr, args ...int) {
	x := c.x
	e := &program.Elem{Expr: expr, Args: args, Index: make([]graph.ElementIndexMap, len(args))}
	for v, slot := range args[1:] {
		p := c.in[slot].Shape
		if graph.ElementCount(p) == 1 {
			e.Index[v+1].Table = []int32{0}
			continue
		}
		a := axis(c.IntAttrOr("axis", 1), len(x))
		if len(p) != 1 || p[0] != x[a] {
			invalid("parameter %d has shape %v, the input %v, axis %d", slot, p, x, a)
		}
		e.Index[v+1] = program.NewAxisCoordinateMap(x, a)
	}
	c.add(program.Step{Shape: x, DType: dt, Elem: e})
}

func readQuantizeLinear(c *reading) (QuantiserParams, graph.DType) {
	dt := graph.DTypeUInt8
	if c.IsFlagAttrSet("output_dtype") {
		dt = c.dtypeAttr("output_dtype")
	}
	if c.HasInput(2) {
		dt = c.in[2].DType
		if c.in[2].Const == nil {
			badQuant(constantParameters, "the zero point is not constant")
		}
	}
	lo, hi, ok := dt.IntegerLimits()
	if !ok || hi > 65535 || dt == graph.DTypeBool {
		badQuant("quantise to an integer of 2 to 16 bits", "quantised type %s", dt)
	}
	checkScale(c)
	return QuantiserParams{Lo: lo, Hi: hi, Mode: real.RoundingModeHalfEven}, dt
}

func buildQuantizeLinear(c *call) {
	if blocked(c, "QuantizeLinear") {
		return
	}
	dt, code, args := quantised(c)
	c.perAxis(dt, code, args...)
}

// quantised returns the type and the expression of a QuantizeLinear's code, and the input slots that its variables
// read.
func quantised(c *call) (dt graph.DType, code *real.Expr, inputs []int) {
	q, dt := readQuantizeLinear(c.reading)
	zero, inputs := real.ConstantExprOfFloat(0), []int{0, 1}
	if c.HasInput(2) {
		zero, inputs = real.Var(2), append(inputs, 2)
	}
	return dt, q.code(real.Var(0), real.Var(1), zero), inputs
}

// buildQuantised builds a QuantizeLinear with parameters for each element; buildDequantised builds a DequantizeLinear.
func buildQuantised(c *call) {
	dt, code, args := quantised(c)
	c.elementwise(dt, code, args...)
}

func buildDequantised(c *call) {
	value, args := dequantised(c)
	c.elementwise(c.in[1].DType, value, args...)
}

func buildDequantizeLinear(c *call) {
	if c.dt.IsReal() && (c.dt.IsComputableNumber() || c.in[0].Const == nil) {
		invalid("the input is of type %s, not an integer", c.dt)
	}
	if blocked(c, "DequantizeLinear") {
		return
	}
	value, args := dequantised(c)
	c.perAxis(c.in[1].DType, value, args...)
}

// dequantised returns the expression of a DequantizeLinear's value, and the input slots that its variables read.
func dequantised(c *call) (value *real.Expr, inputs []int) {
	constantScale(c.reading) // the scale may be 0: a channel that was never used
	x, inputs := real.Var(0), []int{0, 1}
	if c.HasInput(2) {
		x, inputs = real.Sub(x, real.Var(2)), append(inputs, 2)
	}
	return real.Mul(x, real.Var(1)), inputs
}

// buildCode builds the internal operator Code. Its inputs are x, scale and zero point; its attributes lo, hi, mode and
// zero_first. The attribute axis says that the parameters are vectors along an axis. The attribute truth says that the
// codes are truth values.
func buildCode(c *call) {
	mode := c.IntAttrOr("mode", 0)
	if mode < int64(real.RoundingModeHalfEven) || mode > int64(real.RoundingModeHalfTowardsZero) {
		badQuant("", "rounding mode number %d", mode)
	}
	q := QuantiserParams{Lo: c.FloatAttrOr("lo", 0), Hi: c.FloatAttrOr("hi", 0), Mode: real.RoundingMode(mode),
		ZeroFirst: c.IsFlagAttrSet("zero_first"), Sign: c.IsFlagAttrSet("sign")}
	if q.Lo > q.Hi || q.Lo != math.Trunc(q.Lo) || q.Hi != math.Trunc(q.Hi) || max(-q.Lo, q.Hi) >= 1<<maxBits {
		badQuant("", "codes from %v to %v", q.Lo, q.Hi)
	}
	checkScale(c.reading)
	if c.in[2].Const == nil {
		badQuant("", "the zero point is not constant")
	}
	y := q.code(real.Var(0), real.Var(1), real.Var(2))
	if c.IsFlagAttrSet("truth") {
		c.elementwise(graph.DTypeBool, y, 0, 1, 2)
		return
	}
	if _, ok := c.Attrs["axis"]; ok {
		c.perAxis(graph.DTypeInt64, y, 0, 1, 2)
		return
	}
	c.elementwise(graph.DTypeInt64, y, 0, 1, 2)
}

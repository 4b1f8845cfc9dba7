package operators

import (
	"math"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/internal/diag"
)

// This file builds quantising operators. All are elementwise expressions around one Round.

func badQuant(hint, format string, args ...any) { refuse(diag.QuantInvalid, hint, format, args...) }

// A Quantiser holds the meaning of a quantising node, in one form for all dialects. The code of x is x/scale, rounded,
// plus the zero point, and clamped to [Lo, Hi]. If ZeroFirst is set, the zero point is added and the result clamped
// before rounding.
type Quantiser struct {
	Lo, Hi    float64
	Mode      real.RoundingMode
	ZeroFirst bool // as in QONNX; QuantizeLinear adds the zero point after rounding
	Sign      bool // instead, the code is +1 from 0 on, and -1 below
}

// clamped returns the expression that is x limited to lo..hi.
func clamped(x *real.Expr, lo, hi float64) *real.Expr {
	return real.Min(real.Max(x, real.Float(lo)), real.Float(hi))
}

// code returns the expression that is the code of x for the given scale and zero point.
func (q Quantiser) code(x, scale, zero *real.Expr) *real.Expr {
	y := real.Div(x, scale)
	if q.Sign {
		return bipolarCode(real.Add(y, zero))
	}
	if q.ZeroFirst {
		return real.Round(clamped(real.Add(y, zero), q.Lo, q.Hi), q.Mode)
	}
	return clamped(real.Add(real.Round(y, q.Mode), zero), q.Lo, q.Hi)
}

// maxBits is the most bits of a quantiser's codes. Codes of far more bits, and their sums, would still be exact in a
// float64.
const maxBits = 32

func readQuant(c *reading) Quantiser {
	bits := c.scalar(diag.QuantInvalid, 3, "the bit width")
	checkBits(bits)
	q := Quantiser{Mode: c.rounding("ROUND"), ZeroFirst: true}
	checkParameters(c)
	q.Lo, q.Hi = graph.CodeLimits(bits, c.Int("signed", 1) != 0, c.HasFlag("narrow"))
	if c.Int("signed", 1) != 0 && bits == 1 { // old exports of bipolar quantisers: the codes are -1 and +1
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

// rounding returns the rounding mode that an attribute names.
func (c *reading) rounding(def string) real.RoundingMode {
	mode, err := real.ParseRounding(c.Str("rounding_mode", def))
	if err != nil {
		badQuant("use one of the rounding modes that QONNX defines", "%v", err)
	}
	return mode
}

const constantParameters = "export with constant quantiser parameters"

// checkParameters refuses a scale or a zero point, inputs 1 and 2, that is not constant.
func checkParameters(c *reading) {
	checkScale(c)
	if c.in[2].Const == nil {
		badQuant(constantParameters, "the zero point is not constant")
	}
}

// checkScale refuses a scale, input 1, that is not constant or holds a 0. A negative scale is allowed and reverses the
// order of codes.
func checkScale(c *reading) {
	s := constantScale(c)
	for i := range s.Len() {
		if s.At(i) == 0 {
			badQuant("scales are not 0", "scale 0 (element %d)", i)
		}
	}
}

// constantScale returns the scale, input 1.
func constantScale(c *reading) *graph.Tensor {
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
	e := &program.Elem{Expr: expr, Args: args, Index: make([]graph.ElementPick, len(args))}
	for v, slot := range args[1:] {
		p := c.in[slot].Shape
		if graph.Size(p) == 1 {
			e.Index[v+1].Table = []int32{0}
			continue
		}
		a := axis(c.Int("axis", 1), len(x))
		if len(p) != 1 || p[0] != x[a] {
			invalid("parameter %d has shape %v, the input %v, axis %d", slot, p, x, a)
		}
		e.Index[v+1] = program.PickAlongAxis(x, a)
	}
	c.add(program.Step{Shape: x, DType: dt, Elem: e})
}

func readQuantizeLinear(c *reading) (Quantiser, graph.DType) {
	dt := graph.UInt8
	if c.HasFlag("output_dtype") {
		dt = c.dtypeAttr("output_dtype")
	}
	if c.HasInput(2) {
		dt = c.in[2].DType
		if c.in[2].Const == nil {
			badQuant(constantParameters, "the zero point is not constant")
		}
	}
	lo, hi, ok := dt.IntegerLimits()
	if !ok || hi > 65535 || dt == graph.Bool {
		badQuant("quantise to an integer of 2 to 16 bits", "quantised type %s", dt)
	}
	checkScale(c)
	return Quantiser{Lo: lo, Hi: hi, Mode: real.HalfEven}, dt
}

func buildQuantizeLinear(c *call) {
	if blocked(c, "QuantizeLinear") {
		return
	}
	dt, code, args := quantised(c)
	c.perAxis(dt, code, args...)
}

// quantised returns the type, the expression and the inputs of a QuantizeLinear's code.
func quantised(c *call) (dt graph.DType, code *real.Expr, inputs []int) {
	q, dt := readQuantizeLinear(c.reading)
	zero, inputs := real.Float(0), []int{0, 1}
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
	if c.dt.Float() && (c.dt.IsNumber() || c.in[0].Const == nil) {
		invalid("the input is of type %s, not an integer", c.dt)
	}
	if blocked(c, "DequantizeLinear") {
		return
	}
	value, args := dequantised(c)
	c.perAxis(c.in[1].DType, value, args...)
}

// dequantised returns the expression and the inputs of a DequantizeLinear's value.
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
	mode := c.Int("mode", 0)
	if mode < int64(real.HalfEven) || mode > int64(real.HalfTowardsZero) {
		badQuant("", "rounding mode number %d", mode)
	}
	q := Quantiser{Lo: c.Float("lo", 0), Hi: c.Float("hi", 0), Mode: real.RoundingMode(mode),
		ZeroFirst: c.HasFlag("zero_first"), Sign: c.HasFlag("sign")}
	if q.Lo > q.Hi || q.Lo != math.Trunc(q.Lo) || q.Hi != math.Trunc(q.Hi) || max(-q.Lo, q.Hi) >= 1<<maxBits {
		badQuant("", "codes from %v to %v", q.Lo, q.Hi)
	}
	checkScale(c.reading)
	if c.in[2].Const == nil {
		badQuant("", "the zero point is not constant")
	}
	y := q.code(real.Var(0), real.Var(1), real.Var(2))
	if c.HasFlag("truth") {
		c.elementwise(graph.Bool, y, 0, 1, 2)
		return
	}
	if _, ok := c.Attrs["axis"]; ok {
		c.perAxis(graph.Int64, y, 0, 1, 2)
		return
	}
	c.elementwise(graph.Int64, y, 0, 1, 2)
}

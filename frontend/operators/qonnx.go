package operators

import (
	"math"
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// This file has the operators of QONNX and FINN-ONNX except Quant. Like Quant, each computes an integer, its
// code, and from it a real. Package canon separates the two with the same expressions.

// bipolarCode returns the expression that is +1 for x >= 0, and -1 otherwise.
func bipolarCode(x *real.Expr) *real.Expr {
	return real.Sub(real.Mul(real.ConstantExprOfFloat(2), real.AtLeast(x, zero)), one)
}

func buildBipolarQuant(c *call) {
	checkScale(c.reading)
	c.elementwise(c.dt, real.Mul(bipolarCode(real.Var(0)), real.Var(1)), 0, 1)
}

func buildSignCode(c *call) { c.elementwise(graph.DTypeInt64, bipolarCode(real.Var(0)), 0) }

// A trunc holds the parameters of a Trunc, which drops low bits of codes with its own rounding. Version 1 divides by a
// power of two, from the bit widths, and does not clamp. Version 2 divides by the ratio of the scales, rounded to a
// power of two, and clamps.
type trunc struct {
	divisor float64
	mode    real.RoundingMode
	Lo, Hi  float64 // the limits of the code; infinite in version 1
	version int
}

// code returns the integer code. Variable 0 is x, 1 the scale, 2 the zero point.
func (t trunc) code() *real.Expr {
	v := real.Var
	n := real.Round(real.Add(real.Div(v(0), v(1)), v(2)), real.RoundingModeHalfEven)
	n = real.Round(real.Div(n, real.ConstantExprOfFloat(t.divisor)), t.mode)
	if t.version == 1 {
		return n
	}
	return clamped(n, t.Lo, t.Hi)
}

func readTrunc(c *reading) trunc {
	t := trunc{version: 1, mode: real.RoundingModeTowardsNegativeInf}
	if len(c.in) == 6 {
		t.version = 2
	}
	checkParameters(c)
	inBits := c.constScalar(3, "the input bit width")
	outBits := c.constScalar(len(c.in)-1, "the output bit width")
	checkBits(inBits, outBits)
	t.mode = c.rounding("FLOOR")
	if t.version == 1 {
		if inBits < outBits {
			badQuant("truncation drops bits", "from %g to %g bits", inBits, outBits)
		}
		t.divisor = math.Exp2(inBits - outBits)
		t.Lo, t.Hi = graph.CodeLimitsOfBits(outBits, c.IntAttrOr("signed", 1) != 0, false)
		return t
	}
	s := c.in[1].Const
	out := c.constScalar(4, "the output scale")
	if s.Len() != 1 {
		badQuant("truncate with one scale for the whole tensor", "%d input scales", s.Len())
	}
	bits := math.RoundToEven(math.Log2(out / s.FloatAt(0))) // NaN if the signs differ
	if !(math.Abs(bits) <= maxBits) {
		badQuant("an output scale of 2^-32 to 2^32 input scales", "input scale %g, output scale %g", s.FloatAt(0),
			out)
	}
	t.divisor = math.Exp2(bits)
	t.Lo, t.Hi = graph.CodeLimitsOfBits(outBits, c.IntAttrOr("signed", 1) != 0, c.IsFlagAttrSet("narrow"))
	return t
}

// value returns the real value of code n: (n - zero/divisor) * output scale in version 2, (n - zero) * scale in version
// 1.
func (t trunc) value(n, scale, zero, out *real.Expr) *real.Expr {
	if t.version == 1 {
		return real.Mul(real.Sub(n, zero), scale)
	}
	return real.Mul(real.Sub(n, real.Div(zero, real.ConstantExprOfFloat(t.divisor))), out)
}

func buildTrunc(c *call) {
	t := readTrunc(c.reading)
	v := real.Var
	if t.version == 1 {
		c.elementwise(c.dt, t.value(t.code(), v(1), v(2), nil), 0, 1, 2)
		return
	}
	c.elementwise(c.dt, t.value(t.code(), v(1), v(2), v(3)), 0, 1, 2, 4)
}

// buildTruncCode builds the internal operator Trunc. Its inputs are those of QONNX' Trunc.
func buildTruncCode(c *call) {
	t := readTrunc(c.reading)
	c.elementwise(graph.DTypeInt64, t.code(), 0, 1, 2)
}

// maxThresholds is the largest number of thresholds per channel that a MultiThreshold may have.
const maxThresholds = 1 << 12

// thresholdCount adds an output that counts, for each element, the thresholds of its channel that it reaches. finish
// maps the count to the output's value.
func thresholdCount(c *call, dt graph.DType, finish func(count *real.Expr) *real.Expr) {
	x, th := c.x, c.in[1]
	if th.Const == nil {
		badQuant("thresholds must be constant", "the thresholds are not constant")
	}
	if len(th.Shape) != 2 || th.Shape[1] < 1 {
		badQuant("thresholds form a matrix: channels times steps", "thresholds of shape %v", th.Shape)
	}
	n := th.Shape[1]
	if n > maxThresholds {
		badQuant("quantise with fewer bits", "%d thresholds per channel", n)
	}
	if n*graph.ElementCount(x) > maxElements {
		tooLarge("quantise with fewer bits", "%d thresholds for each of %d elements", n, graph.ElementCount(x))
	}
	channel := 1
	if strings.HasSuffix(c.StringAttrOr("data_layout", "NCHW"), "C") && c.StringAttrOr("data_layout", "NCHW") != "NC" {
		channel = len(x) - 1
	}
	if len(x) == 2 && channel == 1 && x[1] == 1 && x[0] == th.Shape[0] {
		channel = 0 // one row for all channels, as in FINN-GL's cells
	}
	if th.Shape[0] != 1 && (channel >= len(x) || x[channel] != th.Shape[0]) {
		badQuant("one row of thresholds per channel, or one for all",
			"%d rows of thresholds for an input of shape %v", th.Shape[0], x)
	}
	for ch := range th.Shape[0] {
		for i := 1; i < n; i++ {
			if th.Const.FloatAt(ch*n+i) < th.Const.FloatAt(ch*n+i-1) {
				badQuant("thresholds of a channel rise", "thresholds %d and %d of channel %d fall", i-1, i, ch)
			}
		}
	}
	rows := []int32{0}
	if th.Shape[0] > 1 {
		steps := make([]int, len(x))
		steps[channel] = n
		rows = c.p.strided(x, steps)
	}
	e := &program.Elem{Args: []int{0}, Index: []graph.ElementIndexMap{{}}, Offset: []int32{0}}
	var sum *real.Expr
	for i := range n {
		e.Args, e.Index, e.Offset = append(e.Args, 1), append(e.Index, graph.ElementIndexMap{Table: rows}),
			append(e.Offset,
				int32(i))
		reached := real.AtLeast(real.Var(0), real.Var(i+1))
		if sum == nil {
			sum = reached
		} else {
			sum = real.Add(sum, reached)
		}
	}
	e.Expr = finish(sum)
	c.add(program.Step{Shape: x, DType: dt, Elem: e})
}

func buildMultiThreshold(c *call) {
	scale, bias := c.FloatAttrOr("out_scale", 1), c.FloatAttrOr("out_bias", 0)
	thresholdCount(c, c.dt, func(n *real.Expr) *real.Expr {
		return real.Add(real.Mul(n, real.ConstantExprOfFloat(scale)), real.ConstantExprOfFloat(bias))
	})
}

// buildCountCode builds the internal operator Count: the number of thresholds reached, or, with the attribute sign, -1
// for 0 and +1 for 1.
func buildCountCode(c *call) {
	thresholdCount(c, graph.DTypeInt64, func(n *real.Expr) *real.Expr {
		if IsBipolarQuantiser(c.reading.Node) {
			return real.Sub(real.Mul(real.ConstantExprOfFloat(2), n), one)
		}
		return n
	})
}

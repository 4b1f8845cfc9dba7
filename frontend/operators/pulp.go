package operators

import (
	"math"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/internal/diag"
)

// buildRequantShift builds clip(floor((x*mul + add)/div + 1/2)). Attributes give the limits as a number of levels. mul
// and add are inputs with one number, or one per channel.
func buildRequantShift(c *call) {
	div, signed := c.levels("div"), c.levels("signed")
	levels := c.levels("n_levels_out", "n_levels")
	if !(div > 0) {
		badQuant("divide by a positive number", "div is %g", div)
	}
	if !(levels >= 2) || levels > 1<<maxBits || levels != math.Trunc(levels) {
		badQuant("quantise to a whole number of levels, 2 or more", "%g levels", levels)
	}
	if c.in[1].Const == nil || c.in[2].Const == nil {
		badQuant(constantParameters, "mul or add is not constant")
	}
	lo, hi := 0.0, levels-1
	if signed != 0 {
		lo = -math.Floor(levels / 2)
		hi += lo
	}
	v := real.Var
	y := real.Div(real.Add(real.Mul(v(0), v(1)), v(2)), real.ConstantExprOfFloat(div))
	q := clamped(real.Round(real.Add(y, real.ConstantExprOfFloat(0.5)), real.RoundingModeTowardsNegativeInf), lo, hi)
	e := &program.Elem{Expr: q, Args: []int{0, 1, 2}, Index: []graph.ElementIndexMap{{}, c.channelwise(1),
		c.channelwise(2)}}
	c.add(program.Step{Shape: c.x, DType: c.dt, Elem: e})
}

// levels returns the number that the first existing one of several attributes holds: an integer, a float, or a tensor
// with one element. It refuses a node without any.
func (c *reading) levels(names ...string) float64 {
	for _, name := range names {
		switch a := c.Attrs[name]; {
		case a.Kind == graph.AttrKindInt:
			return float64(a.I)
		case a.Kind == graph.AttrKindFloat:
			return a.F
		case a.Kind == graph.AttrKindTensor && a.T.Len() == 1:
			return a.T.FloatAt(0)
		}
	}
	refuse(diag.OpInvalid, contradiction, "attribute %q is missing, or no number", names[0])
	return 0
}

// channelwise returns the map from elements of the data to elements of the parameter at a slot. The parameter
// broadcasts as in ONNX, or, if that does not fit, has one element per channel.
func (c *call) channelwise(slot int) graph.ElementIndexMap {
	shape := c.in[slot].Shape
	if to, ok := broadcasts(c.x, shape); ok && graph.ElementCount(to) == graph.ElementCount(c.x) &&
		len(to) == len(c.x) {
		return c.p.broadcast(c.x, shape)
	}
	if len(c.x) > 1 && graph.ElementCount(shape) == c.x[1] {
		return program.NewAxisCoordinateMap(c.x, 1)
	}
	invalid("parameter %d of shape %v for data of shape %v", slot, shape, c.x)
	return graph.ElementIndexMap{}
}

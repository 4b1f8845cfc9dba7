package operators

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"
)

// This file builds comparisons and logic: 1 is true, 0 is false. In networks they mostly compute shapes and masks,
// which are constant.

func greaterOrEqual(x, y *real.Expr) *real.Expr { return real.AtLeast(x, y) }
func lessOrEqual(x, y *real.Expr) *real.Expr    { return real.AtLeast(y, x) }
func greater(x, y *real.Expr) *real.Expr        { return not(lessOrEqual(x, y)) }
func less(x, y *real.Expr) *real.Expr           { return not(greaterOrEqual(x, y)) }
func equal(x, y *real.Expr) *real.Expr          { return real.Mul(real.AtLeast(x, y), real.AtLeast(y, x)) }
func either(x, y *real.Expr) *real.Expr         { return real.Abs(real.Sub(x, y)) }
func not(x *real.Expr) *real.Expr               { return real.Sub(one, x) }

// comparison returns the definition of an operator that compares two tensors of numbers by f, which gives 1 or 0.
func comparison(f joining) definition {
	return func(c *call) { c.elementwise(graph.DTypeBool, f(real.Var(0), real.Var(1)), 0, 1) }
}

// logic returns the definition of an operator on two tensors of truth values, which f combines.
func logic(f joining) definition {
	return func(c *call) {
		for i := range c.in {
			c.holdsTruth(i)
		}
		c.elementwise(graph.DTypeBool, f(real.Var(0), real.Var(1)), 0, 1)
	}
}

func buildNot(c *call) {
	c.holdsTruth(0)
	c.elementwise(graph.DTypeBool, not(real.Var(0)), 0)
}

func (c *call) holdsTruth(slot int) {
	if dt := c.in[slot].DType; dt != graph.DTypeBool {
		invalid("input %d is of type %s, not bool", slot, dt)
	}
}

// buildMod builds the remainder of a division. With fmod it has the sign of the dividend, otherwise of the divisor.
func buildMod(c *call) {
	mode := real.RoundingModeTowardsNegativeInf
	switch {
	case c.IsFlagAttrSet("fmod"):
		mode = real.RoundingModeTowardsZero
	case c.promoted().IsReal():
		invalid("the rest of reals needs fmod")
	}
	divisible(c)
	binary(func(x, y *real.Expr) *real.Expr {
		return real.Sub(x, real.Mul(real.Round(real.Div(x, y), mode), y))
	})(c)
}

// buildOneHotOf writes a new axis, along which the element that an index names has one constant, and all others have
// another one.
func buildOneHotOf(c *call) {
	depth, values := c.constScalar(1, "the depth"), c.in[2].Const
	switch {
	case values == nil:
		unsupported("they must be a constant", "the values are not constant")
	case values.Len() != 2:
		invalid("%d values, not one of what is off and one of what is on", values.Len())
	case depth != float64(int(depth)) || depth < 1:
		invalid("a depth of %v", depth)
	case depth > maxClasses:
		unsupported("encode at most 65,536 different values", "a depth of %.0f", depth)
	}
	n, a := int(depth), axis(c.IntAttrOr("axis", -1), len(c.x)+1)
	index := c.Inputs[0]
	if c.dt != graph.DTypeInt64 {
		index = c.part("", "Cast", "index", castTo(graph.DTypeInt64), index)
	}
	index = c.reshaped(index, slices.Insert(slices.Clone(c.x), a, 1))
	is := func(from int64) string {
		t := &graph.ConstantTensor{DType: graph.DTypeInt64, Shape: slices.Repeat([]int{1}, len(c.x)+1-a)}
		t.Shape[0] = n
		for i := range int64(n) {
			t.I = append(t.I, from+i)
		}
		return c.part("", "Equal", "is", nil, index, c.constant("values", t))
	}
	hot := is(0)
	if lo, _, _ := c.dt.IntegerLimits(); c.opset >= 11 && (lo < 0 || c.dt.IsReal()) { // indices count from the end, too
		hot = c.part("", "Or", "is", nil, hot, is(int64(-n)))
	}
	if values.FloatAt(0) == 0 && values.FloatAt(1) == 1 {
		c.last("", "Cast", castTo(values.DType), hot)
		return
	}
	value := func(i int) string { return c.number("value", values.DType, values.FloatAt(i)) }
	c.last("", "Where", nil, hot, value(1), value(0))
}

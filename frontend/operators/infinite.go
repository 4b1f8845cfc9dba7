package operators

import (
	"fmt"
	"math"
	"math/big"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
	"hlsgen/internal/diag"
)

// endsOf returns the infinities that an input may hold, or none if there is no such input.
func endsOf(c *reading, slot int) program.InfinitySigns {
	if slot >= len(c.in) || c.Inputs[slot] == "" {
		return 0
	}
	return c.p.InfinitySignsOf(c.Inputs[slot])
}

// anyOf returns the infinities that any of the inputs may hold.
func anyOf(c *reading) (e program.InfinitySigns) {
	for i := range c.in {
		e |= endsOf(c, i)
	}
	return e
}

// A passing returns the infinities that the outputs of an operator may hold, given those of its inputs. ok is false if
// the operator has no value for some of these.
type passing func(c *reading) (e program.InfinitySigns, ok bool)

// passings holds the operators that compute with infinities, by domain and name.
var passings = map[[2]string]passing{}

func init() {
	first := func(c *reading) (program.InfinitySigns, bool) { return endsOf(c, 0), restFinite(c) }
	none := func(c *reading) (program.InfinitySigns, bool) { return 0, restFinite(c) }
	compared := func(*reading) (program.InfinitySigns, bool) { return 0, true }
	onlyAbove := func(c *reading) (program.InfinitySigns, bool) {
		return endsOf(c, 0) & program.InfinitySignPositive, restFinite(c)
	}
	onlyBelow := func(c *reading) (program.InfinitySigns, bool) {
		return endsOf(c, 0) & program.InfinitySignNegative, restFinite(c)
	}
	numbers := func(c *reading) (program.InfinitySigns, bool) { return endsOf(c, 0), c.dtypeAttr("to").IsReal() }
	for f, names := range map[*passing][]string{
		ptr(first): {"Identity", "Dropout", "TopK", "MaxPool", "GlobalMaxPool", "ReduceMax", "ReduceMin", "CastLike",
			"DepthToSpace", "SpaceToDepth"},
		ptr(none):      {"Sigmoid", "Tanh", "Softmax", "Erf", "ArgMax", "ArgMin", "IsInf", "IsNaN", "QuantizeLinear"},
		ptr(compared):  {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"},
		ptr(onlyAbove): {"Exp", "Relu", "Softplus"},
		ptr(onlyBelow): {"LogSoftmax"},
		ptr(numbers):   {"Cast"},
		ptr(added): {"Add", "Sum", "Transpose", "Concat", "Split", "Slice", "Pad", "Tile", "Trilu", "Reshape",
			"Squeeze", "Unsqueeze", "Flatten", "Gather", "Expand"},
		ptr(scales):    {"Mul", "Div"},
		ptr(clipped32): {"Clip"},
		ptr(greatest):  {"Max"},
		ptr(least):     {"Min"},
		ptr(func(c *reading) (program.InfinitySigns, bool) {
			return endsOf(c, 0) | endsOf(c, 1).Negated(),
				true
		}): {"Sub"},
		ptr(func(c *reading) (program.InfinitySigns, bool) {
			return endsOf(c, 0).Negated(),
				true
		}): {"Neg"},
		ptr(func(c *reading) (program.InfinitySigns, bool) {
			if endsOf(c, 0) != 0 {
				return program.InfinitySignPositive, true
			}
			return 0, true
		}): {"Abs"},
		ptr(func(c *reading) (program.InfinitySigns, bool) {
			return endsOf(c, 1) | endsOf(c, 2), endsOf(c,
				0) == 0
		}): {"Where"},
	} {
		for _, name := range names {
			passings[[2]string{"", name}] = *f
		}
	}
	for _, name := range []string{"Quant", "IntQuant", "BipolarQuant"} {
		passings[[2]string{QONNXDomain, name}] = none
	}
	for _, name := range []string{"Code", "Sign"} {
		passings[[2]string{InternalDomain, name}] = none
	}
	passings[[2]string{InternalDomain, "Max"}] = first
}

// restFinite reports whether no input but the first may hold infinities.
func restFinite(c *reading) bool {
	for i := 1; i < len(c.in); i++ {
		if endsOf(c, i) != 0 {
			return false
		}
	}
	return true
}

func ptr(f passing) *passing { return &f }

func added(c *reading) (program.InfinitySigns, bool) { return anyOf(c), true }

// scales is the passing of a product or a quotient with constants. It refuses constants that contain zero.
func scales(c *reading) (program.InfinitySigns, bool) {
	data, by := 0, 1
	if c.in[0].Const != nil && c.Op == "Mul" {
		data, by = 1, 0
	}
	k, e := c.in[by].Const, endsOf(c, data)
	if k == nil || program.InfinitySignsOfConstant(k) != 0 {
		return 0, false
	}
	up, down := false, false
	for i := range k.Len() {
		v := k.FloatAt(i)
		if v == 0 {
			return 0, false
		}
		up, down = up || v > 0, down || v < 0
	}
	switch {
	case up && down:
		return e | e.Negated(), true
	case down:
		return e.Negated(), true
	}
	return e, true
}

// greatest is the passing of a maximum. The result may be +Inf if any input may be, and -Inf if all may be.
func greatest(c *reading) (program.InfinitySigns, bool) {
	all := program.InfinitySignNegative
	for i := range c.in {
		all &= endsOf(c, i)
	}
	return anyOf(c)&program.InfinitySignPositive | all, true
}

func least(c *reading) (program.InfinitySigns, bool) {
	all := program.InfinitySignPositive
	for i := range c.in {
		all &= endsOf(c, i)
	}
	return anyOf(c)&program.InfinitySignNegative | all, true
}

// clipped32 is the passing of Clip. Either limit may be missing.
func clipped32(c *reading) (program.InfinitySigns, bool) {
	e := endsOf(c, 0)
	for i, attr := range []string{"min", "max"} {
		side, has := program.InfinitySignNegative<<i, c.Attrs[attr].Kind == graph.AttrKindFloat &&
			!math.IsInf(c.Attrs[attr].F, 0)
		if has = has || c.HasInput(i+1) && endsOf(c, i+1)&side == 0; has {
			e &^= side
		}
		e |= endsOf(c, i+1) &^ side
	}
	return e, true
}

// passesOf returns the infinities that the outputs of a node may hold. It refuses a node that has no value for the
// infinities that its inputs may hold.
func passesOf(c *reading) program.InfinitySigns {
	f, known := passings[[2]string{domainOf(c.Domain), c.Op}]
	if known {
		if e, ok := f(c); ok {
			return e
		}
	}
	for slot := range c.in {
		noInfinity(c, slot)
	}
	for slot := range c.in {
		if endsOf(c, slot) != 0 {
			hint := fmt.Sprintf("infinities may be added, chosen, compared and put through a softmax; cut the model "+
				"in front of this node with --outputs %s", c.Inputs[slot])
			refuse(diag.OpUnsupported, hint,
				"input %d (%q) may be infinite, of which it has no value", slot, c.Inputs[slot])
		}
	}
	return 0
}

// chosen returns x if open is 1, and 0 if it is 0. That is a product, unless x may be infinite.
func chosen(open, x *real.Expr, e program.InfinitySigns) *real.Expr {
	if e != 0 {
		return real.ZeroUnless(open, x)
	}
	return real.Mul(open, x)
}

// beyondAll is greater than every finite float64.
var beyondAll = new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 1100))

// buildIsInf builds IsInf, for the signs that the node asks for.
func buildIsInf(c *call) {
	e, x := endsOf(c.reading, 0), real.Var(0)
	if e == 0 {
		buildNever(c)
		return
	}
	beyond := real.ConstantExpr(beyondAll)
	y := real.ZeroUnless(zero, x)
	if c.IntAttrOr("detect_positive", 1) != 0 {
		y = real.Max(y, real.AtLeast(x, beyond))
	}
	if c.IntAttrOr("detect_negative", 1) != 0 {
		y = real.Max(y, real.AtLeast(real.Neg(x), beyond))
	}
	c.elementwise(graph.DTypeBool, y, 0)
}

package operators

import (
	"math"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// A QuantiserParts describes a node that quantises as two parts. An internal operator (Op) gives the integer code of
// each element. Arithmetic (Value) then maps the code to the node's value.
type QuantiserParts struct {
	Op     string // Code, Sign, Trunc, Count or Float in the domain Internal
	Inputs []TensorOperand
	Attrs  graph.AttributesByName // with lo and hi, the limits of the code
	Value  []ArithmeticOperation  // empty if the code is the value
}

// A TensorOperand is a tensor's name, or a constant that has no name yet.
type TensorOperand struct {
	Name  string
	Const *graph.ConstantTensor
}

// An ArithmeticOperation is one operation in a list; its first operand is the result of the operation before it.
type ArithmeticOperation struct {
	Op string // Add, Sub or Mul
	By TensorOperand
}

func named(n *graph.Node, slots ...int) (out []TensorOperand) {
	for _, i := range slots {
		out = append(out, TensorOperand{Name: n.Inputs[i]})
	}
	return out
}

// like returns a constant parameter in the type of the data, which is also the type of the node's value. The parameter
// may have a wider type in the file.
func (c *reading) like(slot int) TensorOperand {
	t, dt := c.in[slot].Const, c.dt
	if t.DType == dt || !t.DType.IsReal() || !dt.IsReal() {
		return TensorOperand{Name: c.Inputs[slot]}
	}
	same := *t
	same.DType = dt
	return TensorOperand{Const: &same}
}

// constOperand returns a constant in the type of the data, or in float32 if the data are integers.
func (c *reading) constOperand(v float64) TensorOperand {
	dt := c.dt
	if !dt.IsReal() {
		dt = graph.DTypeFloat32
	}
	return TensorOperand{Const: graph.NewFilledTensor(dt, nil, v)}
}

func limits(lo, hi float64) graph.AttributesByName {
	return graph.AttributesByName{"lo": graph.NewFloatAttr(lo), "hi": graph.NewFloatAttr(hi)}
}

// codings holds, by domain and operator, the functions that split prepared nodes into QuantiserParts.
var codings = map[string]map[string]func(*reading) *QuantiserParts{
	"": {"QuantizeLinear": linearCoding},
	QONNXDomain: {
		"Quant":          quantCoding,
		"IntQuant":       quantCoding,
		"FloatQuant":     floatCoding,
		"BipolarQuant":   bipolarCoding,
		"Trunc":          truncCoding,
		"MultiThreshold": countCoding,
	},
}

// SplitQuantiser returns the parts of a prepared node that quantises, or nil if the node does not quantise.
func SplitQuantiser(p *program.Program, n *graph.Node) *QuantiserParts {
	of := codings[domainOf(n.Domain)][n.Op]
	if of == nil {
		return nil
	}
	c, _ := preparationOf(p).read(n)
	return of(c)
}

func quantCoding(c *reading) *QuantiserParts {
	return &QuantiserParts{Op: OpQuantiserCode, Inputs: named(c.Node, 0, 1, 2), Attrs: readQuant(c).attrs(),
		Value: c.scaled(2,
			1)}
}

func bipolarCoding(c *reading) *QuantiserParts {
	return &QuantiserParts{Op: "Sign", Inputs: named(c.Node, 0), Attrs: limits(-1, 1),
		Value: []ArithmeticOperation{{OpMul,
			c.like(1)}}}
}

// scaled returns the arithmetic (code - zero point) * scale, with zero point and scale from the inputs at the given
// slots.
func (c *reading) scaled(zero, scale int) []ArithmeticOperation {
	return []ArithmeticOperation{{"Sub", c.like(zero)}, {OpMul, c.like(scale)}}
}

// countCoding returns the parts of a MultiThreshold. A single threshold with the values -v and +v is a bipolar
// quantiser, FINN's form of a sign: its codes are -1 and +1, not 0 and 1.
func countCoding(c *reading) *QuantiserParts {
	n := c.Node
	scale, bias, steps := n.FloatAttrOr("out_scale", 1), n.FloatAttrOr("out_bias", 0), c.in[1].Shape[1]
	code := &QuantiserParts{Op: "Count", Inputs: named(n, 0, 1), Attrs: limits(0, float64(steps)),
		Value: []ArithmeticOperation{{"Mul", c.constOperand(scale)}, {"Add", c.constOperand(bias)}}}
	if steps == 1 && bias == -scale/2 {
		code.Attrs = limits(-1, 1)
		code.Attrs["sign"] = graph.NewIntAttr(1)
		code.Value = []ArithmeticOperation{{"Mul", c.constOperand(scale / 2)}}
	}
	if a, ok := n.Attrs["data_layout"]; ok {
		code.Attrs["data_layout"] = a
	}
	return code
}

func (q QuantiserParams) attrs() graph.AttributesByName {
	a := limits(q.Lo, q.Hi)
	a["mode"] = graph.NewIntAttr(int(q.Mode))
	a["zero_first"] = graph.NewFlagAttr(q.ZeroFirst)
	if q.Sign {
		a["sign"] = graph.NewIntAttr(1)
	}
	return a
}

func linearCoding(c *reading) *QuantiserParts {
	q, _ := readQuantizeLinear(c)
	zero := c.constOperand(0)
	if c.HasInput(2) {
		zero = c.alongAxis(2)
	}
	return &QuantiserParts{Op: "Code", Inputs: []TensorOperand{{Name: c.Inputs[0]}, c.alongAxis(1), zero},
		Attrs: q.attrs()}
}

// alongAxis returns a parameter of QuantizeLinear, at an input slot, in a shape that broadcasts along the quantiser's
// axis.
func (c *reading) alongAxis(slot int) TensorOperand {
	t, x := c.in[slot].Const, c.x
	shape := []int{}
	at := noAxis
	if list := inBlocks(c); list != nil {
		at = varyAlong(list, x)
		t = list[slot-1].spread(at, x)
	} else if t.Len() > 1 {
		at = axis(c.IntAttrOr("axis", 1), len(x))
	}
	switch {
	case at == each:
		shape = x
	case t.Len() > 1:
		shape = slices.Repeat([]int{1}, len(x))
		shape[at] = x[at]
	}
	f := make([]float64, t.Len())
	for i := range f {
		f[i] = t.FloatAt(i)
	}
	return TensorOperand{Const: &graph.ConstantTensor{DType: graph.DTypeFloat32, Shape: shape, F: f}}
}

func truncCoding(c *reading) *QuantiserParts {
	t := readTrunc(c)
	attrs := limits(t.Lo, t.Hi)
	for _, name := range []string{"rounding_mode", "signed", "narrow"} {
		if a, ok := c.Attrs[name]; ok {
			attrs[name] = a
		}
	}
	code := &QuantiserParts{Op: "Trunc", Attrs: attrs}
	for i := range c.Inputs {
		code.Inputs = append(code.Inputs, TensorOperand{Name: c.Inputs[i]})
	}
	if t.version == 1 {
		code.Value = c.scaled(2, 1)
		return code
	}
	zero := graph.ConstantTensor{DType: c.dt, Shape: c.in[2].Shape, F: make([]float64, c.in[2].Const.Len())}
	for i := range zero.F {
		zero.F[i] = c.in[2].Const.FloatAt(i) / t.divisor // exact, because the divisor is a power of two
	}
	code.Value = []ArithmeticOperation{{"Sub", TensorOperand{Const: &zero}}, {"Mul", c.like(4)}}
	return code
}

// CodeLimitsOfQuantiser returns the limits of the codes of a quantiser that package canon has written. ok is false for
// other nodes.
func CodeLimitsOfQuantiser(n *graph.Node) (lo, hi float64, ok bool) {
	if !HasTrait(n, codes) {
		return 0, 0, false
	}
	return n.FloatAttrOr("lo", math.Inf(-1)), n.FloatAttrOr("hi", math.Inf(1)), true
}

// IsBipolarQuantiser reports whether a quantiser gives only the codes -1 and +1. CodeLimitsOfQuantiser must return ok
// for its node.
func IsBipolarQuantiser(n *graph.Node) bool { return HasTrait(n, signs) || n.IntAttrOr("sign", 0) != 0 }

// ValueOfCode returns the real value for which a code of step s stands. The node of s must have TraitUniformCodes or
// TraitMinifloatCodes. The parameters of its first element apply.
func ValueOfCode(p *program.Program, s *program.Step, code float64) *big.Rat {
	in := s.Node.Inputs
	v, by := new(big.Rat).SetFloat64(code), new(big.Rat).SetFloat64(p.Known[in[1]].Const.FloatAt(0))
	if HasTrait(s.Node, TraitMinifloatCodes) {
		by.Mul(by, new(big.Rat).SetFloat64(s.Node.FloatAttrOr("unit", 1)))
	} else {
		v.Sub(v, new(big.Rat).SetFloat64(p.Known[in[2]].Const.FloatAt(0)))
	}
	return v.Mul(v, by)
}

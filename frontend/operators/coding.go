package operators

import (
	"math"
	"math/big"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// A QuantiserParts splits a node that quantises. An internal operator (Op) gives the integer code of each element.
// Arithmetic then maps the code to the node's value.
type QuantiserParts struct {
	Op     string // Code, Sign, Trunc, Count or Float in the domain Internal
	Inputs []Operand
	Attrs  graph.Attrs  // with lo and hi, the limits of the code
	Value  []Arithmetic // empty if the code is the value
}

// An Operand is a tensor's name, or a constant that has no name yet.
type Operand struct {
	Name  string
	Const *graph.Tensor
}

// An Arithmetic is one operation, applied to the result of the operations before it.
type Arithmetic struct {
	Op string // Add, Sub or Mul
	By Operand
}

func named(n *graph.Node, slots ...int) (out []Operand) {
	for _, i := range slots {
		out = append(out, Operand{Name: n.Inputs[i]})
	}
	return out
}

// like returns a constant parameter in the type of the data, which is also the type of the node's value. The parameter
// may have a wider type in the file.
func (c *reading) like(slot int) Operand {
	t, dt := c.in[slot].Const, c.dt
	if t.DType == dt || !t.DType.Float() || !dt.Float() {
		return Operand{Name: c.Inputs[slot]}
	}
	same := *t
	same.DType = dt
	return Operand{Const: &same}
}

// constOperand returns a constant in the type of the data, or in float32 if the data are integers.
func (c *reading) constOperand(v float64) Operand {
	dt := c.dt
	if !dt.Float() {
		dt = graph.Float32
	}
	return Operand{Const: graph.FilledTensor(dt, nil, v)}
}

func limits(lo, hi float64) graph.Attrs {
	return graph.Attrs{"lo": graph.FloatAttr(lo), "hi": graph.FloatAttr(hi)}
}

// codings holds the functions that split prepared nodes, by domain and operator.
var codings = map[string]map[string]func(*reading) *QuantiserParts{
	"": {"QuantizeLinear": linearCoding},
	QONNX: {
		"Quant":          quantCoding,
		"IntQuant":       quantCoding,
		"FloatQuant":     floatCoding,
		"BipolarQuant":   bipolarCoding,
		"Trunc":          truncCoding,
		"MultiThreshold": countCoding,
	},
}

// SplitQuantiser splits a prepared node. It returns nil if the node does not quantise.
func SplitQuantiser(p *program.Program, n *graph.Node) *QuantiserParts {
	of := codings[domainOf(n.Domain)][n.Op]
	if of == nil {
		return nil
	}
	c, _ := preparationOf(p).read(n)
	return of(c)
}

func quantCoding(c *reading) *QuantiserParts {
	return &QuantiserParts{Op: OpCode, Inputs: named(c.Node, 0, 1, 2), Attrs: readQuant(c).attrs(), Value: c.scaled(2,
		1)}
}

func bipolarCoding(c *reading) *QuantiserParts {
	return &QuantiserParts{Op: "Sign", Inputs: named(c.Node, 0), Attrs: limits(-1, 1), Value: []Arithmetic{{OpMul,
		c.like(1)}}}
}

// scaled returns the arithmetic (code - zero point) * scale, with the inputs at the given slots.
func (c *reading) scaled(zero, scale int) []Arithmetic {
	return []Arithmetic{{"Sub", c.like(zero)}, {OpMul, c.like(scale)}}
}

// countCoding splits a MultiThreshold. A single threshold with the values -v and +v is a bipolar quantiser, FINN's form
// of a sign: its codes are -1 and +1, not 0 and 1.
func countCoding(c *reading) *QuantiserParts {
	n := c.Node
	scale, bias, steps := n.Float("out_scale", 1), n.Float("out_bias", 0), c.in[1].Shape[1]
	code := &QuantiserParts{Op: "Count", Inputs: named(n, 0, 1), Attrs: limits(0, float64(steps)),
		Value: []Arithmetic{{"Mul", c.constOperand(scale)}, {"Add", c.constOperand(bias)}}}
	if steps == 1 && bias == -scale/2 {
		code.Attrs = limits(-1, 1)
		code.Attrs["sign"] = graph.IntAttr(1)
		code.Value = []Arithmetic{{"Mul", c.constOperand(scale / 2)}}
	}
	if a, ok := n.Attrs["data_layout"]; ok {
		code.Attrs["data_layout"] = a
	}
	return code
}

func (q Quantiser) attrs() graph.Attrs {
	a := limits(q.Lo, q.Hi)
	a["mode"] = graph.IntAttr(int(q.Mode))
	a["zero_first"] = graph.FlagAttr(q.ZeroFirst)
	if q.Sign {
		a["sign"] = graph.IntAttr(1)
	}
	return a
}

func linearCoding(c *reading) *QuantiserParts {
	q, _ := readQuantizeLinear(c)
	zero := c.constOperand(0)
	if c.HasInput(2) {
		zero = c.alongAxis(2)
	}
	return &QuantiserParts{Op: "Code", Inputs: []Operand{{Name: c.Inputs[0]}, c.alongAxis(1), zero}, Attrs: q.attrs()}
}

// alongAxis returns a parameter of QuantizeLinear, at an input slot, in a shape that broadcasts along the quantiser's
// axis.
func (c *reading) alongAxis(slot int) Operand {
	t, x := c.in[slot].Const, c.x
	shape := []int{}
	at := noAxis
	if list := inBlocks(c); list != nil {
		at = varyAlong(list, x)
		t = list[slot-1].spread(at, x)
	} else if t.Len() > 1 {
		at = axis(c.Int("axis", 1), len(x))
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
		f[i] = t.At(i)
	}
	return Operand{Const: &graph.Tensor{DType: graph.Float32, Shape: shape, F: f}}
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
		code.Inputs = append(code.Inputs, Operand{Name: c.Inputs[i]})
	}
	if t.version == 1 {
		code.Value = c.scaled(2, 1)
		return code
	}
	zero := graph.Tensor{DType: c.dt, Shape: c.in[2].Shape, F: make([]float64, c.in[2].Const.Len())}
	for i := range zero.F {
		zero.F[i] = c.in[2].Const.At(i) / t.divisor // exact, because the divisor is a power of two
	}
	code.Value = []Arithmetic{{"Sub", Operand{Const: &zero}}, {"Mul", c.like(4)}}
	return code
}

// CodeRange returns the limits of the codes of a quantiser that package canon has written. ok is false for other nodes.
func CodeRange(n *graph.Node) (lo, hi float64, ok bool) {
	if !Has(n, codes) {
		return 0, 0, false
	}
	return n.Float("lo", math.Inf(-1)), n.Float("hi", math.Inf(1)), true
}

// IsBipolar reports whether a quantiser, for which CodeRange is true, gives only the codes -1 and +1.
func IsBipolar(n *graph.Node) bool { return Has(n, signs) || n.Int("sign", 0) != 0 }

// Decoded returns the value for which a code of step s stands. Its node must have TraitUniformCodes or
// TraitMinifloatCodes. The parameters of its first element apply.
func Decoded(p *program.Program, s *program.Step, code float64) *big.Rat {
	in := s.Node.Inputs
	v, by := new(big.Rat).SetFloat64(code), new(big.Rat).SetFloat64(p.Known[in[1]].Const.At(0))
	if Has(s.Node, TraitMinifloatCodes) {
		by.Mul(by, new(big.Rat).SetFloat64(s.Node.Float("unit", 1)))
	} else {
		v.Sub(v, new(big.Rat).SetFloat64(p.Known[in[2]].Const.At(0)))
	}
	return v.Mul(v, by)
}

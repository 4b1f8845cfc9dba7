package graph

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"hlsgen/frontend/real"
	"hlsgen/internal/diag"
)

// A reading is a node as its definition reads it: attributes, and what is known of the inputs.
type reading struct {
	n     *Node
	opset int64
	in    []Known // per input slot; the zero Known where it is omitted
}

// A call is one node being made into steps.
type call struct {
	*reading
	p     *Program
	steps []*Step
	fixed []*Tensor // per output: set where the operator itself knows the value (Shape, Constant)

	expanded bool // into made-up nodes, which have the steps
}

// A reject says why a node cannot be understood.
type reject struct {
	code      diag.Code
	msg, hint string
}

func invalid(format string, args ...any) *reject {
	return &reject{code: diag.OpInvalid, msg: fmt.Sprintf(format, args...), hint: "the node contradicts the ONNX definition of its operator: check the exporter"}
}

func unsupported(hint, format string, args ...any) *reject {
	return &reject{code: diag.OpUnsupported, msg: fmt.Sprintf(format, args...), hint: hint}
}

// read is a node with what is known of its inputs; ok is false where nothing is known of one.
func (p *Program) read(n *Node) (c *reading, ok bool) {
	c = &reading{n: n, opset: p.Graph.opset(n.Domain), in: make([]Known, len(n.Inputs))}
	for i, name := range n.Inputs {
		if c.in[i], ok = p.Known[name]; !ok && name != "" {
			return nil, false
		}
	}
	return c, true
}

// add adds an output.
func (c *call) add(s Step) *reject {
	c.steps = append(c.steps, &s)
	return nil
}

// build runs an operator's definition and folds what came out constant.
func (c *call) build(def operator) *reject {
	if len(c.in) < def.min || len(c.in) > def.max {
		return invalid("%d inputs, the operator has %d to %d", len(c.in), def.min, def.max)
	}
	for i := range def.min {
		if c.n.Inputs[i] == "" {
			return invalid("input %d is missing", i)
		}
	}
	if strings.Join(c.n.Outputs, "") == "" || c.n.Outputs[0] == "" && !c.n.Recurrent() {
		return invalid("no output")
	}
	if r := c.finite(); r != nil {
		return r
	}
	if r := def.build(c); r != nil {
		return r
	}
	for _, s := range c.steps {
		if r := c.p.count(s); r != nil {
			return r
		}
	}
	return c.finish()
}

// finish names the outputs and folds what is constant.
func (c *call) finish() *reject {
	for i, name := range c.n.Outputs {
		if name == "" {
			continue
		}
		if _, written := c.p.Known[name]; c.expanded && written {
			continue
		}
		if i >= len(c.steps) {
			return unsupported("only the first output is computed in inference", "output %d is used", i)
		}
		s := c.steps[i]
		s.Node, s.Output = c.n, name
		known := Known{Shape: s.Shape, DType: s.DType}
		if i < len(c.fixed) && c.fixed[i] != nil {
			known.Const = c.fixed[i]
		} else if t, err := c.fold(s); err != nil {
			return invalid("%v", err)
		} else if t != nil {
			known.Const = t
		}
		c.p.know(name, known)
		if known.Const == nil {
			c.p.Steps = append(c.p.Steps, s)
			c.p.by[name] = s
		}
	}
	return nil
}

// fold evaluates a step whose inputs are all constant, where every element of the result is a float64 exactly. What
// is not (a root, a quotient) stays a step of constant inputs.
func (c *call) fold(s *Step) (*Tensor, error) {
	vals := make([]*Reals, len(c.in))
	for i, k := range c.in {
		if c.n.Inputs[i] == "" {
			continue
		}
		if k.Const == nil {
			return nil, nil
		}
		vals[i] = constant(k.Const)
	}
	switch {
	case s.Recur != nil:
		return nil, nil // a loop over constants stays a loop
	case s.Move != nil && !s.DType.Float():
		return c.moveIntegers(s), nil
	case s.Dot != nil && s.Dot.K*Size(s.Shape) > maxFold:
		return nil, nil
	}
	v, err := c.p.newRunner(s).run(vals, newDecider(c.p, map[string]*Reals{}))
	if err != nil || !v.Exact() {
		return nil, err
	}
	return v.tensor(s.DType)
}

// moveIntegers keeps integers beyond 2^53, which are no float64.
func (c *call) moveIntegers(s *Step) *Tensor {
	t := &Tensor{DType: s.DType, Shape: s.Shape, I: make([]int64, Size(s.Shape))}
	for i := range t.I {
		slot, j := s.Move.From(i)
		t.I[i] = c.in[slot].Const.I[j]
	}
	return t
}

// finite refuses constants and attributes that are no real numbers. Clip alone may have an infinite bound, which is none.
func (c *reading) finite() *reject {
	bad := func(what string, i int, v float64) *reject {
		return &reject{diag.OpInvalid, fmt.Sprintf("%s holds %v (element %d)", what, v, i), "not a number and infinity are no numbers that hardware could compute with: check how the model was trained and exported"}
	}
	isBad := func(v float64) bool { return v != v || math.IsInf(v, 0) && !c.n.Is(bounds) }
	for slot, k := range c.in {
		if k.Const == nil {
			continue
		}
		for i, v := range k.Const.F {
			if isBad(v) {
				return bad(fmt.Sprintf("input %d (%q)", slot, c.n.Inputs[slot]), i, v)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.n.Attrs)) {
		a := c.n.Attrs[name]
		if a.Kind == AttrFloat && isBad(a.F) {
			return bad("attribute "+name, 0, a.F)
		}
	}
	return nil
}

// --- what definitions use ---

func (c *reading) has(i int) bool { return i < len(c.n.Inputs) && c.n.Inputs[i] != "" }

// constScalar is the value of a constant input with one element.
func (c *reading) constScalar(i int, what string) (float64, *reject) {
	t := c.in[i].Const
	if t == nil {
		return 0, unsupported("it must be a constant", "%s is not constant", what)
	}
	if t.Len() != 1 {
		return 0, unsupported("one value for the whole tensor is needed", "%s has %d values", what, t.Len())
	}
	return t.At(0), nil
}

// constInts is the value of a constant integer input.
func (c *reading) constInts(i int, what string) ([]int64, *reject) {
	t := c.in[i].Const
	if t == nil {
		return nil, &reject{diag.ShapeUnknown, what + " depends on the data", "export with fixed shapes, or bind dynamic axes with --dim"}
	}
	if t.I == nil && t.Len() > 0 {
		return nil, invalid("%s is of type %s, not an integer", what, t.DType)
	}
	return t.I, nil
}

// axis makes an axis of a tensor of the given rank non-negative.
func axis(a int64, rank int) (int, *reject) {
	if a < int64(-rank) || a >= int64(rank) {
		return 0, invalid("axis %d of a tensor with %d axes", a, rank)
	}
	if a < 0 {
		a += int64(rank)
	}
	return int(a), nil
}

// dtypeAttr is an attribute that names an element type.
func (c *reading) dtypeAttr(name string) DType {
	if v := c.n.Int(name, 0); v > 0 && v <= int64(Int2) {
		return DType(v)
	}
	return Undefined
}

// maxRank is numpy's own limit.
const maxRank = 64

func checkSize(shape []int) *reject {
	if len(shape) > maxRank {
		return &reject{diag.ModelTooLarge, fmt.Sprintf("a tensor of %d axes", len(shape)), fmt.Sprintf("at most %d axes are accepted", maxRank)}
	}
	n := 1
	for _, d := range shape {
		if d < 0 || d > 0 && n > maxElements/d {
			return &reject{diag.ModelTooLarge, fmt.Sprintf("a tensor of shape %v", shape), fmt.Sprintf("at most %d elements are accepted", maxElements)}
		}
		n *= max(d, 1) // an empty tensor is bounded all the same: its strides are computed as of any other
	}
	return nil
}

// move adds an output that moves elements.
func (c *call) move(shape []int, dt DType, m *Move) *reject {
	if r := checkSize(shape); r != nil {
		return r
	}
	return c.add(Step{Shape: shape, DType: dt, Move: m})
}

// elementwise adds an output computed from the inputs in args, broadcast against each other; expr's variable v is args[v].
func (c *call) elementwise(dt DType, expr *real.Expr, args ...int) *reject {
	var shape []int
	for _, a := range args {
		s, r := broadcastShape(shape, c.in[a].Shape)
		if r != nil {
			return r
		}
		shape = s
	}
	if r := checkSize(shape); r != nil {
		return r
	}
	e := &Elem{Expr: expr, Args: args}
	for _, a := range args {
		e.Index = append(e.Index, c.p.broadcast(shape, c.in[a].Shape))
	}
	return c.add(Step{Shape: shape, DType: dt, Elem: e})
}

func broadcastShape(a, b []int) ([]int, *reject) {
	out := make([]int, max(len(a), len(b)))
	for i := range out {
		x, y := 1, 1
		if j := i - len(out) + len(a); j >= 0 {
			x = a[j]
		}
		if j := i - len(out) + len(b); j >= 0 {
			y = b[j]
		}
		switch {
		case x == y || y == 1:
			out[i] = x
		case x == 1:
			out[i] = y
		default:
			return nil, invalid("shapes %v and %v do not broadcast", a, b)
		}
	}
	return out, nil
}

// broadcast maps elements of shape out to elements of a tensor of shape in.
func (p *Program) broadcast(out, in []int) []int32 {
	if Size(in) == Size(out) {
		return nil // equal but for leading ones
	}
	if Size(in) == 1 {
		return []int32{0}
	}
	strides := make([]int, len(out)) // stride of in along each axis of out, 0 where broadcast
	s := 1
	for j := len(in) - 1; j >= 0; j-- {
		if in[j] != 1 {
			strides[j+len(out)-len(in)] = s
		}
		s *= in[j]
	}
	return p.strided(out, strides)
}

package operators

import (
	"cmp"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
)

// A reading is a node with what is known of its inputs. A definition builds the node's steps from it.
type reading struct {
	*graph.Node
	opset int64
	in    []program.KnownTensor // by input slot; the zero KnownTensor if it is omitted
	x     []int                 // the shape of input 0
	dt    graph.DType           // the type of input 0

	p       *preparation
	endless program.InfinitySigns // the infinities that the outputs may hold
}

// read returns a node with what is known of its inputs. ok is false if nothing is known of one of them.
func (p *preparation) read(n *graph.Node) (c *reading, ok bool) {
	c = &reading{Node: n, opset: cmp.Or(n.Version, opsetOf(p.Graph, n.Domain)), in: make([]program.KnownTensor,
		len(n.Inputs)),
		p: p}
	for i, name := range n.Inputs {
		if c.in[i], ok = p.Known[name]; !ok && name != "" {
			return nil, false
		}
	}
	if len(c.in) > 0 {
		first := c.in[0]
		c.x, c.dt = first.Shape, first.DType
	}
	return c, true
}

// constScalar returns the value of constant input i, which has one element. It refuses other inputs; what is their name
// in the message.
func (c *reading) constScalar(i int, what string) float64 {
	return c.scalar(diag.OpUnsupported, i, what)
}

// scalar is like constScalar, but refuses with the given diagnostic code.
func (c *reading) scalar(code diag.Code, i int, what string) float64 {
	t := c.in[i].Const
	if t == nil {
		refuse(code, "it must be a constant", "%s is not constant", what)
	}
	if t.Len() != 1 {
		refuse(code, "one value for the whole tensor is needed", "%s has %d values", what, t.Len())
	}
	return t.FloatAt(0)
}

// constInts returns the integers of constant input i, which a refusal calls what. It refuses an input that is not
// constant.
func (c *reading) constInts(i int, what string) []int64 {
	t := c.in[i].Const
	if t == nil {
		refuse(diag.ShapeUnknown, "export with fixed shapes, or bind dynamic axes with --dim", "%s depends on the data",
			what)
	}
	if t.DType.IsReal() {
		invalid("%s is of type %s, not an integer", what, t.DType)
	}
	return t.Ints()
}

// axis returns an axis of a tensor of the given rank as a non-negative number. A negative a counts from the end. It
// refuses an axis out of range.
func axis(a int64, rank int) int {
	i, ok := fromEnd(a, rank)
	if !ok {
		invalid("axis %d of a tensor with %d axes", a, rank)
	}
	return i
}

// fromEnd returns an index among n as a non-negative number; a negative i counts from the end. ok is false if i is out
// of range.
func fromEnd(i int64, n int) (index int, ok bool) {
	if i < 0 {
		i += int64(n)
	}
	return int(i), 0 <= i && i < int64(n)
}

// axes returns the list of axes of a tensor of the given rank as non-negative numbers. It refuses repeated ones, and
// ones out of range.
func axes(list []int64, rank int) []int {
	out := make([]int, len(list))
	for i, v := range list {
		a := axis(v, rank)
		if slices.Contains(out[:i], a) {
			invalid("axis %d is named twice", v)
		}
		out[i] = a
	}
	return out
}

// list returns the integers of an input or, if that is omitted, of an attribute.
func (c *reading) list(attr string, slot int, what string) []int64 {
	if c.HasInput(slot) {
		return c.constInts(slot, what)
	}
	return c.IntsAttr(attr)
}

// dtypeAttr returns the element type that an attribute names, or DTypeUndefined if it names none.
func (c *reading) dtypeAttr(name string) graph.DType {
	if v := c.IntAttrOr(name, 0); v > 0 && v <= int64(graph.DTypeInt2) {
		return graph.DType(v)
	}
	return graph.DTypeUndefined
}

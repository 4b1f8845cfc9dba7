package graph

import (
	"slices"

	"hlsgen/internal/diag"
)

// A reading is a node as its definition reads it: attributes, and what is known of the inputs.
type reading struct {
	*Node
	opset int64
	in    []Known // per input slot; the zero Known where it is omitted
	x     []int   // the shape of input 0
	dt    DType   // its type
}

// read is a node with what is known of its inputs; ok is false where nothing is known of one.
func (p *Program) read(n *Node) (c *reading, ok bool) {
	c = &reading{Node: n, opset: p.Graph.opset(n.Domain), in: make([]Known, len(n.Inputs))}
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

func (c *reading) has(i int) bool { return i < len(c.Inputs) && c.Inputs[i] != "" }

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
		return nil, &reject{diag.ShapeUnknown, what + " depends on the data",
			"export with fixed shapes, or bind dynamic axes with --dim"}
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

// axes makes axes non-negative, of which each may be named once.
func axes(list []int64, rank int) ([]int, *reject) {
	out := make([]int, len(list))
	for i, v := range list {
		a, r := axis(v, rank)
		if r != nil {
			return nil, r
		}
		if slices.Contains(out[:i], a) {
			return nil, invalid("axis %d is named twice", v)
		}
		out[i] = a
	}
	return out, nil
}

// counted is 0, 1, 2 ..., n of them.
func counted(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

// dtypeAttr is an attribute that names an element type.
func (c *reading) dtypeAttr(name string) DType {
	if v := c.Int(name, 0); v > 0 && v <= int64(Int2) {
		return DType(v)
	}
	return Undefined
}

// flag is an attribute that is set where it is not 0.
func (n *Node) flag(name string) bool { return n.Int(name, 0) != 0 }

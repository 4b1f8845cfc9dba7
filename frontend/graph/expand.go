package graph

import (
	"fmt"
)

// An operator that says several things is written out as several nodes that are not in the file: padding is a step of
// its own in front of a convolution, its bias one behind. Execution, analysis and lowering see only these. Such a node
// keeps Index and name of the node that it stands for part of, and says in Was what that one is.

// part writes a made-up node and gives its output, a tensor with a name that the model does not use.
func (c *call) part(domain, op, suffix string, attrs Attrs, inputs ...string) string {
	name := c.p.fresh(c.file().first(), suffix)
	c.write(domain, op, attrs, name, inputs)
	return name
}

// last writes the made-up node that gives the output of c's own node.
func (c *call) last(domain, op string, attrs Attrs, inputs ...string) {
	c.write(domain, op, attrs, c.Outputs[0], inputs)
}

func (c *call) write(domain, op string, attrs Attrs, output string, inputs []string) {
	c.writeAll(domain, op, attrs, []string{output}, inputs)
}

// writeAll is write for several outputs.
func (c *call) writeAll(domain, op string, attrs Attrs, outputs, inputs []string) {
	file := c.file()
	n := &Node{Index: file.Index, Name: file.Label(), Was: file.FullOp(), Domain: domain, Op: op, Inputs: inputs,
		Outputs: outputs, Attrs: attrs}
	if domain == file.Domain {
		n.Version = file.Version
	}
	c.p.origin[n] = file
	c.p.now.nodes = append(c.p.now.nodes, n)
	c.expanded = true
	def, found := row(domain, op)
	read, known := c.p.read(n)
	if !found || !known {
		panic(fmt.Sprintf("graph: %s is written out as %s of %q", file.FullOp(), op, inputs))
	}
	(&call{p: c.p, reading: read}).build(def)
}

// file is the node of the file that c's node is, or is part of.
func (c *call) file() *Node { return c.p.Origin(c.Node) }

// constant makes a constant known that is not in the file.
func (c *call) constant(suffix string, t *Tensor) string {
	name := c.p.fresh(c.file().first(), suffix)
	c.p.know(name, Known{t.Shape, t.DType, t})
	return name
}

// number is a constant of one element, of a given type.
func (c *call) number(suffix string, dt DType, v float64) string {
	return c.constant(suffix, filled(dt, nil, v))
}

// reshaped gives a tensor another shape of as many elements.
func (c *call) reshaped(tensor string, shape []int) string {
	return c.part("", Reshape, "reshaped", exactShape, tensor, c.shape(shape))
}

// exactShape are the attributes of a Reshape whose zeros are zeros.
var exactShape = Attrs{"allowzero": IntAttr(1)}

// shape is a constant that Reshape takes.
func (c *call) shape(shape []int) string {
	return c.constant("shape", &Tensor{DType: Int64, Shape: []int{len(shape)}, I: intsAttr(shape...).Ints})
}

// fresh is a tensor name that neither the file nor the program has.
func (p *Program) fresh(base, suffix string) string {
	name := p.names.Fresh(base, suffix)
	p.now.names = append(p.now.names, madeUp{base, suffix, name})
	return name
}

// Origin is the node of the graph that a made-up node stands for part of; every other node is its own.
func (p *Program) Origin(n *Node) *Node {
	if o := p.origin[n]; o != nil {
		return o
	}
	return n
}

func intsAttr[T int | int64](v ...T) Attr {
	a := Attr{Kind: AttrInts, Ints: []int64{}}
	for _, i := range v {
		a.Ints = append(a.Ints, int64(i))
	}
	return a
}

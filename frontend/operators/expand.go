package operators

import (
	"fmt"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// An operator with several functions is replaced by several internal nodes that are not in the file. For example, the
// padding of a convolution is a step before it and the bias a step after it. Execution, analysis and lowering see only
// the internal nodes. They have the Index and the name of the node of the file, and Was holds its operator.

// part writes an internal node and returns the name of its output, which the model does not use.
func (c *call) part(domain, op, suffix string, attrs graph.AttributesByName, inputs ...string) string {
	name := c.p.fresh(c.file().FirstNonEmptyOutputName(), suffix)
	c.write(domain, op, attrs, name, inputs)
	return name
}

// last writes the internal node that gives the output of c's own node.
func (c *call) last(domain, op string, attrs graph.AttributesByName, inputs ...string) {
	c.write(domain, op, attrs, c.Outputs[0], inputs)
}

func (c *call) write(domain, op string, attrs graph.AttributesByName, output string, inputs []string) {
	c.writeAll(domain, op, attrs, []string{output}, inputs)
}

// writeAll writes an internal node with several outputs.
func (c *call) writeAll(domain, op string, attrs graph.AttributesByName, outputs, inputs []string) {
	file := c.file()
	n := &graph.Node{Index: file.Index, Name: file.Label(), Was: file.QualifiedOpName(), Domain: domain, Op: op,
		Inputs:  inputs,
		Outputs: outputs, Attrs: attrs}
	if domain == file.Domain {
		n.Version = file.Version
	}
	c.p.SetOriginOf(n, file)
	c.p.now.nodes = append(c.p.now.nodes, n)
	c.expanded = true
	def, found := row(domain, op)
	read, known := c.p.read(n)
	if !found || !known {
		panic(fmt.Sprintf("graph: %s is written out as %s of %q", file.QualifiedOpName(), op, inputs))
	}
	(&call{p: c.p, reading: read}).build(def)
}

// file returns the node of the file to which c's node belongs.
func (c *call) file() *graph.Node { return c.p.OriginOf(c.Node) }

// constant adds a constant that is not in the file, and returns its name.
func (c *call) constant(suffix string, t *graph.ConstantTensor) string {
	name := c.p.fresh(c.file().FirstNonEmptyOutputName(), suffix)
	c.p.know(name, program.KnownTensor{Shape: t.Shape, DType: t.DType, Const: t})
	return name
}

// number adds a constant with one element of the given type.
func (c *call) number(suffix string, dt graph.DType, v float64) string {
	return c.constant(suffix, graph.NewFilledTensor(dt, nil, v))
}

// reshaped writes a Reshape of a tensor to the given shape, and returns its output's name.
func (c *call) reshaped(tensor string, shape []int) string {
	return c.part("", OpReshape, "reshaped", exactShape, tensor, c.shape(shape))
}

// exactShape holds the attributes of a Reshape in whose shape a 0 means size 0.
var exactShape = graph.AttributesByName{"allowzero": graph.NewIntAttr(1)}

// shape adds a constant with the given shape, as an input of a Reshape, and returns its name.
func (c *call) shape(shape []int) string {
	return c.constant("shape", &graph.ConstantTensor{DType: graph.DTypeInt64, Shape: []int{len(shape)},
		I: intsAttr(shape...).Ints})
}

func intsAttr[T int | int64](v ...T) graph.Attr {
	a := graph.Attr{Kind: graph.AttrKindInts, Ints: []int64{}}
	for _, i := range v {
		a.Ints = append(a.Ints, int64(i))
	}
	return a
}

// Package graph is the real-valued meaning of an ONNX model, as written: nodes, names, domains, types and constants are
// kept as the file has them, constants exactly. It knows how to execute itself (exec.go) in exact real arithmetic.
package graph

import (
	"maps"
	"slices"

	"hlsgen/internal/num"
)

// DType is an ONNX tensor element type, with ONNX's own numbers.
type DType int32

// The element types of ONNX up to 1.18.
const (
	Undefined DType = iota
	Float32
	UInt8
	Int8
	UInt16
	Int16
	Int32
	Int64
	String
	Bool
	Float16
	Float64
	UInt32
	UInt64
	Complex64
	Complex128
	BFloat16
	Float8E4M3FN
	Float8E4M3FNUZ
	Float8E5M2
	Float8E5M2FNUZ
	UInt4
	Int4
	Float4E2M1
	Float8E8M0
	UInt2
	Int2
)

// Float reports whether values of d are real numbers; the others are integers, booleans included.
func (d DType) Float() bool {
	switch d {
	case Float32, Float16, Float64, BFloat16, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ, Float4E2M1, Float8E8M0:
		return true
	}
	return false
}

// number reports whether values of d are numbers that models compute with.
func (d DType) number() bool {
	switch d {
	case Float32, Float64, Float16, BFloat16:
		return true
	}
	_, _, integer := intLimits(d)
	return integer
}

// Integer is the type of a stream of such elements: of integers up to 16 bits; the zero Type for all others.
func (d DType) Integer() num.Type {
	switch d {
	case Bool:
		return num.Type{Kind: num.UInt, Width: 1}
	case UInt2, UInt4, UInt8, UInt16:
		return num.Type{Kind: num.UInt, Width: map[DType]int{UInt2: 2, UInt4: 4, UInt8: 8, UInt16: 16}[d]}
	case Int2, Int4, Int8, Int16:
		return num.Type{Kind: num.Int, Width: map[DType]int{Int2: 2, Int4: 4, Int8: 8, Int16: 16}[d]}
	}
	return num.Type{}
}

// String is numpy's name of the type.
func (d DType) String() string {
	names := [...]string{"undefined", "float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16", "float64",
		"uint32", "uint64", "complex64", "complex128", "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",
		"int4", "float4e2m1", "float8e8m0", "uint2", "int2"}
	if int(d) < 0 || int(d) >= len(names) {
		return "unknown"
	}
	return names[d]
}

// A Tensor is a constant, row-major. Exactly one of F and I is set, by DType.Float: every ONNX float is exact in a
// float64, every integer type but uint64 above 2^63 in an int64.
type Tensor struct {
	DType DType
	Shape []int // empty for a scalar
	F     []float64
	I     []int64
}

// Len is the number of elements.
func (t *Tensor) Len() int { return Size(t.Shape) }

// At is element i as a float64. An int64 beyond 2^53 is rounded; such values occur only as shapes and indices, which
// are read from I.
func (t *Tensor) At(i int) float64 {
	if t.DType.Float() {
		return t.F[i]
	}
	return float64(t.I[i])
}

// Size is the number of elements of a shape.
func Size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// An Attr is an attribute of a node; Kind says which field holds it.
type Attr struct {
	Kind    AttrKind
	I       int64
	F       float64 // exact: attributes are float32
	S       string
	T       *Tensor
	G       *Graph
	Ints    []int64
	Floats  []float64
	Strings []string
}

// AttrKind names the set field of an Attr.
type AttrKind uint8

// The attribute kinds. Unknown is one that we keep no value for (sparse tensors, type protos, lists of tensors).
const (
	AttrUnknown AttrKind = iota
	AttrFloat
	AttrInt
	AttrString
	AttrTensor
	AttrGraph
	AttrFloats
	AttrInts
	AttrStrings
)

// A Node is one operator. An empty string among Inputs or Outputs is an omitted slot, as in ONNX.
type Node struct {
	Index   int    // position in the file, for diagnostics; nodes made by canon keep the index of their origin
	Name    string // as in the file; may be empty or repeated
	Op      string
	Domain  string // "" for ai.onnx
	Inputs  []string
	Outputs []string
	Attrs   map[string]Attr
	Was     string // FullOp of the node of the file that this one, made by canon, stands for; empty for nodes of the file
}

// A Value is an input or output of the graph.
type Value struct {
	Name  string
	DType DType
	Dims  []Dim
	Known bool // false where the file gives no shape at all
}

// A Dim is one axis: Size is -1 where it is dynamic, then Param is its name, if it has one.
type Dim struct {
	Size  int
	Param string
}

// A Graph is a model or the body of a subgraph attribute.
type Graph struct {
	Name        string
	Inputs      []Value // real inputs only: those without an initializer
	Outputs     []Value
	Init        map[string]*Tensor
	Nodes       []*Node           // topological order
	Opsets      map[string]int64  // domain -> version; "" for ai.onnx
	Annotations map[string]string // tensor -> finn_datatype, from quantization_annotation
	Meta        map[string]string // metadata_props
	Producer    string            // producer name and version
}

// Label is how a node is called towards the user: its name, or its first output where it has none.
func (n *Node) Label() string {
	if n.Name != "" {
		return n.Name
	}
	return n.first()
}

// first is the first output that is in use.
func (n *Node) first() string {
	for _, o := range n.Outputs {
		if o != "" {
			return o
		}
	}
	return ""
}

// FullOp is the operator as the file has it: domain::op, or op alone for ai.onnx.
func (n *Node) FullOp() string {
	if n.Was != "" {
		return n.Was
	}
	if n.Domain == "" || n.Domain == "ai.onnx" {
		return n.Op
	}
	return n.Domain + "::" + n.Op
}

// In is the name of input i, empty where it is omitted.
func (n *Node) In(i int) string {
	if i < len(n.Inputs) {
		return n.Inputs[i]
	}
	return ""
}

// Int is an integer attribute or its default.
func (n *Node) Int(name string, def int64) int64 {
	if a, ok := n.Attrs[name]; ok && a.Kind == AttrInt {
		return a.I
	}
	return def
}

// Float is a float attribute or its default.
func (n *Node) Float(name string, def float64) float64 {
	if a, ok := n.Attrs[name]; ok && a.Kind == AttrFloat {
		return a.F
	}
	return def
}

// Str is a string attribute or its default.
func (n *Node) Str(name, def string) string {
	if a, ok := n.Attrs[name]; ok && a.Kind == AttrString {
		return a.S
	}
	return def
}

// Ints is an integer list attribute, nil where absent.
func (n *Node) Ints(name string) []int64 {
	if a, ok := n.Attrs[name]; ok && a.Kind == AttrInts {
		return a.Ints
	}
	return nil
}

// Copy is a graph of the same nodes and tensors: others may take their places.
func (g *Graph) Copy() *Graph {
	c := *g
	c.Inputs, c.Outputs, c.Nodes = slices.Clone(g.Inputs), slices.Clone(g.Outputs), slices.Clone(g.Nodes)
	if c.Init = maps.Clone(g.Init); c.Init == nil {
		c.Init = map[string]*Tensor{}
	}
	return &c
}

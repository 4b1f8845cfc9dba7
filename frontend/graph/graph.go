// Package graph holds ONNX models as written. A Graph keeps nodes, names, domains, types and constants as in the file,
// and constants exactly. It knows no operator.
//
//	dtype                  element types
//	pick                   maps from output elements to the argument's elements that they read
//	tensor                 constants
//	arrival                inputs whose real numbers arrive as integers
//	graph                  nodes and graphs
//	names, verify, text    unused names; checks of the form; text for people
package graph

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// ElementCount returns the number of elements of a tensor with the given shape, which is 1 for a shape without axes.
func ElementCount(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// An Attr is an attribute of a node. Kind says which of the other fields holds its value.
type Attr struct {
	Kind    AttrKind
	I       int64
	F       float64 // exact, because attributes are float32
	S       string
	T       *ConstantTensor
	G       *Graph
	Ints    []int64
	Floats  []float64
	Strings []string
}

// AttributesByName holds the attributes of a node by their names.
type AttributesByName = map[string]Attr

// NewIntAttr returns an attribute of kind AttrKindInt with the given value.
func NewIntAttr(v int) Attr { return Attr{Kind: AttrKindInt, I: int64(v)} }

// NewFlagAttr returns an attribute of kind AttrKindInt, with value 1 if set and 0 otherwise.
func NewFlagAttr(set bool) Attr {
	if set {
		return NewIntAttr(1)
	}
	return NewIntAttr(0)
}

// NewFloatAttr returns an attribute of kind AttrKindFloat with the given value.
func NewFloatAttr(v float64) Attr { return Attr{Kind: AttrKindFloat, F: v} }

// NewStringAttr returns an attribute of kind AttrKindString with the given value.
func NewStringAttr(v string) Attr { return Attr{Kind: AttrKindString, S: v} }

// NewGraphAttr returns an attribute of kind AttrKindGraph, such as the body of a loop.
func NewGraphAttr(g *Graph) Attr { return Attr{Kind: AttrKindGraph, G: g} }

// An AttrKind says which field of an Attr holds the value.
type AttrKind uint8

// These are the kinds of attributes. AttrKindUnknown stands for kinds whose values are not kept: sparse tensors, type
// protos and lists of tensors.
const (
	AttrKindUnknown AttrKind = iota
	AttrKindFloat
	AttrKindInt
	AttrKindString
	AttrKindTensor
	AttrKindGraph
	AttrKindFloats
	AttrKindInts
	AttrKindStrings
)

// A Node is one operator. An empty string in Inputs or Outputs is an omitted slot, as in ONNX.
type Node struct {
	Index   int    // position in the file, for diagnostics; nodes made by canon have that of their origin
	Stands  []int  // further nodes of the file for which a node made by canon stands
	Name    string // as in the file; may be empty or repeated
	Op      string
	Domain  string // "" for ai.onnx
	Version int64  // of the domain's operators, if a function has another than the model; otherwise 0
	Inputs  []string
	Outputs []string
	Attrs   AttributesByName
	Meta    map[string]string // metadata_props, such as the module of the node; nil for none
	// Was is the QualifiedOpName of the node of the file for which a node made by canon stands. It is empty for nodes
	// of the file.
	Was string
}

// maxModule is the largest number of bytes of a module's name that ModuleName returns, because metadata may hold
// anything.
const maxModule = 1 << 10

// ModuleName returns the module of the network to which a node belongs, from the metadata of torch.onnx.export. The key
// namespace lists the modules around the node and then the node, each with a colon and its class. The key
// pkg.torch.onnx.name_scopes lists them without classes, as a Python list of strings. ModuleName returns "" without
// such keys, for a node outside all modules, and for names above maxModule.
func (n *Node) ModuleName() string {
	parts := strings.Split(n.Meta["namespace"], "/")
	if list, ok := strings.CutPrefix(n.Meta["pkg.torch.onnx.name_scopes"], "['"); ok && len(parts) < 2 {
		parts = strings.Split(strings.TrimSuffix(list, "']"), "', '")
	}
	if len(parts) < 2 {
		return ""
	}
	name, _, _ := strings.Cut(parts[len(parts)-2], ":")
	if len(name) > maxModule {
		return ""
	}
	return name
}

// A ValueInfo declares an input or an output of a graph: its name, type and, if Known, shape.
type ValueInfo struct {
	Name  string
	DType DType
	Dims  []Dim
	Known bool // false if the file gives no shape
}

// ValueNames returns the names of declared values, in order.
func ValueNames(values []ValueInfo) []string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = v.Name
	}
	return names
}

// A Dim is one axis of a shape. Size is -1 for an axis of open size; Param is then its name in the model, or "".
type Dim struct {
	Size  int
	Param string
}

// A Graph is a model, or the body of a subgraph attribute.
type Graph struct {
	Name        string
	Inputs      []ValueInfo // without those that have an initializer
	Outputs     []ValueInfo
	Init        map[string]*ConstantTensor
	Nodes       []*Node           // in topological order
	Opsets      map[string]int64  // versions by domain; "" for ai.onnx
	Annotations map[string]string // finn_datatype by tensor, from quantization_annotation
	Meta        map[string]string // metadata_props
	// Sides holds the inputs whose samples lie side by side along an axis and have individual lengths
	// (axes.SequenceLengthInput).
	Sides    map[string]int
	Gone     []string                         // names of dynamic axes of inputs that became constants
	Arrive   map[string]*IntegerInputEncoding // inputs whose real numbers arrive as integers, as the user says
	Producer string                           // the producer's name and version
}

// FileNodeIndices returns the indices of all nodes of the file for which a node stands, its own first.
func (n *Node) FileNodeIndices() []int { return append([]int{n.Index}, n.Stands...) }

// Label returns the name of a node for the user: its name or, if it has none, its first output.
func (n *Node) Label() string {
	return cmp.Or(n.Name, n.FirstNonEmptyOutputName())
}

// AppendMissingNodes appends to list those of nodes that it does not hold yet, each once, and returns the extended
// list.
func AppendMissingNodes(list, nodes []*Node) []*Node {
	has := make(map[*Node]bool, len(list)+len(nodes))
	for _, n := range list {
		has[n] = true
	}
	for _, n := range nodes {
		if !has[n] {
			has[n] = true
			list = append(list, n)
		}
	}
	return list
}

// NodeLabelsOncePerIndex returns the labels of nodes, in order. Of several nodes with the same index, it includes only
// the first.
func NodeLabelsOncePerIndex(nodes []*Node) []string {
	out := []string{}
	seen := map[int]bool{}
	for _, n := range nodes {
		if !seen[n.Index] {
			seen[n.Index] = true
			out = append(out, n.Label())
		}
	}
	return out
}

// FirstNonEmptyOutputName returns the name of the first output that is not omitted, or "" if all are.
func (n *Node) FirstNonEmptyOutputName() string { return cmp.Or(n.Outputs...) }

// QualifiedOpName returns the operator as the file has it: domain::op, or op alone for ONNX's own domain. For a node
// that a pass has made, it returns the operator of the file's node (Was).
func (n *Node) QualifiedOpName() string {
	if n.Was != "" {
		return n.Was
	}
	if n.Domain == "" || n.Domain == "ai.onnx" {
		return n.Op
	}
	return n.Domain + "::" + n.Op
}

// InputName returns the name of input i, or "" if it is omitted.
func (n *Node) InputName(i int) string { return NameAtSlot(n.Inputs, i) }

// NameAtSlot returns names[i], or "" if names is shorter, which means that the slot is omitted.
func NameAtSlot(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return ""
}

// IntAttrOr returns the value of an integer attribute, or def if the node has no attribute of that name and kind.
func (n *Node) IntAttrOr(name string, def int64) int64 {
	if a := n.Attrs[name]; a.Kind == AttrKindInt {
		return a.I
	}
	return def
}

// FloatAttrOr returns the value of a float attribute, or def if the node has no attribute of that name and kind.
func (n *Node) FloatAttrOr(name string, def float64) float64 {
	if a := n.Attrs[name]; a.Kind == AttrKindFloat {
		return a.F
	}
	return def
}

// StringAttrOr returns the value of a string attribute, or def if the node has no attribute of that name and kind.
func (n *Node) StringAttrOr(name, def string) string {
	if a := n.Attrs[name]; a.Kind == AttrKindString {
		return a.S
	}
	return def
}

// IntsAttr returns the value of an attribute that lists integers, or nil if the node has no such attribute. The caller
// must not change the list.
func (n *Node) IntsAttr(name string) []int64 { return n.Attrs[name].Ints }

// TensorsRead returns the names of the tensors that a node and its bodies read. Names may be repeated, and "" stands
// for an omitted input. They may include tensors that a body computes itself; these have other names than any tensor of
// the graph around it.
func (n *Node) TensorsRead() []string {
	all := slices.Clone(n.Inputs)
	for _, a := range n.Attrs {
		if a.G == nil {
			continue
		}
		all = append(all, ValueNames(a.G.Outputs)...)
		for _, inner := range a.G.Nodes {
			all = append(all, inner.TensorsRead()...)
		}
	}
	return all
}

// ShallowCopy returns a graph with its own lists Inputs, Outputs and Nodes and its own map Init. It shares with g the
// nodes, the tensors and all other maps. Replacing nodes of the copy does not change g; changing a node does.
func (g *Graph) ShallowCopy() *Graph {
	c := *g
	c.Inputs, c.Outputs, c.Nodes = slices.Clone(g.Inputs), slices.Clone(g.Outputs), slices.Clone(g.Nodes)
	if c.Init = maps.Clone(g.Init); c.Init == nil {
		c.Init = map[string]*ConstantTensor{}
	}
	return &c
}

// OutputName returns the name of output i, or "" if it is omitted.
func (n *Node) OutputName(i int) string { return NameAtSlot(n.Outputs, i) }

// HasInput reports whether input i is not omitted.
func (n *Node) HasInput(i int) bool { return n.InputName(i) != "" }

// IsFlagAttrSet reports whether the node has an integer attribute with this name that is not 0.
func (n *Node) IsFlagAttrSet(name string) bool { return n.IntAttrOr(name, 0) != 0 }

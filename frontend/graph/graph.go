// Package graph is the real-valued meaning of an ONNX model, as written: nodes, names, domains, types and constants are
// kept as the file has them, constants exactly. It prepares a graph (every shape known, every operator reduced to one
// of five forms) and executes it in exact real arithmetic.
//
// In come graphs, from onnxio or canon. Out go programs, for canon, scaled, lower and the host's parts; the values of
// their tensors; and what axes count. It imports frontend/real, internal/num and internal/diag.
//
// The graph:
//
//	graph, tensor, dtype   nodes; constants; element types
//	names, verify, text    names that are free; its form; for people
//
// The table of operators, which alone knows them by name:
//
//	operators              the table, and the traits that others ask for
//	operators_arithmetic, operators_activation, operators_curves, operators_reduce, operators_order, operators_conv,
//	operators_pool, operators_image, operators_move, operators_slice, operators_logic, operators_quant,
//	operators_qonnx, operators_pulp, operators_recurrent, operators_lstm, operators_loop, operators_minifloat,
//	operators_blocks
//	                       the definitions of its rows: each makes steps of a node
//	operators_cell         the cells of LSTM, GRU and RNN as the bodies of loops
//	operators_coding       a quantiser as a code and its value: what canon asks for
//	operators_composite, operators_fused, operators_finn
//	                       operators that are written out before anything else happens: quantised ones, those that
//	                       onnxruntime fuses, FINN's; the steps of FINN's build
//	operators_dynamic      quantisers whose scales come from the data, taken out and run
//	operators_branches     an If whose condition is known, as the nodes of its branch
//	operators_role         what operators do, as far as quantisers are concerned
//	operators_weights      weights that float32 had rounded
//	operators_infinite     which operators compute with infinities, and which tensors may hold these
//	operators_units        what codes of constants stand for
//	operators_unsupported, operators_gaps
//	                       operators that we know and refuse, and why
//	standing               what becomes of each operator, for the list of them
//
// The program and its preparation:
//
//	program, recur, window          the five forms of step; Prepare
//	bind, shapes, limits            what the file leaves open; what a model may ask for
//	arrival                         inputs that arrive as integers, and what these stand for
//	reading, call, expand           a node, its attributes and inputs; the steps made of it; made-up nodes
//	again                           what stays when nodes are replaced
//	tables, list, move              index tables, and what takes their place; where moved elements come from
//	formats                         the formats of cells' gates, from --lstm-config and --cell-config
//
// Execution:
//
//	exec, reals        parts; values as intervals; roundings that are decided exactly
//	holding            how long a run holds a tensor
//	elementwise, memo  functions of elements; what is remembered of them
//	together           several of them taken at once
//	dot, loop, summing sums of products; loops; sums of narrower accumulators
//	order, ordering    rows put in order; what decides the order
//	float32, decided   near ties of float32 executors; a run with chosen codes, again
//	doubts, met        which codes are near ties, and which states of runs were met
//
// What axes count:
//
//	alike, alike_loop   a program of n samples against one of a single sample
//	stateinput          inputs that recurrences begin with
//	feedback            inputs and outputs that are one state
//	lengthinput         the input that says how many steps of a sequence count
//	stretch             a program of sequences against one of shorter ones
//	sequence, batch     which leading axes are time, which are samples
package graph

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

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

// Attrs are attributes by name.
type Attrs = map[string]Attr

// IntAttr is an attribute that is an integer.
func IntAttr(v int) Attr { return Attr{Kind: AttrInt, I: int64(v)} }

// FlagAttr is an attribute that is 1 or 0.
func FlagAttr(set bool) Attr {
	if set {
		return IntAttr(1)
	}
	return IntAttr(0)
}

// FloatAttr is an attribute that is a float.
func FloatAttr(v float64) Attr { return Attr{Kind: AttrFloat, F: v} }

// StringAttr is an attribute that is a string.
func StringAttr(v string) Attr { return Attr{Kind: AttrString, S: v} }

// GraphAttr is an attribute that is a graph.
func GraphAttr(g *Graph) Attr { return Attr{Kind: AttrGraph, G: g} }

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
	Stands  []int  // indices of further nodes of the file that one made by canon stands for
	Name    string // as in the file; may be empty or repeated
	Op      string
	Domain  string // "" for ai.onnx
	Version int64  // of the domain's operators, where a function has another than the model; else 0
	Inputs  []string
	Outputs []string
	Attrs   Attrs
	Meta    map[string]string // metadata_props: what an exporter knows of the node, such as its module; nil for none
	// FullOp of the node of the file that this one, made by canon, stands for; empty for nodes of the file
	Was string
}

// maxModule is the length of a module's name: metadata may hold anything.
const maxModule = 1 << 10

// Module is the module of the network that a node belongs to, as torch.onnx.export says it in the metadata: namespace
// lists the modules around a node and, as the last one, the node itself, each with its class behind a colon;
// pkg.torch.onnx.name_scopes lists them without classes, as Python writes a list of strings. It is empty where nothing
// is said.
func (n *Node) Module() string {
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

// A Value is an input or output of the graph.
type Value struct {
	Name  string
	DType DType
	Dims  []Dim
	Known bool // false where the file gives no shape at all
}

// Names lists the names of values.
func Names(values []Value) []string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = v.Name
	}
	return names
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
	// inputs whose samples lie side by side along an axis, and have a length each (LengthInput)
	Sides    map[string]int
	Gone     []string            // dynamic axes of inputs that became constants
	Arrive   map[string]*Arrival // the inputs whose real numbers arrive as integers, as the user says
	Producer string              // producer name and version
}

// Indices are those of all nodes of the file that a node stands for.
func (n *Node) Indices() []int { return append([]int{n.Index}, n.Stands...) }

// Label is how a node is called towards the user: its name, or its first output where it has none.
func (n *Node) Label() string {
	return cmp.Or(n.Name, n.first())
}

// Join adds to a list of nodes those that it does not have.
func Join(list, nodes []*Node) []*Node {
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

// Labels are the nodes' labels, each node's once.
func Labels(nodes []*Node) []string {
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

// first is the first output that is in use.
func (n *Node) first() string { return cmp.Or(n.Outputs...) }

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
func (n *Node) In(i int) string { return slot(n.Inputs, i) }

// slot is one of a node's names, empty where it is omitted.
func slot(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return ""
}

// Int is an integer attribute or its default.
func (n *Node) Int(name string, def int64) int64 {
	if a := n.Attrs[name]; a.Kind == AttrInt {
		return a.I
	}
	return def
}

// Float is a float attribute or its default.
func (n *Node) Float(name string, def float64) float64 {
	if a := n.Attrs[name]; a.Kind == AttrFloat {
		return a.F
	}
	return def
}

// Str is a string attribute or its default.
func (n *Node) Str(name, def string) string {
	if a := n.Attrs[name]; a.Kind == AttrString {
		return a.S
	}
	return def
}

// Ints is an integer list attribute, nil where absent.
func (n *Node) Ints(name string) []int64 { return n.Attrs[name].Ints }

// Reads lists what a node reads, its bodies included. Names that bodies make themselves may be among them: no graph
// around has them.
func (n *Node) Reads() []string {
	all := slices.Clone(n.Inputs)
	for _, a := range n.Attrs {
		if a.G == nil {
			continue
		}
		all = append(all, Names(a.G.Outputs)...)
		for _, inner := range a.G.Nodes {
			all = append(all, inner.Reads()...)
		}
	}
	return all
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

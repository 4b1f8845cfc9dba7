package roll

import (
	"slices"
	"strconv"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
)

// A value describes the common content of equal tensors: a constant, an input, or an output of a node. Tensors are
// equal if the same operator computes them from equal inputs.
type value struct {
	name     string      // the first tensor that has the value
	node     *graph.Node // the node that computes it; nil for inputs and constants
	slot     int         // its index among the node's outputs
	constant *graph.ConstantTensor
}

// none stands, in place of a value's number, for an input that a node omits.
const none = -1

// numbers assigns each tensor of a graph the number of its value.
type numbers struct {
	p       *program.Program // the program of the graph, or of the graph before some of its nodes became loops
	g       *graph.Graph
	of      map[string]int
	values  []value
	nodes   map[string][]*graph.Node // candidates for equal nodes, by operator and numbers of the inputs
	first   map[*graph.Node]*graph.Node
	tensors map[*graph.ConstantTensor]int
	equal   map[string][]int // candidates for equal constants
	readers map[int][]*graph.Node
	writers map[string]*graph.Node
	order   map[*graph.Node]int
}

func number(p *program.Program, g *graph.Graph) *numbers {
	n := &numbers{p: p, g: g, of: map[string]int{"": none}, nodes: map[string][]*graph.Node{},
		first: map[*graph.Node]*graph.Node{}, tensors: map[*graph.ConstantTensor]int{}, equal: map[string][]int{}}
	return n
}

// all numbers every tensor that depends on data, and the inputs of the nodes that compute them.
func (n *numbers) all() {
	for _, in := range n.g.Inputs {
		n.add(in.Name, value{name: in.Name})
	}
	for _, node := range n.g.Nodes {
		n.node(node)
	}
}

func (n *numbers) add(name string, v value) int {
	n.values = append(n.values, v)
	n.of[name] = len(n.values) - 1
	return len(n.values) - 1
}

// constant returns the value of a constant tensor, or nil if the tensor depends on the graph's inputs.
func (n *numbers) constant(name string) *graph.ConstantTensor {
	if t := n.g.Init[name]; t != nil {
		return t
	}
	return n.p.Known[name].Const
}

// depending reports whether a tensor depends on the graph's inputs. It reports false for the name "".
func (n *numbers) depending(name string) bool { return name != "" && n.constant(name) == nil }

// number returns the number of the value of a tensor that a node reads, or none for "". It panics if the tensor depends
// on data and has no number yet.
func (n *numbers) number(name string) int {
	if k, ok := n.of[name]; ok {
		return k
	}
	t := n.constant(name)
	if t == nil {
		panic("roll: " + name + " is read before it is written")
	}
	k := n.fixed(name, t)
	n.of[name] = k
	return k
}

// fixed returns the number of the constant t, whose tensor has the given name. Equal constants have one number.
func (n *numbers) fixed(name string, t *graph.ConstantTensor) int {
	if k, ok := n.tensors[t]; ok {
		return k
	}
	key := []byte(t.DType.String())
	for _, d := range t.Shape {
		key = strconv.AppendInt(append(key, ' '), int64(d), 10)
	}
	for i := 0; i < t.Len(); i += 1 + t.Len()/samples {
		key = strconv.AppendFloat(append(key, ' '), t.FloatAt(i), 'g', -1, 64)
	}
	for _, k := range n.equal[string(key)] {
		if n.values[k].constant.Equal(t) {
			n.tensors[t] = k
			return k
		}
	}
	n.values = append(n.values, value{name: name, constant: t})
	k := len(n.values) - 1
	n.tensors[t] = k
	n.equal[string(key)] = append(n.equal[string(key)], k)
	return k
}

// samples is the number of elements of a constant from which its hash is made.
const samples = 8

// node gives numbers to the outputs of a node: those of an equal node if there is one, and otherwise new ones.
func (n *numbers) node(node *graph.Node) {
	if !slices.ContainsFunc(node.Outputs, n.depending) {
		return // a constant is numbered when a node reads it
	}
	key := []byte(node.Domain + " " + node.Op + " " + strconv.Itoa(len(node.Outputs)))
	for _, in := range node.Inputs {
		key = strconv.AppendInt(append(key, ' '), int64(n.number(in)), 10)
	}
	for _, o := range n.nodes[string(key)] {
		if same(node, o) {
			n.first[node] = o
			for i, name := range node.Outputs {
				if n.depending(name) {
					n.of[name] = n.of[o.Outputs[i]]
				}
			}
			return
		}
	}
	n.nodes[string(key)] = append(n.nodes[string(key)], node)
	n.first[node] = node
	for i, name := range node.Outputs {
		if n.depending(name) {
			n.add(name, value{name: name, node: node, slot: i})
		}
	}
}

// same reports whether two nodes have the same operator and attributes, and so give the same outputs for the same
// inputs.
func same(a, b *graph.Node) bool {
	if a.Op != b.Op || a.Domain != b.Domain || len(a.Inputs) != len(b.Inputs) || len(a.Attrs) != len(b.Attrs) ||
		!slices.EqualFunc(a.Outputs, b.Outputs, func(x, y string) bool { return (x == "") == (y == "") }) {
		return false
	}
	for name, x := range a.Attrs {
		if y, ok := b.Attrs[name]; !ok || !equal(x, y) {
			return false
		}
	}
	return true
}

// equal reports whether two attributes are equal. Graphs and attributes of unknown kinds are never equal.
func equal(x, y graph.Attr) bool {
	switch {
	case x.Kind != y.Kind || x.Kind == graph.AttrKindGraph || x.Kind == graph.AttrKindUnknown:
		return false
	case x.T != nil && y.T != nil:
		return slices.Equal(x.T.Shape, y.T.Shape) && x.T.Equal(y.T)
	}
	return x.T == y.T && x.I == y.I && x.F == y.F && x.S == y.S && slices.Equal(x.Ints, y.Ints) &&
		slices.Equal(x.Floats, y.Floats) && slices.Equal(x.Strings, y.Strings)
}

// like reports whether the values with numbers a and b have the same shape and type.
func (n *numbers) like(a, b int) bool {
	x, y := n.known(a), n.known(b)
	return x.DType == y.DType && slices.Equal(x.Shape, y.Shape)
}

// known returns the shape, the type and, for a constant, the tensor of the value with number k.
func (n *numbers) known(k int) program.KnownTensor {
	if t := n.values[k].constant; t != nil {
		return program.KnownTensor{Shape: t.Shape, DType: t.DType, Const: t}
	}
	return n.p.Known[n.values[k].name]
}

// readersOf returns, by number of value, the nodes that read it. Of several equal nodes it has only the first.
func (n *numbers) readersOf() map[int][]*graph.Node {
	if n.readers != nil {
		return n.readers
	}
	n.readers = map[int][]*graph.Node{}
	for _, node := range n.g.Nodes {
		if n.first[node] != node {
			continue
		}
		for i, in := range node.Inputs {
			if v := n.number(in); v != none && !slices.Contains(node.Inputs[:i], in) {
				n.readers[v] = append(n.readers[v], node)
			}
		}
	}
	return n.readers
}

// writer returns the node that computes a tensor, or nil for inputs and initializers.
func (n *numbers) writer(name string) *graph.Node {
	if n.writers == nil {
		n.writers = map[string]*graph.Node{}
		for _, node := range n.g.Nodes {
			for _, o := range node.Outputs {
				n.writers[o] = node
			}
		}
		delete(n.writers, "")
	}
	return n.writers[name]
}

// positions returns the index of each node in the graph.
func (n *numbers) positions() map[*graph.Node]int {
	if n.order == nil {
		n.order = map[*graph.Node]int{}
		for i, node := range n.g.Nodes {
			n.order[node] = i
		}
	}
	return n.order
}

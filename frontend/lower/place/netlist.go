package place

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
)

// A Netlist is a set of connected layers under construction. It refers to its wires by number. A wire may have any
// number of readers; BuildGraph adds DuplicateStreams layers for several.
type Netlist struct {
	wires      []wire
	components []component
	out        []output
}

type wire struct {
	typ     dataflow.StreamType
	name    string // name of the ONNX tensor; may be empty
	readers int
	host    string // integer tensor that the host writes; empty if a layer writes the wire
}

// A component is one layer of a Netlist with the wires that it reads and writes.
type component struct {
	op      dataflow.Op // not bound
	in, out []int       // wires
	nodes   []*graph.Node
	moves   bool // the layer only moves elements: another layer that computes its nodes takes precedence
}

// An output is a wire that the host reads as an integer tensor.
type output struct {
	wire   int
	tensor string
}

// WireType returns the type of the stream on wire w.
func (n *Netlist) WireType(w int) dataflow.StreamType { return n.wires[w].typ }

// input adds a wire that the host writes, and returns its number. tensor is the name of the integer tensor, name that
// of the stream.
func (n *Netlist) input(name, tensor string, t dataflow.StreamType) int {
	n.wires = append(n.wires, wire{typ: t, name: name, host: tensor})
	return len(n.wires) - 1
}

// AddMoverLayer adds a layer that only moves elements and has one output, and returns that output's wire. Otherwise it
// is like AddLayer, without a name.
func (n *Netlist) AddMoverLayer(op dataflow.Op, in []int, nodes []*graph.Node) (int, error) {
	out, err := n.AddLayer(op, in, "", nodes)
	if err != nil {
		return 0, err
	}
	n.components[len(n.components)-1].moves = true
	return out[0], nil
}

// AddLayer adds a layer that reads the wires in, and returns the wires that it writes. name is the name of the first of
// them. nodes are the ONNX nodes that the layer computes. If the layer cannot accept its inputs, AddLayer returns
// Bind's error and adds nothing.
func (n *Netlist) AddLayer(op dataflow.Op, in []int, name string, nodes []*graph.Node) (out []int, err error) {
	types := make([]dataflow.StreamType, len(in))
	for i, w := range in {
		types[i] = n.wires[w].typ
	}
	_, outs, err := op.Bind(types)
	if err != nil {
		return nil, err
	}
	for _, w := range in {
		n.wires[w].readers++
	}
	for i, t := range outs {
		w := wire{typ: t}
		if i == 0 {
			w.name = name
		}
		out = append(out, len(n.wires))
		n.wires = append(n.wires, w)
	}
	n.components = append(n.components, component{op: op, in: in, out: out, nodes: nodes})
	return out, nil
}

// AddHostOutput records that the host reads wire w as the given integer tensor.
func (n *Netlist) AddHostOutput(w int, tensor string) {
	n.wires[w].readers++
	n.out = append(n.out, output{w, tensor})
}

// HostOutputTensorNames returns the integer tensors that the host reads, in the order in which AddHostOutput added
// them.
func (n *Netlist) HostOutputTensorNames() (tensors []string) {
	for _, o := range n.out {
		tensors = append(tensors, o.tensor)
	}
	return tensors
}

// HostInputTensorNames returns the integer tensors that the host writes, in the order of their wires, without those
// that nothing reads.
func (n *Netlist) HostInputTensorNames() (tensors []string) {
	for _, w := range n.wires {
		if w.host != "" && w.readers > 0 {
			tensors = append(tensors, w.host)
		}
	}
	return tensors
}

// PruneUnreadLayers removes every layer none of whose outputs is read by the host or by a layer that stays.
func (n *Netlist) PruneUnreadLayers() {
	var kept []component
	for _, l := range slices.Backward(n.components) {
		if slices.ContainsFunc(l.out, func(w int) bool { return n.wires[w].readers > 0 }) {
			kept = append(kept, l)
			continue
		}
		for _, w := range l.in {
			n.wires[w].readers--
		}
	}
	slices.Reverse(kept)
	n.components = kept
}

// like reports whether two components compute the same list of nodes, and both or neither only move elements.
func (c *component) like(o *component) bool {
	return len(c.nodes) > 0 && len(c.nodes) == len(o.nodes) && &c.nodes[0] == &o.nodes[0] && c.moves == o.moves
}

// LayerNamesByNode returns, by index of ONNX node, the layer that computes the node: its name in b or, if b is nil, its
// kind. A layer that only moves elements stands there only if no other layer computes the node.
func (n *Netlist) LayerNamesByNode(b *BuiltGraph) map[int]string {
	layers := map[int]string{}
	for _, moves := range []bool{false, true} {
		for i, c := range n.components {
			name := c.op.Kind()
			if b != nil {
				name = b.Graph.Nodes[b.nodes[i]].Name
			}
			if c.moves != moves || i > 0 && c.like(&n.components[i-1]) {
				continue
			}
			for _, node := range c.nodes {
				for _, index := range node.FileNodeIndices() {
					if _, ok := layers[index]; !ok {
						layers[index] = name
					}
				}
			}
		}
	}
	return layers
}

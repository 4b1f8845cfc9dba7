package place

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A Netlist is a set of connected layers that is being built. A wire may have any number of readers. When the graph
// is built, wires with several readers get a DuplicateStreams.
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

// A component is a layer with its connections.
type component struct {
	op      dataflow.Op // not bound
	in, out []int       // wires
	nodes   []*graph.Node
	moves   bool // it only moves elements: another layer that computes its nodes takes precedence
}

// An output is a wire that the host reads.
type output struct {
	wire   int
	tensor string
}

// Type returns the type of a wire.
func (n *Netlist) Type(w int) dataflow.StreamType { return n.wires[w].typ }

// Channel returns the range of a wire's channel.
func (n *Netlist) Channel(w, c int) num.Range { return n.wires[w].typ.Channel(c) }

// input adds a wire that the host writes.
func (n *Netlist) input(name, tensor string, t dataflow.StreamType) int {
	n.wires = append(n.wires, wire{typ: t, name: name, host: tensor})
	return len(n.wires) - 1
}

// AddMover is Add for a layer with one output that only moves elements.
func (n *Netlist) AddMover(op dataflow.Op, in []int, nodes []*graph.Node) (int, error) {
	out, err := n.Add(op, in, "", nodes)
	if err != nil {
		return 0, err
	}
	n.components[len(n.components)-1].moves = true
	return out[0], nil
}

// Add adds a layer behind wires. name is the name of its first output. If the layer cannot accept its inputs, Add
// returns Bind's error and adds nothing.
func (n *Netlist) Add(op dataflow.Op, in []int, name string, nodes []*graph.Node) (out []int, err error) {
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

// Output makes the host read a wire, as an integer tensor.
func (n *Netlist) Output(w int, tensor string) {
	n.wires[w].readers++
	n.out = append(n.out, output{w, tensor})
}

// HostOutputs returns the integer tensors that the host reads, in order.
func (n *Netlist) HostOutputs() (tensors []string) {
	for _, o := range n.out {
		tensors = append(tensors, o.tensor)
	}
	return tensors
}

// HostInputs returns the integer tensors that the host writes and that a layer or the host reads.
func (n *Netlist) HostInputs() (tensors []string) {
	for _, w := range n.wires {
		if w.host != "" && w.readers > 0 {
			tensors = append(tensors, w.host)
		}
	}
	return tensors
}

// Prune removes layers that nothing reads.
func (n *Netlist) Prune() {
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

// like reports whether two components compute the same nodes together.
func (c *component) like(o *component) bool {
	return len(c.nodes) > 0 && len(c.nodes) == len(o.nodes) && &c.nodes[0] == &o.nodes[0] && c.moves == o.moves
}

// Computes returns, for each ONNX node, the layer that computes it: its name in the graph or, without a graph, its
// kind. Layers that only move elements come last.
func (n *Netlist) Computes(b *LaidGraph) map[int]string {
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
				for _, index := range node.Indices() {
					if _, ok := layers[index]; !ok {
						layers[index] = name
					}
				}
			}
		}
	}
	return layers
}

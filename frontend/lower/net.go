package lower

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/hlslib/dup"
	"hlsgen/internal/dataflow"
)

// A netlist is layers in the making. A wire may have any number of readers; when the graph is built, those with several
// get a DuplicateStreams.
type netlist struct {
	wires   []wire
	layers  []layer
	streams []int // per wire, once the graph is built: its stream, in front of a DuplicateStreams; -1 for none
}

type wire struct {
	typ     dataflow.Type
	name    string // of the ONNX tensor; may be empty
	readers int
	host    bool // the host writes it
}

type layer struct {
	op      dataflow.Op // not bound
	in, out []int       // wires
	nodes   []*graph.Node
	moves   bool // it only moves elements: its nodes are called after another layer, if they have one
}

// input adds a wire that the host writes.
func (n *netlist) input(name string, t dataflow.Type) int {
	n.wires = append(n.wires, wire{typ: t, name: name, host: true})
	return len(n.wires) - 1
}

// add puts a layer behind wires. name is what its first output is called. The error is Bind's: the layer cannot take its
// inputs; nothing is added then.
func (n *netlist) add(op dataflow.Op, in []int, name string, nodes []*graph.Node) (out []int, err error) {
	types := make([]dataflow.Type, len(in))
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
	n.layers = append(n.layers, layer{op: op, in: in, out: out, nodes: nodes})
	return out, nil
}

// output marks a wire as one that the host reads.
func (n *netlist) output(w int) { n.wires[w].readers++ }

// prune takes out layers that nobody reads.
func (n *netlist) prune() {
	var kept []layer
	for _, l := range slices.Backward(n.layers) {
		if slices.ContainsFunc(l.out, func(w int) bool { return n.wires[w].readers > 0 }) {
			kept = append(kept, l)
			continue
		}
		for _, w := range l.in {
			n.wires[w].readers--
		}
	}
	slices.Reverse(kept)
	n.layers = kept
}

// build makes the graph: in and out are the wires of the host, all of them read. of says which node each layer is.
func (n *netlist) build(in, out []int) (g *dataflow.Graph, of []int, err error) {
	var b dataflow.Builder
	streams := make([][]int, len(n.wires)) // of a wire, for readers to come
	nodes := 0
	add := func(op dataflow.Op, in []int, name string, origin []string) ([]int, error) {
		out, err := b.Add(op, in, []string{name}, origin)
		nodes++
		return out, err
	}
	n.streams = slices.Repeat([]int{-1}, len(n.wires))
	connect := func(w, stream int, origin []string) error {
		streams[w], n.streams[w] = []int{stream}, stream
		if k := n.wires[w].readers; k > 1 {
			copies, err := add(dup.New(dup.Params{Copies: k}), streams[w], n.wires[w].name, origin)
			streams[w] = copies
			return err
		}
		return nil
	}
	next := func(w int) int {
		s := streams[w][0]
		streams[w] = streams[w][1:]
		return s
	}
	for _, w := range in {
		if err := connect(w, b.Input(n.wires[w].name, n.wires[w].typ), nil); err != nil {
			return nil, nil, err
		}
	}
	for _, l := range n.layers {
		origin := labelsOf(l.nodes)
		ins := make([]int, len(l.in))
		for i, w := range l.in {
			ins[i] = next(w)
		}
		of = append(of, nodes)
		outs, err := add(l.op, ins, n.wires[l.out[0]].name, origin)
		if err != nil {
			return nil, nil, err
		}
		for i, w := range l.out {
			if err := connect(w, outs[i], origin); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, w := range out {
		b.Output(next(w))
	}
	g, err = b.Graph()
	return g, of, err
}

// labelsOf names nodes, each once.
func labelsOf(nodes []*graph.Node) (names []string) {
	seen := map[int]bool{}
	for _, n := range nodes {
		if !seen[n.Index] {
			seen[n.Index] = true
			names = append(names, n.Label())
		}
	}
	return names
}

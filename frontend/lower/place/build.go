package place

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/hlslib/dup"
	"hlsgen/internal/dataflow"
)

// A BuiltGraph is the dataflow graph that BuildGraph makes of a netlist. It also tells which node each component has
// become, and which stream each wire.
type BuiltGraph struct {
	Graph *dataflow.Graph

	nodes   []int // node of each component
	streams []int // stream of each wire, in front of a DuplicateStreams; -1 for none
}

// StreamIndexOf returns the index of the stream in the graph that carries a tensor; if it has copies, that of the
// original. ok is false if none does.
func (b *BuiltGraph) StreamIndexOf(p *TensorPlace) (stream int, ok bool) {
	if !p.onWire || b.streams[p.wire] < 0 {
		return 0, false
	}
	return b.streams[p.wire], true
}

// A builder builds the graph of a netlist.
type builder struct {
	net  *Netlist
	made *BuiltGraph
	dataflow.GraphBuilder
	count int
	ends  [][]int // per wire: its streams for further readers
}

// BuildGraph returns the dataflow graph of the netlist. It adds layers that copy each stream with several readers. The
// error comes from a layer that does not accept its inputs, or from the verification of the whole graph.
func (n *Netlist) BuildGraph() (*BuiltGraph, error) {
	b := builder{net: n, made: &BuiltGraph{streams: slices.Repeat([]int{-1}, len(n.wires))},
		ends: make([][]int, len(n.wires))}
	for w, wire := range n.wires {
		if wire.host == "" || wire.readers == 0 {
			continue
		}
		if err := b.connect(w, b.AddInput(wire.name, wire.typ), nil); err != nil {
			return nil, err
		}
	}
	var origin []string
	for i := range n.components {
		c := &n.components[i]
		if i == 0 || !c.like(&n.components[i-1]) {
			origin = graph.NodeLabelsOncePerIndex(c.nodes)
		}
		if err := b.component(c, origin); err != nil {
			return nil, err
		}
	}
	for _, o := range n.out {
		b.MarkOutput(b.next(o.wire))
	}
	var err error
	b.made.Graph, err = b.VerifiedGraph()
	return b.made, err
}

func (b *builder) component(c *component, origin []string) error {
	ins := make([]int, len(c.in))
	for i, w := range c.in {
		ins[i] = b.next(w)
	}
	b.made.nodes = append(b.made.nodes, b.count)
	outs, err := b.add(c.op, ins, b.net.wires[c.out[0]].name, origin)
	if err != nil {
		return err
	}
	for i, w := range c.out {
		if err := b.connect(w, outs[i], origin); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) add(op dataflow.Op, in []int, name string, origin []string) ([]int, error) {
	b.count++
	return b.BindAndAddLayer(op, in, []string{name}, origin)
}

// connect records that wire w has become the given stream, and adds layers that copy the stream if the wire has several
// readers. The new layers get origin as the names of their ONNX nodes.
func (b *builder) connect(w, stream int, origin []string) (err error) {
	b.made.streams[w] = stream
	b.ends[w], err = b.fork(stream, max(b.net.wires[w].readers, 1), b.net.wires[w].name, origin)
	return err
}

// fork adds layers that copy a stream and returns the k copies. If one layer cannot make k copies, further layers copy
// its copies.
func (b *builder) fork(stream, k int, name string, origin []string) (ends []int, err error) {
	if k == 1 {
		return []int{stream}, nil
	}
	first := k
	for first > dataflow.MaxPortsPerSide {
		first = (first + dataflow.MaxPortsPerSide - 1) / dataflow.MaxPortsPerSide
	}
	copies, err := b.add(dup.New(dup.Params{Copies: first}), []int{stream}, name, origin)
	if err != nil || first == k {
		return copies, err
	}
	for i, s := range copies {
		part, err := b.fork(s, (k+i)/first, name, origin)
		if err != nil {
			return nil, err
		}
		ends = append(ends, part...)
	}
	return ends, nil
}

// next returns a stream for the next reader of wire w. Each call returns another of the wire's copies.
func (b *builder) next(w int) int {
	s := b.ends[w][0]
	b.ends[w] = b.ends[w][1:]
	return s
}

package place

import (
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/hlslib/dup"
	"hlsgen/internal/dataflow"
)

// A LaidGraph is the dataflow graph that Build makes of a netlist, and what became of its components and wires.
type LaidGraph struct {
	Graph *dataflow.Graph

	nodes   []int // node of each component
	streams []int // stream of each wire, in front of a DuplicateStreams; -1 for none
}

// StreamOf returns the stream of the graph that carries a tensor. ok is false if the graph has none.
func (b *LaidGraph) StreamOf(p *Place) (stream int, ok bool) {
	if !p.onWire || b.streams[p.wire] < 0 {
		return 0, false
	}
	return b.streams[p.wire], true
}

// A builder builds the graph of a netlist.
type builder struct {
	net  *Netlist
	made *LaidGraph
	dataflow.GraphBuilder
	count int
	ends  [][]int // per wire: its streams for further readers
}

// Build makes the dataflow graph of the netlist. It adds layers that copy streams of several readers. The error comes
// from a layer that does not accept its inputs.
func (n *Netlist) Build() (*LaidGraph, error) {
	b := builder{net: n, made: &LaidGraph{streams: slices.Repeat([]int{-1}, len(n.wires))},
		ends: make([][]int, len(n.wires))}
	for w, wire := range n.wires {
		if wire.host == "" || wire.readers == 0 {
			continue
		}
		if err := b.connect(w, b.Input(wire.name, wire.typ), nil); err != nil {
			return nil, err
		}
	}
	var origin []string
	for i := range n.components {
		c := &n.components[i]
		if i == 0 || !c.like(&n.components[i-1]) {
			origin = graph.Labels(c.nodes)
		}
		if err := b.component(c, origin); err != nil {
			return nil, err
		}
	}
	for _, o := range n.out {
		b.Output(b.next(o.wire))
	}
	var err error
	b.made.Graph, err = b.Graph()
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
	return b.Add(op, in, []string{name}, origin)
}

// connect records the stream that wire w has become, and adds layers that copy it if the wire has several readers.
func (b *builder) connect(w, stream int, origin []string) (err error) {
	b.made.streams[w] = stream
	b.ends[w], err = b.fork(stream, max(b.net.wires[w].readers, 1), b.net.wires[w].name, origin)
	return err
}

// fork returns k streams that are copies of a stream. It copies copies if one layer cannot make as many.
func (b *builder) fork(stream, k int, name string, origin []string) (ends []int, err error) {
	if k == 1 {
		return []int{stream}, nil
	}
	first := k
	for first > dataflow.MaxPorts {
		first = (first + dataflow.MaxPorts - 1) / dataflow.MaxPorts
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

// next returns the stream for the next reader of wire w. Each call returns another copy.
func (b *builder) next(w int) int {
	s := b.ends[w][0]
	b.ends[w] = b.ends[w][1:]
	return s
}

package dataflow

// A Coder is a bound layer whose outputs may be minifloats.
type Coder interface {
	// Coded returns the layer with minifloats as outputs, not bound; ok is false if minifloats do not pay.
	Coded() (coded Op, ok bool)
}

// A MinifloatLayer is a layer that takes minifloats: it multiplies their significands, or moves them.
type MinifloatLayer interface {
	// Moves reports whether its outputs are its inputs, so that its readers have to take minifloats, too.
	Moves() bool
}

// A MinifloatMover is embedded in layers that pass minifloats on unchanged, and makes them a MinifloatLayer.
type MinifloatMover struct{}

// Moves returns true: the layer's outputs are its inputs.
func (MinifloatMover) Moves() bool { return true }

// WithMinifloats returns the graph with minifloats on the streams whose readers all take them. It computes the same.
func (g *Graph) WithMinifloats() *Graph {
	coded := *g
	coded.Nodes, coded.Streams = nil, make([]*Stream, len(g.Streams))
	for i, s := range g.Streams {
		own := *s
		coded.Streams[i] = &own
	}
	for _, n := range g.Nodes {
		own, changes := *n, false
		if c, ok := n.Op.(Coder); ok && g.decoded(n) {
			if op, ok := c.Coded(); ok {
				own.Op, changes = op, true
			}
		}
		in := make([]StreamType, len(n.In))
		for k, s := range n.In {
			in[k] = coded.Streams[s].Type
			changes = changes || !in[k].Equal(g.Streams[s].Type)
		}
		if !changes { // it is bound to these types already
			coded.Nodes = append(coded.Nodes, &own)
			continue
		}
		bound, out, err := own.Op.Bind(in)
		if err != nil { // products of minifloats may be too wide for a kernel
			return g
		}
		own.Op = bound
		coded.Nodes = append(coded.Nodes, &own)
		for k, s := range n.Out {
			coded.Streams[s].Type = out[k]
		}
	}
	if coded.Verify() != nil {
		return g
	}
	return &coded
}

// decoded reports whether all readers of a node's outputs can take minifloats. The host cannot.
func (g *Graph) decoded(n *Node) bool {
	for _, s := range n.Out {
		reader := g.reader(s)
		if reader == nil {
			return false
		}
		d, ok := reader.Op.(MinifloatLayer)
		if !ok || d.Moves() && !g.decoded(reader) {
			return false
		}
	}
	return true
}

// reader returns the node that reads a stream, or nil if the host does.
func (g *Graph) reader(stream int) *Node {
	for _, n := range g.Nodes {
		for _, s := range n.In {
			if s == stream {
				return n
			}
		}
	}
	return nil
}

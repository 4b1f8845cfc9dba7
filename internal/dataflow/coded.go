package dataflow

// A Coder is a bound layer whose outputs may be minifloats.
type Coder interface {
	// Coded is the layer, not bound, with such outputs; ok is false where they are not worth it.
	Coded() (coded Op, ok bool)
}

// A Decoder is a layer that takes minifloats as they are: it multiplies their significands, or moves them.
type Decoder interface {
	// Moves reports whether its outputs are its inputs, so that what reads them has to take them, too.
	Moves() bool
}

// A Mover is a Decoder that moves minifloats.
type Mover struct{}

// Moves is true.
func (Mover) Moves() bool { return true }

// Coded is the graph with minifloats on streams that only layers read which take them. It computes the same.
func (g *Graph) Coded() *Graph {
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
		in := make([]Type, len(n.In))
		for k, s := range n.In {
			in[k] = coded.Streams[s].Type
			changes = changes || !in[k].Equal(g.Streams[s].Type)
		}
		if !changes { // it is bound to these
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

// decoded reports whether all that reads a node's outputs takes minifloats. The host does not.
func (g *Graph) decoded(n *Node) bool {
	for _, s := range n.Out {
		reader := g.reader(s)
		if reader == nil {
			return false
		}
		d, ok := reader.Op.(Decoder)
		if !ok || d.Moves() && !g.decoded(reader) {
			return false
		}
	}
	return true
}

// reader is the node that reads a stream; nil where the host does.
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

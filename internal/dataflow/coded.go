package dataflow

// MinifloatUse says what a layer does with inputs that are minifloats.
type MinifloatUse uint8

// The uses of minifloats.
const (
	MinifloatsRefused    MinifloatUse = iota
	MinifloatsMultiplied              // their significands are multiplied
	MinifloatsPassedOn                // the outputs are the inputs, so that their readers have to take minifloats, too
)

// WithMinifloatStreams returns a graph that computes the same, with minifloats on streams whose readers take them. It
// returns g itself if such a graph is not possible.
func (g *Graph) WithMinifloatStreams() *Graph {
	coded := *g
	coded.Nodes, coded.Streams = nil, make([]*Stream, len(g.Streams))
	for i, s := range g.Streams {
		own := *s
		coded.Streams[i] = &own
	}
	for _, n := range g.Nodes {
		own, changes := *n, false
		if code := n.Op.Describe().Coded; code != nil && g.decoded(n) {
			if op, ok := code(); ok {
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
		use := reader.Op.Describe().Minifloats
		if use == MinifloatsRefused || use == MinifloatsPassedOn && !g.decoded(reader) {
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

package dataflow

import "slices"

// A Graph is a network of layers joined by streams. Nodes are in topological order, and Streams[i].ID == i.
type Graph struct {
	Nodes   []*Node
	Streams []*Stream
	In, Out []int // streams that the host writes and reads
}

// A Node is a bound layer in a graph.
type Node struct {
	Name    string // Kind_0, Kind_1 and so on; for a part of a layer, the layer's name and the part's: MVAU_1_fork
	Op      Op
	In, Out []int       // stream IDs
	Origin  []string    // the ONNX nodes that the layer computes
	Whole   *SplitLayer // the layer that the node is a part of; nil for a layer that is one node
}

// A Stream carries frames from one writer to one reader, each of which is a layer or the host.
type Stream struct {
	ID   int
	Name string // the ONNX tensor that it carries; empty between a layer and a width converter
	Type StreamType
}

// WriterOfStream returns the index of the node that writes stream s, and the number of its output. node is -1 for an
// input of the graph.
func (g *Graph) WriterOfStream(s int) (node, port int) {
	return g.port(s, func(n *Node) []int { return n.Out })
}

// ReaderOfStream returns the index of the node that reads stream s, and the number of its input. node is -1 for an
// output of the graph.
func (g *Graph) ReaderOfStream(s int) (node, port int) {
	return g.port(s, func(n *Node) []int { return n.In })
}

// port returns the first node with s among the streams that of returns, and its place there; node is -1 if there is
// none.
func (g *Graph) port(s int, of func(n *Node) []int) (node, port int) {
	for i, n := range g.Nodes {
		if p := slices.Index(of(n), s); p >= 0 {
			return i, p
		}
	}
	return -1, 0
}

// A GraphBuilder makes a Graph node by node, in topological order, and names nodes by kind and count.
type GraphBuilder struct {
	g     Graph
	count naming
}

// AddInput adds a stream that the host writes, with an ONNX name, and returns its number.
func (b *GraphBuilder) AddInput(name string, t StreamType) int {
	s := b.stream(name, t)
	b.g.In = append(b.g.In, s)
	return s
}

// BindAndAddLayer binds op to the input streams in, adds it, and returns its output streams; the error is that of Bind.
// names are the ONNX tensors of the outputs, and origin the ONNX nodes. The graph keeps origin, so the caller must not
// change it, but may append to it for further nodes.
func (b *GraphBuilder) BindAndAddLayer(op Op, in []int, names []string, origin []string) (out []int, err error) {
	types := make([]StreamType, len(in))
	for i, s := range in {
		types[i] = b.g.Streams[s].Type
	}
	bound, outs, err := op.Bind(types)
	if err != nil {
		return nil, err
	}
	return b.AddBoundLayer(bound, in, names, origin, outs), nil
}

// AddBoundLayer adds a layer that is already bound to the types of the input streams in, and returns its output
// streams. outs are the types of its outputs; names and origin are as for BindAndAddLayer.
func (b *GraphBuilder) AddBoundLayer(bound Op, in []int, names []string, origin []string,
	outs []StreamType) (out []int) {
	return b.place(&Node{Name: b.next(bound), Op: bound, In: slices.Clone(in), Origin: origin}, names, outs)
}

// BeginSplitLayer begins a layer that is built as several nodes with the fold f. The caller must add these directly
// after it, by AddBoundPart.
func (b *GraphBuilder) BeginSplitLayer(op Op, f Fold) *SplitLayer {
	return &SplitLayer{Name: b.next(op), Op: op, Fold: f}
}

// AddBoundPart does what AddBoundLayer does for a node of the split layer w. part names it.
func (b *GraphBuilder) AddBoundPart(w *SplitLayer, part string, bound Op, in []int, names []string, origin []string,
	outs []StreamType) (out []int) {
	return b.place(&Node{Name: w.Name + "_" + part, Op: bound, In: slices.Clone(in), Origin: origin, Whole: w}, names,
		outs)
}

// next returns the name of the next node of op's kind.
func (b *GraphBuilder) next(op Op) string {
	if b.count == nil {
		b.count = naming{}
	}
	return b.count.next(op.Kind())
}

// place adds the node n, with a new stream per type in outs, and returns these streams.
func (b *GraphBuilder) place(n *Node, names []string, outs []StreamType) (out []int) {
	for i, t := range outs {
		name := ""
		if i < len(names) {
			name = names[i]
		}
		n.Out = append(n.Out, b.stream(name, t))
	}
	b.g.Nodes = append(b.g.Nodes, n)
	return slices.Clone(n.Out)
}

// TypeOfStream returns the type of the frames on stream s.
func (b *GraphBuilder) TypeOfStream(s int) StreamType { return b.g.Streams[s].Type }

// MarkOutput marks a stream as one that the host reads.
func (b *GraphBuilder) MarkOutput(s int) { b.g.Out = append(b.g.Out, s) }

// VerifiedGraph returns the graph, or an error if it is malformed.
func (b *GraphBuilder) VerifiedGraph() (*Graph, error) {
	g := b.g
	return &g, g.Verify()
}

// stream adds a stream with an ONNX name and returns its number.
func (b *GraphBuilder) stream(name string, t StreamType) int {
	id := len(b.g.Streams)
	b.g.Streams = append(b.g.Streams, &Stream{ID: id, Name: name, Type: t})
	return id
}

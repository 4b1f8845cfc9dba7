package dataflow

// ExternalWeightFIFO is the FIFO between the memory and a layer whose weights come from there with every frame. Its
// depth suffices for a word in every clock.
var ExternalWeightFIFO = FIFO{Depth: MaxRegisterFIFOWords, Memory: MemorySRL}

// externalOf returns the layer as HasLoadableWeights; ok is false if its weights do not come from memory with every
// frame.
func externalOf(op Op) (HasLoadableWeights, bool) {
	e, ok := op.(HasLoadableWeights)
	return e, ok && e.External()
}

// ExternalWeightNodeIndices returns the indices of the nodes whose weights come from memory with every frame.
func (g *Graph) ExternalWeightNodeIndices() (nodes []int) {
	for i, n := range g.Nodes {
		if _, ok := externalOf(n.Op); ok {
			nodes = append(nodes, i)
		}
	}
	return nodes
}

// ExternalWeights describes the weights that a node reads from memory with every frame. Port is one pass over the
// table, and a frame takes Passes passes.
type ExternalWeights struct {
	Node   int
	Name   string // the node's name
	Port   Port
	Passes int
}

// BytesPerFrame returns the bytes of weights that a frame reads.
func (w ExternalWeights) BytesPerFrame() int64 { return int64(w.Port.FrameBytes()) * int64(w.Passes) }

// ExternalWeightRows returns the rows of the table, with elements in the form in which codes are stored.
func (d *Design) ExternalWeightRows(w ExternalWeights) Table {
	return d.Model.Graph.Nodes[w.Node].Op.(HasLoadableWeights).WeightTable(d.Folds[w.Node])
}

// ExternalWeights returns the weights that the design reads from memory with every frame.
func (d *Design) ExternalWeights() (list []ExternalWeights) {
	for _, i := range d.Model.Graph.ExternalWeightNodeIndices() {
		n := d.Model.Graph.Nodes[i]
		e := n.Op.(HasLoadableWeights)
		list = append(list, ExternalWeights{i, n.Name, e.WeightPort(d.Folds[i]), e.Reads()})
	}
	return list
}

// ExternalWeightBytesPerFrame returns the bytes of a layer's weights that a frame reads from memory in a fold; 0 if the
// weights do not come from memory. ok is false if a port of the target's memory cannot carry a word of them in a clock.
func (t Target) ExternalWeightBytesPerFrame(op Op, f Fold) (bytes int64, ok bool) {
	e, external := externalOf(op)
	if !external {
		return 0, true
	}
	p := e.WeightPort(f)
	return int64(p.FrameBytes()) * int64(e.Reads()), p.TDATABits() <= t.Board.MemoryPortBits()
}

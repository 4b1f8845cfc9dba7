package dataflow

// WeightsPerFrame is implemented by bound layers whose weights may come from memory with every frame
// (WeightRoom.External). Each iteration reads a word of them, which is the next row of the table, and the table
// repeats.
type WeightsPerFrame interface {
	Loadable
	Folds() Folds
	// External reports whether the weights come from memory.
	External() bool
	// Reads returns how often a frame reads the whole table.
	Reads() int
	// WeightTable returns the weights of a fold, a row per iteration.
	WeightTable(Fold) Table
	// WeightPort returns the format of the rows as words, for one pass over the table.
	WeightPort(Fold) Port
}

// WeightFIFO is the FIFO between the memory and a layer whose weights come from there with every frame. Its depth
// suffices for a word in every clock.
var WeightFIFO = FIFO{Depth: RegisterDepth, Memory: SRL}

// externalOf returns the layer as WeightsPerFrame; ok is false if its weights do not come from memory with every frame.
func externalOf(op Op) (WeightsPerFrame, bool) {
	e, ok := op.(WeightsPerFrame)
	return e, ok && e.External()
}

// Externals returns the indices of the nodes whose weights come from memory with every frame.
func (g *Graph) Externals() (nodes []int) {
	for i, n := range g.Nodes {
		if _, ok := externalOf(n.Op); ok {
			nodes = append(nodes, i)
		}
	}
	return nodes
}

// Weights describes the weights that a node reads from memory with every frame. Port is one pass over the table, and a
// frame takes Passes passes.
type Weights struct {
	Node   int
	Name   string // the node's name
	Port   Port
	Passes int
}

// Bytes returns the bytes of weights that a frame reads.
func (w Weights) Bytes() int64 { return int64(w.Port.Bytes()) * int64(w.Passes) }

// WeightWords returns the rows of the table, with elements in the form in which codes are stored.
func (d *Design) WeightWords(w Weights) Table {
	return d.Model.Graph.Nodes[w.Node].Op.(WeightsPerFrame).WeightTable(d.Folds[w.Node])
}

// Externals returns the weights that the design reads from memory with every frame.
func (d *Design) Externals() (list []Weights) {
	for _, i := range d.Model.Graph.Externals() {
		n := d.Model.Graph.Nodes[i]
		e := n.Op.(WeightsPerFrame)
		list = append(list, Weights{i, n.Name, e.WeightPort(d.Folds[i]), e.Reads()})
	}
	return list
}

// WeightBytes returns the bytes of a layer's weights that a frame reads from memory in a fold; 0 if the weights do not
// come from memory. ok is false if a port of the target's memory cannot carry a word of them in a clock.
func (t Target) WeightBytes(op Op, f Fold) (bytes int64, ok bool) {
	e, external := externalOf(op)
	if !external {
		return 0, true
	}
	p := e.WeightPort(f)
	return int64(p.Bytes()) * int64(e.Reads()), p.TDATA() <= t.Board.MemoryPortBits()
}

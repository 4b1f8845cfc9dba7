package dataflow

// External is implemented by bound layers whose weights may come from memory with every frame (Room.External): each
// iteration reads a word of them, the next row of the table, over and over again.
type External interface {
	Loadable
	Folds() Folds
	// External reports whether they do.
	External() bool
	// Reads is how often a frame goes over the whole table.
	Reads() int
	// WeightTable is the weights of a fold, a row per iteration.
	WeightTable(Fold) Table
	// WeightPort is these rows as words, those of one pass over the table.
	WeightPort(Fold) Port
}

// WeightFIFO stands between the memory and a layer whose weights come from there. It holds what a word in every clock
// takes.
var WeightFIFO = FIFO{Depth: Shallow, Memory: SRL}

// externalOf is the layer, where its weights come from memory with every frame.
func externalOf(op Op) (External, bool) {
	e, ok := op.(External)
	return e, ok && e.External()
}

// Externals lists the nodes whose weights come from memory with every frame.
func (g *Graph) Externals() (nodes []int) {
	for i, n := range g.Nodes {
		if _, ok := externalOf(n.Op); ok {
			nodes = append(nodes, i)
		}
	}
	return nodes
}

// Weights are what a node of a design reads from memory with every frame: Port is one pass over the table, of which a
// frame takes so many.
type Weights struct {
	Node   int
	Name   string // of the node
	Port   Port
	Passes int
}

// Bytes is what a frame reads.
func (w Weights) Bytes() int64 { return int64(w.Port.Bytes()) * int64(w.Passes) }

// Words is the rows of the table, elements as their codes are stored.
func (d *Design) Words(w Weights) Table {
	return d.Model.Graph.Nodes[w.Node].Op.(External).WeightTable(d.Folds[w.Node])
}

// Externals lists what is read from memory with every frame beside what frames are made of.
func (d *Design) Externals() (list []Weights) {
	for _, i := range d.Model.Graph.Externals() {
		n := d.Model.Graph.Nodes[i]
		e := n.Op.(External)
		list = append(list, Weights{i, n.Name, e.WeightPort(d.Folds[i]), e.Reads()})
	}
	return list
}

// WeightBytes is what a frame reads of a layer's weights from memory in a fold; 0 where these are its own. ok is false
// where a word of them does not come through a port of the target's memory in a clock.
func (t Target) WeightBytes(op Op, f Fold) (bytes int64, ok bool) {
	e, external := externalOf(op)
	if !external {
		return 0, true
	}
	p := e.WeightPort(f)
	return int64(p.Bytes()) * int64(e.Reads()), p.TDATA() <= t.Board.MemoryBits()
}

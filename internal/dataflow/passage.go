package dataflow

import "slices"

// InRows is implemented by bound layers of one input and one output that can compute a frame a few rows at a time,
// where a row is the elements of one index along the first axis. It is for layers that make windows: what they write is
// many times what they read.
type InRows interface {
	// EvalRows is rows from up to but not to, of what Eval gives. in gives a row of the input, which is not to be kept.
	EvalRows(in func(row int) []int64, from, to int) []int64
}

// A Passage is layers whose frames are computed together, part by part. So what passes between them is never there
// whole: windows are many times as large as the frame that they are made of.
type Passage struct {
	Nodes []int // of the graph, in order
	Parts int   // that a frame is computed in; each is as many rows of every output
	rows  int   // of a part
	ops   []Op  // by node, bound to the rows of a part where there are several parts
}

// partSize is how many elements of a stream a part has at most, where a row has no more.
const partSize = 1 << 16

// Passages divides the layers of a design, such that every layer comes behind those that it reads, or in one passage
// with them.
func (d *Design) Passages() []*Passage {
	g := d.Model.Graph
	x := &dividing{d: d, reader: make([]int, len(g.Streams)), rows: make([]int, len(g.Nodes)),
		done: make([]bool, len(g.Nodes)), there: make([]bool, len(g.Streams))}
	for s := range x.reader {
		x.reader[s] = -1
	}
	for _, s := range g.In {
		x.there[s] = true
	}
	for i, n := range g.Nodes {
		x.rows[i] = d.rowsOf(i)
		for _, s := range n.In {
			x.reader[s] = i
		}
	}
	var list []*Passage
	for i := range g.Nodes {
		if x.done[i] {
			continue
		}
		p := x.passage(i)
		for _, n := range p.Nodes {
			x.done[n] = true
			for _, s := range g.Nodes[n].Out {
				x.there[s] = true
			}
		}
		list = append(list, p)
	}
	return list
}

// dividing is how far the layers of a design have been divided.
type dividing struct {
	d      *Design
	reader []int  // by stream; -1 where it is the host
	rows   []int  // by node
	done   []bool // by node
	there  []bool // by stream: what gives it is in a passage
}

// passage is the one that begins with a node.
func (x *dividing) passage(first int) *Passage {
	g := x.d.Model.Graph
	whole := &Passage{Nodes: []int{first}, Parts: 1, ops: []Op{g.Nodes[first].Op}}
	if x.rows[first] < 2 {
		return whole
	}
	p := &Passage{}
	within := map[int]bool{}
	most := 0                                  // elements of a stream
	for next := []int{first}; len(next) > 0; { // in order
		i := next[0]
		next = next[1:]
		p.Nodes = append(p.Nodes, i)
		for _, s := range g.Nodes[i].Out {
			within[s] = true
			most = max(most, g.Streams[s].Type.Shape.Size())
		}
		for _, s := range g.Nodes[i].Out {
			r := x.reader[s]
			if r < 0 || !x.joins(r, x.rows[first], within) {
				continue
			}
			if at, found := slices.BinarySearch(next, r); !found {
				next = slices.Insert(next, at, r)
			}
		}
	}
	p.rows = divisor(x.rows[first], max(1, partSize/(most/x.rows[first])))
	if p.Parts = x.rows[first] / p.rows; p.Parts == 1 || !p.bind(g) {
		return whole
	}
	return p
}

// joins reports whether a node may be in a passage of so many rows with what gives some streams.
func (x *dividing) joins(node, rows int, within map[int]bool) bool {
	n := x.d.Model.Graph.Nodes[node]
	_, windows := n.Op.(InRows)
	return !windows && x.rows[node] == rows &&
		!slices.ContainsFunc(n.In, func(s int) bool { return !within[s] && !x.there[s] })
}

// divisor is the largest divisor of n up to a limit.
func divisor(n, limit int) int {
	for d := min(n, limit); ; d-- {
		if n%d == 0 {
			return d
		}
	}
}

// rowsOf is how many rows the frames of a node have that it computes apart from each other; 0 where it does not.
func (d *Design) rowsOf(node int) int {
	n := d.Model.Graph.Nodes[node]
	if _, keeps := begin(n.Op); keeps || len(n.Out) == 0 {
		return 0
	}
	in, out := n.Op.Ports(d.Folds[node])
	count := d.rowsOn(n.Out[0], out[0])
	if _, windows := n.Op.(InRows); windows {
		return count
	}
	parts := DependenceOf(n.Op)
	if parts.Form != Apart || count == 0 || parts.Out%count != 0 {
		return 0
	}
	for k, s := range n.In {
		if d.rowsOn(s, in[k]) != count || parts.In[k]%count != 0 {
			return 0
		}
	}
	for k, s := range n.Out {
		if d.rowsOn(s, out[k]) != count {
			return 0
		}
	}
	return count
}

// rowsOn is how many rows a stream carries that travel one behind the other; 0 where they do not.
func (d *Design) rowsOn(s int, p Port) int {
	shape := d.Model.Graph.Streams[s].Type.Shape
	if len(shape) < 2 || p.Tile > 0 && len(shape) < 3 {
		return 0
	}
	return shape[0]
}

// bind binds the layers to the rows of a part. It leaves those out, with what reads them, that cannot be; it is false
// where that is the first one.
func (p *Passage) bind(g *Graph) bool {
	out := map[int]bool{} // streams of layers that are left out
	var nodes []int
	for _, i := range p.Nodes {
		n := g.Nodes[i]
		op, ok := n.Op, !slices.ContainsFunc(n.In, func(s int) bool { return out[s] })
		if _, windows := op.(InRows); ok && !windows {
			op, ok = p.bound(g, n)
		}
		if !ok {
			for _, s := range n.Out {
				out[s] = true
			}
			continue
		}
		nodes, p.ops = append(nodes, i), append(p.ops, op)
	}
	first := p.Nodes[0]
	p.Nodes = nodes
	return len(nodes) > 0 && nodes[0] == first
}

// bound is a node's layer for the rows of a part; ok is false where there is none whose outputs are of the same types.
func (p *Passage) bound(g *Graph, n *Node) (op Op, ok bool) {
	types := make([]Type, len(n.In))
	for k, s := range n.In {
		types[k] = p.part(g.Streams[s].Type)
	}
	op, outs, err := n.Op.Bind(types)
	if err != nil {
		return nil, false
	}
	for k, s := range n.Out {
		ok = outs[k].Equal(p.part(g.Streams[s].Type))
		if !ok {
			return nil, false
		}
	}
	return op, true
}

// part is the type of the rows of a part.
func (p *Passage) part(t Type) Type {
	t.Shape = slices.Clone(t.Shape)
	t.Shape[0] = p.rows
	return t
}

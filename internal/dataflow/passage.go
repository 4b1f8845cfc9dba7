package dataflow

import "slices"

// A LayerGroup is a group of layers whose frames are computed together, part by part. So the frames between them never
// exist as a whole. Windows, for example, are many times as large as the frame that they are made of.
type LayerGroup struct {
	Nodes []int // nodes of the graph, in order
	Parts int   // the number of parts of a frame; each has as many rows of every output
	rows  int   // the rows of a part
	ops   []Op  // per node; bound to the rows of a part if there are several parts
}

// partSize is the most elements that a part of a stream has, unless a single row has more.
const partSize = 1 << 16

// LayerGroups divides the layers of a design into groups whose frames are computed together. Every layer comes after
// the layers that it reads, or in one group with them.
func (d *Design) LayerGroups() []*LayerGroup {
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
	var list []*LayerGroup
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

// A dividing is the state of LayerGroups while it divides the layers of a design into groups.
type dividing struct {
	d      *Design
	reader []int  // per stream; -1 for the host
	rows   []int  // per node
	done   []bool // per node
	there  []bool // per stream: whether its writer is in a group already
}

// passage returns the group that begins with the node numbered first.
func (x *dividing) passage(first int) *LayerGroup {
	g := x.d.Model.Graph
	whole := &LayerGroup{Nodes: []int{first}, Parts: 1, ops: []Op{g.Nodes[first].Op}}
	if x.rows[first] < 2 {
		return whole
	}
	p := &LayerGroup{}
	within := map[int]bool{}
	most := 0                                  // the most elements of any stream
	for next := []int{first}; len(next) > 0; { // in the order of the graph
		i := next[0]
		next = next[1:]
		p.Nodes = append(p.Nodes, i)
		for _, s := range g.Nodes[i].Out {
			within[s] = true
			most = max(most, g.Streams[s].Type.Shape.ElementCount())
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

// joins reports whether a node can be in a group whose frames have the given rows. within are the streams that its
// layers write.
func (x *dividing) joins(node, rows int, within map[int]bool) bool {
	n := x.d.Model.Graph.Nodes[node]
	return n.Op.Describe().EvalRows == nil && x.rows[node] == rows &&
		!slices.ContainsFunc(n.In, func(s int) bool { return !within[s] && !x.there[s] })
}

// divisor returns the largest divisor of n that is at most limit.
func divisor(n, limit int) int {
	for d := min(n, limit); ; d-- {
		if n%d == 0 {
			return d
		}
	}
}

// rowsOf returns the number of rows that a node computes independently of each other, or 0 if it does not.
func (d *Design) rowsOf(node int) int {
	n := d.Model.Graph.Nodes[node]
	if _, keeps := begin(n.Op); keeps || len(n.Out) == 0 {
		return 0
	}
	in, out := n.Op.Ports(d.Folds[node])
	count := d.rowsOn(n.Out[0], out[0])
	if n.Op.Describe().EvalRows != nil {
		return count
	}
	parts := DependenceOf(n.Op)
	if parts.Form != DependenceFormSeparate || count == 0 || parts.Out%count != 0 {
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

// rowsOn returns the number of rows of a stream that travel one after the other, or 0 if they do not.
func (d *Design) rowsOn(s int, p Port) int {
	shape := d.Model.Graph.Streams[s].Type.Shape
	if len(shape) < 2 || p.Tile > 0 && len(shape) < 3 {
		return 0
	}
	return shape[0]
}

// bind binds the group's layers to the rows of a part. It drops layers that cannot be bound so, with their readers. It
// returns false if the first layer is dropped.
func (p *LayerGroup) bind(g *Graph) bool {
	out := map[int]bool{} // streams of dropped layers
	var nodes []int
	for _, i := range p.Nodes {
		n := g.Nodes[i]
		op, ok := n.Op, !slices.ContainsFunc(n.In, func(s int) bool { return out[s] })
		if ok && op.Describe().EvalRows == nil {
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

// bound returns a node's layer for the rows of a part; ok is false if its outputs would have other types.
func (p *LayerGroup) bound(g *Graph, n *Node) (op Op, ok bool) {
	types := make([]StreamType, len(n.In))
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

// part returns the type of the rows of a part of a frame of type t.
func (p *LayerGroup) part(t StreamType) StreamType {
	t.Shape = slices.Clone(t.Shape)
	t.Shape[0] = p.rows
	return t
}

package dataflow

// A PartwiseRun computes a design's frames one after the other, group by group of layers, with the results of their
// Evals. It holds only those parts of a frame that some layer has still to read. Only FreeGroupInputs frees what a
// group has read.
type PartwiseRun struct {
	Passages []*LayerGroup
	g        *Graph
	run      *GraphRun
	inside   []bool    // per stream: whether both ends are in one group
	held     []holding // per stream
	reach    []reach   // per stream
}

// NewPartwiseRun returns a run of the design before its first frame.
func (d *Design) NewPartwiseRun() *PartwiseRun {
	g := d.Model.Graph
	p := &PartwiseRun{Passages: d.LayerGroups(), g: g, run: g.BeginRun(), inside: make([]bool, len(g.Streams)),
		held: make([]holding, len(g.Streams)), reach: make([]reach, len(g.Streams))}
	for _, passage := range p.Passages {
		written := map[int]bool{}
		for _, i := range passage.Nodes {
			for _, s := range g.Nodes[i].In {
				p.inside[s] = written[s]
			}
			for _, s := range g.Nodes[i].Out {
				written[s] = true
			}
		}
	}
	return p
}

// BeginFrame begins the frame with the given inputs. It returns an error if they do not suit the graph.
func (p *PartwiseRun) BeginFrame(in []Tensor) error {
	if err := p.g.CheckInputs(in); err != nil {
		return err
	}
	for k, s := range p.g.In {
		p.held[s] = &wide{in[k].Data}
	}
	return nil
}

// ComputePart computes a part of the frame with a group of layers. It returns the part's rows, by layer and output.
func (p *PartwiseRun) ComputePart(passage *LayerGroup, part int) (out [][]Tensor) {
	passing := map[int]Tensor{}
	for k, i := range passage.Nodes {
		n := p.g.Nodes[i]
		var rows []Tensor
		if rowsOf := n.Op.Describe().EvalRows; rowsOf != nil && passage.Parts > 1 {
			from := part * passage.rows
			shape := passage.part(p.g.Streams[n.Out[0]].Type).Shape
			rows = []Tensor{{shape, rowsOf(p.row(n.In[0]), from, from+passage.rows)}}
			p.reach[n.In[0]].age()
		} else {
			args := make([]Tensor, len(n.In))
			for port, s := range n.In {
				if t, ok := passing[s]; ok {
					args[port] = t
				} else {
					args[port] = p.take(passage, s, part)
				}
			}
			eval := passage.ops[k].Eval
			if p.run.keeps[i] != nil {
				eval = p.run.keeps[i]
			}
			rows = eval(args)
		}
		for port, s := range n.Out {
			passing[s] = rows[port]
			if !p.inside[s] {
				p.hold(s, rows[port], passage.Parts == 1)
			}
		}
		out = append(out, rows)
	}
	return out
}

// IsStreamInsideGroup reports whether stream s lies inside a group of layers, so that its frames never exist as a
// whole.
func (p *PartwiseRun) IsStreamInsideGroup(s int) bool { return p.inside[s] }

// take returns a part, for a group of layers, of the held frame of stream s.
func (p *PartwiseRun) take(passage *LayerGroup, s, part int) Tensor {
	if passage.Parts == 1 {
		return p.heldFrame(s)
	}
	t := Tensor{Shape: passage.part(p.g.Streams[s].Type).Shape}
	t.Data = make([]int64, t.Shape.ElementCount())
	p.held[s].get(t.Data, part*len(t.Data))
	return t
}

// heldFrame returns the frame of stream s, which must be held.
func (p *PartwiseRun) heldFrame(s int) Tensor {
	shape := p.g.Streams[s].Type.Shape
	if w, ok := p.held[s].(*wide); ok {
		return Tensor{shape, w.v}
	}
	t := Tensor{shape, make([]int64, shape.ElementCount())}
	p.held[s].get(t.Data, 0)
	return t
}

// CopyHeldElements fills to with elements of the held frame of stream s, from element from on. The stream must be held.
func (p *PartwiseRun) CopyHeldElements(s int, to []int64, from int) { p.held[s].get(to, from) }

// hold appends rows to the held rows of the frame of stream s. all says that they are the whole frame.
func (p *PartwiseRun) hold(s int, rows Tensor, all bool) {
	t := p.g.Streams[s].Type
	size := t.Shape.ElementCount()
	switch {
	case all && size <= partSize:
		p.held[s] = &wide{rows.Data}
		return
	case p.held[s] == nil:
		p.held[s] = newHolding(t, size)
	}
	p.held[s].put(rows.Data)
}

// FreeGroupInputs frees the frames that a group of layers has read.
func (p *PartwiseRun) FreeGroupInputs(passage *LayerGroup) {
	for _, i := range passage.Nodes {
		for _, s := range p.g.Nodes[i].In {
			p.held[s], p.reach[s] = nil, reach{}
		}
	}
}

// OutputFrames returns the frame's outputs once all groups are computed, and no longer holds them: call it once per
// frame.
func (p *PartwiseRun) OutputFrames() (out []Tensor) {
	for _, s := range p.g.Out {
		out = append(out, p.heldFrame(s))
		p.held[s] = nil
	}
	return out
}

// row returns a function that reads rows of the held frame of stream s.
func (p *PartwiseRun) row(s int) func(row int) []int64 {
	shape := p.g.Streams[s].Type.Shape
	size := shape[1:].ElementCount()
	if w, ok := p.held[s].(*wide); ok {
		return func(row int) []int64 { return w.v[row*size:][:size] }
	}
	r := &p.reach[s]
	if r.known == nil {
		*r = reach{map[int][]int64{}, map[int]bool{}}
	}
	return func(row int) []int64 {
		if r.known[row] == nil {
			r.known[row] = make([]int64, size)
			p.held[s].get(r.known[row], row*size)
		}
		r.asked[row] = true
		return r.known[row]
	}
}

// A reach caches the rows of a frame that windows use in the present part and the one before.
type reach struct {
	known map[int][]int64
	asked map[int]bool // the rows used in the present part
}

// age begins the next part: it drops the rows that windows did not use in the last one.
func (r *reach) age() {
	for row := range r.known {
		if !r.asked[row] {
			delete(r.known, row)
		}
	}
	clear(r.asked)
}

// A holding stores the elements of a frame, in as few bytes as their type allows.
type holding interface {
	put(v []int64)
	get(to []int64, from int)
}

// newHolding returns an empty holding with room for n elements of type t.
func newHolding(t StreamType, n int) holding {
	switch r := t.Elem.Range(); {
	case r.Lo >= 0 && r.Hi < 1<<8:
		return &narrow[uint8]{make([]uint8, 0, n)}
	case r.Lo >= -1<<7 && r.Hi < 1<<7:
		return &narrow[int8]{make([]int8, 0, n)}
	case r.Lo >= -1<<15 && r.Hi < 1<<15:
		return &narrow[int16]{make([]int16, 0, n)}
	case r.Lo >= -1<<31 && r.Hi < 1<<31:
		return &narrow[int32]{make([]int32, 0, n)}
	}
	return &wide{make([]int64, 0, n)}
}

// A wide is a holding of elements of any type.
type wide struct{ v []int64 }

func (w *wide) put(v []int64)            { w.v = append(w.v, v...) }
func (w *wide) get(to []int64, from int) { copy(to, w.v[from:]) }

// A narrow is a holding of elements that fit into T.
type narrow[T uint8 | int8 | int16 | int32] struct{ v []T }

func (n *narrow[T]) put(v []int64) {
	for _, x := range v {
		n.v = append(n.v, T(x))
	}
}

func (n *narrow[T]) get(to []int64, from int) {
	for i, x := range n.v[from:][:len(to)] {
		to[i] = int64(x)
	}
}

// Package fast is a compiled engine: it computes the frames of a graph, bit for bit what every layer's Eval does, as
// fast as the machine's integer units allow.
//
// In comes a dataflow.Graph; out come frames, batch by batch. Layers say what they compute as data
// (dataflow.Computation), and there is a program for each form of that, chosen by the ranges that are proved of its
// streams: bytes where a stream's values are at most 256 that follow each other, int32 or int64 else. A layer that says
// nothing runs its Eval. It sees dataflow and num.
//
//	fast.go       Compile: a graph becomes stages over buffers
//	view.go       streams whose elements lie in another one's buffer
//	products.go   products with constant weights
//	forms.go      how rows are multiplied, by what kernels there are for the numbers
//	finish.go     what becomes of their sums
//	lines.go      step functions as whole parts of lines
//	fuse.go       functions of sums, which are computed where these are
//	elements.go   functions of single elements, and pools
//	frames.go     what goes in and comes out, and Eval for layers that say nothing
//	host.go       real numbers in and out, where a model's ends are tables (dataflow.Host)
//	kernels.go    inner loops in Go; kernels_amd64.s, which is made by asm, and kernels_arm64.s have the same, and
//	              kernels_amd64.go, kernels_arm64.go and kernels_other.go list what sets of them there are;
//	              kernels_asm.go has what sets share
package fast

import (
	"errors"
	"math"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// width is the bytes of an element in a buffer.
type width int

const (
	narrow width = 1 // value - lo, in a byte
	medium width = 4 // the value, in an int32
	wide   width = 8 // the value, in an int64
)

// A stream is where a stream's frames lie: in a buffer of its own, or as elements of that of another.
type stream struct {
	size  int       // elements of a frame
	reach num.Range // values that are kept in the buffer
	width width
	view  *view // not nil: there is no buffer
	copy  *view // not nil: what the buffer is a copy of
	slot  int   // of the buffers that a worker has, whose streams do not live at the same time
}

// lo is what a byte of 0 stands for.
func (s *stream) lo() int64 { return s.reach.Lo }

// A stage computes buffers of others, for so many frames.
type stage struct {
	reads, writes []int // streams with buffers
	run           func(w *Worker, frames int)
}

// A plan is what only compiling needs.
type plan struct {
	with    map[*dataflow.Node]*dataflow.Node // functions that are computed where their sums are, by what makes these
	borders map[int]int                       // by stream that is a view: the copy with a border that it is one of
	lists   [][]int32                         // that layers share
}

// A Program is a graph as stages. It is immutable; each goroutine has a Worker of its own.
type Program struct {
	g       *dataflow.Graph
	streams []stream
	stages  []stage
	slots   []int // bytes of a frame, by slot
	scratch int   // bytes that a stage needs beside
	codes   int   // bytes of a frame, where pairs of products are looked up
	kernels *kernels
	*plan
	Batch int   // frames that a worker takes at a time
	MACs  int64 // products with weights of a frame
}

// batchBytes is what the buffers of a batch may take together: they are to stay in the cache of a core.
const batchBytes = 1 << 18

// Compile makes a program of a graph. The error says why there is none: a layer keeps a state from frame to frame.
func Compile(g *dataflow.Graph) (*Program, error) { return compile(g, machines()[0]) }

// CompileForAll makes a program for each kind of processor that this one is, the best first, the last for any.
func CompileForAll(g *dataflow.Graph) (list []*Program, err error) {
	for _, k := range machines() {
		p, err := compile(g, k)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// Machine is the kind of processor that the program is for.
func (p *Program) Machine() string { return p.kernels.name }

func compile(g *dataflow.Graph, k *kernels) (*Program, error) {
	if g.Keeps() {
		return nil, errors.New("frames depend on each other")
	}
	p := &Program{g: g, kernels: k, streams: make([]stream, len(g.Streams)),
		plan: &plan{with: map[*dataflow.Node]*dataflow.Node{}, borders: map[int]int{}}}
	for i, s := range g.Streams {
		p.streams[i] = stream{size: s.Type.Shape.Size(), reach: s.Type.Union()}
	}
	for _, n := range g.Nodes {
		if gather, ok := dataflow.ComputationOf(n.Op).(dataflow.Gather); ok && len(n.In) == 1 {
			p.see(n, gather)
		}
	}
	p.agree()
	for i := range p.streams {
		s := &p.streams[i]
		switch {
		case s.reach.Count() <= 256:
			s.width = narrow
		case s.reach.Lo >= math.MinInt32 && s.reach.Hi <= math.MaxInt32:
			s.width = medium
		default:
			s.width = wide
		}
	}
	for _, n := range g.Nodes {
		p.stage(n)
	}
	for _, s := range g.Out {
		p.keep(s)
	}
	p.place()
	for i := range p.streams {
		p.streams[i].view, p.streams[i].copy = nil, nil
	}
	p.plan = nil
	return p, nil
}

// stage adds what computes a node; nothing where its outputs are views.
func (p *Program) stage(n *dataflow.Node) {
	if p.fused(n) {
		return
	}
	done := false
	switch c := dataflow.ComputationOf(n.Op).(type) {
	case dataflow.Gather:
		if done = true; len(n.In) > 1 {
			p.gather(n, c)
		}
		for _, s := range n.Out {
			if frame := p.borders[s]; frame > 0 {
				p.copies(frame, p.streams[frame].copy)
			}
			if v := p.streams[s].copy; v != nil {
				p.copies(s, v)
			}
		}
	case dataflow.Products:
		p.MACs += int64(c.Vectors) * int64(len(c.Weights)) * int64(len(c.Weights[0]))
		done = p.products(n.In[0], n.Out[0], c)
	case dataflow.Elements:
		done = p.elements(n, c)
	case dataflow.Pools:
		if s := adding(c, &p.streams[p.viewOf(n.In[0]).root], &p.streams[n.Out[0]]); s.Weights != nil {
			done = p.products(n.In[0], n.Out[0], s)
		}
		done = done || p.pools(n, c)
	}
	if !done {
		p.evaluate(n)
	}
}

// agree has copies count their bytes from where what they are copies of does.
func (p *Program) agree() {
	unite := func(i int) {
		if v := p.streams[i].copy; v != nil {
			r := p.streams[i].reach.Union(p.streams[v.root].reach)
			p.streams[i].reach, p.streams[v.root].reach = r, r
		}
	}
	for i := range p.streams {
		unite(len(p.streams) - 1 - i)
	}
	for i := range p.streams {
		unite(i)
	}
}

// place gives every buffer a slot, which it shares with those that do not live when it does.
func (p *Program) place() {
	type life struct{ from, to int } // stages
	lives := make([]life, len(p.streams))
	for i := range lives {
		lives[i] = life{len(p.stages), -1}
	}
	for i, st := range p.stages {
		for _, s := range append(st.reads, st.writes...) {
			lives[s] = life{min(lives[s].from, i), i}
		}
	}
	for _, s := range p.g.In {
		lives[s].from = -1
	}
	for _, s := range p.g.Out {
		lives[s].to = len(p.stages)
	}
	var until []int // by slot
	order := slices.Concat(p.g.In)
	for _, st := range p.stages {
		order = append(order, st.writes...)
	}
	for _, id := range order {
		s := &p.streams[id]
		bytes, best := s.size*int(s.width), -1
		for k, to := range until {
			if to < lives[id].from && (best < 0 || abs(p.slots[k]-bytes) < abs(p.slots[best]-bytes)) {
				best = k
			}
		}
		if best < 0 {
			best = len(until)
			until, p.slots = append(until, 0), append(p.slots, 0)
		}
		s.slot, until[best], p.slots[best] = best, lives[id].to, max(p.slots[best], bytes)
	}
	p.Batch = min(max(1, batchBytes/max(1, p.Bytes())), 64)
	if p.Batch > rows {
		p.Batch -= p.Batch % rows
	}
}

// Bytes is what the buffers of a frame take.
func (p *Program) Bytes() int {
	n := 0
	for _, bytes := range p.slots {
		n += bytes
	}
	return n
}

func abs(n int) int { return max(n, -n) }

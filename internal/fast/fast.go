// Package fast is a compiled engine. It computes the frames of a graph, with exactly the results of every layer's
// Eval, as fast as the machine's integer units allow.
//
// In comes a dataflow.Graph; out come frames, batch by batch. Layers describe their function as data
// (dataflow.Computation). The package has a program for each form of description, and chooses it by the proved ranges
// of the streams. It stores a stream in bytes if its values lie within 256 successive numbers, and otherwise in int32
// or int64. A layer without a description runs its Eval.
//
//	fast.go       CompileGraph: turns a graph into stages over buffers
//	view.go       streams whose elements lie in the buffer of another stream
//	products.go   products with constant weights
//	forms.go      the ways to multiply rows, by the kernels that exist for the numbers
//	finish.go     functions of the sums of products
//	lines.go      step functions as rounded lines
//	fuse.go       functions of sums that are computed together with the sums
//	elements.go   functions of single elements, and pools
//	frames.go     input and output of frames, and Eval for layers without a description
//	host.go       real numbers in and out, for a model whose ends are tables (dataflow.HostDescription)
//	kernels.go    inner loops in Go; kernels_amd64.s, which asm generates, and kernels_arm64.s contain the same loops;
//	              kernels_amd64.go, kernels_arm64.go and kernels_other.go list the available sets of kernels;
//	              kernels_asm.go has the code that sets share
package fast

import (
	"errors"
	"math"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A width is the size of a stored element in bytes.
type width int

// The widths: the number of bytes, and what they hold.
const (
	narrow width = 1 // value - lo, in a byte
	medium width = 4 // the value, in an int32
	wide   width = 8 // the value, in an int64
)

// A stream says where the frames of a graph's stream lie: in a buffer of its own, or as elements of another buffer.
type stream struct {
	size  int       // elements of a frame
	reach num.Range // range of values stored in the buffer
	width width
	view  *view // not nil: the stream has no buffer and is this view
	copy  *view // not nil: the buffer is a copy of this view
	slot  int   // number of the buffer in a worker; streams with the same slot are never alive at the same time
}

// lo returns the value that a byte of 0 stands for.
func (s *stream) lo() int64 { return s.reach.Lo }

// A stage is a step of an Executable: it computes the contents of buffers from other buffers, for the given number of
// frames.
type stage struct {
	reads, writes []int // streams with buffers
	run           func(w *Worker, frames int)
}

// A plan holds data that only compiling needs.
type plan struct {
	with    map[*dataflow.Node]*dataflow.Node // functions computed with their sums, by the node of the sums
	borders map[int]int                       // by stream that is a view: the bordered copy to which it belongs
	lists   [][]int32                         // shared by layers
}

// An Executable is a graph compiled into stages. After NewHostTables and NewIntegerHostTables it no longer changes.
// Each goroutine needs a Worker of its own.
type Executable struct {
	g       *dataflow.Graph
	streams []stream
	stages  []stage
	slots   []int // bytes per frame, by slot
	scratch int   // bytes that a stage needs in addition
	codes   int   // bytes per frame for codes of pairs, where products are looked up
	kernels *kernels
	*plan
	Batch int   // frames that a worker processes at a time
	MACs  int64 // products with weights per frame
}

// batchBytes is the most bytes that the buffers of a batch should take, so that they stay in the cache of a core.
const batchBytes = 1 << 18

// CompileGraph returns a graph as an Executable for the fastest kernels of this machine. It returns an error if a layer
// keeps a state from frame to frame, which this engine does not support.
func CompileGraph(g *dataflow.Graph) (*Executable, error) { return compile(g, machines()[0]) }

// CompileForProcessorKinds returns an Executable like that of CompileGraph for each kind of processor that this machine
// supports. The fastest comes first, and the last runs on any processor.
func CompileForProcessorKinds(g *dataflow.Graph) (list []*Executable, err error) {
	for _, k := range machines() {
		p, err := compile(g, k)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// ProcessorKind returns the name of the kind of processor for which the graph was compiled, such as "AVX2".
func (p *Executable) ProcessorKind() string { return p.kernels.name }

// compile does what CompileGraph does, for the kernels k.
func compile(g *dataflow.Graph, k *kernels) (*Executable, error) {
	if g.KeepsStateBetweenFrames() {
		return nil, errors.New("frames depend on each other")
	}
	p := &Executable{g: g, kernels: k, streams: make([]stream, len(g.Streams)),
		plan: &plan{with: map[*dataflow.Node]*dataflow.Node{}, borders: map[int]int{}}}
	for i, s := range g.Streams {
		p.streams[i] = stream{size: s.Type.Shape.ElementCount(), reach: s.Type.UnionOfRanges()}
	}
	for _, n := range g.Nodes {
		if gather, ok := dataflow.ComputationOf(n.Op).(dataflow.GatherComputation); ok && len(n.In) == 1 {
			p.see(n, gather)
		}
	}
	p.agree()
	for i := range p.streams {
		s := &p.streams[i]
		switch {
		case s.reach.ValueCount() <= 256:
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

// stage adds a stage that computes the node n. It adds none if the node's outputs are only views of its inputs.
func (p *Executable) stage(n *dataflow.Node) {
	if p.fused(n) {
		return
	}
	done := false
	switch c := dataflow.ComputationOf(n.Op).(type) {
	case dataflow.GatherComputation:
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
	case dataflow.ProductsComputation:
		p.MACs += int64(c.Vectors) * int64(len(c.Weights)) * int64(len(c.Weights[0]))
		done = p.products(n.In[0], n.Out[0], c)
	case dataflow.ElementwiseComputation:
		done = p.elements(n, c)
	case dataflow.PoolingComputation:
		if s := adding(c, &p.streams[p.viewOf(n.In[0]).root], &p.streams[n.Out[0]]); s.Weights != nil {
			done = p.products(n.In[0], n.Out[0], s)
		}
		done = done || p.pools(n, c)
	}
	if !done {
		p.evaluate(n)
	}
}

// agree gives each stream that is a copy the same value for a byte of 0 as its original.
func (p *Executable) agree() {
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

// place gives every buffer a slot. Buffers that are never alive at the same time may share a slot.
func (p *Executable) place() {
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
	p.Batch = min(max(1, batchBytes/max(1, p.BufferBytesPerFrame())), 64)
	if p.Batch > rows {
		p.Batch -= p.Batch % rows
	}
}

// BufferBytesPerFrame returns the size of a frame's buffers in bytes.
func (p *Executable) BufferBytesPerFrame() int {
	n := 0
	for _, bytes := range p.slots {
		n += bytes
	}
	return n
}

func abs(n int) int { return max(n, -n) }

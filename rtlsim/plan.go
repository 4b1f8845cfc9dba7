package rtlsim

import (
	"fmt"
	"math/bits"
	"slices"

	"hlsgen/internal/dataflow"
)

// A plan holds what the simulation needs of a design and the folds fix: everything except the depths of FIFOs.
type plan struct {
	design         *dataflow.Design
	frozen         bool            // a blocked write stops every stage of a pipeline; else layers wait by credit
	loops          []dataflow.Loop // per node
	ports          []dataflow.Port // per stream
	delay          []int           // per stream: clocks from a place being taken to the word's arrival; 0 at the host
	writer, reader []int           // per stream: numbers of nodes, -1 for the host
	every          []int           // per stream of the host: clocks that a word takes through its port; otherwise 0
	in, out        int             // clocks of the design's ends (dataflow.Target.Ends)
}

func newPlan(d *dataflow.Design) *plan {
	g := d.Model.Graph
	n := len(g.Streams)
	p := &plan{design: d, frozen: d.Target.Backend.Stalls == dataflow.StallFreezesPipeline,
		ports: make([]dataflow.Port, n), delay: make([]int, n), writer: make([]int, n), reader: make([]int, n),
		every: make([]int, n)}
	p.in, p.out = d.Target.IOLatencyClocks()
	for s := range n {
		p.writer[s], p.reader[s] = -1, -1
	}
	for i, node := range g.Nodes {
		p.loops = append(p.loops, d.LoopOfNode(i))
		in, out := node.Op.Ports(d.Folds[i])
		for port, s := range node.In {
			p.reader[s], p.ports[s] = i, in[port]
		}
		for port, s := range node.Out {
			p.writer[s], p.ports[s], p.delay[s] = i, out[port], p.loops[i].Latency
			if p.freezes(i) {
				p.delay[s] = 1
			}
		}
	}
	for s, port := range p.ports {
		if !p.inner(s) {
			p.every[s] = d.Target.HostClocksPerWord(port)
		}
	}
	return p
}

// freezes reports whether a blocked write freezes the pipeline of a node. A pipeline with a single stage starts and
// writes in the same clock. Both rules of waiting do the same then, so it returns false.
func (p *plan) freezes(node int) bool {
	return p.frozen && p.loops[node].Latency > 1
}

// inner reports whether both ends of a stream are layers.
func (p *plan) inner(s int) bool { return p.writer[s] >= 0 && p.reader[s] >= 0 }

// window returns the set of layers at most radius layers away from layer l, by node.
func (p *plan) window(l, radius int) []bool {
	members := make([]bool, len(p.loops))
	members[l] = true
	for range radius {
		before := slices.Clone(members)
		for s := range p.ports {
			if p.inner(s) && (before[p.writer[s]] || before[p.reader[s]]) {
				members[p.writer[s]], members[p.reader[s]] = true, true
			}
		}
	}
	return members
}

// within reports whether both ends of stream s are layers in the set members.
func (p *plan) within(members []bool, s int) bool {
	return p.inner(s) && members[p.writer[s]] && members[p.reader[s]]
}

// streamsOf returns the streams between the layers in members, or all streams if members is nil. Their order numbers
// them among these.
func (p *plan) streamsOf(members []bool) (list []int) {
	for s := range p.ports {
		if members == nil || p.within(members, s) {
			list = append(list, s)
		}
	}
	return list
}

// words returns the words per frame on all streams between the layers in members, or of the whole design if members is
// nil.
func (p *plan) words(members []bool) (words int) {
	for _, s := range p.streamsOf(members) {
		words += p.ports[s].Words
	}
	return words
}

// fastest returns the interval in clocks that the design has with unbounded FIFOs, for these paces of the host.
func fastest(p *plan, in, out HostSlowdown) int {
	most := 0
	for _, l := range p.loops {
		most = max(most, l.IterationsPerFrame())
	}
	for s, port := range p.ports {
		if p.writer[s] < 0 {
			most = max(most, port.Words*max(in.Every, p.every[s]))
		}
		if p.reader[s] < 0 {
			most = max(most, port.Words*max(out.Every, p.every[s]))
		}
	}
	return most
}

// nodesOf returns the layers in members, or all layers if members is nil. Their order numbers them among these.
func (p *plan) nodesOf(members []bool) (list []int) {
	for i := range p.loops {
		if members == nil || members[i] {
			list = append(list, i)
		}
	}
	return list
}

// membersOf returns the set that consists of the given layers, by node.
func membersOf(p *plan, nodes []int) []bool {
	members := make([]bool, len(p.loops))
	for _, i := range nodes {
		members[i] = true
	}
	return members
}

// key appends to b a text with everything that determines the clocks of the layers in members, or of all if that is
// nil. This includes the rule of stalls, the ends, the loops, and the streams with their depths, but not the host's
// pace.
func (p *plan) key(b []byte, members []bool, depth []int) []byte {
	b = fmt.Append(b, " ", p.design.Target.Backend.Stalls)
	if members == nil {
		b = fmt.Append(b, " ", p.in, " ", p.out)
	}
	number := make([]int, len(p.loops))
	n := 0
	for i, l := range p.loops {
		if members == nil || members[i] {
			number[i] = n
			n++
			b = append(append(b, '\n'), l.TextKey()...)
		}
	}
	nodes := p.design.Model.Graph.Nodes
	for _, s := range p.streamsOf(members) {
		b = append(b, '\n')
		if w := p.writer[s]; w >= 0 {
			b = fmt.Append(b, number[w], ".", slices.Index(nodes[w].Out, s))
		}
		if r := p.reader[s]; r >= 0 {
			b = fmt.Append(b, " ", number[r], ".", slices.Index(nodes[r].In, s))
		}
		b = fmt.Append(b, " ", depth[s], " ", p.every[s])
	}
	return b
}

func (p *plan) name(node int) string { return p.design.Model.Graph.Nodes[node].Name }

// whole returns an engine for the whole design at rest before clock 0, with FIFOs of the given depths. If sequences
// have different lengths, each holds the plan of every frame.
func (p *plan) whole(depth []int, each []*plan, opt Options) *engine {
	g := p.design.Model.Graph
	e := &engine{plan: p, each: each, frames: opt.Frames, end: never}
	if opt.MaxCycles > 0 {
		e.end = opt.MaxCycles
	}
	e.trace = newTrace(p.design, e.frames)
	e.search.over = opt.In.Stall > 0 || opt.Out.Stall > 0 || opt.MaxCycles > 0 || e.mixed()
	e.stretch.over = e.search.over || len(g.Nodes) == 0
	e.drift.over = e.stretch.over
	e.streams = newStreams(numbers(len(g.Streams)), p, depth)
	for i := range g.Nodes {
		e.worker(i, e.streams).resize(e, p)
	}
	for i, id := range g.In {
		e.sources = append(e.sources, &source{stream: e.streams[id], gate: opt.In.gate(i, p.every[id])})
	}
	for i, id := range g.Out {
		e.sinks = append(e.sinks, &sink{stream: e.streams[id], gate: opt.Out.gate(len(g.In)+i, p.every[id]),
			frames: e.trace.Frames, at: -1})
	}
	e.enlist()
	return e
}

// part returns an engine for the layers in members and the streams between them. All other streams never delay
// anything. A layer that reads none of the simulated streams begins a frame no sooner than the given clocks after its
// frame before.
func (p *plan) part(members []bool, depth []int, clocks, frames int) *engine {
	e := &engine{plan: p, frames: frames, end: never, every: true}
	e.trace = newTrace(p.design, frames)
	e.streams = newStreams(p.streamsOf(members), p, depth)
	streams := make([]*stream, len(p.ports))
	for _, s := range e.streams {
		streams[s.id] = s
	}
	for i := range members {
		if members[i] {
			if l := e.worker(i, streams); l.joined.Read == 0 {
				l.pace = clocks
			}
		}
	}
	e.enlist()
	const worth = 1 << 17 // words of a frame; in a shorter frame, repetitions take longer to find than to run
	e.stretch.over = p.words(members) < worth
	return e
}

// worker adds to the engine the worker that simulates node i, and returns it.
func (e *engine) worker(i int, streams []*stream) *worker {
	n := e.design.Model.Graph.Nodes[i]
	l := &worker{node: i, name: n.Name, walk: e.loops[i].NewWalker(), at: -1,
		count: &e.trace.Nodes[i]}
	if e.freezes(i) {
		l.pipe = newPipeline(e.loops[i].Latency, len(n.Out))
	}
	for _, s := range n.In {
		l.in = append(l.in, streams[s])
	}
	for _, s := range n.Out {
		l.out = append(l.out, streams[s])
	}
	joined := func(s int) bool { return streams[s] != nil }
	l.joined = dataflow.PortMoves{Read: mask(n.In, joined), Write: mask(n.Out, joined)}
	if l.line, l.single = l.lined(); l.pipe != nil {
		l.pipe.port = bits.TrailingZeros64(l.joined.Write)
	}
	e.workers = append(e.workers, l)
	return l
}

package space

import (
	"context"
	"slices"

	"hlsgen/internal/dataflow"
)

// The latency of a design is the maximum over its paths. A path begins at a word from the host or at the start of a
// layer. It goes through words that layers wait for, and ends at the last word of an output. Its length is the sum of
// the clocks that the layers and width converters on it take; FIFOs only add to the sum. A path names elements and not
// words, so it exists in every folding.
//
// So the search treats a path as one more kind of amount. The smallest maximum of several paths bounds every latency
// from below. The search for the shortest latency finds the folding with this minimum, simulates it, and adds the path
// that the simulated design waits for. It repeats this until bound and design meet (cutting planes).

// A PathClocksByClass says, for one path through the network, how many clocks each class of each layer takes on it.
type PathClocksByClass struct {
	ID      string    // equal for paths through the same elements
	Clocks  [][]int64 // per layer and class
	element []int     // per stream: the element that the path goes through, -1 where it does not
}

// A CriticalPathWord is a word on a path: a stream of a design, and the number of the word on it.
type CriticalPathWord struct{ stream, word int }

// FindCriticalPath returns the words that the last word of the first frame waits for, the last one first. It also
// returns the clocks until that word leaves the design. It assumes FIFOs that never fill up. The last CriticalPathWord
// is a word from the host, or a word whose layer waits for no other word.
func FindCriticalPath(ctx context.Context, d *dataflow.Design) (hops []CriticalPathWord, clocks int, err error) {
	g := d.Model.Graph
	arrives, cause := make([][]int, len(g.Streams)), make([][]CriticalPathWord, len(g.Streams))
	none := CriticalPathWord{-1, -1}
	for _, s := range g.In {
		p := d.PortOfStream(s)
		for k := range p.Words {
			arrives[s], cause[s] = append(arrives[s], k*d.Target.HostClocksPerWord(p)), append(cause[s], none)
		}
	}
	for i, n := range g.Nodes {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		loop := d.LoopOfNode(i)
		walk := loop.NewWalker()
		read := make([]int, len(n.In))
		at, why := -1, none
		for range loop.IterationsPerFrame() {
			at++
			m := walk.NextMoves()
			for p, s := range n.In {
				if m.Read>>p&1 != 0 {
					if t := arrives[s][read[p]]; t > at {
						at, why = t, CriticalPathWord{s, read[p]}
					}
					read[p]++
				}
			}
			for p, s := range n.Out {
				if m.Write>>p&1 != 0 {
					arrives[s], cause[s] = append(arrives[s], at+loop.Latency), append(cause[s], why)
				}
			}
			walk.AdvanceIteration()
		}
	}
	var last CriticalPathWord
	beside := ends(d.Target)
	for _, s := range g.Out {
		at, why := -1, none
		every := d.Target.HostClocksPerWord(d.PortOfStream(s))
		for k, t := range arrives[s] {
			if at += every; k == 0 || t > at {
				at, why = t, CriticalPathWord{s, k}
			}
		}
		if at+1+beside > clocks {
			clocks, last = at+1+beside, why
		}
	}
	for h := last; h != none; h = cause[h.stream][h.word] {
		hops = append(hops, h)
	}
	return hops, clocks, nil
}

// NewPathClocks returns the path through a design's hops. known is a latency that a design already has; longer paths
// need not be exact.
func (s *FoldingSpace) NewPathClocks(b *FoldedDesign, hops []CriticalPathWord, known int) PathClocksByClass {
	p := PathClocksByClass{element: slices.Repeat([]int{-1}, len(s.Streams)), Clocks: make([][]int64, len(s.Layers))}
	for _, h := range hops { // a stream may occur twice; its reader's end comes first and counts
		side := b.sides[h.stream]
		if id := side.stream; side.inside == 0 && p.element[id] < 0 {
			p.element[id] = b.PortOfStream(h.stream).LastElementIndexOfWord(s.Streams[id].typ.Shape, h.word)
		}
	}
	at := make([]form, len(p.element))
	for id, e := range p.element {
		at[id].per = e
	}
	p.ID = key(at)
	for i := range s.Layers {
		l := &s.Layers[i]
		p.Clocks[i] = make([]int64, len(l.Classes))
		for c := range l.Classes {
			if l.Classes[c].Clocks > 0 {
				p.Clocks[i][c] = s.clocksOn(&p, l, &l.Classes[c], known)
			}
		}
	}
	return p
}

// ends returns the clocks that a design's two ends for the target, at the host's input and output, add to every path.
func ends(t dataflow.Target) int {
	in, out := t.IOLatencyClocks()
	return in + out
}

// clocksOn returns the clocks that a class of layer l adds to the path. They count from the word of the path that the
// layer reads to the arrival of the word of the path that it writes. Where the path begins in the layer, the clocks
// count from its first iteration. Where the layer stands at an end of the network, the host's clocks are added.
//
// A class may write its word before it reads its word. Then the path behind the layer still bounds the latency, but not
// in sum with the path in front of it. For this class clocksOn returns -known. If the path in front takes at most known
// clocks, the sum does not exceed the clocks behind, so the bound stays valid. If it takes more, the design is slower
// than known anyway.
func (s *FoldingSpace) clocksOn(p *PathClocksByClass, l *LayerFoldOptions, c *FoldOptionClass, known int) int64 {
	in, out, on := -1, -1, false
	var from, to int
	clocks := int64(0)
	at := func(id int, f form) (word, every, last int) {
		port := s.Streams[id].port(f)
		return port.WordIndexOfElement(s.Streams[id].typ.Shape, p.element[id]), s.Target.HostClocksPerWord(port),
			port.Words - 1
	}
	forms := l.shapes[c.shape]
	for k, id := range l.Node.In {
		if p.element[id] >= 0 {
			word, _, _ := at(id, forms.in[k])
			if in, from, on = k, c.Loop.IterationOfRead(k, word), true; s.Streams[id].writer.layer < 0 {
				word, every, _ := at(id, s.border(id, forms.in[k]))
				clocks += int64(word * every)
			}
		}
	}
	for k, id := range l.Node.Out {
		if p.element[id] >= 0 {
			word, _, _ := at(id, forms.out[k])
			if out, to, on = k, c.Loop.IterationOfWrite(k, word), true; s.Streams[id].reader.layer < 0 {
				word, every, last := at(id, s.border(id, forms.out[k]))
				clocks += int64((last-word)*every + 1 + ends(s.Target))
			}
		}
	}
	switch {
	case !on || out < 0:
		return clocks // a layer that writes no word of the path is not on it, because a path ends at an output
	case in >= 0 && to < from:
		return int64(-known)
	}
	return clocks + int64(to-from+c.Loop.Latency)
}

// converter returns the clocks that the path takes through the width converter from form in to form out.
func (p *PathClocksByClass) converter(s *FoldingSpace, id int, in, out form) int64 {
	e := p.element[id]
	if e < 0 || in == out {
		return 0
	}
	k := s.convert(id, in, out)
	shape := s.Streams[id].typ.Shape
	from := k.loop.IterationOfRead(0, s.Streams[id].port(in).WordIndexOfElement(shape, e))
	to := k.loop.IterationOfWrite(0, s.Streams[id].port(out).WordIndexOfElement(shape, e))
	return int64(max(0, to-from) + k.loop.Latency)
}

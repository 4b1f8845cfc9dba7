package space

import (
	"context"
	"slices"

	"hlsgen/internal/dataflow"
)

// The latency of a design is a maximum over paths: from a word of the host, or the start of a layer, through words that
// layers wait for and clocks that they work, to the last word at an output. For any fold of the layers on it, a path
// that is named by elements, not by words, takes a sum of clocks, one summand per layer and one per width converter;
// FIFOs only add to it. So a path is one more kind of amount, and the least that a folding takes of the most demanding
// of several paths is a bound of every latency. The search for the shortest latency finds the folding with this least,
// simulates it, and adds the path that it really waits for, until bound and design meet (cutting planes).

// A Path is what foldings take of one path, in clocks.
type Path struct {
	Key     string    // of paths through the same elements
	Clocks  [][]int64 // per layer and class
	element []int     // per stream: the element that the path goes through, -1 where it does not
}

// A Hop is a word on a path, by the stream of a design.
type Hop struct{ stream, word int }

// Critical is the words that the last word of the first frame waits for, the last first, where FIFOs never do, and the
// clocks that it takes. The last Hop may be a word of the host; else the layer that writes it waits for none.
func Critical(ctx context.Context, d *dataflow.Design) (hops []Hop, clocks int, err error) {
	g := d.Model.Graph
	arrives, cause := make([][]int, len(g.Streams)), make([][]Hop, len(g.Streams))
	none := Hop{-1, -1}
	for _, s := range g.In {
		p := d.Port(s)
		for k := range p.Words {
			arrives[s], cause[s] = append(arrives[s], k*d.Target.HostEvery(p)), append(cause[s], none)
		}
	}
	for i, n := range g.Nodes {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		loop := d.Loop(i)
		walk := loop.Walk()
		read := make([]int, len(n.In))
		at, why := -1, none
		for range loop.Iterations() {
			at++
			m := walk.Moves()
			for p, s := range n.In {
				if m.Read>>p&1 != 0 {
					if t := arrives[s][read[p]]; t > at {
						at, why = t, Hop{s, read[p]}
					}
					read[p]++
				}
			}
			for p, s := range n.Out {
				if m.Write>>p&1 != 0 {
					arrives[s], cause[s] = append(arrives[s], at+loop.Latency), append(cause[s], why)
				}
			}
			walk.Advance()
		}
	}
	var last Hop
	beside := ends(d.Target)
	for _, s := range g.Out {
		at, why := -1, none
		every := d.Target.HostEvery(d.Port(s))
		for k, t := range arrives[s] {
			if at += every; k == 0 || t > at {
				at, why = t, Hop{s, k}
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

// Path is the path of a design's hops. known is a latency that is had already: longer ones are of no interest.
func (s *Space) Path(b *Built, hops []Hop, known int) Path {
	p := Path{element: slices.Repeat([]int{-1}, len(s.Streams)), Clocks: make([][]int64, len(s.Layers))}
	for _, h := range hops { // the reader's end counts: it comes first
		side := b.sides[h.stream]
		if id := side.stream; side.inside == 0 && p.element[id] < 0 {
			p.element[id] = b.Port(h.stream).Last(s.Streams[id].typ.Shape, h.word)
		}
	}
	at := make([]form, len(p.element))
	for id, e := range p.element {
		at[id].per = e
	}
	p.Key = key(at)
	for i := range s.Layers {
		l := &s.Layers[i]
		for c := range l.Classes {
			p.Clocks[i] = append(p.Clocks[i], s.clocksOn(&p, l, &l.Classes[c], known))
		}
	}
	return p
}

// ends is the clocks that every path takes beside, at the design's ends.
func ends(t dataflow.Target) int {
	in, out := t.Ends()
	return in + out
}

// clocksOn is the clocks that a class takes of a path, from the word that it reads of it to the arrival of the one that
// it writes; from its first iteration on where the path begins there; and at the ends those of the host.
//
// A class may write its word before it reads the one in front of it. Then what lies behind it on the path still bounds
// the latency, but not together with what lies in front. Where that takes no more than the known latency, taking this
// away leaves no more than what lies behind; where it takes more, so does the whole.
func (s *Space) clocksOn(p *Path, l *LayerOptions, c *Class, known int) int64 {
	in, out, on := -1, -1, false
	var from, to int
	clocks := int64(0)
	at := func(id int, f form) (word, every, last int) {
		port := s.Streams[id].port(f)
		return port.Word(s.Streams[id].typ.Shape, p.element[id]), s.Target.HostEvery(port), port.Words - 1
	}
	forms := l.shapes[c.shape]
	for k, id := range l.Node.In {
		if p.element[id] >= 0 {
			word, _, _ := at(id, forms.in[k])
			if in, from, on = k, c.Loop.ReadAt(k, word), true; s.Streams[id].writer.layer < 0 {
				word, every, _ := at(id, s.border(id, forms.in[k]))
				clocks += int64(word * every)
			}
		}
	}
	for k, id := range l.Node.Out {
		if p.element[id] >= 0 {
			word, _, _ := at(id, forms.out[k])
			if out, to, on = k, c.Loop.WriteAt(k, word), true; s.Streams[id].reader.layer < 0 {
				word, every, last := at(id, s.border(id, forms.out[k]))
				clocks += int64((last-word)*every + 1 + ends(s.Target))
			}
		}
	}
	switch {
	case !on || out < 0:
		return clocks // a path ends at an output: what does not write a word of it is not on it
	case in >= 0 && to < from:
		return int64(-known)
	}
	return clocks + int64(to-from+c.Loop.Latency)
}

// converter is the clocks that a path takes through the width converter between two forms.
func (p *Path) converter(s *Space, id int, in, out form) int64 {
	e := p.element[id]
	if e < 0 || in == out {
		return 0
	}
	k := s.convert(id, in, out)
	shape := s.Streams[id].typ.Shape
	from := k.loop.ReadAt(0, s.Streams[id].port(in).Word(shape, e))
	to := k.loop.WriteAt(0, s.Streams[id].port(out).Word(shape, e))
	return int64(max(0, to-from) + k.loop.Latency)
}

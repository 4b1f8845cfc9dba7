package space

import (
	"fmt"
	"slices"

	"hlsgen/folding/search"
	"hlsgen/internal/dataflow"
	"hlsgen/rtlsim"
)

// A Folding is one option per layer, and how its FIFOs are built.
type Folding struct {
	Options []int32
	Cost    search.Vector
	fifos   map[Side]dataflow.FIFO
	words   map[Side]int // that FIFOs hold at least; they may be built for more
}

// Measures is what a folding measures.
func (f *Folding) Measures(m search.Measure) float64 { return m.Value(&search.Solution{Cost: f.Cost}) }

// AsGood is what may be taken within caps to measure as little as a folding, or less for less = 1.
func (f *Folding) AsGood(m search.Measure, caps search.Caps, less int64) search.Caps {
	return m.AsGood(&search.Solution{Cost: f.Cost}, caps, less)
}

// Region is the whole space with FIFOs as deep as the folding has them.
func (f *Folding) Region(limit int) Region { return Region{Limit: limit, words: f.words} }

// Sized is how many FIFOs of a folding hold more than so many words, of those whose depth is not given.
func (s *Space) Sized(f *Folding, words int) (n int) {
	for side, fifo := range f.fifos {
		if _, given := s.given(side, true); fifo.Depth > words && !given {
			n++
		}
	}
	return n
}

// Classes is the class of every layer.
func (s *Space) Classes(options []int32) []int32 {
	list := make([]int32, len(options))
	for i, o := range options {
		list[i] = int32(s.Layers[i].Options[o].Class)
	}
	return list
}

// Folding is what a solution of a region's tree means.
func (s *Space) Folding(r *Region, f *search.Solution) *Folding {
	g := &Folding{Cost: f.Cost, words: r.words, fifos: map[Side]dataflow.FIFO{}}
	for i := range s.Layers {
		l, o := &s.Layers[i], f.Picks[i].ID&(1<<insideShift-1)
		in := insides[f.Picks[i].ID>>insideShift]
		g.Options = append(g.Options, o)
		if p := l.Options[o].split; p != nil {
			for k := range p.inner {
				id := l.Node.Out[0]
				g.fifos[Side{stream: id, inside: 1 + k}] = menu{s, r}.between(id, k, &p.inner[k], in).FIFO
			}
		}
	}
	for id := range s.Streams {
		pick := f.Picks[len(s.Layers)+id].ID
		s.eachFIFO(id, g.Options, func(side Side, f form, only bool) {
			at := pick & (1<<wayBits - 1)
			if side.front {
				at = pick >> wayBits
			}
			list := menu{s, r}.ways(side, f, only)
			g.fifos[side] = list[min(int(at), len(list)-1)].FIFO // any, of a stream of which the plan drops an end
		})
	}
	return g
}

// eachFIFO gives the FIFOs of a stream between layers of some options, and the forms of their words.
func (s *Space) eachFIFO(id int, options []int32, visit func(side Side, f form, only bool)) {
	in, out := s.ends(id, options)
	visit(Side{stream: id}, in, in == out)
	if in != out {
		visit(Side{stream: id, front: true}, out, false)
	}
}

// ends is the forms at the two ends of a stream.
func (s *Space) ends(id int, options []int32) (in, out form) {
	st := &s.Streams[id]
	if w := st.writer; w.layer >= 0 {
		in = s.Layers[w.layer].shape(int(options[w.layer])).out[w.port]
	}
	if r := st.reader; r.layer >= 0 {
		out = s.Layers[r.layer].shape(int(options[r.layer])).in[r.port]
	}
	switch {
	case st.writer.layer < 0:
		in = s.border(id, out)
	case st.reader.layer < 0:
		out = s.border(id, in)
	}
	return in, out
}

// Built is a design of a folding, with where its nodes and streams are from.
type Built struct {
	*dataflow.Design
	layer []int  // per node: the layer; -1 of a width converter
	conv  []int  // per node: the stream that a width converter is on
	sides []Side // per stream
}

// Build puts width converters where the words of neighbours differ, or a layer's are wider than the host's port. It is
// nil where none joins them.
func (s *Space) Build(f *Folding) *Built {
	g := s.Model.Graph
	var b dataflow.Builder
	made := &Built{}
	var folds []dataflow.Fold
	stream := make([]int, len(g.Streams)) // in the new graph, where the reader finds it
	note := func(id int, side Side) {
		for len(made.sides) <= id {
			made.sides = append(made.sides, Side{})
		}
		made.sides[id] = side
	}
	for _, in := range g.In {
		stream[in] = b.Input(g.Streams[in].Name, g.Streams[in].Type)
		note(stream[in], Side{stream: in})
	}
	// join puts what a stream needs between its ends; it reports whether something does.
	join := func(id int, names []string) bool {
		in, out := s.ends(id, f.Options)
		if in == out {
			return true
		}
		k := s.convert(id, in, out)
		if !k.ok {
			return false
		}
		joined, err := b.Add(converter(in, out), []int{stream[id]}, names, nil)
		if err != nil {
			panic(fmt.Sprintf("folding: a width converter does not bind again: %v", err))
		}
		stream[id] = joined[0]
		note(stream[id], Side{stream: id, front: true})
		folds, made.layer, made.conv = append(folds, k.fold), append(made.layer, -1), append(made.conv, id)
		return true
	}
	for i := range s.Layers {
		l := &s.Layers[i]
		o := l.Options[f.Options[i]]
		var ins []int
		for _, id := range l.Node.In {
			if !join(id, nil) {
				return nil
			}
			ins = append(ins, stream[id])
		}
		var tensors []string
		var types []dataflow.Type
		for _, id := range l.Node.Out {
			tensors, types = append(tensors, g.Streams[id].Name), append(types, g.Streams[id].Type)
		}
		nodes, outs := []piece{{fold: l.single(o.Fold)}}, []int(nil)
		if o.split != nil {
			var inner []int
			inner, outs = o.split.place(&b, l, o.Fold, ins[0], tensors)
			nodes = o.split.nodes
			for k, id := range inner {
				note(id, Side{stream: l.Node.Out[0], inside: 1 + k})
			}
		} else {
			outs = b.Place(l.Node.Op, ins, tensors, l.Node.Origin, types)
		}
		for p, id := range outs {
			stream[l.Node.Out[p]] = id
			note(id, Side{stream: l.Node.Out[p]})
		}
		for _, n := range nodes {
			folds, made.layer, made.conv = append(folds, n.fold), append(made.layer, i), append(made.conv, -1)
		}
	}
	for _, out := range g.Out {
		if !join(out, []string{g.Streams[out].Name}) {
			return nil
		}
		b.Output(stream[out])
	}
	graph, err := b.Graph()
	if err != nil {
		panic(fmt.Sprintf("folding: the folded graph is malformed: %v", err))
	}
	folded := *s.Model
	folded.Graph = graph
	made.Design = &dataflow.Design{Model: &folded, Target: s.Target, Folds: folds, FIFO: make([]dataflow.FIFO,
		len(graph.Streams))}
	for id, side := range made.sides {
		made.FIFO[id] = f.fifos[side]
	}
	return made
}

// Given is the words that the user gives a design's FIFOs, by stream of the design; 0 where he gives none.
func (s *Space) Given(b *Built) []int {
	fixed := make([]int, len(b.sides))
	for id, side := range b.sides {
		if words, exact := s.given(side, !slices.Contains(b.conv, side.stream)); exact {
			fixed[id] = words
		}
	}
	return fixed
}

// Layers is the layers among a design's nodes, and the streams that the width converters among them are on.
func (b *Built) Layers(nodes []int) (layers, streams []int) {
	for _, n := range nodes {
		if l := b.layer[n]; l >= 0 {
			layers = append(layers, l)
		} else {
			streams = append(streams, b.conv[n])
		}
	}
	return layers, streams
}

// Deeper is the FIFOs of some of a design's streams, a step deeper.
func (b *Built) Deeper(streams []int) map[Side]int {
	sides := map[Side]int{}
	for _, id := range streams {
		sides[b.sides[id]] = rtlsim.Deeper(b.Design, id)
	}
	return sides
}

package space

import (
	"fmt"
	"slices"

	"hlsgen/folding/search"
	"hlsgen/internal/dataflow"
	"hlsgen/rtlsim"
)

// A Folding chooses one option for each layer, and says how each FIFO is built.
type Folding struct {
	Options []int32
	Cost    search.AmountVector
	fifos   map[FIFOPlace]dataflow.FIFO
	words   map[FIFOPlace]int // the least depths that the region asked for; a FIFO may be built deeper
}

// MeasureOf returns what the objective m measures of the folding's cost: an amount, or a share for a load.
func (f *Folding) MeasureOf(m search.Objective) float64 {
	return m.MeasureOfSolution(&search.Solution{Cost: f.Cost})
}

// CapsToMatch returns caps reduced so that only foldings that measure at most as much as f by m are within them. With
// less = 1 they must measure less.
func (f *Folding) CapsToMatch(m search.Objective, caps search.Caps, less int64) search.Caps {
	return m.CapsToMatchSolution(&search.Solution{Cost: f.Cost}, caps, less)
}

// RegionWithSameMinFIFODepths returns the whole space within the limit in clocks, with FIFOs at least as deep as the
// folding's region asks for.
func (f *Folding) RegionWithSameMinFIFODepths(limit int) FoldingRegion {
	return FoldingRegion{Limit: limit, words: f.words}
}

// CountFIFOsDeeperThan returns how many FIFOs of the folding hold more than the given number of words. It does not
// count FIFOs whose depth the user gives.
func (s *FoldingSpace) CountFIFOsDeeperThan(f *Folding, words int) (n int) {
	for side, fifo := range f.fifos {
		if _, given := s.given(side, true); fifo.Depth > words && !given {
			n++
		}
	}
	return n
}

// OptionClassesOf returns the class of each layer for the given options.
func (s *FoldingSpace) OptionClassesOf(options []int32) []int32 {
	list := make([]int32, len(options))
	for i, o := range options {
		list[i] = int32(s.Layers[i].Options[o].Class)
	}
	return list
}

// FoldingOfSolution converts a solution of the region's tree into a folding.
func (s *FoldingSpace) FoldingOfSolution(r *FoldingRegion, f *search.Solution) *Folding {
	g := &Folding{Cost: f.Cost, words: r.words, fifos: map[FIFOPlace]dataflow.FIFO{}}
	for i := range s.Layers {
		l, o := &s.Layers[i], f.Picks[i].ID&(1<<insideShift-1)
		in := insides[f.Picks[i].ID>>insideShift]
		g.Options = append(g.Options, o)
		if p := l.Options[o].split; p != nil {
			for k := range p.inner {
				id := l.Node.Out[0]
				g.fifos[FIFOPlace{stream: id, inside: 1 + k}] = menu{s, r}.between(id, k, &p.inner[k], in).FIFO
			}
		}
	}
	for id := range s.Streams {
		pick := f.Picks[len(s.Layers)+id].ID
		s.eachFIFO(id, g.Options, func(side FIFOPlace, f form, only bool) {
			at := pick & (1<<wayBits - 1)
			if side.front {
				at = pick >> wayBits
			}
			list := menu{s, r}.ways(side, f, only)
			// If the plan drops an end of the stream, the index may have been made for another form. Then any FIFO is
			// valid.
			g.fifos[side] = list[min(int(at), len(list)-1)].FIFO
		})
	}
	return g
}

// eachFIFO calls visit for each FIFO of a stream between layers with the given options. visit gets the form of the
// FIFO's words; only is true if the stream has no second FIFO.
func (s *FoldingSpace) eachFIFO(id int, options []int32, visit func(side FIFOPlace, f form, only bool)) {
	in, out := s.ends(id, options)
	visit(FIFOPlace{stream: id}, in, in == out)
	if in != out {
		visit(FIFOPlace{stream: id, front: true}, out, false)
	}
}

// ends returns the forms that the writer and the reader of a stream have at its ends, with the given options.
func (s *FoldingSpace) ends(id int, options []int32) (in, out form) {
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

// A FoldedDesign is the design of a folding. It records from which layer and stream of the model each node and stream
// comes.
type FoldedDesign struct {
	*dataflow.Design
	layer []int       // per node: the layer; -1 for a width converter
	conv  []int       // per node: the stream of a width converter; -1 for other nodes
	sides []FIFOPlace // per stream
}

// BuildDesign makes the design of a folding. It inserts width converters where the words of neighbours differ, and
// where a layer's words are wider than the host's port. It returns nil if no width converter can join two neighbours.
func (s *FoldingSpace) BuildDesign(f *Folding) *FoldedDesign {
	g := s.Model.Graph
	var b dataflow.GraphBuilder
	made := &FoldedDesign{}
	var folds []dataflow.Fold
	stream := make([]int, len(g.Streams)) // per stream of the model: its number in the new graph, at the reader's end
	note := func(id int, side FIFOPlace) {
		for len(made.sides) <= id {
			made.sides = append(made.sides, FIFOPlace{})
		}
		made.sides[id] = side
	}
	for _, in := range g.In {
		stream[in] = b.AddInput(g.Streams[in].Name, g.Streams[in].Type)
		note(stream[in], FIFOPlace{stream: in})
	}
	// join inserts a width converter into a stream whose two ends differ. It reports whether the ends could be joined.
	join := func(id int, names []string) bool {
		in, out := s.ends(id, f.Options)
		if in == out {
			return true
		}
		k := s.convert(id, in, out)
		if !k.ok {
			return false
		}
		joined, err := b.BindAndAddLayer(converter(in, out), []int{stream[id]}, names, nil)
		if err != nil {
			panic(fmt.Sprintf("folding: a width converter does not bind again: %v", err))
		}
		stream[id] = joined[0]
		note(stream[id], FIFOPlace{stream: id, front: true})
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
		var types []dataflow.StreamType
		for _, id := range l.Node.Out {
			tensors, types = append(tensors, g.Streams[id].Name), append(types, g.Streams[id].Type)
		}
		nodes, outs := []piece{{fold: l.single(o.Fold)}}, []int(nil)
		if o.split != nil {
			var inner []int
			inner, outs = o.split.place(&b, l, o.Fold, ins[0], tensors)
			nodes = o.split.nodes
			for k, id := range inner {
				note(id, FIFOPlace{stream: l.Node.Out[0], inside: 1 + k})
			}
		} else {
			outs = b.AddBoundLayer(l.Node.Op, ins, tensors, l.Node.Origin, types)
		}
		for p, id := range outs {
			stream[l.Node.Out[p]] = id
			note(id, FIFOPlace{stream: l.Node.Out[p]})
		}
		for _, n := range nodes {
			folds, made.layer, made.conv = append(folds, n.fold), append(made.layer, i), append(made.conv, -1)
		}
	}
	for _, out := range g.Out {
		if !join(out, []string{g.Streams[out].Name}) {
			return nil
		}
		b.MarkOutput(stream[out])
	}
	graph, err := b.VerifiedGraph()
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

// GivenFIFODepths returns the depth in words that the user gives each FIFO, by stream of the design; 0 where the user
// gives none.
func (s *FoldingSpace) GivenFIFODepths(b *FoldedDesign) []int {
	fixed := make([]int, len(b.sides))
	for id, side := range b.sides {
		if words, exact := s.given(side, !slices.Contains(b.conv, side.stream)); exact {
			fixed[id] = words
		}
	}
	return fixed
}

// LayersAndStreamsOf returns the layers of the model to which the given nodes of the design belong. For nodes that are
// width converters it returns their streams.
func (b *FoldedDesign) LayersAndStreamsOf(nodes []int) (layers, streams []int) {
	for _, n := range nodes {
		if l := b.layer[n]; l >= 0 {
			layers = append(layers, l)
		} else {
			streams = append(streams, b.conv[n])
		}
	}
	return layers, streams
}

// NextFIFODepths returns the next larger depth of the FIFO on each of the given streams of the design.
func (b *FoldedDesign) NextFIFODepths(streams []int) map[FIFOPlace]int {
	sides := map[FIFOPlace]int{}
	for _, id := range streams {
		sides[b.sides[id]] = rtlsim.NextFIFODepth(b.Design, id)
	}
	return sides
}

package space

import (
	"slices"

	"hlsgen/folding/goal"
	"hlsgen/folding/search"
	"hlsgen/internal/dataflow"
)

// An OfferedFold is an option of a layer as the search knows it. Cost and Clocks are those that a design with it has in
// this layer, whatever its other layers are; FIFOs are not in it.
type OfferedFold struct {
	Fold    dataflow.Fold
	Clocks  int
	Cost    dataflow.Resources
	In, Out []int // per port, the form of its words: an index into Offers.Forms
}

// Offers lists the folds of all layers with known costs, and what joins them.
type Offers struct {
	Forms      []WordForm
	Layers     [][]OfferedFold
	Chosen     []int // per layer, the index of the fold that the given folding has
	Streams    []OfferedStream
	Converters []OfferedConverter
}

// A WordForm says how frames travel: in words of so many elements, in tiles of so many channels; 0 for row-major order.
type WordForm struct{ PerWord, Tile int }

// An OfferedStream is a stream of the model with the layers at its ends; -1 for the host. Streams of one class have the
// same converters.
type OfferedStream struct {
	Class, From, To int
	// Host has the form at the host's end for each form of the layer where the two differ, both as indices into
	// Offers.Forms. It is nil for a stream between layers.
	Host map[int]int
}

// An OfferedConverter is the width converter from form In to form Out on all streams of a class.
type OfferedConverter struct {
	Class, In, Out, Clocks int
	Cost                   dataflow.Resources
}

// OffersAround returns the offered folds with the given folding among them. It computes no costs of options that the
// search has not asked for, so that it offers only part of a space whose costs come from circuits.
func OffersAround(s *FoldingSpace, f *Folding) *Offers {
	made := &Offers{}
	index := map[form]int{}
	at := func(f form) int {
		n := number(index, f)
		if n == len(made.Forms) {
			made.Forms = append(made.Forms, WordForm{f.per, f.tile})
		}
		return n
	}
	all := func(list []form) (numbers []int) {
		for _, f := range list {
			numbers = append(numbers, at(f))
		}
		return numbers
	}
	for i := range s.Layers {
		l := &s.Layers[i]
		l.Lock()
		var list []OfferedFold
		for k := range l.Options {
			o := &l.Options[k]
			chosen := k == int(f.Options[i])
			if !o.known || o.absent || (o.left || o.over) && !chosen {
				continue
			}
			if chosen {
				made.Chosen = append(made.Chosen, len(list))
			}
			cost := o.Cost
			if o.split != nil {
				cost = cost.Minus(o.split.fifos[0])
			}
			sh := l.shape(k)
			list = append(list, OfferedFold{o.Fold, o.clocks, resourcesOf(cost), all(sh.in), all(sh.out)})
		}
		l.Unlock()
		made.Layers = append(made.Layers, list)
	}
	offerStreams(s, made, at)
	return made
}

// offerStreams adds the streams, and the converters between all forms of the offered folds.
func offerStreams(s *FoldingSpace, made *Offers, at func(form) int) {
	seen := map[conversion]bool{}
	convert := func(id int, in, out form) {
		c := conversion{s.Streams[id].class, in, out}
		if in == out || seen[c] {
			return
		}
		seen[c] = true
		if k := s.convert(id, in, out); k.ok {
			made.Converters = append(made.Converters, OfferedConverter{c.class, at(in), at(out),
				k.loop.IterationsPerFrame(), resourcesOf(k.cost)})
		}
	}
	for id := range s.Streams {
		st := &s.Streams[id]
		offered := OfferedStream{Class: st.class, From: st.writer.layer, To: st.reader.layer}
		in, out := made.formsAt(st.writer, true), made.formsAt(st.reader, false)
		if st.inner() {
			for _, a := range in {
				for _, b := range out {
					convert(id, made.form(a), made.form(b))
				}
			}
		} else {
			offered.Host = map[int]int{}
			for _, f := range slices.Concat(in, out) {
				if host := s.border(id, made.form(f)); host != made.form(f) {
					offered.Host[f] = at(host)
					a, b := st.orient(made.form(f), host)
					convert(id, a, b)
				}
			}
		}
		made.Streams = append(made.Streams, offered)
	}
}

// form returns a form by its index.
func (o *Offers) form(i int) form { return form{o.Forms[i].PerWord, o.Forms[i].Tile} }

// formsAt returns the forms that the offered folds have at an end of a stream, in the order of their first use. It
// returns none for the host.
func (o *Offers) formsAt(e end, writes bool) (list []int) {
	if e.layer < 0 {
		return nil
	}
	seen := map[int]bool{}
	for _, f := range o.Layers[e.layer] {
		ports := f.In
		if writes {
			ports = f.Out
		}
		if n := ports[e.port]; !seen[n] {
			seen[n] = true
			list = append(list, n)
		}
	}
	return list
}

// resourcesOf returns the resources of an amount vector.
func resourcesOf(v search.AmountVector) dataflow.Resources {
	return dataflow.Resources{LUT: int(v[goal.KindLUT]), LUTRAM: int(v[goal.KindLUTRAM]), FF: int(v[goal.KindFF]),
		BRAM: int(v[goal.KindBRAM]), URAM: int(v[goal.KindURAM]), DSP: int(v[goal.KindDSP])}
}

// SameOptions returns the options of s with the folds that options have in the space o of the same model. It returns
// nil if a layer has no such option.
func SameOptions(s, o *FoldingSpace, options []int32) (same []int32) {
	for i := range s.Layers {
		want := o.Layers[i].Options[options[i]].Fold
		k := slices.IndexFunc(s.Layers[i].Options, func(f FoldOption) bool { return f.Fold == want })
		if k < 0 {
			return nil
		}
		same = append(same, int32(k))
	}
	return same
}

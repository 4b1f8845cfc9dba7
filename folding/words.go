package folding

import (
	"slices"

	"hlsgen/hlslib/dwc"
	"hlsgen/internal/dataflow"
)

// A form is how a frame travels past one end of a stream: in words of per elements, in tiles of so many channels
// (dataflow.Port).
type form struct{ per, tile int }

func forms(ports []dataflow.Port) []form {
	f := make([]form, len(ports))
	for i, p := range ports {
		f[i] = form{p.PerWord, p.Tile}
	}
	return f
}

// key is a map key for a list of forms.
func key(list []form) string {
	b := make([]byte, 0, 8*len(list))
	for _, f := range list {
		for _, x := range [...]int{f.per, f.tile} {
			b = append(b, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
		}
	}
	return string(b)
}

// A stream is a stream's two ends, and the forms that occur there. The layer at an end is -1 where that is the host.
type stream struct {
	class          int // streams of one class carry frames of equal shape and elements
	writer, reader end
}

type end struct {
	layer, port int
	forms       []form
}

// inner reports whether layers stand at both ends.
func (s *stream) inner() bool { return s.writer.layer >= 0 && s.reader.layer >= 0 }

func (s *space) newStreams() {
	s.streams = make([]stream, len(s.graph.Streams))
	for i := range s.streams {
		s.streams[i] = stream{class: i, writer: end{layer: -1}, reader: end{layer: -1}}
		for j := range i {
			a, b := s.graph.Streams[i].Type, s.graph.Streams[j].Type
			if a.Elem == b.Elem && slices.Equal(a.Shape, b.Shape) {
				s.streams[i].class = s.streams[j].class
				break
			}
		}
	}
	for i, n := range s.graph.Nodes {
		for p, id := range n.In {
			s.streams[id].reader = end{layer: i, port: p}
		}
		for p, id := range n.Out {
			s.streams[id].writer = end{layer: i, port: p}
		}
	}
	for i := range s.streams {
		if s.streams[i].inner() {
			s.inner = append(s.inner, i)
		}
	}
}

// rowMajorEnds reports whether the ports at the host's streams are in row-major order, which is what the host sends and
// expects.
func (s *space) rowMajorEnds(n *dataflow.Node, sh shape) bool {
	for p, id := range n.In {
		if s.streams[id].writer.layer < 0 && sh.in[p].tile != 0 {
			return false
		}
	}
	for p, id := range n.Out {
		if s.streams[id].reader.layer < 0 && sh.out[p].tile != 0 {
			return false
		}
	}
	return true
}

// listForms lists the forms of every inner end.
func (s *space) listForms() {
	for _, id := range s.inner {
		st := &s.streams[id]
		for _, o := range s.layers[st.writer.layer].options {
			st.writer.add(s.layers[st.writer.layer].shapes[o.shape].out[st.writer.port])
		}
		for _, o := range s.layers[st.reader.layer].options {
			st.reader.add(s.layers[st.reader.layer].shapes[o.shape].in[st.reader.port])
		}
	}
}

func (e *end) add(f form) {
	if !slices.Contains(e.forms, f) {
		e.forms = append(e.forms, f)
	}
}

// A converter makes the layer that stands where neighbours' words differ.
type converter func(in, out form) dataflow.Op

func widthConverter(in, out form) dataflow.Op {
	return dwc.New(dwc.Params{In: in.per, Out: out.per, Tile: in.tile})
}

// A conversion is a width converter's place: a class of streams, and the forms on its two ends.
type conversion struct {
	class   int
	in, out form
}

// converted is the converter as it would be built; ok is false where none can be.
type converted struct {
	fold dataflow.Fold
	cost vector
	ok   bool
}

// convert gives what it takes to turn the form in on the stream into out. Equal forms need nothing; nothing turns one
// tile into another.
func (s *space) convert(id int, in, out form) converted {
	if in == out || in.tile != out.tile {
		return converted{ok: in == out}
	}
	c := conversion{s.streams[id].class, in, out}
	k, known := s.converted[c]
	if !known {
		k = s.bindConverter(c)
		s.converted[c] = k
	}
	return k
}

func (s *space) bindConverter(c conversion) converted {
	op, _, err := s.converter(c.in, c.out).Bind([]dataflow.Type{s.graph.Streams[c.class].Type})
	if err != nil {
		return converted{}
	}
	f := onlyFold(op)
	cost := vectorOf(op.Cost(f, s.target).Total())
	return converted{f, cost, available(cost, s.target.Board)}
}

// onlyFold is the fold of a layer without freedom.
func onlyFold(op dataflow.Op) dataflow.Fold {
	for f := range op.Folds() {
		return f
	}
	panic("folding: " + op.Kind() + " has no fold")
}

package folding

import (
	"slices"

	"hlsgen/folding/search"
	"hlsgen/hlslib/cost"
	"hlsgen/hlslib/dwc"
	"hlsgen/hlslib/estimate"
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

// A stream is a stream's two ends, and the forms that occur there. The layer at an end is -1 where that is the host, which
// takes any form.
type stream struct {
	typ            dataflow.Type
	class          int // streams of one class carry frames of equal shape and elements
	writer, reader end
	host           []hostForm // of a stream of the host: per form of the layer at its other end
	out, in        int        // words that a folding file gives the FIFO behind the writer, and in front of the reader; 0 where it does not
}

type end struct {
	layer, port int
	forms       []form
}

// A hostForm is what a form means at the host's end of a stream.
type hostForm struct {
	clocks int // that a frame takes through the host's port
	bytes  int64
}

// inner reports whether layers stand at both ends.
func (s *stream) inner() bool { return s.writer.layer >= 0 && s.reader.layer >= 0 }

// least is the fewest clocks per frame at the host's end; 0 where there is none.
func (s *stream) least() int {
	if len(s.host) == 0 {
		return 0
	}
	return slices.MinFunc(s.host, func(a, b hostForm) int { return a.clocks - b.clocks }).clocks
}

// mostBytes is the most that a frame of the stream moves to or from the processor's memory.
func (s *stream) mostBytes() (bytes int64) {
	for _, f := range s.host {
		bytes = max(bytes, f.bytes)
	}
	return bytes
}

// port is a stream's port of a form.
func (s *stream) port(f form) dataflow.Port {
	return dataflow.Port{Elem: s.typ.Elem, PerWord: f.per, Words: s.typ.Shape.Size() / f.per, Tile: f.tile}
}

func (s *space) newStreams() {
	s.streams = make([]stream, len(s.graph.Streams))
	for i := range s.streams {
		s.streams[i] = stream{typ: s.graph.Streams[i].Type, class: i, writer: end{layer: -1}, reader: end{layer: -1}}
		for j := range i {
			a, b := s.streams[i].typ, s.streams[j].typ
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

// listForms lists the forms of every end, and what they mean to the host.
func (s *space) listForms() {
	for i := range s.streams {
		st := &s.streams[i]
		st.writer.forms, st.reader.forms, st.host = nil, nil, nil
		for _, e := range []*end{&st.writer, &st.reader} {
			if e.layer < 0 {
				continue
			}
			l := &s.layers[e.layer]
			for o := range l.options {
				f := l.shape(o).port(e == &st.writer, e.port)
				if !slices.Contains(e.forms, f) {
					e.forms = append(e.forms, f)
				}
			}
			if !st.inner() {
				for _, f := range e.forms {
					p := st.port(f)
					st.host = append(st.host, hostForm{p.Words * s.target.HostEvery(p), s.bytes(p)})
				}
			}
		}
	}
}

// bytes is what a frame moves to or from the processor's memory; 0 where the design is not fed from there.
func (s *space) bytes(p dataflow.Port) int64 {
	if s.target.PortBits() == 0 {
		return 0
	}
	return int64(p.Bytes())
}

// port is the form of an output or an input.
func (sh *shape) port(out bool, i int) form {
	if out {
		return sh.out[i]
	}
	return sh.in[i]
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
	op   dataflow.Op // nil where none is needed
	fold dataflow.Fold
	loop dataflow.Loop
	cost search.Vector
	ok   bool
}

// convert gives what it takes to turn the form in on the stream into out. Equal forms need nothing; nothing turns one
// tile into another.
func (s *space) convert(id int, in, out form) converted {
	if in == out || in.tile != out.tile {
		return converted{ok: in == out}
	}
	c := conversion{s.streams[id].class, in, out}
	s.mu.Lock()
	defer s.mu.Unlock()
	k, known := s.converted[c]
	if !known {
		k = s.bindConverter(c)
		s.converted[c] = k
	}
	return k
}

func (s *space) bindConverter(c conversion) converted {
	op, _, err := s.converter(c.in, c.out).Bind([]dataflow.Type{s.streams[c.class].typ})
	if err != nil {
		return converted{}
	}
	f := onlyFold(op)
	r := op.Cost(f, s.target).Total()
	return converted{op, f, op.Loop(f, s.target), s.board.vector(r), available(r, s.target.Board)}
}

// onlyFold is the fold of a layer without freedom.
func onlyFold(op dataflow.Op) dataflow.Fold {
	for f := range op.Folds() {
		return f
	}
	panic("folding: " + op.Kind() + " has no fold")
}

// A way is one way to build a FIFO.
type way struct {
	dataflow.FIFO
	cost search.Vector
}

// ways is how a FIFO of a port can be built that holds so many words at least, without those that another one beats: each
// fills its memory, but where the words are exactly what was given.
func (s *space) ways(words int, exact bool, p dataflow.Port) []way {
	k := fifoKind{words, p.Width(), exact}
	if known, ok := s.fifos.Load(k); ok {
		return known.([]way)
	}
	list := s.listWays(words, exact, p)
	s.fifos.Store(k, list)
	return list
}

// A fifoKind is what the ways to build a FIFO depend on.
type fifoKind struct {
	words, width int
	exact        bool
}

func (s *space) listWays(words int, exact bool, p dataflow.Port) []way {
	fabric := estimate.Model(s.target).Fabric
	var list []way
	for _, f := range cost.FIFOs(words, p.Width(), fabric) {
		made := dataflow.FIFO{Depth: f.Depth, Memory: estimate.FIFOMemory(f.Memory)}
		if exact {
			made.Depth = words
		}
		r := estimate.FIFO(s.target, made, p).Total()
		if !available(r, s.target.Board) || s.target.Formula == dataflow.FINN && made.Memory == dataflow.LUTRAM {
			continue
		}
		list = append(list, way{made, s.board.vector(r)})
	}
	kept := list[:0]
	for i, w := range list {
		beaten := slices.ContainsFunc(list[:i], func(o way) bool { return o.cost.Within(&w.cost) }) ||
			slices.ContainsFunc(list[i+1:], func(o way) bool { return o.cost != w.cost && o.cost.Within(&w.cost) })
		if !beaten {
			kept = append(kept, w)
		}
	}
	return slices.Clone(kept)
}

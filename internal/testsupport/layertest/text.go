package layertest

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Parse reads the text form of a graph whose layers are among kinds, binds every layer and verifies the result. The
// text may come from anywhere. An error names the line.
func Parse(text string, kinds []dataflow.LayerKind) (*dataflow.Graph, error) {
	p := parser{kinds: map[string]dataflow.LayerKind{}, streams: map[int]*dataflow.Stream{}, read: map[int]bool{}}
	for _, k := range kinds {
		p.kinds[k.Name] = k
	}
	n := 0
	for l := range strings.Lines(text) {
		n++
		if err := p.line(strings.TrimSuffix(l, "\n")); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	p.g.Streams = make([]*dataflow.Stream, len(p.streams))
	for id, s := range p.streams {
		if id >= len(p.streams) {
			return nil, fmt.Errorf("%d streams, but one is s%d: they are numbered from s0 without a gap",
				len(p.streams), id)
		}
		p.g.Streams[id] = s
	}
	return &p.g, p.g.Verify()
}

// A parser reads the text form of a graph line by line.
type parser struct {
	kinds   map[string]dataflow.LayerKind
	g       dataflow.Graph
	streams map[int]*dataflow.Stream
	read    map[int]bool
	ranges  int // total number of ranges in stream types: Bind may make many from few bytes
}

// line reads a line of the text.
func (p *parser) line(l string) error {
	s := scanner{rest: l}
	var err error
	switch verb := s.word(); {
	case verb == "" && s.rest == "", strings.HasPrefix(verb, "#"):
		return nil
	case verb == "input":
		err = p.input(&s)
	case verb == "node":
		err = p.node(&s)
	case verb == "output":
		err = p.output(&s)
	default:
		return fmt.Errorf("%.40q where input, node or output is due", verb)
	}
	if err == nil {
		err = s.err
	}
	return err
}

// input reads an input of the graph.
func (p *parser) input(s *scanner) error {
	id, name := s.stream(), s.quoted()
	var t dataflow.StreamType
	s.expect("[")
	for !s.accept("]") && s.err == nil {
		if len(t.Shape) > 0 {
			s.expect(",")
		}
		t.Shape = append(t.Shape, int(s.integer()))
	}
	for more := true; more && s.err == nil; more = s.accept(",") {
		s.expect("[")
		lo := s.integer()
		s.expect(",")
		t.Range = append(t.Range, num.Range{Lo: lo, Hi: s.integer()})
		s.expect("]")
	}
	elem := s.word()
	s.end()
	if s.err != nil {
		return s.err
	}
	var err error
	if t.Elem, err = num.ParseType(elem); err != nil {
		return err
	}
	p.g.In = append(p.g.In, id)
	return p.declare(id, name, t)
}

// output reads an output of the graph.
func (p *parser) output(s *scanner) error {
	id := s.stream()
	s.end()
	if s.err != nil {
		return s.err
	}
	p.g.Out = append(p.g.Out, id)
	_, err := p.take(id)
	return err
}

// node reads a node of the graph, and binds its layer.
func (p *parser) node(s *scanner) error {
	n := &dataflow.Node{Name: s.word()}
	kind := s.word()
	s.items("(", ")", func() { n.In = append(n.In, s.stream()) })
	s.expect("->")
	var names []string
	s.items("(", ")", func() {
		n.Out = append(n.Out, s.stream())
		names = append(names, s.quoted())
	})
	s.expect("from")
	s.items("[", "]", func() { n.Origin = append(n.Origin, s.quoted()) })
	if s.err != nil {
		return s.err
	}
	k, ok := p.kinds[kind]
	if !ok {
		return fmt.Errorf("no layer kind %.40q", kind)
	}
	in := make([]dataflow.StreamType, len(n.In))
	for i, id := range n.In {
		t, err := p.take(id)
		if err != nil {
			return err
		}
		in[i] = t
	}
	op, err := k.Decode([]byte(strings.TrimSpace(s.rest)))
	if err != nil {
		return fmt.Errorf("%s: parameters: %w", n.Name, err)
	}
	op, out, err := op.Bind(in)
	if err != nil {
		return fmt.Errorf("%s: %w", n.Name, err)
	}
	if len(out) != len(n.Out) {
		return fmt.Errorf("%s has %d outputs, the line %d", n.Name, len(out), len(n.Out))
	}
	n.Op = op
	p.g.Nodes = append(p.g.Nodes, n)
	for i, id := range n.Out {
		if err := p.declare(id, names[i], out[i]); err != nil {
			return err
		}
	}
	return nil
}

// declare adds a stream where it is written.
func (p *parser) declare(id int, name string, t dataflow.StreamType) error {
	if p.streams[id] != nil {
		return fmt.Errorf("stream s%d is written twice", id)
	}
	if err := t.Verify(); err != nil {
		return fmt.Errorf("stream s%d: %w", id, err)
	}
	if p.ranges += len(t.Range); p.ranges > dataflow.MaxChannelsPerStream {
		return fmt.Errorf("more than %d ranges of channels", dataflow.MaxChannelsPerStream)
	}
	p.streams[id] = &dataflow.Stream{ID: id, Name: name, Type: t}
	return nil
}

// take marks a stream as read, and returns its type.
func (p *parser) take(id int) (dataflow.StreamType, error) {
	if p.streams[id] == nil {
		return dataflow.StreamType{}, fmt.Errorf("stream s%d is read before it is written", id)
	}
	if p.read[id] {
		return dataflow.StreamType{}, fmt.Errorf("stream s%d is read twice", id)
	}
	p.read[id] = true
	return p.streams[id].Type, nil
}

// A scanner splits a line into tokens, and skips blanks before each. It keeps the first error; all later tokens are
// empty.
type scanner struct {
	rest string
	err  error
}

// fail records the error that the line has something else than want, unless there already is an error.
func (s *scanner) fail(want string) {
	if s.err == nil {
		found := s.rest
		if len(found) > 20 {
			found = found[:20] + "..."
		}
		s.err = fmt.Errorf("%q where %s is due", found, want)
	}
	s.rest = ""
}

// accept reports whether the line goes on with a token, and reads it.
func (s *scanner) accept(token string) bool {
	s.rest = strings.TrimLeft(s.rest, " ")
	rest, ok := strings.CutPrefix(s.rest, token)
	if ok {
		s.rest = rest
	}
	return ok
}

// expect reads a token, or fails.
func (s *scanner) expect(token string) {
	if !s.accept(token) {
		s.fail(strconv.Quote(token))
	}
}

// items reads a list between the tokens open and end.
func (s *scanner) items(open, end string, item func()) {
	s.expect(open)
	for first := true; !s.accept(end) && s.err == nil; first = false {
		if !first {
			s.expect(",")
		}
		item()
	}
}

// word reads up to the next blank.
func (s *scanner) word() string {
	s.rest = strings.TrimLeft(s.rest, " ")
	i := strings.IndexByte(s.rest, ' ')
	if i < 0 {
		i = len(s.rest)
	}
	w := s.rest[:i]
	s.rest = s.rest[i:]
	return w
}

// quoted reads a string in quotes.
func (s *scanner) quoted() string {
	s.rest = strings.TrimLeft(s.rest, " ")
	if !strings.HasPrefix(s.rest, `"`) {
		s.fail("a quoted name")
		return ""
	}
	q, err := strconv.QuotedPrefix(s.rest)
	if err != nil {
		s.fail("a quoted name")
		return ""
	}
	s.rest = s.rest[len(q):]
	name, err := strconv.Unquote(q)
	if err != nil {
		s.fail("a quoted name")
	}
	return name
}

// integer reads an integer.
func (s *scanner) integer() int64 {
	s.rest = strings.TrimLeft(s.rest, " ")
	i := 0
	for i < len(s.rest) && (s.rest[i] == '-' || '0' <= s.rest[i] && s.rest[i] <= '9') {
		i++
	}
	v, err := strconv.ParseInt(s.rest[:i], 10, 64)
	if err != nil {
		s.fail("an integer")
		return 0
	}
	s.rest = s.rest[i:]
	return v
}

// stream reads the number of a stream.
func (s *scanner) stream() int {
	s.expect("s")
	v := s.integer()
	if v < 0 || v > math.MaxInt32 {
		s.fail("a stream number")
	}
	return int(v)
}

// end fails if the line goes on.
func (s *scanner) end() {
	if s.rest = strings.TrimLeft(s.rest, " "); s.rest != "" {
		s.fail("the end of the line")
	}
}

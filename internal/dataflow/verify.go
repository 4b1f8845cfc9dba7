package dataflow

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hlsgen/internal/num"
)

// The limits of a StreamType. They keep sizes from overflowing, and a hostile text from making a layer that fills the
// memory.
const (
	MaxElementsPerFrame  = 1 << 30 // elements in a frame
	MaxChannelsPerStream = 1 << 22
)

// Verify returns an error if the graph is malformed. IDs must be in range, and each stream must have one writer and one
// reader, at least one of them a layer. Nodes must be in topological order and named by kind and count, and types well
// formed.
func (g *Graph) Verify() error {
	for i, s := range g.Streams {
		if s.ID != i {
			return fmt.Errorf("stream %d has id %d", i, s.ID)
		}
		if err := s.Type.Verify(); err != nil {
			return fmt.Errorf("stream s%d: %w", i, err)
		}
	}
	writers, readers := make([]int, len(g.Streams)), make([]int, len(g.Streams))
	use := func(count []int, who string, ids []int) error {
		for _, s := range ids {
			if s < 0 || s >= len(g.Streams) {
				return fmt.Errorf("%s names stream %d of %d", who, s, len(g.Streams))
			}
			count[s]++
		}
		return nil
	}
	if err := use(writers, "input", g.In); err != nil {
		return err
	}
	names := names{count: naming{}, taken: map[string]bool{}}
	for _, n := range g.Nodes {
		if err := names.verify(n); err != nil {
			return err
		}
		if err := use(readers, n.Name, n.In); err != nil {
			return err
		}
		for _, s := range n.In {
			if writers[s] == 0 {
				return fmt.Errorf("%s reads stream s%d before it is written", n.Name, s)
			}
		}
		if err := use(writers, n.Name, n.Out); err != nil {
			return err
		}
	}
	if err := use(readers, "output", g.Out); err != nil {
		return err
	}
	for i := range g.Streams {
		if writers[i] != 1 || readers[i] != 1 {
			return fmt.Errorf("stream s%d has %d writers and %d readers, wants one of each", i, writers[i], readers[i])
		}
	}
	for _, s := range g.Out {
		if slices.Contains(g.In, s) {
			return fmt.Errorf("stream s%d is an input and an output: no layer reads or writes it", s)
		}
	}
	return nil
}

// names records the names of the nodes checked so far.
type names struct {
	count naming
	taken map[string]bool
	whole *SplitLayer // the SplitLayer of the last node
}

// verify returns an error unless a node is named by kind and count. The parts of a split layer must be neighbours, and
// their names begin with the layer's name.
func (s *names) verify(n *Node) error {
	op, name := n.Op, n.Name
	if n.Whole != nil {
		op, name = n.Whole.Op, n.Whole.Name
	}
	if n.Whole == nil || n.Whole != s.whole {
		if want := s.count.next(op.Kind()); name != want {
			return fmt.Errorf("a node is called %q where %s is due", name, want)
		}
	}
	if s.taken[n.Name] || n.Whole != nil && !strings.HasPrefix(n.Name, name+"_") {
		return fmt.Errorf("a part of %s is called %q", name, n.Name)
	}
	s.whole, s.taken[n.Name] = n.Whole, true
	return nil
}

// A naming counts the nodes of each kind so far.
type naming map[string]int

// next returns the name of the next node of the kind: Kind_0, Kind_1 and so on.
func (n naming) next(kind string) string {
	i := n[kind]
	n[kind]++
	return kind + "_" + strconv.Itoa(i)
}

// Verify returns an error if the element type, the shape or the ranges of t are not well formed.
func (t StreamType) Verify() error {
	if parsed, err := num.ParseType(t.Elem.String()); err != nil || parsed != t.Elem {
		return errors.New("no valid element type")
	}
	size := 1
	for _, d := range t.Shape {
		if d < 1 {
			return fmt.Errorf("shape %v has an empty axis", t.Shape)
		}
		if d > MaxElementsPerFrame/size {
			return fmt.Errorf("shape %v has more than %d elements", t.Shape, MaxElementsPerFrame)
		}
		size *= d
	}
	if t.Shape.ChannelCount() > MaxChannelsPerStream {
		return fmt.Errorf("shape %v has more than %d channels", t.Shape, MaxChannelsPerStream)
	}
	if len(t.Range) != 1 && len(t.Range) != t.Shape.ChannelCount() {
		return fmt.Errorf("%d ranges for %d channels", len(t.Range), t.Shape.ChannelCount())
	}
	for _, r := range t.Range {
		if r.Lo > r.Hi || !t.Elem.Holds(r.Lo) || !t.Elem.Holds(r.Hi) {
			return fmt.Errorf("%s does not hold %s", t.Elem, r)
		}
	}
	return nil
}

// CheckFrame returns an error if v is not a frame of type t: because of its shape, or a value that does not occur.
func (t StreamType) CheckFrame(v Tensor) error {
	if !slices.Equal(v.Shape, t.Shape) {
		return fmt.Errorf("shape %v, want %v", v.Shape, t.Shape)
	}
	if len(v.Data) != t.Shape.ElementCount() {
		return fmt.Errorf("%d values, want %d", len(v.Data), t.Shape.ElementCount())
	}
	channels := t.Shape.ChannelCount()
	for i, x := range v.Data {
		r := t.Range[0]
		if len(t.Range) > 1 {
			r = t.Range[i%channels]
		}
		if !r.Contains(x) || !t.Elem.Holds(x) {
			return fmt.Errorf("value %d at index %d is not %s in %s", x, i, t.Elem, r)
		}
	}
	return nil
}

// Verify returns an error unless the graph is well formed, every layer offers its fold, and both ends of every stream
// agree on its words. Every loop must move exactly these words, and every FIFO hold at least one.
func (d *Design) Verify() error {
	g := d.Model.Graph
	if err := g.Verify(); err != nil {
		return err
	}
	if len(d.Folds) != len(g.Nodes) || len(d.FIFO) != len(g.Streams) {
		return fmt.Errorf("%d folds for %d nodes, %d FIFOs for %d streams", len(d.Folds), len(g.Nodes), len(d.FIFO),
			len(g.Streams))
	}
	for s, f := range d.FIFO {
		if err := f.verify(); err != nil {
			return fmt.Errorf("the FIFO of stream s%d: %w", s, err)
		}
	}
	ports := make([]Port, len(g.Streams))
	for i, n := range g.Nodes {
		if err := d.verifyNode(i, ports); err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
	}
	return nil
}

// verifyNode returns an error if node i does not suit the ports of the streams that earlier nodes use. It adds its own
// ports.
func (d *Design) verifyNode(i int, ports []Port) error {
	g, n, fold := d.Model.Graph, d.Model.Graph.Nodes[i], d.Folds[i]
	legal := false
	for f := range n.Op.Folds() {
		if legal = f == fold; legal {
			break
		}
	}
	if !legal {
		return fmt.Errorf("no fold PE=%d SIMD=%d memory=%s compute=%s steps=%s", fold.PE, fold.SIMD, fold.Memory,
			fold.Compute, fold.Steps)
	}
	in, out := n.Op.Ports(fold)
	if len(in) != len(n.In) || len(out) != len(n.Out) {
		return fmt.Errorf("%d inputs and %d outputs on %d and %d streams", len(in), len(out), len(n.In), len(n.Out))
	}
	streams := slices.Concat(n.In, n.Out)
	for k, p := range slices.Concat(in, out) {
		s := streams[k]
		t := g.Streams[s].Type
		if p.Elem != t.Elem || p.PerWord < 1 || p.Words*p.PerWord != t.Shape.ElementCount() {
			return fmt.Errorf("%d words of %d %s on stream s%d of %d %s", p.Words, p.PerWord, p.Elem, s,
				t.Shape.ElementCount(),
				t.Elem)
		}
		if bad := p.Tile != 0 && (p.Tile < 0 || t.Shape.ChannelCount()%p.Tile != 0 ||
			t.Shape.PortTileFor(p.Tile) == 0); bad {
			return fmt.Errorf("tiles of %d channels on stream s%d of shape %v", p.Tile, s, t.Shape)
		}
		if ports[s] != (Port{}) && ports[s] != p {
			return fmt.Errorf("words of %d elements in tiles of %d on stream s%d, its other end has %d in tiles of %d",
				p.PerWord, p.Tile, s, ports[s].PerWord, ports[s].Tile)
		}
		ports[s] = p
	}
	return n.Op.Loop(fold, d.Target).verify(in, out)
}

// verify returns an error if the loop is malformed, or does not move the words of the ports.
func (l Loop) verify(in, out []Port) error {
	if l.Latency < 1 {
		return fmt.Errorf("a loop of latency %d", l.Latency)
	}
	if len(in) > MaxPortsPerSide || len(out) > MaxPortsPerSide {
		return fmt.Errorf("%d inputs and %d outputs, the most is %d of each", len(in), len(out), MaxPortsPerSide)
	}
	if _, ok := count(l.Body, len(in), len(out)); !ok {
		return fmt.Errorf("a malformed loop: %+v", l.Body)
	}
	for k, p := range in {
		if w := l.WordsRead(k); w != p.Words {
			return fmt.Errorf("the loop moves %d words, input port %d has %d", w, k, p.Words)
		}
	}
	for k, p := range out {
		if w := l.WordsWritten(k); w != p.Words {
			return fmt.Errorf("the loop moves %d words, output port %d has %d", w, k, p.Words)
		}
	}
	return nil
}

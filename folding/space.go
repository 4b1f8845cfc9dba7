// Package folding chooses how far each layer of a network is unrolled and where its tables and multipliers lie: the
// highest throughput that fits a board, or the least resources for a frame rate.
//
// At a given interval the layers decouple but for two things: they share the budget, and a width converter stands
// wherever the words of two neighbours differ. space.go lists what each layer may be, lattice.go the choices at one
// interval as a layered graph, price.go bounds what a path through it costs, label.go finds the best path, search.go
// looks for the interval.
package folding

import (
	"math"
	"slices"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
)

// The kinds of resource, in the order of a vector.
const (
	lut = iota
	ff
	bram
	uram
	dsp
	kinds
)

// names of the kinds, as users read them.
var names = [kinds]string{"LUT", "FF", "RAMB18", "URAM", "DSP"}

// A vector is an amount of each kind of resource.
type vector [kinds]int64

func vectorOf(r dataflow.Resources) vector {
	return vector{int64(r.LUT), int64(r.FF), int64(r.BRAM), int64(r.URAM), int64(r.DSP)}
}

func (v vector) plus(o vector) vector {
	for i := range v {
		v[i] += o[i]
	}
	return v
}

func (v vector) within(o vector) bool {
	for i := range v {
		if v[i] > o[i] {
			return false
		}
	}
	return true
}

func (v vector) dot(o vector) int64 {
	return v[lut]*o[lut] + v[ff]*o[ff] + v[bram]*o[bram] + v[uram]*o[uram] + v[dsp]*o[dsp]
}

// A space is every folding of a graph on a device.
type space struct {
	graph     *dataflow.Graph
	target    dataflow.Target
	budget    vector // what a design may take
	yard      vector // what use is measured against: the budget, where there is one, and never 0
	converter func(in, out int) dataflow.Op
	layers    []layer
	writer    []int // per stream: the layer that writes it, or -1
	converted map[conversion]converted
	examined  int // partial foldings looked at
}

// A layer is one node's options.
type layer struct {
	node    *dataflow.Node
	folds   []dataflow.Fold // every legal one
	options []option        // of these, what the device can build
	shapes  []shape
	fixed   bool // a folding file says something of it
}

// An option is one legal fold and what follows from it.
type option struct {
	fold       dataflow.Fold
	iterations int
	cost       vector
	shape      int // index into layer.shapes
}

// A shape is the elements per word on each port: all that a neighbour sees of a fold.
type shape struct{ in, out []int }

// newSpace lists the options of every layer that the target's device can build.
func newSpace(g *dataflow.Graph, t dataflow.Target, use Use, converter func(in, out int) dataflow.Op) *space {
	s := &space{graph: g, target: t, budget: vectorOf(Budget(t.Board, use)), converter: converter, converted: map[conversion]converted{}}
	s.yard = s.budget
	capacity := vectorOf(Capacity(t.Board))
	for i := range s.yard {
		if s.yard[i] == 0 {
			s.yard[i] = max(capacity[i], 1)
		}
	}
	s.writer = make([]int, len(g.Streams))
	for i := range s.writer {
		s.writer[i] = -1
	}
	for i, n := range g.Nodes {
		for _, o := range n.Out {
			s.writer[o] = i
		}
		s.layers = append(s.layers, newLayer(n, t))
	}
	return s
}

func newLayer(n *dataflow.Node, t dataflow.Target) layer {
	l := layer{node: n}
	index := map[string]int{}
	for f := range n.Op.Folds() {
		l.folds = append(l.folds, f)
		cost := vectorOf(n.Op.Cost(f, t).Total())
		if !buildable(f, t.Board) || !available(cost, t.Board) {
			continue
		}
		in, out := n.Op.Ports(f)
		sh := shape{words(in), words(out)}
		k := key(slices.Concat(sh.in, sh.out))
		i, ok := index[k]
		if !ok {
			i = len(l.shapes)
			index[k] = i
			l.shapes = append(l.shapes, sh)
		}
		l.options = append(l.options, option{f, n.Op.Loop(f, t).Iterations(), cost, i})
	}
	return l
}

// buildable reports whether the device can hold the fold's tables where it wants them: a table is filled by the
// bitstream, and not every device fills its UltraRAM.
func buildable(f dataflow.Fold, b boards.Board) bool {
	return f.Memory != dataflow.URAM || b.InitialisesURAM()
}

// available reports whether the device has every kind of resource that cost names, in any amount.
func available(cost vector, b boards.Board) bool {
	c := vectorOf(Capacity(b))
	for i := range cost {
		if cost[i] > 0 && c[i] == 0 {
			return false
		}
	}
	return true
}

func words(ports []dataflow.Port) []int {
	w := make([]int, len(ports))
	for i, p := range ports {
		w[i] = p.PerWord
	}
	return w
}

// least is the fewest clocks per frame that the layer can do with.
func (l *layer) least() int {
	n := math.MaxInt
	for _, o := range l.options {
		n = min(n, o.iterations)
	}
	return n
}

// slowest is the layer whose fewest clocks per frame are the most, and these clocks: no interval is shorter.
func (s *space) slowest() (at, clocks int) {
	for i := range s.layers {
		if n := s.layers[i].least(); n > clocks {
			at, clocks = i, n
		}
	}
	return at, clocks
}

// intervals is every number of clocks per frame that some layer takes in some fold, from the shortest interval of the
// network on, increasing. A width converter takes as many clocks as its narrower end has words, which is never more
// than the layer at that end takes, so that it adds none.
func (s *space) intervals() []int {
	_, first := s.slowest()
	var list []int
	for i := range s.layers {
		for _, o := range s.layers[i].options {
			if o.iterations >= first {
				list = append(list, o.iterations)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// A conversion is a width converter's place: a stream, and the elements per word on its two ends.
type conversion struct{ stream, in, out int }

// converted is the converter as it would be built; ok is false where none can be.
type converted struct {
	fold       dataflow.Fold
	cost       vector
	iterations int
	ok         bool
}

// convert gives what it takes to turn words of in elements on the stream into words of out. Equal words need nothing.
func (s *space) convert(stream, in, out int) converted {
	if in == out {
		return converted{ok: true}
	}
	c := conversion{stream, in, out}
	if k, ok := s.converted[c]; ok {
		return k
	}
	k := s.bindConverter(c)
	s.converted[c] = k
	return k
}

func (s *space) bindConverter(c conversion) converted {
	op, _, err := s.converter(c.in, c.out).Bind([]dataflow.Type{s.graph.Streams[c.stream].Type})
	if err != nil {
		return converted{}
	}
	f := onlyFold(op)
	cost := vectorOf(op.Cost(f, s.target).Total())
	return converted{f, cost, op.Loop(f, s.target).Iterations(), available(cost, s.target.Board)}
}

// onlyFold is the fold of a layer without freedom.
func onlyFold(op dataflow.Op) dataflow.Fold {
	for f := range op.Folds() {
		return f
	}
	panic("folding: " + op.Kind() + " has no fold")
}

// key is a map key for a list of small numbers.
func key(n []int) string {
	b := make([]byte, 0, 4*len(n))
	for _, x := range n {
		b = append(b, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	return string(b)
}

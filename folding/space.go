package folding

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"sync"

	"hlsgen/boards"
	"hlsgen/folding/search"
	"hlsgen/internal/dataflow"
	"hlsgen/rtlsim"
)

// A space is every folding of a graph on a device: it does not depend on what is asked for, and does not change.
type space struct {
	model     *dataflow.Model
	graph     *dataflow.Graph
	target    dataflow.Target
	clock     float64 // MHz: the one asked for, or what every layer has a fold for
	board     Budget  // all of it
	fifo      FIFO
	converter converter
	layers    []layer
	streams   []stream
	maxRows   int // of a table
	*planned
	known     rtlsim.Known // of what FIFOs need
	mu        sync.Mutex
	converted map[conversion]converted
	fifos     sync.Map // ways to build a FIFO, by its kind
}

// A layer is one node's options.
type layer struct {
	node    *dataflow.Node
	folds   []dataflow.Fold // every legal one
	options []option        // of these, what the device can build
	classes []class
	shapes  []shape
	fixed   bool // a folding file says something of it
}

// An option is one legal fold and what follows from it.
type option struct {
	fold  dataflow.Fold
	class int // index into layer.classes
	cost  search.Vector
}

// A class is the options of a layer that look the same from outside: the same words in the same clocks. They differ in
// where tables lie and in what multiplies.
type class struct {
	shape  int // index into layer.shapes
	loop   dataflow.Loop
	clocks int // iterations
}

// A shape is the form of each port: what a neighbour's words must fit.
type shape struct{ in, out []form }

// newSpace lists the options of every layer that the target's device can build.
func newSpace(m *dataflow.Model, t dataflow.Target, fifo FIFO, converter converter) *space {
	s := &space{model: m, graph: m.Graph, target: t, board: BudgetOf(t.Board, Use{1, 1, 1, 1, 1, 1, 1}), fifo: fifo, converter: converter,
		maxRows: maxRows, converted: map[conversion]converted{}}
	s.newStreams()
	for _, n := range s.graph.Nodes {
		s.layers = append(s.layers, s.newLayer(n))
	}
	return s
}

func (s *space) newLayer(n *dataflow.Node) layer {
	l := layer{node: n}
	shapes, classes := map[string]int{}, map[string]int{}
	for f := range n.Op.Folds() {
		l.folds = append(l.folds, f)
		cost := n.Op.Cost(f, s.target).Total()
		if !buildable(f, s.target.Board) || !available(cost, s.target.Board) {
			continue
		}
		in, out := n.Op.Ports(f)
		sh := shape{forms(in), forms(out)}
		if !s.rowMajorEnds(n, sh) {
			continue
		}
		at := place(shapes, key(slices.Concat(sh.in, sh.out)))
		if at == len(l.shapes) {
			l.shapes = append(l.shapes, sh)
		}
		loop := n.Op.Loop(f, s.target)
		c := place(classes, strconv.Itoa(at)+" "+loop.Key())
		if c == len(l.classes) {
			l.classes = append(l.classes, class{at, loop, loop.Iterations()})
		}
		l.options = append(l.options, option{f, c, s.board.vector(cost)})
	}
	return l
}

// place is the number of a key in the order in which keys come.
func place(index map[string]int, key string) int {
	i, ok := index[key]
	if !ok {
		i = len(index)
		index[key] = i
	}
	return i
}

// buildable reports whether the device can hold the fold's tables where it wants them: a table is filled by the
// bitstream, and not every device fills its UltraRAM.
func buildable(f dataflow.Fold, b boards.Board) bool {
	return f.Memory != dataflow.URAM || b.InitialisesURAM()
}

// available reports whether the device has every kind of resource that cost names, in any amount.
func available(cost dataflow.Resources, b boards.Board) bool {
	have := amounts(Capacity(b))
	for k, n := range amounts(cost) {
		if n > 0 && have[k] == 0 {
			return false
		}
	}
	return true
}

// follow leaves the folds that follow the asked clock; where a layer has none that does, the clock is the fastest that
// every layer has a fold for, in whole MHz.
func (s *space) follow() {
	delay := func(l *layer, o *option) float64 {
		if t, ok := l.node.Op.(dataflow.Timed); ok {
			return t.Delay(o.fold, s.target)
		}
		return 0
	}
	s.clock = s.target.ClockMHz
	for i := range s.layers {
		l := &s.layers[i]
		least := math.Inf(1)
		for o := range l.options {
			least = min(least, delay(l, &l.options[o]))
		}
		if most := 1000 / least; s.clock > most {
			s.clock = math.Floor(most)
		}
	}
	for i := range s.layers {
		l := &s.layers[i]
		l.options = slices.DeleteFunc(l.options, func(o option) bool { return 1000/delay(l, &o) < s.clock })
	}
}

// clocks is the iterations of an option.
func (l *layer) clocks(option int) int { return l.classes[l.options[option].class].clocks }

// shape is the forms of an option's ports.
func (l *layer) shape(option int) *shape { return &l.shapes[l.classes[l.options[option].class].shape] }

// least is the fewest clocks per frame that the layer can do with, as far as options are left.
func (l *layer) least() int {
	n := mostClocks
	for i := range l.options {
		n = min(n, l.clocks(i))
	}
	return n
}

// most is the clocks per frame of the slowest option.
func (l *layer) most() (clocks int) {
	for i := range l.options {
		clocks = max(clocks, l.clocks(i))
	}
	return clocks
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

// longest is an interval that no design of interest has.
const longest = 1 << 32

// intervals is every number of clocks per frame that some layer or port takes in some fold, and what the processor's
// memory takes at most, from the shortest interval of the network on, increasing; the last one is no shorter than that of
// any design, however short of room its FIFOs are. A width converter takes as many clocks as its narrower end has words,
// which is never more than the layer at that end takes, so that it adds none.
func (s *space) intervals() []int {
	_, first := s.slowest()
	for i := range s.streams {
		first = max(first, s.streams[i].least())
	}
	list := []int{first}
	for i := range s.layers {
		for o := range s.layers[i].options {
			list = append(list, s.layers[i].clocks(o))
		}
	}
	for i := range s.streams {
		for _, f := range s.streams[i].host {
			list = append(list, f.clocks)
		}
	}
	if perClock := s.memoryBytes(); perClock != nil { // for the most that a frame can be
		bytes := int64(0)
		for i := range s.streams {
			bytes += s.streams[i].mostBytes()
		}
		list = append(list, ceiling(perClock.Quo(big.NewRat(bytes, 1), perClock)))
	}
	if s.shallow() {
		list = append(list, longest)
	} else if len(s.layers) > 1 { // FIFOs for which there is no room hold nothing up for longer
		sum := 0
		for i := range s.layers {
			sum += s.layers[i].most()
		}
		list = append(list, sum+len(s.streams)*first)
	}
	slices.Sort(list)
	list = slices.Compact(list)
	at, _ := slices.BinarySearch(list, first)
	return list[at:]
}

// Package folding chooses how far each layer of a network is unrolled and where its tables and multipliers lie: the
// highest throughput that fits a board, the least resources for a frame rate, the shortest latency, or all that is worth
// choosing from.
//
// At a given interval the layers decouple but for two things: they share the budget, and neighbours must agree on how a
// frame travels, or be joined by a width converter. space.go lists what each layer may be and words.go what joins them;
// plan.go and tree.go make of one interval a tree of tables, price.go bounds what a folding costs, label.go finds the
// best one, least.go minimises, search.go looks for the interval. latency.go minimises the latency. setfolding.go is
// FINN's greedy algorithm, to compare with.
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

// least is the smaller amount of each kind.
func (v vector) least(o vector) vector {
	for i := range v {
		v[i] = min(v[i], o[i])
	}
	return v
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
	converter converter
	layers    []layer
	streams   []stream
	inner     []int // the streams between two layers
	rows      int   // of a table, at most
	plan      []table
	wide      []int // streams that the plan leaves out
	converted map[conversion]converted
	trees     map[int]*tree // by interval
	effort
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

// A shape is the form of each port: all that a neighbour sees of a fold.
type shape struct{ in, out []form }

// newSpace lists the options of every layer that the target's device can build.
func newSpace(g *dataflow.Graph, t dataflow.Target, use Use, converter converter) *space {
	s := &space{graph: g, target: t, budget: vectorOf(Budget(t.Board, use)), converter: converter, rows: maxRows,
		converted: map[conversion]converted{}, trees: map[int]*tree{}}
	s.yard = s.budget
	capacity := vectorOf(Capacity(t.Board))
	for i := range s.yard {
		if s.yard[i] == 0 {
			s.yard[i] = max(capacity[i], 1)
		}
	}
	s.newStreams()
	for _, n := range g.Nodes {
		s.layers = append(s.layers, s.newLayer(n))
	}
	return s
}

func (s *space) newLayer(n *dataflow.Node) layer {
	l := layer{node: n}
	index := map[string]int{}
	for f := range n.Op.Folds() {
		l.folds = append(l.folds, f)
		cost := vectorOf(n.Op.Cost(f, s.target).Total())
		if !buildable(f, s.target.Board) || !available(cost, s.target.Board) {
			continue
		}
		in, out := n.Op.Ports(f)
		sh := shape{forms(in), forms(out)}
		if !s.rowMajorEnds(n, sh) {
			continue
		}
		k := key(slices.Concat(sh.in, sh.out))
		i, ok := index[k]
		if !ok {
			i = len(l.shapes)
			index[k] = i
			l.shapes = append(l.shapes, sh)
		}
		l.options = append(l.options, option{f, n.Op.Loop(f, s.target).Iterations(), cost, i})
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

// offers reports whether any option has the shape.
func (l *layer) offers(shape int) bool {
	return slices.ContainsFunc(l.options, func(o option) bool { return o.shape == shape })
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

// groups is the layer's choices among the options allowed, by shape. Shapes without one have an empty group.
func (l *layer) groups(allowed func(option int) bool) [][]choice {
	of := make([][]choice, len(l.shapes))
	for i, o := range l.options {
		if allowed(i) {
			of[o.shape] = append(of[o.shape], choice{cost: o.cost, option: int32(i)})
		}
	}
	for i := range of {
		of[i] = undominated(of[i])
	}
	return of
}

// A choice is one way to build what an entry of a table stands for.
type choice struct {
	cost      vector
	option    int32 // of the layer; -1 for a stream
	converter int32 // 1 where a width converter is put in
}

// undominated keeps the choices that none other is at least as good as in every resource; of equal ones the first.
func undominated(all []choice) []choice {
	slices.SortStableFunc(all, func(a, b choice) int { return slices.Compare(a.cost[:], b.cost[:]) })
	var kept []choice
	for _, c := range all {
		if !slices.ContainsFunc(kept, func(k choice) bool { return k.cost.within(c.cost) }) {
			kept = append(kept, c)
		}
	}
	return kept
}

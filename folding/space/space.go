// Package space is what a network may become on a device: which folds each layer may have and what they take, how
// neighbours join, and a tree of tables over any part of that, for package search. In come a model, a target, and what
// a folding file fixes; out come intervals to look at (Intervals), trees (Tree, Single) and, from what a search picks
// of one, whole designs (Folding, Build). It asks layers for folds, ports, loops and costs alone, and knows none of
// them by name but the width converter, which it puts in. Nothing here depends on what is asked for, and nothing
// changes. It may import ask, finn and search, the costs of hlslib, and rtlsim for the steps of depths.
//
//	space.go    the options of each layer, and the intervals that they make
//	split.go    folds of more than one process
//	stages.go   folds whose step functions are a process of their own
//	large.go    folds with large tables in LUTs
//	unroll.go   what is beyond the envelope, and what envelope would do
//	words.go    the forms in which frames travel, width converters and FIFOs between them
//	plan.go     the order in which tables are joined, once for all regions
//	join.go     how two tables are joined
//	region.go   a part of the space
//	tree.go     the tree of tables of a region
//	folding.go  what a search picks, as a design
//	path.go     the clocks that foldings take of a path: what latencies are bounded by
//	unjoined.go which neighbours nothing joins, and why
//
// It sees boards, ask, finn, search, hlslib, estimate, dataflow, diag and rtlsim.
package space

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"hlsgen/boards"
	"hlsgen/folding/ask"
	"hlsgen/folding/finn"
	"hlsgen/folding/search"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/rtlsim"
)

// A Space is every folding of a model on a target. It may be used by several goroutines.
type Space struct {
	Model   *dataflow.Model
	Target  dataflow.Target
	Clock   float64    // MHz: the one asked for, or what every layer has a fold for
	Board   ask.Budget // all of it
	Layers  []LayerOptions
	Streams []Stream
	Known   rtlsim.Known // of what FIFOs need
	// what tells layers and outputs where sequences end, without width converters
	Ends search.Vector
	Few  bool // some layer multiplies few bits, and may do so in LUTs or in DSP slices (ask.Few)
	fifo ask.FIFO
	Memory
	tables
	joints
}

// LayerOptions is what one node may be.
type LayerOptions struct {
	Node    *dataflow.Node
	Folds   []dataflow.Fold // every legal one
	Options []Option        // of these, what the device can build and the folding file allows
	Classes []Class
	Fixed   bool  // a folding file says something of it
	staged  bool  // folds are Parallel or Serial, of which the layer itself knows neither
	dear    []int // clocks of serial folds that cost too much (spare)
	large   []int // clocks of folds with large tables in LUTs (spareLarge)
	shapes  []shape
}

// An Option is one legal fold and what follows from it.
type Option struct {
	Fold  dataflow.Fold
	Class int // index into LayerOptions.Classes
	Cost  search.Vector
	split *split // nil where one process computes the fold
}

// A Class is the options of a layer that look the same from outside: the same words in the same clocks. They differ in
// where tables lie and in what multiplies.
type Class struct {
	Loop   dataflow.Loop
	Clocks int // iterations
	shape  int // index into LayerOptions.shapes
}

// A shape is the form of each port: what a neighbour's words must fit.
type shape struct{ in, out []form }

// New lists the options of every layer that the target's device can build and the file, which may be nil, allows. Where
// that leaves a layer none, d says so, and the result is nil. Of serial folds that the file does not ask for, those are
// listed which serial says.
func New(m *dataflow.Model, t dataflow.Target, fixed *finn.File, fifo ask.FIFO, serial Serial, d *diag.List) *Space {
	s := &Space{Model: m, Target: t, Board: ask.BudgetOf(t.Board, ask.Even(1)), Streams: newStreams(m.Graph),
		fifo: fifo}
	tellEnds(s)
	s.target, s.board, s.streams, s.converters = t, s.Board, s.Streams, map[conversion]converted{}
	s.sequences, s.worthwhile = m.Lengths != nil, serial == Worthwhile
	for _, n := range m.Graph.Nodes {
		s.add(n)
	}
	if fixed != nil && !s.fix(fixed, d) || !s.foldable(d) {
		return nil
	}
	if serial == Worthwhile {
		for i := range s.Layers {
			s.Layers[i].spare(t.Board)
			s.Layers[i].spareLarge()
		}
	}
	s.follow()
	s.Few = chooseFew(s.Layers)
	s.Memory = memoryOf(t, s.Clock)
	s.Plan(maxRows)
	return s
}

// tellEnds prices what tells where sequences end, and what else a network has that does not depend on its folding.
func tellEnds(s *Space) {
	s.Ends = s.Board.Vector(estimate.Around(s.Target, len(s.Model.Graph.Streams)).Total())
	for _, e := range s.Model.Ends() {
		s.Ends = s.Ends.Plus(s.Board.Vector(estimate.End(s.Target, e, s.Model.Lengths).Total()))
	}
}

// add lists the options of a node.
func (s *Space) add(n *dataflow.Node) {
	l := LayerOptions{Node: n}
	shapes, classes := map[string]int{}, map[string]int{}
	splitter := splitterOf(s, n)
	m, multiplies := n.Op.(dataflow.Multiplying)
	few := multiplies && m.FactorBits() <= ask.FewBits
	l.staged = splitter.sums != nil
	offer := func(f dataflow.Fold, at int, loop dataflow.Loop, made *split, cost search.Vector) {
		if made != nil {
			made.fifos = menu{s, &Region{Limit: ask.MostClocks}}.inside(n.Out[0], made)
			cost = cost.Plus(made.fifos[0])
		}
		looks := strconv.Itoa(at) + " " + loop.Key()
		if made != nil {
			looks += " " + strconv.Itoa(len(made.inner)) // which FIFOs there are
		}
		c := number(classes, looks)
		if c == len(l.Classes) {
			l.Classes = append(l.Classes, Class{loop, loop.Iterations(), at})
		}
		o := Option{f, c, cost, made}
		if few {
			o.Cost[ask.Few] = o.Cost[ask.DSP]
		}
		l.Options = append(l.Options, o)
	}
	for f := range n.Op.Folds() {
		named := f
		if l.staged {
			named.Steps = dataflow.Parallel
		}
		l.Folds = append(l.Folds, named)
		if !buildable(f, s.Target.Board) {
			continue
		}
		split, cost, ok := splitter.within(f)
		if !ok {
			continue
		}
		in, out := n.Op.Ports(f)
		sh := shape{forms(in), forms(out)}
		if !s.rowMajorEnds(n, sh) {
			continue
		}
		at := number(shapes, key(slices.Concat(sh.in, sh.out)))
		if at == len(l.shapes) {
			l.shapes = append(l.shapes, sh)
		}
		if split != nil { // the whole is not built, and its circuit would be a large one to make
			offer(named, at, split.loop, split, cost)
			continue
		}
		loop := n.Op.Loop(f, s.Target)
		offer(named, at, loop, nil, cost)
		if split, cost, ok := splitter.serial(f, loop); ok {
			named.Steps = dataflow.Serial
			l.Folds = append(l.Folds, named)
			offer(named, at, split.loop, split, cost)
		}
	}
	s.Layers = append(s.Layers, l)
}

// number is the number of a key in the order in which keys come.
func number[K comparable](index map[K]int, key K) int {
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

// rowMajorEnds reports whether the ports at the host's streams are in row-major order, which is what the host sends and
// expects.
func (s *Space) rowMajorEnds(n *dataflow.Node, sh shape) bool {
	for p, id := range n.In {
		if s.Streams[id].writer.layer < 0 && sh.in[p].tile != 0 {
			return false
		}
	}
	for p, id := range n.Out {
		if s.Streams[id].reader.layer < 0 && sh.out[p].tile != 0 {
			return false
		}
	}
	return true
}

// fix narrows every layer's options to what the file asks for, and takes its depths. It reports false where the file
// asks for what a layer cannot do; d then says so, and for every layer.
func (s *Space) fix(file *finn.File, d *diag.List) bool {
	file = file.Onto(s.Model.Graph, d)
	ok := true
	for i := range s.Layers {
		l := &s.Layers[i]
		w, can := file.Of(l.Node, l.Folds, d)
		ok = ok && can
		if !can || !w.Any() {
			continue
		}
		l.Fixed = true
		l.Options = slices.DeleteFunc(l.Options, func(o Option) bool { return !w.Allows(o.Fold) })
		if len(l.Options) == 0 {
			d.Add(l.notBuilt(s, &w))
			ok = false
		}
	}
	in, out, can := file.FIFOs(s.Model.Graph, d)
	for id := range s.Streams {
		s.Streams[id].in, s.Streams[id].out = in[id], out[id]
	}
	return file.Missing(s.Model.Graph, d) && ok && can
}

// foldable reports whether every layer has an option, and tells of those that have none.
func (s *Space) foldable(d *diag.List) bool {
	ok := true
	for i := range s.Layers {
		if l := &s.Layers[i]; len(l.Options) == 0 {
			ok = false
			dg, told := l.beyond(s, l.Folds)
			if !told {
				dg = l.Diag(diag.BudgetExceeded,
					fmt.Sprintf("every fold of %s needs a kind of resource that %s does not have", l.Node.Name,
						s.Target.Board.Name),
					"choose a board that has it")
			}
			d.Add(dg)
		}
	}
	return ok
}

// follow leaves the folds that follow the asked clock; where a layer has none that does, the clock is the fastest that
// every layer has a fold for, in whole MHz.
func (s *Space) follow() {
	most := func(l *LayerOptions, o *Option) float64 { // MHz
		if t, ok := l.Node.Op.(dataflow.Timed); ok {
			return 1000 / t.Delay(o.Fold, s.Target)
		}
		return math.Inf(1)
	}
	s.Clock = s.Target.ClockMHz
	for i := range s.Layers {
		l, fastest := &s.Layers[i], 0.0
		for o := range l.Options {
			fastest = max(fastest, most(l, &l.Options[o]))
		}
		if s.Clock > fastest {
			s.Clock = math.Floor(fastest)
		}
	}
	for i := range s.Layers {
		l := &s.Layers[i]
		l.Options = slices.DeleteFunc(l.Options, func(o Option) bool { return most(l, &o) < s.Clock })
	}
}

// chooseFew leaves those layers alone which have no choice of what multiplies few bits, and reports whether there are
// others.
func chooseFew(layers []LayerOptions) (some bool) {
	for i := range layers {
		options := layers[i].Options
		inDSPs := func(o Option) bool { return o.Cost[ask.Few] > 0 }
		switch {
		case !slices.ContainsFunc(options, inDSPs):
		case slices.ContainsFunc(options, func(o Option) bool { return !inDSPs(o) }):
			some = true
		default:
			for o := range options {
				options[o].Cost[ask.Few] = 0
			}
		}
	}
	return some
}

// Clocks is the iterations of an option.
func (l *LayerOptions) Clocks(option int) int { return l.Classes[l.Options[option].Class].Clocks }

// shape is the forms of an option's ports.
func (l *LayerOptions) shape(option int) *shape {
	return &l.shapes[l.Classes[l.Options[option].Class].shape]
}

// Range is the fewest and the most clocks per frame of the options that are left.
func (l *LayerOptions) Range() (least, most int) {
	least = ask.MostClocks
	for o := range l.Options {
		least, most = min(least, l.Clocks(o)), max(most, l.Clocks(o))
	}
	return least, most
}

// Diag is an error about the layer.
func (l *LayerOptions) Diag(code diag.Code, msg, hint string) diag.Diag {
	return diag.Diag{Severity: diag.Error, Code: code, Node: l.Origin(), Msg: msg, Hint: hint}
}

// Origin is the first ONNX node that the layer computes, empty where there is none.
func (l *LayerOptions) Origin() string {
	if len(l.Node.Origin) == 0 {
		return ""
	}
	return l.Node.Origin[0]
}

// Slowest is the layer whose fewest clocks per frame are the most, and these clocks: no interval is shorter.
func (s *Space) Slowest() (at, clocks int) {
	for i := range s.Layers {
		if n, _ := s.Layers[i].Range(); n > clocks {
			at, clocks = i, n
		}
	}
	return at, clocks
}

// PortClocks is the clocks that the host's ends take at least to move a frame.
func (s *Space) PortClocks() (clocks int) {
	for i := range s.Streams {
		clocks = max(clocks, s.Streams[i].least())
	}
	return clocks
}

// longest is an interval that no design of interest has.
const longest = 1 << 32

// Intervals is every number of clocks per frame that some layer or port takes in some fold, and what the processor's
// memory takes at most, from the shortest interval of the network on, increasing; the last one is no shorter than that
// of any design, however short of room its FIFOs are. A width converter takes as many clocks as its narrower end has
// words, which is never more than the layer at that end takes, so that it adds none.
func (s *Space) Intervals() []int {
	_, first := s.Slowest()
	first = max(first, s.PortClocks())
	list, sum := []int{first}, 0
	for i := range s.Layers {
		l := &s.Layers[i]
		for o := range l.Options {
			list = append(list, l.Clocks(o))
		}
		_, most := l.Range()
		sum += most
	}
	bytes := int64(0) // the most that a frame can be
	for i := range s.Layers {
		most := int64(0)
		for _, o := range s.Layers[i].Options {
			most = max(most, o.Cost[ask.Traffic])
		}
		bytes += most
	}
	for i := range s.Streams {
		most := int64(0)
		for _, f := range s.Streams[i].host {
			list, most = append(list, f.clocks), max(most, f.bytes)
		}
		bytes += most
	}
	list = append(list, s.Memory.clocks(bytes))
	if s.Shallow() {
		list = append(list, longest)
	} else if len(s.Layers) > 1 { // FIFOs for which there is no room hold nothing up for longer
		list = append(list, sum+len(s.Streams)*first)
	}
	slices.Sort(list)
	list = slices.Compact(list)
	at, _ := slices.BinarySearch(list, first)
	return list[at:]
}

// Shallow reports whether FIFOs are not as deep as they have to be, but as the user wants them. Then an interval may be
// any, and not one that a layer takes.
func (s *Space) Shallow() bool {
	return s.fifo != ask.FIFO{} || slices.ContainsFunc(s.Streams, func(st Stream) bool {
		return st.in.Depth > 0 || st.out.Depth > 0
	})
}

// Package space holds every way to build a network on a device. It has the folds of each layer with their costs, the
// ways to join neighbours, and trees of tables for package search. In come a model, a target, and the choices that a
// folding file fixes. Out come the intervals to try (IntervalsToTry), trees (NewRegionChoiceTree,
// NewGivenClassesChoiceTree), and whole designs for the solutions that a search finds (FoldingOfSolution, BuildDesign).
// The package asks layers for folds, ports, loops and costs, and knows none of them by name, except the width
// converter, which it inserts. Nothing here depends on the goal, and a FoldingSpace does not change after New, but for
// costs of options that it learns. The package may import goal, finn and search, the costs of hlslib, and rtlsim for
// the steps of depths.
//
//	space.go    the options of each layer, and the intervals that they make
//	split.go    folds of more than one process
//	stages.go   folds whose step functions are a process of their own
//	large.go    folds with large tables in LUTs
//	unroll.go   folds beyond the envelope, and the envelope that would allow them
//	words.go    the forms that frames travel in, width converters, and the FIFOs between layers
//	plan.go     the order of the joins of tables, the same for all regions
//	join.go     the join of two tables
//	region.go   a part of the space
//	tree.go     the tree of tables of a region
//	asked.go    the costs of options, computed when a search first asks for them
//	folding.go  the design of a solution that a search finds
//	offers.go   the options with known costs, for reports
//	path.go     the clocks that foldings take on a path, which bound latencies
//	unjoined.go neighbours that no width converter joins, and the reason
package space

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"hlsgen/boards"
	"hlsgen/folding/finn"
	"hlsgen/folding/goal"
	"hlsgen/folding/search"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/rtlsim"
)

// A FoldingSpace holds all foldings of a model on a target: the options of each layer and the forms of each stream.
// Several goroutines may use it at a time.
type FoldingSpace struct {
	Model  *dataflow.Model
	Target dataflow.Target
	// MHz: the target's clock, or the fastest clock that every layer has a fold for, if that is slower
	Clock   float64
	Board   goal.Budget // the whole device
	Layers  []LayerFoldOptions
	Streams []StreamEnds
	Known   rtlsim.RunCache // what earlier simulations learned about FIFO depths
	// Ends is the cost of the logic that does not depend on the folding: telling layers and outputs where sequences
	// end, and the logic around the network. Width converters are not in it.
	Ends search.AmountVector
	Few  bool // whether some layer can multiply few bits in LUTs or in DSP slices (goal.KindNarrowFactorDSP)
	fifo goal.FIFODepthPolicy
	// dsps, if not 0, is the most DSP slices of an option, and prices the target that asks for no other costs beyond
	dsps   int
	prices dataflow.Target
	HostMemoryBandwidth
	tables
	joints
}

// A LayerFoldOptions holds the folds that one layer may have, with their costs and clocks.
type LayerFoldOptions struct {
	Node    *dataflow.Node
	Folds   []dataflow.Fold // every legal fold
	Options []FoldOption    // the folds that the device can build and the folding file allows
	Classes []FoldOptionClass
	Fixed   bool  // whether a folding file fixes something of the layer
	staged  bool  // whether folds have parallel or serial steps; the layer itself knows neither
	few     bool  // whether the layer can multiply few bits (goal.MaxNarrowFactorBits) in LUTs or in DSP slices
	dear    []int // clocks of the serial folds that cost too much (spare)
	large   []int // clocks of the folds with large tables in LUTs (spareLarge)
	shapes  []shape
	*ledger
}

// A FoldOption is one legal fold with its class and its cost.
type FoldOption struct {
	Fold   dataflow.Fold
	clocks int // iterations
	shape  int // index into LayerFoldOptions.shapes
	bytes  int64
	inside []dataflow.Port // of a chain: what its first process writes
	forked bool            // whether the fold is split, and is no chain
	*optionFacts
}

// An optionFacts holds the facts about an option that may take a circuit to know. They are arbitrary before known is
// set.
type optionFacts struct {
	Class  int // index into LayerFoldOptions.Classes
	Cost   search.AmountVector
	split  *split // nil if one process computes the fold
	loop   dataflow.Loop
	known  bool
	absent bool // whether the board lacks a kind of resource that the option takes
	left   bool // whether the space leaves the option out, because another one is better
	over   bool // whether the option takes more DSP slices than designs may have; then Cost may lack all else
	price  func() pricedFold
	// the option with the same fold but parallel step functions that a serial option has to beat; nil if there is none
	parallel *FoldOption
}

// A ledger says up to how many clocks a layer's options are known: those that multiply factors of few bits in DSP
// slices (narrow), and all others (asked). Up to decided clocks, the options that are left out are known.
type ledger struct {
	sync.Mutex
	asked, narrow, decided int
	seen                   map[string]int              // the class of options that look the same from outside
	saved                  map[int]search.AmountVector // by PE, what serial step functions save
}

// A FoldOptionClass stands for the options of a layer that look the same from outside: they move the same words in the
// same clocks. They differ in the memory of their tables and in what multiplies (LUTs or DSP slices). It has the number
// of its first option; other numbers have no class.
type FoldOptionClass struct {
	Loop   dataflow.Loop
	Clocks int // iterations
	shape  int // index into LayerFoldOptions.shapes
}

// A shape holds the form of the words (words' elements and tiles) on each port of a layer.
type shape struct{ in, out []form }

// New returns the space of a model on a target. It lists the options of each layer that the target's device can build
// and the folding file allows; fixed may be nil. serial selects among the serial folds that the file does not ask for.
// If t.MostDSPs is not 0, the space has no foldings with options that take more DSP slices than that. If a layer has no
// option, or the file does not fit the model, New adds a diagnostic to d and returns nil.
func New(m *dataflow.Model, t dataflow.Target, fixed *finn.FoldingFile, fifo goal.FIFODepthPolicy, serial FoldFilter,
	d *diag.List) *FoldingSpace {
	if t.Functions = m.Functions; t.Functions == nil {
		t.Functions = new(circuit.FunctionLibrary)
	}
	s := &FoldingSpace{Model: m, Board: goal.BudgetOfBoard(t.Board, goal.NewUniformMaxUse(1)),
		Streams: newStreams(m.Graph), fifo: fifo, dsps: t.MostDSPs, prices: t}
	t = t.WithinDSPs(0)
	s.Target = t
	tellEnds(s)
	s.target, s.board, s.streams, s.converters = t, s.Board, s.Streams, map[conversion]converted{}
	s.sequences, s.worthwhile = m.Lengths != nil, serial == FoldFilterWorthwhile
	for _, n := range m.Graph.Nodes {
		s.add(n)
	}
	if fixed != nil && !s.fix(fixed, d) || !s.foldable(d) {
		return nil
	}
	settle(s)
	s.follow()
	s.Few = chooseFew(s)
	s.HostMemoryBandwidth = memoryOf(t, s.Clock)
	s.MakeSearchTables(maxRows)
	return s
}

// tellEnds computes the cost of telling where sequences end, and of all other logic that does not depend on the
// folding.
func tellEnds(s *FoldingSpace) {
	s.Ends = s.Board.AmountVectorOf(estimate.FixedWrapperCost(s.Target, len(s.Model.Graph.Streams)).Total())
	if s.uart = s.Model.HasUARTTop(s.Target); s.uart {
		s.Ends = s.Ends.Plus(s.Board.AmountVectorOf(estimate.UARTCost(s.Target).Total()))
	}
	for _, e := range s.Model.SequenceEndFIFOs() {
		s.Ends = s.Ends.Plus(s.Board.AmountVectorOf(estimate.SequenceEndFIFOCost(s.Target, e, s.Model.Lengths).Total()))
	}
}

// add lists the folds that a node may have, and adds them as a layer.
func (s *FoldingSpace) add(n *dataflow.Node) {
	l := LayerFoldOptions{Node: n, ledger: new(ledger)}
	shapes := map[string]int{}
	splitter := splitterOf(s, n)
	factorBits := n.Op.Describe().NarrowerFactorBits
	l.few = factorBits != nil && factorBits() <= goal.MaxNarrowFactorBits
	l.staged = splitter.sums != nil
	offer := func(o FoldOption, sh shape, price func() pricedFold) bool { // false if the board has no such fold
		if o.optionFacts = (&optionFacts{price: price}); !lazy(s, n, o.Fold) {
			if ask(s, &l, &o); o.absent {
				return false
			}
		}
		if o.shape = number(shapes, key(slices.Concat(sh.in, sh.out))); o.shape == len(l.shapes) {
			l.shapes = append(l.shapes, sh)
		}
		l.Options = append(l.Options, o)
		return true
	}
	for f := range n.Op.Folds() {
		if !s.Target.Builds(f) {
			continue // a folding file may not ask for it either
		}
		named := f
		if l.staged {
			named.Steps = dataflow.ParallelStepEvaluation
		}
		l.Folds = append(l.Folds, named)
		parts, bytes := splitter.within(f)
		if !buildable(f, s.Target.Board) || parts == 0 {
			continue
		}
		in, out := n.Op.Ports(f)
		sh := shape{forms(in), forms(out)}
		if !s.rowMajorEnds(n, sh) {
			continue
		}
		loop := n.Op.Loop(f, s.Target.ForMovesOnly())
		o := FoldOption{Fold: named, clocks: loop.IterationsPerFrame(), bytes: bytes, forked: parts > 1}
		if !offer(o, sh, func() pricedFold { return splitter.priced(f, parts) }) || parts > 1 {
			continue
		}
		if port, ok := splitter.serial(f, loop); ok {
			o.bytes, o.inside = 0, []dataflow.Port{port}
			o.Fold.Steps = dataflow.SerialStepEvaluation
			l.Folds = append(l.Folds, o.Fold)
			offer(o, sh, func() pricedFold { return splitter.chained(f) })
		}
	}
	s.Layers = append(s.Layers, l)
}

// number returns the number of a key by index. A key that index does not have yet gets the next number.
func number[K comparable](index map[K]int, key K) int {
	i, ok := index[key]
	if !ok {
		i = len(index)
		index[key] = i
	}
	return i
}

// buildable reports whether the device can hold the fold's tables in the fold's memory. The bitstream fills a table,
// and not every device can fill its UltraRAM from the bitstream.
func buildable(f dataflow.Fold, b boards.Board) bool {
	return f.Memory != dataflow.MemoryURAM || b.CanInitialiseURAM()
}

// rowMajorEnds reports whether the node's ports to the host are in row-major order. The host sends and expects that
// order.
func (s *FoldingSpace) rowMajorEnds(n *dataflow.Node, sh shape) bool {
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

// fix narrows each layer's options to those that the file allows, and takes the file's FIFO depths. It returns false
// after adding a diagnostic for each layer if the file asks for what a layer cannot have.
func (s *FoldingSpace) fix(file *finn.FoldingFile, d *diag.List) bool {
	file = file.WithRenumberedWindows(s.Model.Graph, d)
	ok := true
	for i := range s.Layers {
		l := &s.Layers[i]
		w, can := file.ChoicesForLayer(l.Node, l.Folds, d)
		ok = ok && can
		if !can || !w.HasFixedValues() {
			continue
		}
		l.Fixed = true
		l.Options = slices.DeleteFunc(l.Options, func(o FoldOption) bool { return !w.AllowsFold(o.Fold) })
		if len(l.Options) == 0 {
			d.Add(l.notBuilt(s, &w))
			ok = false
		}
	}
	in, out, can := file.FIFOsForGraph(s.Model.Graph, d)
	for id := range s.Streams {
		s.Streams[id].in, s.Streams[id].out = in[id], out[id]
	}
	return file.ReportUnknownLayers(s.Model.Graph, d) && ok && can
}

// foldable reports whether each layer has an option. It adds a diagnostic to d for each layer that has none.
func (s *FoldingSpace) foldable(d *diag.List) bool {
	ok := true
	for i := range s.Layers {
		if l := &s.Layers[i]; len(l.Options) == 0 {
			ok = false
			dg, told := l.beyond(s, l.Folds)
			if !told {
				dg = l.NewLayerErrorDiag(diag.BudgetExceeded,
					fmt.Sprintf("every fold of %s needs a kind of resource that %s does not have", l.Node.Name,
						s.Target.Board.Name),
					"choose a board that has it")
			}
			d.Add(dg)
		}
	}
	return ok
}

// follow keeps, of each layer, the folds that can run at the requested clock. If a layer has no such fold, the clock
// becomes the fastest one that every layer has a fold for, in whole MHz.
func (s *FoldingSpace) follow() {
	most := func(l *LayerFoldOptions, o *FoldOption) float64 { // MHz
		if carried := l.Node.Op.Describe().CarriedDelayNS; carried != nil {
			return 1000 / carried(o.Fold, s.Target)
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
		l.Options = slices.DeleteFunc(l.Options, func(o FoldOption) bool { return most(l, &o) < s.Clock })
	}
}

// chooseFew finds the layers that can choose between LUTs and DSP slices for factors of few bits. It returns true if
// there is one. Only these have amounts of goal.KindNarrowFactorDSP. Most often it asks for two options of a layer.
func chooseFew(s *FoldingSpace) (some bool) {
	for i := range s.Layers {
		l := &s.Layers[i]
		if !l.few {
			continue
		}
		slowest := map[dataflow.MultiplierKind]*FoldOption{}
		for k := range l.Options {
			o := &l.Options[k]
			if last := slowest[o.Fold.Compute]; last == nil || o.clocks > last.clocks {
				slowest[o.Fold.Compute] = o
			}
		}
		takes := map[bool]bool{} // whether some option takes no DSP slices, or some
		look := func(o *FoldOption) {
			ask(s, l, o)
			takes[o.Cost[goal.KindDSP] > 0] = true
		}
		for _, o := range slowest {
			look(o)
		}
		for k := 0; k < len(l.Options) && len(takes) < 2; k++ {
			if o := &l.Options[k]; o.known || slowest[dataflow.MultiplierInDSPs] != nil {
				look(o)
			}
		}
		if l.few = len(takes) == 2; l.few {
			some = true
			continue
		}
		for k := range l.Options {
			l.Options[k].Cost[goal.KindNarrowFactorDSP] = 0
		}
	}
	return some
}

// OptionClocks returns the clocks that a frame takes in the layer with an option.
func (l *LayerFoldOptions) OptionClocks(option int) int {
	return l.Options[option].clocks
}

// shape returns the forms of an option's ports.
func (l *LayerFoldOptions) shape(option int) *shape {
	return &l.shapes[l.Options[option].shape]
}

// ClocksRange returns the fewest and the most clocks per frame of the remaining options.
func (l *LayerFoldOptions) ClocksRange() (least, most int) {
	least = goal.ClocksBeyondAnyInterval
	for o := range l.Options {
		least, most = min(least, l.OptionClocks(o)), max(most, l.OptionClocks(o))
	}
	return least, most
}

// NewLayerErrorDiag returns an error about the layer, with the name of the ONNX node that it computes.
func (l *LayerFoldOptions) NewLayerErrorDiag(code diag.Code, msg, hint string) diag.Diag {
	return diag.Diag{Severity: diag.SeverityError, Code: code, Node: l.FirstOriginNodeName(), Msg: msg, Hint: hint}
}

// FirstOriginNodeName returns the name of the first ONNX node that the layer computes, or "" if there is none.
func (l *LayerFoldOptions) FirstOriginNodeName() string {
	if len(l.Node.Origin) == 0 {
		return ""
	}
	return l.Node.Origin[0]
}

// SlowestLayerAtFastestOptions returns the index of the layer whose fastest option takes the most clocks per frame, and
// these clocks. No design has a shorter interval.
func (s *FoldingSpace) SlowestLayerAtFastestOptions() (at, clocks int) {
	for i := range s.Layers {
		if n, _ := s.Layers[i].ClocksRange(); n > clocks {
			at, clocks = i, n
		}
	}
	return at, clocks
}

// MinHostPortClocksPerFrame returns the fewest clocks that the host's ports need to move a frame.
func (s *FoldingSpace) MinHostPortClocksPerFrame() (clocks int) {
	for i := range s.Streams {
		clocks = max(clocks, s.Streams[i].least())
	}
	return clocks
}

// longest is a number of clocks that no useful design needs for a frame.
const longest = 1 << 32

// IntervalsToTry returns the intervals to try in clocks, in increasing order. They are the clocks per frame of each
// option of each layer, those of each port, and the most that the processor's memory takes. They begin at the network's
// shortest interval. The last one is no shorter than that of any design, however small its FIFOs are. Width converters
// add no interval. A width converter takes as many clocks as its narrower end has words, and the layer at that end
// takes at least as many.
func (s *FoldingSpace) IntervalsToTry() []int {
	_, first := s.SlowestLayerAtFastestOptions()
	first = max(first, s.MinHostPortClocksPerFrame())
	list, sum := []int{first}, 0
	for i := range s.Layers {
		l := &s.Layers[i]
		for o := range l.Options {
			list = append(list, l.OptionClocks(o))
		}
		_, most := l.ClocksRange()
		sum += most
	}
	bytes := int64(0) // the most bytes of a frame
	for i := range s.Layers {
		most := int64(0)
		for _, o := range s.Layers[i].Options {
			most = max(most, o.bytes)
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
	list = append(list, s.HostMemoryBandwidth.clocks(bytes))
	if s.FIFOsMayLimitInterval() {
		list = append(list, longest)
	} else if len(s.Layers) > 1 { // FIFOs that are too small hold up no frame for longer than this
		list = append(list, sum+len(s.Streams)*first)
	}
	slices.Sort(list)
	list = slices.Compact(list)
	at, _ := slices.BinarySearch(list, first)
	return list[at:]
}

// FIFOsMayLimitInterval reports whether the user fixes FIFO depths. Then FIFOs may be less deep than the design needs,
// and an interval need not be the clocks of a layer.
func (s *FoldingSpace) FIFOsMayLimitInterval() bool {
	return s.fifo != goal.FIFODepthPolicy{} || slices.ContainsFunc(s.Streams, func(st StreamEnds) bool {
		return st.in.Depth > 0 || st.out.Depth > 0
	})
}

package space

import (
	"fmt"
	"slices"
	"strconv"

	"hlsgen/folding/goal"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// Where costs and latencies come from circuits, a space knows those of an option only after a search has asked for
// them: it asks for all options of a layer that take at most so many clocks. Most options of large networks are slower
// than any useful design, and their circuits are never built.

// ask computes the cost and the loop of an option, at the first call.
func ask(s *FoldingSpace, l *LayerFoldOptions, o *FoldOption) {
	if o.known {
		return
	}
	p := o.price()
	o.price, o.known, o.split, o.loop = nil, true, p.made, p.loop
	if n := p.loop.IterationsPerFrame(); n != o.clocks {
		panic(fmt.Sprintf("folding: a fold of %s takes %d clocks, and %d in its parts", l.Node.Name, o.clocks, n))
	}
	o.over = s.dsps > 0 && p.cost.DSP > s.dsps
	o.absent = !goal.BoardHasResourceKinds(p.cost, s.Target.Board)
	o.Cost = s.Board.AmountVectorOf(p.cost)
	o.Cost[goal.KindMemoryBytesPerFrame] = o.bytes
	if o.split != nil {
		o.split.fifos = menu{s, &FoldingRegion{Limit: goal.ClocksBeyondAnyInterval}}.inside(l.Node.Out[0], o.split)
		o.Cost = o.Cost.Plus(o.split.fifos[0])
	}
	if l.few {
		o.Cost[goal.KindNarrowFactorDSP] = o.Cost[goal.KindDSP]
	}
}

// askAll computes the costs and the classes of the layer's options that take at most the given clocks per frame. Among
// these, it marks those that the space leaves out.
func askAll(s *FoldingSpace, l *LayerFoldOptions, clocks int) {
	l.ledger.Lock()
	defer l.ledger.Unlock()
	from := l.ledger.asked
	if clocks <= from {
		return
	}
	l.ledger.asked = clocks
	if l.Classes == nil {
		l.Classes = make([]FoldOptionClass, len(l.Options))
	}
	now := func(o *FoldOption) bool { return o.clocks > from && o.clocks <= clocks }
	classes := map[string]int{} // options of one class take the same clocks
	for i := range l.Options {
		o := &l.Options[i]
		if !now(o) {
			continue
		}
		ask(s, l, o)
		looks := strconv.Itoa(o.shape) + " " + o.loop.TextKey()
		if o.split != nil {
			looks += " " + strconv.Itoa(len(o.split.inner)) // options with different FIFOs inside are different classes
		}
		c, ok := classes[looks]
		if !ok {
			c = i
			classes[looks], l.Classes[i] = i, FoldOptionClass{o.loop, o.clocks, o.shape}
		}
		o.Class, o.loop = c, dataflow.Loop{}
	}
	if s.worthwhile {
		for i := range l.Options {
			if o := &l.Options[i]; now(o) && o.parallel != nil {
				ask(s, l, o.parallel)
			}
		}
		l.spare(s.Target.Board, now)
		l.spareLarge(now)
	}
}

// settle leaves out options. Where costs need no circuits, it asks for all of them.
func settle(s *FoldingSpace) {
	for i := range s.Layers {
		l := &s.Layers[i]
		if s.worthwhile {
			l.pair()
			l.spareLarge(func(o *FoldOption) bool { return o.inside == nil })
		}
		l.drop()
		if !estimate.UsesCircuitEstimates(s.Target) {
			askAll(s, l, goal.ClocksBeyondAnyInterval)
			l.drop()
		}
	}
}

// drop removes the options that are left out.
func (l *LayerFoldOptions) drop() {
	l.Options = slices.DeleteFunc(l.Options, func(o FoldOption) bool { return o.left })
}

// CountOffered returns the number of the layer's options, without those of at most the given clocks that are left out.
func CountOffered(s *FoldingSpace, layer, clocks int) int {
	l := &s.Layers[layer]
	askAll(s, l, clocks)
	n := len(l.Options)
	for i := range l.Options {
		if o := &l.Options[i]; o.clocks <= clocks && o.left {
			n--
		}
	}
	return n
}

// CountOver returns the number of options of at most the given clocks that take too many DSP slices.
func CountOver(s *FoldingSpace, clocks int) (n int) {
	for i := range s.Layers {
		l := &s.Layers[i]
		askAll(s, l, clocks)
		for k := range l.Options {
			if o := &l.Options[k]; o.clocks <= clocks && o.over && !o.left {
				n++
			}
		}
	}
	return n
}

// IsOffered reports whether an option, which must be known, is neither left out nor too large.
func (l *LayerFoldOptions) IsOffered(option int) bool {
	return !l.Options[option].left && !l.Options[option].over
}

// Knows reports whether the space knows the costs of all options of at most the given clocks.
func Knows(s *FoldingSpace, clocks int) bool {
	for i := range s.Layers {
		l := s.Layers[i].ledger
		l.Lock()
		asked := l.asked
		l.Unlock()
		if asked < clocks {
			return false
		}
	}
	return true
}

// AskOptions computes what the space does not know yet of its options of at most the given clocks.
func AskOptions(s *FoldingSpace, clocks int) {
	for i := range s.Layers {
		askAll(s, &s.Layers[i], clocks)
	}
}

// lazy reports whether an option's cost can wait until a search asks for it. It cannot if the board might lack a kind
// of resource that the option takes, because then it is no option.
func lazy(s *FoldingSpace, n *dataflow.Node, f dataflow.Fold) bool {
	if _, ok := n.Op.(dataflow.HasCircuit); !ok || !estimate.UsesCircuitEstimates(s.Target) {
		return false
	}
	have := goal.ResourcesOfBoard(s.Target.Board)
	return (have.DSP > 0 || f.Compute != dataflow.MultiplierInDSPs) &&
		(have.URAM > 0 || f.Memory != dataflow.MemoryURAM)
}

// CountOmittedSerialFolds returns the number of serial folds of at most the given clocks that the space left out
// although they save something.
func CountOmittedSerialFolds(s *FoldingSpace, clocks int) int {
	return leftOut(s, clocks, func(l *LayerFoldOptions) []int { return l.dear })
}

// CountOmittedLargeTableFolds returns the number of folds of at most the given clocks that the space left out because
// of large tables in LUTs.
func CountOmittedLargeTableFolds(s *FoldingSpace, clocks int) int {
	return leftOut(s, clocks, func(l *LayerFoldOptions) []int { return l.large })
}

// leftOut counts the entries of at most the given clocks in a list of each layer.
func leftOut(s *FoldingSpace, clocks int, list func(l *LayerFoldOptions) []int) (n int) {
	for i := range s.Layers {
		l := &s.Layers[i]
		askAll(s, l, clocks)
		l.Lock()
		for _, iterations := range list(l) {
			if iterations <= clocks {
				n++
			}
		}
		l.Unlock()
	}
	return n
}

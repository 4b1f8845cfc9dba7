package space

import (
	"fmt"
	"slices"
	"strconv"

	"hlsgen/folding/goal"
	"hlsgen/folding/search"
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

// askAll computes the costs and the classes of the layer's options that take at most the given clocks per frame. It
// decides which of them the space leaves out, and does not ask for these. With spares, it also does not ask for those
// that multiply factors of few bits in DSP slices.
func askAll(s *FoldingSpace, l *LayerFoldOptions, clocks int, spares bool) {
	l.ledger.Lock()
	defer l.ledger.Unlock()
	omit(s, l, clocks)
	askKind(s, l, clocks, false)
	if !spares {
		askKind(s, l, clocks, true)
	}
}

// askKind does the work of askAll for the options that multiply factors of few bits in DSP slices, or for all others.
func askKind(s *FoldingSpace, l *LayerFoldOptions, clocks int, narrow bool) {
	if l.Classes == nil {
		l.Classes, l.seen = make([]FoldOptionClass, len(l.Options)), map[string]int{}
	}
	asked := &l.ledger.asked
	if narrow {
		asked = &l.ledger.narrow
	}
	from := *asked
	*asked = max(from, clocks)
	for i := range l.Options {
		o := &l.Options[i]
		if o.clocks <= from || o.clocks > clocks || o.left || l.isNarrow(o) != narrow {
			continue
		}
		ask(s, l, o)
		looks := fmt.Sprint(o.clocks, " ", o.shape, " ", o.loop.TextKey())
		if o.split != nil {
			looks += " " + strconv.Itoa(len(o.split.inner)) // options with different FIFOs inside are different classes
		}
		c, ok := l.seen[looks]
		if !ok {
			c = i
			l.seen[looks], l.Classes[i] = i, FoldOptionClass{o.loop, o.clocks, o.shape}
		}
		o.Class, o.loop = c, dataflow.Loop{}
	}
}

// isNarrow reports whether an option multiplies factors of few bits in DSP slices (goal.KindNarrowFactorDSP).
func (l *LayerFoldOptions) isNarrow(o *FoldOption) bool {
	return l.few && o.Fold.Compute == dataflow.MultiplierInDSPs
}

// omit decides which options of at most the given clocks the space leaves out. It asks for two options of each PE at
// most. The caller holds the layer's lock.
func omit(s *FoldingSpace, l *LayerFoldOptions, clocks int) {
	from := l.ledger.decided
	if clocks <= from || !s.worthwhile {
		return
	}
	l.ledger.decided = clocks
	now := func(o *FoldOption) bool { return o.clocks > from && o.clocks <= clocks }
	l.spare(s, now)
	l.spareLarge(now)
}

// spare leaves out the serial options among now that save too few LUTs for their block RAM.
func (l *LayerFoldOptions) spare(s *FoldingSpace, now func(*FoldOption) bool) {
	have := goal.ResourcesOfBoard(s.Target.Board)
	for i := range l.Options {
		o := &l.Options[i]
		if !now(o) || o.parallel == nil {
			continue
		}
		saved := l.savedBySearch(s, o.Fold.PE)
		if saved[goal.KindLUT] > 0 &&
			-saved[goal.KindBRAM]*int64(have.LUT) <= MaxBRAMPerSavedLUTShare*saved[goal.KindLUT]*int64(have.BRAM) {
			continue
		}
		if o.left = true; slices.ContainsFunc(saved[:], func(amount int64) bool { return amount > 0 }) {
			l.dear = append(l.dear, o.clocks)
		}
	}
}

// savedBySearch returns what serial step functions save at a PE. That does not depend on SIMD, on the memory of the
// weights, or on what multiplies, so it is the difference of the slowest two options that have the PE, which are the
// smallest.
func (l *LayerFoldOptions) savedBySearch(s *FoldingSpace, pe int) search.AmountVector {
	saved, ok := l.saved[pe]
	if ok {
		return saved
	}
	var slowest *FoldOption
	for i := range l.Options {
		o := &l.Options[i]
		if o.parallel != nil && o.Fold.PE == pe && (slowest == nil || o.clocks > slowest.clocks) {
			slowest = o
		}
	}
	ask(s, l, slowest)
	ask(s, l, slowest.parallel)
	if l.saved == nil {
		l.saved = map[int]search.AmountVector{}
	}
	l.saved[pe] = slowest.parallel.Cost.Minus(slowest.Cost)
	return l.saved[pe]
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
			omit(s, l, goal.ClocksBeyondAnyInterval)
			l.drop()
			askAll(s, l, goal.ClocksBeyondAnyInterval, false)
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
	l.Lock()
	defer l.Unlock()
	omit(s, l, clocks)
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
	if s.dsps == 0 {
		return 0
	}
	for i := range s.Layers {
		l := &s.Layers[i]
		askAll(s, l, clocks, false)
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
		asked := min(l.asked, l.narrow)
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
		askAll(s, &s.Layers[i], clocks, false)
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
		l.Lock()
		omit(s, l, clocks)
		for _, iterations := range list(l) {
			if iterations <= clocks {
				n++
			}
		}
		l.Unlock()
	}
	return n
}

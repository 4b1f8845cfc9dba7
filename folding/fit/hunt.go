package fit

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"hlsgen/folding/search"
	"hlsgen/folding/space"
	"hlsgen/internal/dataflow"
	"hlsgen/rtlsim"
)

// A hunt searches for the design with the least measure at an interval and within caps. A design is a folding with
// FIFOs as deep as they have to be, and with the host's port. The search is best-first branch and bound. It may stop
// anywhere and resume later.
//
// A tree bounds foldings from below: its FIFOs have two words, or as many as their memory holds at the same cost. The
// tree's best folding is built and simulated. If it keeps the interval, it is the best design. Otherwise the simulator
// names layers that need deeper FIFOs on some of the streams between them. The region is divided into those in which
// one of these layers has another class, and those in which one of these FIFOs is deeper. The folding, with FIFOs as
// deep as it needs, is a design that others must beat. The region with the least bound is next, until no bound is less
// than the best design. For example:
//
//	region               bound   its best folding
//	all                    100   needs 64 words between b and c; built so, it is a design that takes 130
//	another class of b     110   keeps the interval as it is: a design that takes 110
//	another class of c     115   not examined: no better
//	64 words there         118   not examined: 110 is the least
type hunt struct {
	*DesignSearch
	limit   int
	measure search.Objective
	caps    search.Caps
	best    *space.Folding // the best design; nil if none is known
	taken   func(*space.Folding)
	open    []*node // open nodes, the least bound last; of equal bounds the oldest last
	left    []*node // regions that were not searched to the end
	made    int
	begun   bool
	took    int // the steps of work when the best design was found
	each    int // the steps of work for the last folding
	// measures of the network's size: the steps for a first bound, and the words per frame of a first folding
	bounded, words int
	last           sized // the last sizing in the region of all foldings
}

// A node is a region of foldings that is still to be searched, with its best folding as far as the tree's lower bounds
// tell.
type node struct {
	space.FoldingRegion
	solution *search.Solution // nil until solve has found it
	proved   bool             // whether the region has no better folding
	tries    int              // the number of searches for solution
	bound    float64
	number   int
}

// The work for a first folding. It looks at quickNodes nodes to find one. Then it looks at goodNodes nodes to improve
// it, in goodWork steps, or in as many steps as the first bound took if that is more.
const (
	quickNodes = 8
	goodNodes  = 50
	goodWork   = 10_000_000
)

// first looks for a design with little work: it finds a good folding and builds it. The hunt's limit of work does not
// end it.
func (h *hunt) first(ctx context.Context) error {
	h.begun = true
	all := space.FoldingRegion{Limit: h.limit}
	before, limit := h.Effort.Done, h.Effort.Limit
	t := h.tree(&all)
	bound := t.LowerBoundOf(h.measure, h.caps)
	h.bounded = h.Effort.Done - before
	if math.IsInf(bound, 1) {
		return nil
	}
	n := h.add(all, bound)
	s, none, err := t.FindQuickSolution(ctx, h.measure, h.caps, quickNodes)
	if none {
		h.open = nil
	}
	if err != nil || s == nil {
		return err
	}
	h.Effort.Limit = min(limit, h.Effort.Done+max(goodWork, h.bounded))
	least, err := t.FindMinimalSolution(ctx, h.measure, s, h.caps, goodNodes)
	h.Effort.Limit = limit
	if err != nil {
		return err
	}
	n.solution, n.proved, n.bound = least.Best, least.Proved, max(n.bound, least.Bound)
	n.tries++
	if h.Effort.MustEndAllSearches() {
		return nil // designs found now do not count
	}
	f := h.FoldingOfSolution(&all, n.solution)
	_, _, err = h.try(ctx, n, f, h.OptionClassesOf(f.Options))
	return err
}

// run hunts until the limit of work is reached or, if any is true, until it has a design. It also ends when the work
// since the best design, with the work of one more folding like the last, would exceed patience steps.
func (h *hunt) run(ctx context.Context, any bool, patience int) error {
	if !h.begun {
		h.begun, h.took = true, h.Effort.Done
		all := space.FoldingRegion{Limit: h.limit}
		if bound := h.tree(&all).LowerBoundOf(h.measure, h.caps); !math.IsInf(bound, 1) {
			h.add(all, bound)
		}
	}
	for !h.Effort.MustEndSearch() && !(h.best != nil && (any || h.Effort.Done+h.each > h.took+patience)) {
		last := len(h.open) - 1
		if last < 0 || h.open[last].bound >= h.value() {
			break
		}
		n, next := h.open[last], h.look
		h.open = h.open[:last]
		if n.solution == nil {
			next = h.solve
		}
		if err := next(ctx, n); err != nil {
			h.push(n) // the node's bound still holds
			return err
		}
	}
	return nil
}

// bound returns a lower bound on the measure of all designs of the hunt. It is the best design's measure if that is
// proved, and infinite if there surely is no design.
func (h *hunt) bound() float64 {
	bound := h.value()
	for _, list := range [][]*node{h.open, h.left} {
		for _, n := range list {
			bound = min(bound, n.bound)
		}
	}
	return bound
}

// value returns the measure of the best design that is known, or infinity if none is.
func (h *hunt) value() float64 {
	if h.best == nil {
		return math.Inf(1)
	}
	return h.best.MeasureOf(h.measure)
}

// within returns the caps that a design better than the best one has to keep.
func (h *hunt) within() search.Caps {
	if h.best == nil {
		return h.caps
	}
	return h.best.CapsToMatch(h.measure, h.caps, 1)
}

// add makes an open node of a region in which nothing measures less than bound.
func (h *hunt) add(r space.FoldingRegion, bound float64) *node {
	n := &node{FoldingRegion: r, bound: bound, number: h.made}
	h.push(n)
	h.made++
	return n
}

// push adds a node to those that are open, sorted by bound.
func (h *hunt) push(n *node) {
	at, _ := slices.BinarySearchFunc(h.open, n, func(a, b *node) int {
		return cmp.Or(cmp.Compare(b.bound, a.bound), b.number-a.number)
	})
	h.open = slices.Insert(h.open, at, n)
}

// solve looks for the best folding of a node, with more effort each time. It opens the node again, unless the region
// holds nothing useful. It takes at most a part of the remaining effort, so that some is left to build the folding.
func (h *hunt) solve(ctx context.Context, n *node) error {
	const first, tries, part = 50, 12, 2
	limit := h.Effort.Limit
	h.Effort.Limit = h.Effort.Done + max(0, limit-h.Effort.Done)/part
	least, err := h.tree(&n.FoldingRegion).FindMinimalSolution(ctx, h.measure, nil, h.within(), first<<(2*n.tries))
	h.Effort.Limit = limit
	if err != nil {
		return err
	}
	n.solution, n.proved, n.bound = least.Best, least.Proved, max(n.bound, least.Bound)
	n.tries++
	switch {
	case least.Best != nil || !least.Proved && n.tries < tries && !h.Effort.MustEndSearch():
		h.push(n)
	case !least.Proved:
		h.left = append(h.left, n)
	}
	return nil
}

// look builds the best folding of the node n. It divides the node's region if the design needs deeper FIFOs than the
// tree knew.
func (h *hunt) look(ctx context.Context, n *node) error {
	f := h.FoldingOfSolution(&n.FoldingRegion, n.solution)
	class := h.OptionClassesOf(f.Options)
	b, z, err := h.try(ctx, n, f, class)
	if z != nil && z.NotProved {
		h.left = append(h.left, n) // the parts do not cover designs like this one
	}
	switch {
	case err != nil:
		return err
	case b == nil: // the layers do not join at streams where the plan drops an end
		h.divide(n, class, h.layersAt(h.Wide), nil)
	case z != nil && z.HitLimit:
		h.left = append(h.left, n)
	case z != nil && z.NotProved && h.best != nil:
	case z == nil || !z.Feasible: // FIFO depths that the user gives are too small
		h.divide(n, class, nil, nil)
	case len(z.Needs) > 0:
		least := slices.MinFunc(z.Needs, func(a, b rtlsim.TooShallowPart) int { return len(a.Nodes) - len(b.Nodes) })
		layers, streams := b.LayersAndStreamsOf(least.Nodes)
		h.divide(n, class, h.layersAt(streams, layers...), b.NextFIFODepths(least.Streams))
	case len(h.Wide) > 0:
		h.divide(n, class, nil, nil)
	case !n.proved:
		n.solution = nil
		h.push(n)
	}
	return nil
}

// try builds a folding of a node, sizes its FIFOs, and takes it if it is better than the best. b is nil if the layers
// cannot be joined.
func (h *hunt) try(ctx context.Context, n *node, f *space.Folding, class []int32) (b *space.FoldedDesign,
	z *rtlsim.FIFOSizing,
	err error) {
	before := h.Effort.Done
	defer func() {
		if steps := h.Effort.Done - before; steps > 0 {
			h.each = steps
		}
	}()
	if b = h.BuildDesign(f); b == nil {
		return nil, nil, nil
	}
	if h.words == 0 {
		h.words = StreamWordsPerFrame(b.Design)
	}
	if z, err = h.sizeOnce(ctx, n, b, f); err != nil || z == nil || z.HitLimit || !z.Feasible {
		return b, z, err
	}
	if len(z.Needs) == 0 && len(h.Wide) == 0 && z.Unsimulated {
		if ok, err := h.runs(ctx, f, b.Design); err != nil {
			return b, z, err
		} else if !ok {
			z, err = h.size(ctx, b, n.Limit, false)
			if err != nil || z == nil || !z.Feasible {
				return b, z, err
			}
		}
	}
	if len(z.Needs) == 0 && len(h.Wide) == 0 {
		h.take(f)
		return b, z, nil
	}
	with, ok, err := h.assess(ctx, &n.FoldingRegion, b, class, z)
	if err == nil && !ok {
		if z, err = h.size(ctx, b, n.Limit, false); err != nil || z == nil || !z.Feasible {
			return b, z, err
		}
		with, _, err = h.assess(ctx, &n.FoldingRegion, b, class, z)
	}
	if err == nil && h.best == nil {
		err = h.again(ctx, with)
	}
	return b, z, err
}

// sizeOnce calls size for a folding. In the region of all foldings, it returns the last result if this folding was the
// last to be sized there.
func (h *hunt) sizeOnce(ctx context.Context, n *node, b *space.FoldedDesign, f *space.Folding) (*rtlsim.FIFOSizing,
	error) {
	l := &h.last
	if !n.IsWhole() {
		return h.size(ctx, b, n.Limit, true)
	}
	if l.sizing == nil || !slices.Equal(l.options, f.Options) || !slices.Equal(l.depths, b.FIFODepthsWords()) {
		z, err := h.size(ctx, b, n.Limit, true)
		if err != nil {
			return nil, err
		}
		*l = sized{f.Options, b.FIFODepthsWords(), z}
	}
	return l.sizing, nil
}

// sized is the last sizing: the folding, its FIFOs' depths before, and the result.
type sized struct {
	options []int32
	depths  []int
	sizing  *rtlsim.FIFOSizing
}

// StreamWordsPerFrame returns the words of one frame, summed over all streams of a design.
func StreamWordsPerFrame(d *dataflow.Design) (n int) {
	for s := range d.Model.Graph.Streams {
		n += d.PortOfStream(s).Words
	}
	return n
}

// again looks for a first design when the FIFOs of the best folding exceed what it left of the budget. It searches a
// region whose FIFOs have at least the depths that this folding needs, so that the search pays for them from the
// beginning. It has work of its own, because sizing the FIFOs of a large network may have spent all of the effort.
func (h *hunt) again(ctx context.Context, r space.FoldingRegion) error {
	const times, looks = 3, 400
	work := max(4_000_000, 2*h.bounded)
	for range times {
		own := *h.DesignSearch
		own.Effort = h.Effort.NewSeparateCounter(work)
		least, err := own.tree(&r).FindMinimalSolution(ctx, h.measure, nil, h.within(), looks)
		h.Effort.Done += own.Effort.Done
		if err != nil || least.Best == nil || h.Effort.MustEndAllSearches() {
			return err
		}
		f := h.FoldingOfSolution(&r, least.Best)
		b := h.BuildDesign(f)
		if b == nil {
			return nil
		}
		z, err := h.size(ctx, b, r.Limit, false)
		if err != nil || z == nil || !z.Feasible {
			return err
		}
		if len(z.Needs) == 0 && len(h.Wide) == 0 {
			h.take(f)
			return nil
		}
		was := h.best
		if r, _, err = h.assess(ctx, &r, b, h.OptionClassesOf(f.Options), z); err != nil || h.best != was {
			return err
		}
	}
	return nil
}

// assess finds the best way to build a folding of the given classes, with FIFOs as deep as z says. It takes it if it is
// better than the best design. It returns the region with these depths. If the depths are untried, the design is
// simulated; ok is false if it does not keep the interval.
func (h *hunt) assess(ctx context.Context, r *space.FoldingRegion, b *space.FoldedDesign, class []int32,
	z *rtlsim.FIFOSizing) (
	with space.FoldingRegion, ok bool, err error) {
	with = r.WithMinFIFODepths(b, z.Words)
	f, err := h.DesignSearch.assess(ctx, &with, class, nil, h.measure, h.within())
	if f == nil || err != nil {
		return with, true, err
	}
	if z.Unsimulated {
		if ok, err = h.runs(ctx, f, h.BuildDesign(f).Design); !ok || err != nil {
			return with, false, err
		}
	}
	h.take(f)
	return with, true, nil
}

// runs reports whether a design keeps the interval in a simulation. It does not simulate, and reports true, if the
// design is useless or the whole search has ended. Each run counts as the same effort, however long it is.
func (h *hunt) runs(ctx context.Context, f *space.Folding, d *dataflow.Design) (bool, error) {
	const frames = 8 // runs of large frames rarely have more
	h.Effort.Done += wordSteps * h.words * frames
	if h.Effort.MustEndAllSearches() || h.useless(f, h.Spares) {
		return true, nil
	}
	t, err := h.SimulateSteadyState(ctx, d)
	if err != nil {
		if dead := new(rtlsim.Deadlock); errors.As(err, &dead) {
			err = nil
		}
		return false, err
	}
	return t.IntervalClocks() <= float64(h.limit), nil
}

// take makes a folding the best design, if it is within the caps of a better one and the search need not end.
func (h *hunt) take(f *space.Folding) {
	caps := h.within()
	if f.Cost.IsWithin(&caps.AmountVector) && !h.Effort.MustEndAllSearches() {
		h.best, h.took = f, h.Effort.Done
		h.taken(f)
	}
}

// layersAt returns the given layers and those at both ends of the given streams, sorted, each once.
func (h *hunt) layersAt(streams []int, layers ...int) []int {
	for _, id := range streams {
		writer, reader := h.Streams[id].WriterAndReaderLayers()
		layers = append(layers, writer, reader)
	}
	layers = slices.DeleteFunc(layers, func(l int) bool { return l < 0 })
	slices.Sort(layers)
	return slices.Compact(layers)
}

// divide opens the parts of a node's region that remain without the folding of these classes. In them, one of the
// layers has another class, or one of the FIFOs in short is deeper.
func (h *hunt) divide(n *node, class []int32, layers []int, short map[space.FIFOPlace]int) {
	for _, part := range n.DivideWithoutFolding(class, layers, short) {
		h.add(part, n.bound)
	}
}

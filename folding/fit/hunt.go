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

// A hunt is a search for the whole design at an interval that measures least within caps: a folding with FIFOs as deep
// as they have to be, and with the host's port. It is branch and bound, best first. It may stop anywhere, and goes on
// from there.
//
// A tree says what foldings take at least: FIFOs of two words, or of what their memory holds anyway. Its best folding
// is built and simulated. If that keeps the interval, it is the best design. Else the simulator says which layers need
// deeper FIFOs between some of their streams: the region is divided into those in which one of these layers has another
// class, and those in which one of these FIFOs is deeper; and the folding is a design with FIFOs of the words that it
// needs, which any other has to beat. The region with the least bound is next, until no bound is less than the best
// design. For example:
//
//	region               bound   its best folding
//	all                    100   needs 64 words between b and c; so built, it is a design that takes 130
//	another class of b     110   keeps the interval as it is: a design that takes 110
//	another class of c     115   not looked at: no better
//	64 words there         118   nor this: 110 is the least
type hunt struct {
	*Question
	limit   int
	measure search.Measure
	caps    search.Caps
	best    *space.Folding // nil where none is known
	taken   func(*space.Folding)
	open    []*node // the one with the least bound last, of equal ones the oldest
	left    []*node // regions that could not be looked at to the end
	made    int
	begun   bool
	took    int // steps until the best design
	each    int // steps that it took to make the last folding whole
	// what tells how large the network is: the steps of a first bound, and the words of a frame of a first folding
	bounded, words int
	last           sized // of the region of all
}

// A node is a region with its best folding, by what foldings take at least.
type node struct {
	space.Region
	solution *search.Solution // nil until it is looked for
	proved   bool             // that there is none better in the region
	tries    int              // to find it
	bound    float64
	number   int
}

// What the search for a first folding does: how many nodes it looks at until it has one, and how many, and for how many
// steps, until it has a good one. Where that is less than what a first bound took, it is as much.
const (
	quickNodes = 8
	goodNodes  = 50
	goodWork   = 10_000_000
)

// first looks for a design with little work, which no effort limits: a good folding, made whole.
func (h *hunt) first(ctx context.Context) error {
	h.begun = true
	all := space.Region{Limit: h.limit}
	before, limit := h.Effort.Done, h.Effort.Limit
	t := h.tree(&all)
	bound := t.Bound(h.measure, h.caps)
	h.bounded = h.Effort.Done - before
	if math.IsInf(bound, 1) {
		return nil
	}
	n := h.add(all, bound)
	s, none, err := t.Quick(ctx, h.measure, h.caps, quickNodes)
	if none {
		h.open = nil
	}
	if err != nil || s == nil {
		return err
	}
	h.Effort.Limit = min(limit, h.Effort.Done+max(goodWork, h.bounded))
	least, err := t.Minimise(ctx, h.measure, s, h.caps, goodNodes)
	h.Effort.Limit = limit
	if err != nil {
		return err
	}
	n.solution, n.proved, n.bound = least.Best, least.Proved, max(n.bound, least.Bound)
	n.tries++
	if h.Effort.Over() {
		return nil // no design counts any more
	}
	f := h.Folding(&all, n.solution)
	_, _, err = h.try(ctx, n, f, h.Classes(f.Options))
	return err
}

// run hunts, until the effort is spent; where any design will do, until there is one. It also ends where patience does:
// where so many steps after the best design there would be none that is better, were the next folding as dear to make
// whole as the last.
func (h *hunt) run(ctx context.Context, any bool, patience int) error {
	if !h.begun {
		h.begun, h.took = true, h.Effort.Done
		all := space.Region{Limit: h.limit}
		if bound := h.tree(&all).Bound(h.measure, h.caps); !math.IsInf(bound, 1) {
			h.add(all, bound)
		}
	}
	for !h.Effort.Spent() && !(h.best != nil && (any || h.Effort.Done+h.each > h.took+patience)) {
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
			h.push(n) // what is known of it holds
			return err
		}
	}
	return nil
}

// bound returns the least that any design of the hunt may measure, as far as is known. It is the best design's own
// measure where that is proved, and infinite where there surely is no design.
func (h *hunt) bound() float64 {
	bound := h.value()
	for _, list := range [][]*node{h.open, h.left} {
		for _, n := range list {
			bound = min(bound, n.bound)
		}
	}
	return bound
}

// value is what the best design measures; infinite where none is known.
func (h *hunt) value() float64 {
	if h.best == nil {
		return math.Inf(1)
	}
	return h.best.Measures(h.measure)
}

// within is what a design has to stay within to be of use.
func (h *hunt) within() search.Caps {
	if h.best == nil {
		return h.caps
	}
	return h.best.AsGood(h.measure, h.caps, 1)
}

// add opens a region, in which nothing measures less than the bound.
func (h *hunt) add(r space.Region, bound float64) *node {
	n := &node{Region: r, bound: bound, number: h.made}
	h.push(n)
	h.made++
	return n
}

// push opens a node.
func (h *hunt) push(n *node) {
	at, _ := slices.BinarySearchFunc(h.open, n, func(a, b *node) int {
		return cmp.Or(cmp.Compare(b.bound, a.bound), b.number-a.number)
	})
	h.open = slices.Insert(h.open, at, n)
}

// solve looks for the best folding of a node, with more effort every time, and opens the node again, unless nothing in
// it is of use. It takes a part of what is left of the effort at most, so that something is left to make it whole.
func (h *hunt) solve(ctx context.Context, n *node) error {
	const first, tries, part = 50, 12, 2
	limit := h.Effort.Limit
	h.Effort.Limit = h.Effort.Done + max(0, limit-h.Effort.Done)/part
	least, err := h.tree(&n.Region).Minimise(ctx, h.measure, nil, h.within(), first<<(2*n.tries))
	h.Effort.Limit = limit
	if err != nil {
		return err
	}
	n.solution, n.proved, n.bound = least.Best, least.Proved, max(n.bound, least.Bound)
	n.tries++
	switch {
	case least.Best != nil || !least.Proved && n.tries < tries && !h.Effort.Spent():
		h.push(n)
	case !least.Proved:
		h.left = append(h.left, n)
	}
	return nil
}

// look makes the best folding of a node whole, and divides the node where that needs more than the tree knew.
func (h *hunt) look(ctx context.Context, n *node) error {
	f := h.Folding(&n.Region, n.solution)
	class := h.Classes(f.Options)
	b, z, err := h.try(ctx, n, f, class)
	if z != nil && z.Unsure {
		h.left = append(h.left, n) // what the parts leave out may be a design
	}
	switch {
	case err != nil:
		return err
	case b == nil: // at streams of which the plan drops an end
		h.divide(n, class, h.layersAt(h.Wide), nil)
	case z != nil && z.Cut:
		h.left = append(h.left, n)
	case z != nil && z.Unsure && h.best != nil:
	case z == nil || !z.Kept: // depths that are given are in the way
		h.divide(n, class, nil, nil)
	case len(z.Needs) > 0:
		least := slices.MinFunc(z.Needs, func(a, b rtlsim.Need) int { return len(a.Nodes) - len(b.Nodes) })
		layers, streams := b.Layers(least.Nodes)
		h.divide(n, class, h.layersAt(streams, layers...), b.Deeper(least.Streams))
	case len(h.Wide) > 0:
		h.divide(n, class, nil, nil)
	case !n.proved:
		n.solution = nil
		h.push(n)
	}
	return nil
}

// try builds and sizes a folding of a node, and takes it where it is better than the best. b is nil where nothing joins
// its layers.
func (h *hunt) try(ctx context.Context, n *node, f *space.Folding, class []int32) (b *space.Built, z *rtlsim.Sizing,
	err error) {
	before := h.Effort.Done
	defer func() {
		if steps := h.Effort.Done - before; steps > 0 {
			h.each = steps
		}
	}()
	if b = h.Build(f); b == nil {
		return nil, nil, nil
	}
	if h.words == 0 {
		h.words = FrameWords(b.Design)
	}
	if z, err = h.sizeOnce(ctx, n, b, f); err != nil || z == nil || z.Cut || !z.Kept {
		return b, z, err
	}
	if len(z.Needs) == 0 && len(h.Wide) == 0 && z.Untried {
		if ok, err := h.runs(ctx, f, b.Design); err != nil {
			return b, z, err
		} else if !ok {
			z, err = h.size(ctx, b, n.Limit, false)
			if err != nil || z == nil || !z.Kept {
				return b, z, err
			}
		}
	}
	if len(z.Needs) == 0 && len(h.Wide) == 0 {
		h.take(f)
		return b, z, nil
	}
	with, ok, err := h.assess(ctx, &n.Region, b, class, z)
	if err == nil && !ok {
		if z, err = h.size(ctx, b, n.Limit, false); err != nil || z == nil || !z.Kept {
			return b, z, err
		}
		with, _, err = h.assess(ctx, &n.Region, b, class, z)
	}
	if err == nil && h.best == nil {
		err = h.again(ctx, with)
	}
	return b, z, err
}

// sizeOnce is size, which is not done again for the folding that was sized last.
func (h *hunt) sizeOnce(ctx context.Context, n *node, b *space.Built, f *space.Folding) (*rtlsim.Sizing, error) {
	l := &h.last
	if !n.Whole() {
		return h.size(ctx, b, n.Limit, true)
	}
	if l.sizing == nil || !slices.Equal(l.options, f.Options) || !slices.Equal(l.depths, b.Depths()) {
		z, err := h.size(ctx, b, n.Limit, true)
		if err != nil {
			return nil, err
		}
		*l = sized{f.Options, b.Depths(), z}
	}
	return l.sizing, nil
}

// A sized is a folding with its FIFOs as they were before, and what they need.
type sized struct {
	options []int32
	depths  []int
	sizing  *rtlsim.Sizing
}

// FrameWords returns the words of one frame, summed over all streams of a design.
func FrameWords(d *dataflow.Design) (n int) {
	for s := range d.Model.Graph.Streams {
		n += d.Port(s).Words
	}
	return n
}

// again looks for a first design where FIFOs take what the best folding left of the budget: in a region where they hold
// what that folding needs, whatever their words are, and are paid for from the beginning. It does not go by the effort
// that is left, for the FIFOs of a large network take all of it to size.
func (h *hunt) again(ctx context.Context, r space.Region) error {
	const times, looks = 3, 400
	work := max(4_000_000, 2*h.bounded)
	for range times {
		own := *h.Question
		own.Effort = h.Effort.Apart(work)
		least, err := own.tree(&r).Minimise(ctx, h.measure, nil, h.within(), looks)
		h.Effort.Done += own.Effort.Done
		if err != nil || least.Best == nil || h.Effort.Over() {
			return err
		}
		f := h.Folding(&r, least.Best)
		b := h.Build(f)
		if b == nil {
			return nil
		}
		z, err := h.size(ctx, b, r.Limit, false)
		if err != nil || z == nil || !z.Kept {
			return err
		}
		if len(z.Needs) == 0 && len(h.Wide) == 0 {
			h.take(f)
			return nil
		}
		was := h.best
		if r, _, err = h.assess(ctx, &r, b, h.Classes(f.Options), z); err != nil || h.best != was {
			return err
		}
	}
	return nil
}

// assess takes the best way to build a folding of some classes in a region whose FIFOs hold what they need, and returns
// that region. Where these depths are not tried, the design is run; ok is false where it does not keep the interval.
func (h *hunt) assess(ctx context.Context, r *space.Region, b *space.Built, class []int32, z *rtlsim.Sizing) (
	with space.Region, ok bool, err error) {
	with = r.Holding(b, z.Words)
	f, err := h.Question.assess(ctx, &with, class, nil, h.measure, h.within())
	if f == nil || err != nil {
		return with, true, err
	}
	if z.Untried {
		if ok, err = h.runs(ctx, f, h.Build(f).Design); !ok || err != nil {
			return with, false, err
		}
	}
	h.take(f)
	return with, true, nil
}

// runs reports whether a design keeps the interval in a run. A design that is of no use, or that comes after the end of
// the whole search, is not run, and counts as one that does. Every run takes the same effort, however long it is.
func (h *hunt) runs(ctx context.Context, f *space.Folding, d *dataflow.Design) (bool, error) {
	const frames = 8 // few runs of large frames have more
	h.Effort.Done += wordSteps * h.words * frames
	if h.Effort.Over() || h.useless(f, h.Spares) {
		return true, nil
	}
	t, err := h.Run(ctx, d)
	if err != nil {
		if dead := new(rtlsim.Deadlock); errors.As(err, &dead) {
			err = nil
		}
		return false, err
	}
	return t.Interval() <= float64(h.limit), nil
}

// take has a design for the best, where it is better and the whole search has not come to its end.
func (h *hunt) take(f *space.Folding) {
	caps := h.within()
	if f.Cost.Within(&caps.Vector) && !h.Effort.Over() {
		h.best, h.took = f, h.Effort.Done
		h.taken(f)
	}
}

// layersAt is some layers, and those at the ends of some streams, where that is not the host.
func (h *hunt) layersAt(streams []int, layers ...int) []int {
	for _, id := range streams {
		writer, reader := h.Streams[id].Layers()
		layers = append(layers, writer, reader)
	}
	layers = slices.DeleteFunc(layers, func(l int) bool { return l < 0 })
	slices.Sort(layers)
	return slices.Compact(layers)
}

// divide opens the parts of a node's region without the folding of these classes.
func (h *hunt) divide(n *node, class []int32, layers []int, short map[space.Side]int) {
	for _, part := range n.Divide(class, layers, short) {
		h.add(part, n.bound)
	}
}

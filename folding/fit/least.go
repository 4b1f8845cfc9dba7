package fit

import (
	"cmp"
	"context"
	"math"
	"slices"

	"hlsgen/folding/ask"
	"hlsgen/folding/search"
	"hlsgen/folding/space"
	"hlsgen/rtlsim"
)

// Least is the best design at an interval within caps, measure after measure; nil where none was found, and none
// reports whether there is surely none. A design that is faster than it has to be is what asking for its own interval
// gives.
func (q *Question) Least(ctx context.Context, limit int, caps search.Caps, order []ask.Measure) (f *Found, none bool,
	err error) {
	f = &Found{Limit: limit}
	all := q.Effort.Limit
	for i, m := range order {
		// What comes first may take half of the work that is left.
		q.Effort.Limit = all
		if i < len(order)-1 {
			q.Effort.Limit = (q.Effort.Done + all) / 2
		}
		h := &hunt{Question: q, measure: q.Measure(m), caps: caps, best: f.Folding}
		bound, err := h.run(ctx, limit)
		if err != nil {
			return nil, false, err
		}
		if h.best == nil {
			return nil, math.IsInf(bound, 1), nil
		}
		f.Folding, f.Bounds = h.best, append(f.Bounds, Bound{m, h.value(), bound})
		caps = h.best.AsGood(h.measure, caps, 0)
	}
	q.Effort.Limit = all
	f.Folding, err = q.canonical(ctx, f.Folding, limit, order)
	return f, false, err
}

// A hunt is a search for the whole design at an interval that measures least within caps: a folding with FIFOs as deep
// as they have to be, and with the host's port. It is branch and bound, best first.
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
	measure search.Measure
	caps    search.Caps
	best    *space.Folding // nil where none is known
	open    []*node        // the one with the least bound last, of equal ones the oldest
	left    []*node        // regions that could not be looked at to the end
	made    int
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

// run hunts. The bound is what no such design measures less than, whatever its FIFOs hold: what the best one measures
// where that is proved, and infinite where there is none.
func (h *hunt) run(ctx context.Context, limit int) (bound float64, err error) {
	all := space.Region{Limit: limit}
	h.add(all, h.tree(&all).Bound(h.measure, h.caps))
	for !h.Effort.Spent() {
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
			return 0, err
		}
	}
	bound = h.value()
	for _, n := range append(h.open, h.left...) {
		bound = min(bound, n.bound)
	}
	return bound, nil
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
func (h *hunt) add(r space.Region, bound float64) {
	h.push(&node{Region: r, bound: bound, number: h.made})
	h.made++
}

// push opens a node.
func (h *hunt) push(n *node) {
	at, _ := slices.BinarySearchFunc(h.open, n, func(a, b *node) int {
		return cmp.Or(cmp.Compare(b.bound, a.bound), b.number-a.number)
	})
	h.open = slices.Insert(h.open, at, n)
}

// solve looks for the best folding of a node, with more effort every time, and opens the node again, unless nothing in
// it is of use.
func (h *hunt) solve(ctx context.Context, n *node) error {
	const first, tries = 50, 12
	least, err := h.tree(&n.Region).Minimise(ctx, h.measure, nil, h.within(), first<<(2*n.tries))
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

// look builds and sizes the best folding of a node, and divides the node where that needs more.
func (h *hunt) look(ctx context.Context, n *node) error {
	f := h.Folding(&n.Region, n.solution)
	class := h.Classes(f.Options)
	b := h.Build(f)
	if b == nil { // streams that the plan leaves out
		h.divide(n, class, h.layersAt(h.Wide), nil)
		return nil
	}
	z, err := h.size(ctx, b, n.Limit)
	switch {
	case err != nil:
		return err
	case z != nil && z.Cut:
		h.left = append(h.left, n)
		return nil
	case z == nil || !z.Kept: // depths that are given are in the way
		h.divide(n, class, nil, nil)
		return nil
	case len(z.Needs) == 0 && len(h.Wide) == 0:
		h.take(f)
		if !n.proved {
			n.solution = nil
			h.push(n)
		}
		return nil
	}
	with := n.Holding(b, z.Words)
	if err := h.assess(ctx, &with, class); err != nil {
		return err
	}
	if h.best == nil {
		if err := h.again(ctx, with); err != nil {
			return err
		}
	}
	if len(z.Needs) == 0 {
		h.divide(n, class, nil, nil)
		return nil
	}
	least := slices.MinFunc(z.Needs, func(a, b rtlsim.Need) int { return len(a.Nodes) - len(b.Nodes) })
	layers, streams := b.Layers(least.Nodes)
	h.divide(n, class, h.layersAt(streams, layers...), b.Short(least.Streams))
	return nil
}

// again looks for a first design where FIFOs take what the best folding left of the budget: in a region where they hold
// what that folding needs, whatever their words are, and are paid for from the beginning. It does not go by the effort
// that is left, for the FIFOs of a large network take all of it to size.
func (h *hunt) again(ctx context.Context, r space.Region) error {
	const times, work, looks = 3, 4_000_000, 400
	for range times {
		own := *h.Question
		own.Effort = h.Effort.Apart(work)
		least, err := own.tree(&r).Minimise(ctx, h.measure, nil, h.within(), looks)
		h.Effort.Done += own.Effort.Done
		if err != nil || least.Best == nil {
			return err
		}
		f := h.Folding(&r, least.Best)
		b := h.Build(f)
		if b == nil {
			return nil
		}
		z, err := h.size(ctx, b, r.Limit)
		if err != nil || z == nil || !z.Kept {
			return err
		}
		if len(z.Needs) == 0 && len(h.Wide) == 0 {
			h.take(f)
			return nil
		}
		r = r.Holding(b, z.Words)
		was := h.best
		if err := h.assess(ctx, &r, h.Classes(f.Options)); err != nil || h.best != was {
			return err
		}
	}
	return nil
}

// assess takes the best way to build a folding of some classes.
func (h *hunt) assess(ctx context.Context, r *space.Region, class []int32) error {
	f, err := h.Question.assess(ctx, r, class, nil, h.measure, h.within())
	if f != nil {
		h.take(f)
	}
	return err
}

func (h *hunt) take(f *space.Folding) {
	caps := h.within()
	if f.Cost.Within(&caps.Vector) {
		h.best = f
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

package folding

import (
	"container/heap"
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"hlsgen/folding/search"
	"hlsgen/rtlsim"
)

// A question is what a search is asked, and what it has done for the answer.
type question struct {
	goal   Goal
	budget Budget
	caps   search.Caps // the budget, without what depends on the interval
	yard   search.Vector
	host   search.Vector // what joins the network to the processor's memory
	effort search.Effort
}

// sizingWords is how many words the sizing of the FIFOs of one folding may move, and wordSteps what a word counts as work.
const (
	sizingWords = 8e7
	wordSteps   = 2
)

// A fit is what came of looking for the best whole design in a region: of a folding with FIFOs as deep as they have to be,
// and with the host's port. Bound is what no such design within the caps measures less than, whatever its FIFOs hold.
type fit struct {
	best   *folding
	bound  float64
	proved bool // best measures bound; or there is none
}

// fit looks for the whole design in a region that measures least within caps. start is one that is known, or nil.
//
// A tree says what foldings take at least: FIFOs of two words, or of what their memory holds anyway. Its best folding is
// built and simulated. If that keeps the interval, it is the best design. Else the simulator says which layers need deeper
// FIFOs between some of their streams: the region is divided into those in which one of these layers has another class, and
// those in which one of these FIFOs is deeper; and the folding is a design with FIFOs of the words that it needs, which any
// other has to beat. The region with the least bound is next, until no bound is less than the best design (branch and
// bound, best first).
func (s *space) fit(ctx context.Context, q *question, r region, m search.Measure, caps search.Caps, start *folding) (fit, error) {
	h := &hunt{space: s, q: q, measure: m, caps: caps, best: start}
	h.add(r, h.tree(&r, q).Bound(m, caps))
	if h.best != nil && h.open[0].bound >= h.value() {
		return fit{start, h.value(), true}, nil
	}
	if math.IsInf(h.open[0].bound, 1) {
		return fit{proved: true}, nil
	}
	for len(h.open) > 0 && (h.best == nil || h.open[0].bound < h.value()) && !q.effort.Spent() {
		n := heap.Pop(&h.open).(*node)
		var err error
		if n.solution == nil {
			err = h.solve(ctx, n)
		} else {
			err = h.look(ctx, n)
		}
		if err != nil {
			return fit{}, err
		}
	}
	f := fit{best: h.best, bound: math.Inf(1)}
	for _, n := range append(h.open, h.left...) {
		f.bound = min(f.bound, n.bound)
	}
	switch {
	case h.best == nil:
		f.proved = math.IsInf(f.bound, 1)
	case f.bound >= h.value():
		f.bound, f.proved = h.value(), true
	}
	return f, nil
}

// A hunt is a search for a fit.
type hunt struct {
	*space
	q       *question
	measure search.Measure
	caps    search.Caps
	best    *folding
	open    nodes
	left    nodes // regions that could not be looked at to the end
	made    int
}

// A node is a region with its best folding, by what foldings take at least.
type node struct {
	region
	solution *search.Solution // nil until it is looked for
	proved   bool             // that there is none better in the region
	tries    int              // to find it
	bound    float64
	number   int
}

func (h *hunt) value() float64 { return h.best.measures(h.measure) }

// within is what a design has to stay within to be of use.
func (h *hunt) within() search.Caps {
	if h.best == nil {
		return h.caps
	}
	return h.best.asGood(h.measure, h.caps, 1)
}

// add opens a region, in which nothing measures less than the bound.
func (h *hunt) add(r region, bound float64) {
	heap.Push(&h.open, &node{region: r, bound: bound, number: h.made})
	h.made++
}

// solve looks for the best folding of a node, with more effort every time, and opens the node again, unless nothing in it is
// of use.
func (h *hunt) solve(ctx context.Context, n *node) error {
	const first, tries = 50, 12
	least, err := h.tree(&n.region, h.q).Minimise(ctx, h.measure, nil, h.within(), first<<(2*n.tries))
	if err != nil {
		return err
	}
	n.solution, n.proved, n.bound = least.Best, least.Proved, max(n.bound, least.Bound)
	n.tries++
	switch {
	case least.Best != nil || !least.Proved && n.tries < tries && !h.q.effort.Spent():
		heap.Push(&h.open, n)
	case !least.Proved:
		h.left = append(h.left, n)
	}
	return nil
}

// look builds and sizes the best folding of a node, and divides the node where that needs more.
func (h *hunt) look(ctx context.Context, n *node) error {
	f := h.folding(&n.region, n.solution)
	class := h.class(f.options)
	b := h.build(f)
	if b == nil { // streams that the plan leaves out
		h.divide(n, class, h.wideLayers(), nil)
		return nil
	}
	z, err := h.size(ctx, h.q, b, n.limit)
	if err != nil {
		return err
	}
	if z != nil && z.Cut {
		h.left = append(h.left, n)
		return nil
	}
	if z == nil || !z.Kept { // depths that are given are in the way
		h.divide(n, class, nil, nil)
		return nil
	}
	if len(z.Needs) == 0 && len(h.wide) == 0 {
		h.take(f)
		if !n.proved {
			n.solution = nil
			heap.Push(&h.open, n)
		}
		return nil
	}
	with := n.region
	for id, words := range z.Words {
		with = with.deeper(b.sides[id], words)
	}
	whole, err := h.assess(ctx, h.q, &with, class, nil, h.measure, h.within())
	if err != nil {
		return err
	}
	if whole != nil {
		h.take(whole)
	}
	if h.best == nil {
		if err := h.again(ctx, with, n.limit); err != nil {
			return err
		}
	}
	if len(z.Needs) == 0 {
		h.divide(n, class, nil, nil)
		return nil
	}
	least := slices.MinFunc(z.Needs, func(a, b rtlsim.Need) int { return len(a.Nodes) - len(b.Nodes) })
	h.divide(n, class, h.blamed(b, least), h.sidesOf(b, least))
	return nil
}

// again looks for a first design where FIFOs take what the best folding left of the budget: in a region where they hold what
// that folding needs, whatever their words are, and are paid for from the beginning. It does not go by the effort that is
// left, for the FIFOs of a large network take all of it to size.
func (h *hunt) again(ctx context.Context, r region, limit int) error {
	const times, work, looks = 3, 4_000_000, 400
	for range times {
		own := *h.q
		own.effort = search.Effort{Limit: work}
		least, err := h.tree(&r, &own).Minimise(ctx, h.measure, nil, h.within(), looks)
		h.q.effort.Done += own.effort.Done
		if err != nil || least.Best == nil {
			return err
		}
		f := h.folding(&r, least.Best)
		b := h.build(f)
		if b == nil {
			return nil
		}
		z, err := h.size(ctx, h.q, b, limit)
		if err != nil || z == nil || !z.Kept {
			return err
		}
		if len(z.Needs) == 0 && len(h.wide) == 0 {
			h.take(f)
			return nil
		}
		for id, words := range z.Words {
			r = r.deeper(b.sides[id], words)
		}
		whole, err := h.assess(ctx, h.q, &r, h.class(f.options), nil, h.measure, h.within())
		if err != nil {
			return err
		}
		if whole != nil {
			h.take(whole)
			return nil
		}
	}
	return nil
}

func (h *hunt) take(f *folding) {
	caps := h.within()
	if f.cost.Within(&caps.Vector) {
		h.best = f
	}
}

// blamed is the layers of a need: those in it, and those at the ends of its width converters.
func (h *hunt) blamed(b *built, need rtlsim.Need) (layers []int) {
	for _, node := range need.Nodes {
		if l := b.layer[node]; l >= 0 {
			layers = append(layers, l)
			continue
		}
		st := &h.streams[b.conv[node]]
		layers = append(layers, st.writer.layer, st.reader.layer)
	}
	slices.Sort(layers)
	return slices.Compact(layers)
}

// sidesOf is the FIFOs of a need, with the depths that are too little.
func (h *hunt) sidesOf(b *built, need rtlsim.Need) map[streamSide]int {
	sides := map[streamSide]int{}
	for _, id := range need.Streams {
		sides[b.sides[id]] = b.FIFO[id].Depth
	}
	return sides
}

// wideLayers is the layers at streams that the plan leaves out.
func (h *hunt) wideLayers() (layers []int) {
	for _, id := range h.wide {
		layers = append(layers, h.streams[id].writer.layer, h.streams[id].reader.layer)
	}
	slices.Sort(layers)
	return slices.Compact(layers)
}

// divide opens the parts of a node without the folding of these classes: first those in which one of the blamed layers has
// another class, the ones before it the same (Lawler 1972); all are blamed where none are named. Then, of the part in which
// they have these classes, those in which one of the FIFOs holds more.
func (h *hunt) divide(n *node, class []int32, blamed []int, sides map[streamSide]int) {
	if blamed == nil {
		blamed = layersOf(class)
	}
	part := n.region
	for _, l := range blamed {
		if !part.fixed(l) {
			h.add(part.without(l, class[l]), n.bound)
			part = part.with([]int{l}, class)
		}
	}
	for _, side := range slices.SortedFunc(maps.Keys(sides), streamSide.compare) {
		h.add(part.deeper(side, rtlsim.Step(sides[side]+1)), n.bound)
	}
}

// nodes is a heap by bound, the older of equal ones first.
type nodes []*node

func (n nodes) Len() int { return len(n) }
func (n nodes) Less(i, j int) bool {
	if n[i].bound != n[j].bound {
		return n[i].bound < n[j].bound
	}
	return n[i].number < n[j].number
}
func (n nodes) Swap(i, j int) { n[i], n[j] = n[j], n[i] }
func (n *nodes) Push(x any)   { *n = append(*n, x.(*node)) }
func (n *nodes) Pop() any {
	last := len(*n) - 1
	x := (*n)[last]
	*n = (*n)[:last]
	return x
}

// size is the words that a design's FIFOs need at least to keep an interval of limit clocks, or to be free from deadlock
// where the goal asks for that alone. It is nil where the design is slower than the goal allows, or deadlocks.
func (s *space) size(ctx context.Context, q *question, b *built, limit int) (*rtlsim.Sizing, error) {
	from, fixed := s.depths(b)
	opt := rtlsim.SizeOptions{Interval: limit, From: from, Fixed: fixed, Effort: sizingWords, Known: &s.known}
	opt.Minimal = q.goal.FIFO != FIFO{}
	z, err := rtlsim.Size(ctx, b.Design, opt)
	if err != nil {
		return nil, err
	}
	q.effort.Done += wordSteps * z.Moved
	if z.Kept && !opt.Minimal || !z.Kept && !s.shallow() {
		return z, nil
	}
	// Depths that the user gives may do at the latencies that are estimated, though not at any; and they may be slow.
	d := *b.Design
	d.FIFO = slices.Clone(d.FIFO)
	for id, words := range z.Words {
		if d.FIFO[id].Depth = max(d.FIFO[id].Depth, words); fixed[id] > 0 {
			d.FIFO[id].Depth = fixed[id]
		}
	}
	clocks, err := interval(ctx, &d)
	dead := new(rtlsim.Deadlock)
	switch {
	case errors.As(err, &dead):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if !z.Kept {
		if _, err := rtlsim.Prove(ctx, &d); errors.As(err, &dead) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		z.Kept = true
	}
	if q.goal.MaxCycles > 0 || q.goal.Latency && q.goal.limit(s.clock) == nil {
		return z, nil
	}
	asked := q.goal.limit(s.clock)
	if clocks > float64(limit) && (asked == nil || floor(asked) != limit || !reaches(clocks, asked)) {
		return nil, nil
	}
	return z, nil
}

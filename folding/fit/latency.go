package fit

import (
	"context"
	"math"
	"slices"
	"sort"

	"hlsgen/folding/goal"
	"hlsgen/folding/search"
	"hlsgen/folding/space"
	"hlsgen/rtlsim"
)

// The work of a search for the shortest latency: the most paths that it adds, its steps, and the nodes that it looks at
// for each of its first foldings and for each later one.
const (
	maxCuts    = 200
	chaseWork  = 2 * maxWork
	beginNodes = 10
	cutNodes   = 100
)

// An EndOnceFound says how a search may end once it has a design. From then on its work uses Ctx and counts towards
// Whole. The search calls Found for each design that is better than the ones before.
type EndOnceFound struct {
	Ctx   context.Context
	Whole *search.TotalStepCounter
	Found func()
}

// FindShortestLatency returns the design of the shortest latency within the budget whose layers take at most limit
// clocks per frame; nil if it finds none. It repeats the search with the design's own interval as the limit, until that
// no longer changes. So a user who asks for the rate of this design gets this design, and the search has several
// starts.
func (q *DesignSearch) FindShortestLatency(ctx context.Context, limit int, end EndOnceFound) (*ProvedFolding, error) {
	f, err := q.chase(ctx, limit, end)
	for err == nil && f != nil && !q.HasGivenDepths() && !end.Whole.Over() {
		b := q.Build(f.Folding).Design
		slowest, _ := b.Interval()
		clocks := max(slowest, q.MemoryClocks(b))
		if clocks >= limit {
			break
		}
		g, err := q.Restarted().chase(ctx, clocks, end)
		if err != nil || g == nil || g.Latency.Clocks > f.Latency.Clocks {
			return f, err
		}
		g.Latency.Least = min(f.Latency.Least, g.Latency.Clocks)
		f, limit = g, clocks
	}
	return f, err
}

// chase does one search for the shortest latency.
func (q *DesignSearch) chase(ctx context.Context, limit int, end EndOnceFound) (*ProvedFolding, error) {
	list := q.Intervals()
	limit = min(limit, list[len(list)-1])
	q.Effort.Limit = chaseWork
	c := &chase{DesignSearch: q, caps: q.CapsAt(limit), load: q.ObjectiveOf(goal.LeastLoad),
		region: space.Region{Limit: limit},
		seen:   map[string]bool{}, end: end}
	if err := c.begin(ctx, list); err != nil || len(c.region.Paths) == 0 {
		return nil, err
	}
	if c.best != nil {
		q.Effort.Whole = end.Whole
	}
	if err := c.rest(end.Ctx); err != nil && (ctx.Err() != nil || end.Ctx.Err() == nil) {
		return nil, err
	}
	q.Effort.Report()
	if c.best == nil {
		return nil, nil
	}
	if c.bound == 0 {
		if b := c.tree(&c.region).Bound(search.Objective{Path: true}, c.caps); b < float64(c.clocks) {
			c.bound = int(math.Ceil(b))
		}
	}
	best, err := c.anew(ctx, limit)
	if err != nil {
		return nil, err
	}
	best, err = q.CanonicalFIFOs(ctx, best, limit, goal.LeastLoad.Order())
	return &ProvedFolding{Folding: best, Limit: limit, Latency: &Latency{c.clocks, min(c.bound, c.clocks)}}, err
}

// rest adds the paths through each layer by slowing the layer down in the best folding. Then it adds paths of new
// foldings.
func (c *chase) rest(ctx context.Context) error {
	for i := range c.Layers {
		if c.best == nil || c.Effort.MustEnd() {
			break
		}
		if err := c.slow(ctx, i); err != nil {
			return err
		}
	}
	for range maxCuts {
		more, err := c.cut(ctx)
		if err != nil || !more || c.Effort.MustEnd() {
			return err
		}
	}
	return nil
}

// A chase is a search for the shortest latency. The longest path of a folding bounds its latency from below; a
// simulation finds the path that the folding really waits for (cutting planes: J. E. Kelley 1960; package space has
// paths). For example:
//
//	paths known    the folding whose longest path is the shortest    simulated
//	p1             takes 40 clocks on p1                             waits for p2: 55 clocks
//	p1, p2         takes 48 on p1, 45 on p2                          waits for p1: 48 clocks, so 48 is the least
type chase struct {
	*DesignSearch
	caps   search.Caps
	load   search.Objective
	region space.Region
	best   *space.Folding
	clocks int // the simulated latency of best
	bound  int // a lower bound on the latency of all designs
	seen   map[string]bool
	end    EndOnceFound
}

// begin simulates foldings of little load at some intervals of the list, from the shortest possible one on. Without a
// design after that, it calls adopt.
func (c *chase) begin(ctx context.Context, list []int) error {
	list = slices.DeleteFunc(slices.Clone(list), func(n int) bool { return n > c.region.Limit })
	first := sort.Search(len(list), func(i int) bool {
		t := c.Tree(list[i])
		return t.Possible() && !math.IsInf(t.Bound(c.load, c.caps), 1)
	})
	tried := 0
	for i, clocks := first, 0; i < len(list) && tried < 4; i++ {
		if list[i] < clocks {
			continue
		}
		if c.best != nil && c.end.Ctx.Err() != nil {
			break
		}
		at := space.Region{Limit: list[i]}
		least, err := c.tree(&at).Minimise(ctx, c.load, nil, c.caps, beginNodes)
		if err != nil {
			return err
		}
		if least.Best == nil {
			continue
		}
		if _, err := c.try(ctx, &at, c.Folding(&at, least.Best)); err != nil {
			return err
		}
		tried, clocks = tried+1, 2*list[i]
	}
	if c.best == nil {
		return c.adopt(ctx)
	}
	return nil
}

// adopt begins with the design of the least resources. It is used if no folding of begin fits with its FIFOs.
func (c *chase) adopt(ctx context.Context) error {
	p := c.NewIntervalSearchWithin(c.region.Limit, c.caps, c.Goal.Least.Order())
	if err := p.Continue(ctx, 1, true); err != nil {
		return err
	}
	f, err := p.Best(ctx)
	if f == nil || err != nil {
		return err
	}
	b := c.Build(f.Folding)
	clocks, err := latency(ctx, b)
	if err != nil {
		return err
	}
	c.best, c.clocks = f.Folding, clocks
	c.tell()
	_, _, err = c.admit(ctx, b)
	return err
}

// tell tells the caller and the user of the best design so far.
func (c *chase) tell() {
	c.end.Found()
	if c.Goal.Tell != nil {
		c.Goal.Tell(goal.SearchProgress{Latency: c.clocks, Floor: min(c.bound, c.clocks), Share: c.best.Value(c.load)})
	}
}

// slow adds the path that the best folding would wait for if the given layer took longer than all layers together.
func (c *chase) slow(ctx context.Context, layer int) error {
	f := &space.Folding{Options: slices.Clone(c.best.Options)}
	l := &c.Layers[layer]
	at := -1
	for o := range l.Options {
		n := l.Clocks(o)
		if n <= c.region.Limit && (at < 0 || n < l.Clocks(at) && n > 2*c.clocks || l.Clocks(at) < 2*c.clocks &&
			n > l.Clocks(at)) {
			at = o
		}
	}
	if at < 0 {
		return nil
	}
	f.Options[layer] = int32(at)
	if b := c.Build(f); b != nil {
		_, _, err := c.admit(ctx, b)
		return err
	}
	return nil
}

// cut finds the folding whose longest known path is the shortest, simulates it, and adds the path that it waits for.
// more is false if nothing better is possible, or no path was new.
func (c *chase) cut(ctx context.Context) (more bool, err error) {
	caps := c.caps
	if c.best != nil {
		caps.Path = int64(c.clocks) - 1
	}
	t := c.tree(&c.region)
	if b := t.Bound(search.Objective{Path: true}, caps); !math.IsInf(b, 1) {
		c.bound = max(c.bound, int(math.Ceil(b)))
	} else if c.best != nil {
		c.bound = c.clocks // best is proved to be the shortest
		return false, nil
	}
	for _, f := range t.RelaxedSolutions() {
		fresh, err := c.try(ctx, &c.region, c.Folding(&c.region, f))
		if err != nil {
			return false, err
		}
		more = more || fresh
	}
	if more {
		return true, nil
	}
	least, err := t.Minimise(ctx, search.Objective{Path: true}, nil, caps, cutNodes)
	if err != nil {
		return false, err
	}
	if least.Best == nil {
		if least.Proved && c.best != nil {
			c.bound = c.clocks // best is proved to be the shortest
		}
		return false, nil
	}
	c.bound = max(c.bound, int(math.Ceil(least.Bound)))
	return c.try(ctx, &c.region, c.Folding(&c.region, least.Best))
}

// try simulates a folding and adds the path that it waits for; fresh is false if that was known. If the folding may be
// the best, try also sizes its FIFOs and, if its latency is shorter, makes it the best design.
func (c *chase) try(ctx context.Context, r *space.Region, f *space.Folding) (fresh bool, err error) {
	b := c.Build(f)
	if b == nil {
		return false, nil
	}
	fresh, waits, err := c.admit(ctx, b)
	if err != nil || c.best != nil && waits >= c.clocks || !f.Cost.Within(&c.caps.Vector) {
		return fresh, err
	}
	slowest, _ := b.Interval()
	var whole *space.Folding
	// first FIFOs that keep the folding's own interval, then FIFOs that keep the limit
	for _, clocks := range []int{slowest, r.Limit} {
		if whole, err = c.whole(ctx, r, f, b, clocks); err != nil || whole != nil {
			break
		}
	}
	if err != nil || whole == nil {
		return fresh, err
	}
	n, err := latency(ctx, c.Build(whole))
	if err != nil {
		return fresh, err
	}
	better := c.best == nil || n < c.clocks || n == c.clocks && whole.Value(c.load) < c.best.Value(c.load)
	if better && !c.Effort.Over() {
		fresh = fresh || n < c.clocks
		c.best, c.clocks = whole, n
		c.tell()
	}
	return fresh, nil
}

// latency returns the clocks of a design from the first word of a frame to its last output word, by simulation.
func latency(ctx context.Context, b *space.FoldedDesign) (int, error) {
	t, err := rtlsim.Run(ctx, b.Design, nil, rtlsim.Options{Frames: 1})
	if err != nil {
		return 0, err
	}
	return t.Latency(), nil
}

// whole returns the best design of a folding's classes whose FIFOs keep an interval of the given clocks. It returns nil
// if none is within the caps. b is the folding as built.
func (c *chase) whole(ctx context.Context, r *space.Region, f *space.Folding, b *space.FoldedDesign,
	clocks int) (*space.Folding, error) {
	z, err := c.size(ctx, b, clocks, false)
	if err != nil || z == nil || !z.Feasible {
		return nil, err
	}
	with := r.WithDepths(b, z.Words)
	with.Paths = nil
	return c.assess(ctx, &with, c.Classes(f.Options), nil, c.load, c.caps)
}

// anew sizes the best design's FIFOs once more, starting from two words, as if a user had asked for its folds: the
// depth that a FIFO needs depends on the other depths at that time. It keeps the old design if the new one is no
// better.
func (c *chase) anew(ctx context.Context, limit int) (*space.Folding, error) {
	r := space.Region{Limit: limit}
	f, err := c.assess(ctx, &r, c.Classes(c.best.Options), c.best.Options, c.load, c.caps)
	if err != nil || f == nil {
		return c.best, err
	}
	b := c.Build(f)
	if b == nil {
		return c.best, nil
	}
	if f, err = c.whole(ctx, &r, f, b, limit); err != nil || f == nil || f.Value(c.load) >= c.best.Value(c.load) {
		return c.best, err
	}
	clocks, err := latency(ctx, c.Build(f))
	if err != nil || clocks > c.clocks {
		return c.best, err
	}
	return f, nil
}

// admit adds the path that a design waits for when its FIFOs never fill up, and returns its clocks. fresh is false if
// the path was known.
func (c *chase) admit(ctx context.Context, b *space.FoldedDesign) (fresh bool, waits int, err error) {
	c.Effort.Done += wordSteps * FrameWords(b.Design)
	hops, waits, err := space.CriticalPath(ctx, b.Design)
	if err != nil {
		return false, 0, err
	}
	p := c.Path(b, hops, max(c.clocks, waits))
	if fresh = !c.seen[p.ID]; fresh {
		c.seen[p.ID] = true
		c.region.Paths = append(c.region.Paths, p)
	}
	return fresh, waits, nil
}

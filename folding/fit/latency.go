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

// A LimitsAfterFirstDesign says how a search may end once it has a design. From then on its work uses Ctx and counts
// towards Whole. The search calls Found for each design that is better than the ones before.
type LimitsAfterFirstDesign struct {
	Ctx   context.Context
	Whole *search.TotalStepCounter
	Found func()
}

// FindShortestLatencyDesign returns the design of the shortest latency within the budget whose layers take at most
// limit clocks per frame; nil if it finds none. It repeats the search with the design's own interval as the limit,
// until that no longer changes. So a user who asks for the rate of this design gets this design, and the search has
// several starts.
func (q *DesignSearch) FindShortestLatencyDesign(ctx context.Context, limit int,
	end LimitsAfterFirstDesign) (*FoldingWithBounds, error) {
	f, err := q.chase(ctx, limit, end)
	for err == nil && f != nil && !q.FIFOsMayLimitInterval() && !end.Whole.MustEndAllSearches() {
		b := q.BuildDesign(f.Folding).Design
		slowest, _ := b.BottleneckInterval()
		clocks := max(slowest, q.MinClocksPerFrame(b))
		if clocks >= limit {
			break
		}
		g, err := q.WithNewStepCounter().chase(ctx, clocks, end)
		if err != nil || g == nil || g.Latency.Clocks > f.Latency.Clocks {
			return f, err
		}
		g.Latency.Least = min(f.Latency.Least, g.Latency.Clocks)
		f, limit = g, clocks
	}
	return f, err
}

// chase does one search for the shortest latency.
func (q *DesignSearch) chase(ctx context.Context, limit int, end LimitsAfterFirstDesign) (*FoldingWithBounds, error) {
	list := q.IntervalsToTry()
	limit = min(limit, list[len(list)-1])
	space.AskOptions(q.FoldingSpace, limit)
	q.Effort.Limit = chaseWork
	c := &chase{DesignSearch: q, caps: q.CapsAtInterval(limit), load: q.ObjectiveOfMeasure(goal.ResourceMeasureLoad),
		region: space.FoldingRegion{Limit: limit},
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
	q.Effort.ReportStepsToTotal()
	if c.best == nil {
		return nil, nil
	}
	if c.bound == 0 {
		if b := c.tree(&c.region).LowerBoundOf(search.Objective{Path: true}, c.caps); b < float64(c.clocks) {
			c.bound = int(math.Ceil(b))
		}
	}
	best, err := c.anew(ctx, limit)
	if err != nil {
		return nil, err
	}
	best, err = q.FoldingWithCanonicalFIFOs(ctx, best, limit, goal.ResourceMeasureLoad.MinimisationOrder())
	return &FoldingWithBounds{Folding: best, Limit: limit, Latency: &LatencyWithBound{c.clocks, min(c.bound,
			c.clocks)}},
		err
}

// rest continues the search: it slows down each layer in turn in the best folding, and adds the path that the folding
// then waits for. Then it adds the paths of new foldings, by cut.
func (c *chase) rest(ctx context.Context) error {
	for i := range c.Layers {
		if c.best == nil || c.Effort.MustEndSearch() {
			break
		}
		if err := c.slow(ctx, i); err != nil {
			return err
		}
	}
	for range maxCuts {
		more, err := c.cut(ctx)
		if err != nil || !more || c.Effort.MustEndSearch() {
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
	region space.FoldingRegion
	best   *space.Folding
	clocks int // the simulated latency of best
	bound  int // a lower bound on the latency of all designs
	seen   map[string]bool
	end    LimitsAfterFirstDesign
}

// begin simulates foldings of little load at some intervals of the list, from the shortest possible one on. Without a
// design after that, it calls adopt.
func (c *chase) begin(ctx context.Context, list []int) error {
	list = slices.DeleteFunc(slices.Clone(list), func(n int) bool { return n > c.region.Limit })
	first := sort.Search(len(list), func(i int) bool {
		t := c.NewFoldingTree(list[i])
		return t.HasAnySolution() && !math.IsInf(t.LowerBoundOf(c.load, c.caps), 1)
	})
	tried := 0
	for i, clocks := first, 0; i < len(list) && tried < 4; i++ {
		if list[i] < clocks {
			continue
		}
		if c.best != nil && c.end.Ctx.Err() != nil {
			break
		}
		at := space.FoldingRegion{Limit: list[i]}
		least, err := c.tree(&at).FindMinimalSolution(ctx, c.load, nil, c.caps, beginNodes)
		if err != nil {
			return err
		}
		if least.Best == nil {
			continue
		}
		if _, err := c.try(ctx, &at, c.FoldingOfSolution(&at, least.Best)); err != nil {
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
	p := c.NewIntervalSearchWithinCaps(c.region.Limit, c.caps, c.Goal.Least.MinimisationOrder())
	if err := p.ContinueSearch(ctx, 1, true); err != nil {
		return err
	}
	f, err := p.BestFoldingWithBounds(ctx)
	if f == nil || err != nil {
		return err
	}
	b := c.BuildDesign(f.Folding)
	clocks, err := latency(ctx, b)
	if err != nil {
		return err
	}
	c.best, c.clocks = f.Folding, clocks
	c.tell()
	_, _, err = c.admit(ctx, b)
	return err
}

// tell reports the best design so far to the caller (LimitsAfterFirstDesign.Found) and to the user (Goal.Tell).
func (c *chase) tell() {
	c.end.Found()
	if c.Goal.Tell != nil {
		c.Goal.Tell(goal.BestDesignSoFarSummary{Latency: c.clocks, Floor: min(c.bound, c.clocks),
			Share: c.best.MeasureOf(c.load)})
	}
}

// slow adds to the known paths the one for which the best folding would wait if the given layer took longer than all
// layers together.
func (c *chase) slow(ctx context.Context, layer int) error {
	f := &space.Folding{Options: slices.Clone(c.best.Options)}
	l := &c.Layers[layer]
	at := -1
	for o := range l.Options {
		n := l.OptionClocks(o)
		if n <= c.region.Limit && l.IsOffered(o) && (at < 0 || n < l.OptionClocks(at) && n > 2*c.clocks ||
			l.OptionClocks(at) < 2*c.clocks &&
				n > l.OptionClocks(at)) {
			at = o
		}
	}
	if at < 0 {
		return nil
	}
	f.Options[layer] = int32(at)
	if b := c.BuildDesign(f); b != nil {
		_, _, err := c.admit(ctx, b)
		return err
	}
	return nil
}

// cut finds the foldings whose longest known path is the shortest, simulates them, and adds the paths that they wait
// for. more is false if nothing better is possible, or no path was new.
func (c *chase) cut(ctx context.Context) (more bool, err error) {
	caps := c.caps
	if c.best != nil {
		caps.Path = int64(c.clocks) - 1
	}
	t := c.tree(&c.region)
	if b := t.LowerBoundOf(search.Objective{Path: true}, caps); !math.IsInf(b, 1) {
		c.bound = max(c.bound, int(math.Ceil(b)))
	} else if c.best != nil {
		c.bound = c.clocks // best is proved to be the shortest
		return false, nil
	}
	for _, f := range t.SolutionsOfLastRelaxation() {
		fresh, err := c.try(ctx, &c.region, c.FoldingOfSolution(&c.region, f))
		if err != nil {
			return false, err
		}
		more = more || fresh
	}
	if more {
		return true, nil
	}
	least, err := t.FindMinimalSolution(ctx, search.Objective{Path: true}, nil, caps, cutNodes)
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
	return c.try(ctx, &c.region, c.FoldingOfSolution(&c.region, least.Best))
}

// try simulates the folding f and adds the path that it waits for; fresh is false if that was known. If f may be the
// best, try also sizes its FIFOs and, if its latency is shorter, makes it the best design.
func (c *chase) try(ctx context.Context, r *space.FoldingRegion, f *space.Folding) (fresh bool, err error) {
	b := c.BuildDesign(f)
	if b == nil {
		return false, nil
	}
	fresh, waits, err := c.admit(ctx, b)
	if err != nil || c.best != nil && waits >= c.clocks || !f.Cost.IsWithin(&c.caps.AmountVector) {
		return fresh, err
	}
	slowest, _ := b.BottleneckInterval()
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
	n, err := latency(ctx, c.BuildDesign(whole))
	if err != nil {
		return fresh, err
	}
	better := c.best == nil || n < c.clocks || n == c.clocks && whole.MeasureOf(c.load) < c.best.MeasureOf(c.load)
	if better && !c.Effort.MustEndAllSearches() {
		fresh = fresh || n < c.clocks
		c.best, c.clocks = whole, n
		c.tell()
	}
	return fresh, nil
}

// latency returns the clocks of a design from the first word of a frame to its last output word, by simulation.
func latency(ctx context.Context, b *space.FoldedDesign) (int, error) {
	t, err := rtlsim.RunFrames(ctx, b.Design, nil, rtlsim.Options{Frames: 1})
	if err != nil {
		return 0, err
	}
	return t.FirstFrameLatencyClocks(), nil
}

// whole returns the best design of a folding's classes whose FIFOs keep an interval of the given clocks. It returns nil
// if none is within the caps. b is the folding as built.
func (c *chase) whole(ctx context.Context, r *space.FoldingRegion, f *space.Folding, b *space.FoldedDesign,
	clocks int) (*space.Folding, error) {
	z, err := c.size(ctx, b, clocks, false)
	if err != nil || z == nil || !z.Feasible {
		return nil, err
	}
	with := r.WithMinFIFODepths(b, z.Words)
	with.Paths = nil
	return c.assess(ctx, &with, c.OptionClassesOf(f.Options), nil, c.load, c.caps)
}

// anew sizes the best design's FIFOs once more, starting from two words, as if a user had asked for its folds. The
// result can differ, because the depth that a FIFO needs depends on the other depths at that time. It keeps the old
// design if the new one is no better.
func (c *chase) anew(ctx context.Context, limit int) (*space.Folding, error) {
	r := space.FoldingRegion{Limit: limit}
	f, err := c.assess(ctx, &r, c.OptionClassesOf(c.best.Options), c.best.Options, c.load, c.caps)
	if err != nil || f == nil {
		return c.best, err
	}
	b := c.BuildDesign(f)
	if b == nil {
		return c.best, nil
	}
	if f, err = c.whole(ctx, &r, f, b, limit); err != nil || f == nil ||
		f.MeasureOf(c.load) >= c.best.MeasureOf(c.load) {
		return c.best, err
	}
	clocks, err := latency(ctx, c.BuildDesign(f))
	if err != nil || clocks > c.clocks {
		return c.best, err
	}
	return f, nil
}

// admit adds the path that the design b waits for when its FIFOs never fill up, and returns the design's clocks. fresh
// is false if the path was known.
func (c *chase) admit(ctx context.Context, b *space.FoldedDesign) (fresh bool, waits int, err error) {
	c.Effort.Done += wordSteps * StreamWordsPerFrame(b.Design)
	hops, waits, err := space.FindCriticalPath(ctx, b.Design)
	if err != nil {
		return false, 0, err
	}
	p := c.NewPathClocks(b, hops, max(c.clocks, waits))
	if fresh = !c.seen[p.ID]; fresh {
		c.seen[p.ID] = true
		c.region.Paths = append(c.region.Paths, p)
	}
	return fresh, waits, nil
}

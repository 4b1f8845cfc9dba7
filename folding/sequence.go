package folding

import (
	"context"
	"math"
	"slices"
	"sort"

	"hlsgen/folding/fit"
	"hlsgen/folding/goal"
	"hlsgen/folding/search"
	"hlsgen/folding/space"
)

// A sequence is the search for a design in steps, with more work each time. First it looks for some design, then for
// faster ones (narrow) and for those that measure less (settle). Its course is the same whatever ends it, so more work
// never makes the answer worse.
type sequence struct {
	*inquiry
	ctx      context.Context // the context of the whole call
	cut      context.Context // the context of work that may be cut short
	cancel   context.CancelFunc
	whole    search.TotalStepCounter
	list     []int // the intervals to try
	pursuits map[int]*fit.FixedIntervalSearch
	seen     map[*fit.FixedIntervalSearch]int // per search: how many of its designs were considered
	excluded int                              // no design has an interval this short
	failed   []int                            // longer intervals at which no design was found, in increasing order
	best     *incumbent
	stepped  bool // whether the last interval tried between two of the list had a design
	tried    bool // whether the limit of steps covers the first step, too, and no work beyond the usual is done
}

// An incumbent is the best design that a sequence has found so far.
type incumbent struct {
	*fit.FoldingWithBounds
	clocks float64 // per frame
}

// sequence returns a new sequence that looks for a design at the intervals in list, in increasing order, and between
// them. The caller must close it.
func (q *inquiry) sequence(ctx context.Context, list []int) *sequence {
	s := &sequence{inquiry: q, ctx: ctx, list: list, pursuits: map[int]*fit.FixedIntervalSearch{},
		seen: map[*fit.FixedIntervalSearch]int{}, excluded: list[0] - 1}
	s.cut, s.cancel = context.WithCancel(ctx)
	if t := q.Goal.SearchTime; t > 0 {
		s.cut, s.cancel = context.WithTimeout(ctx, t)
	}
	s.whole = search.TotalStepCounter{Limit: q.Goal.SearchStepBudget(), Stop: s.cut.Done()}
	q.Effort.Limit = math.MaxInt
	return s
}

// close takes back the function by which the user's Goal.Interrupt can end the search, because the search has ended.
func (s *sequence) close() {
	s.Goal.Interrupt.SetStopFunc(nil)
	s.cancel()
	s.steps += s.whole.Done
}

// goesOn reports whether the search may do more than the usual work.
func (s *sequence) goesOn() bool { return s.whole.Limit > 0 && !s.tried }

// over reports whether the sequence was cut short.
func (s *sequence) over() bool {
	s.Effort.ReportStepsToTotal()
	return s.whole.MustEndAllSearches()
}

// may runs the function do, whose work may be cut short by the user or a limit. Being cut short is no error. It does
// not run do if the search is over already.
func (s *sequence) may(do func(ctx context.Context) error) error {
	if s.over() {
		return nil
	}
	err := do(s.cut)
	if err != nil && s.ctx.Err() == nil && s.cut.Err() != nil {
		return nil
	}
	return err
}

// at returns the search for designs at an interval in clocks; it makes the search at the first call.
func (s *sequence) at(clocks int) *fit.FixedIntervalSearch {
	p, ok := s.pursuits[clocks]
	if !ok {
		if p = s.NewFixedIntervalSearch(clocks); s.tried {
			p.CountStepsTowards(&s.whole)
		}
		s.pursuits[clocks] = p
	}
	return p
}

// begun is called after the first step: it makes all further work count towards the total. If found, it lets the user
// end the search.
func (s *sequence) begun(found bool) {
	s.Effort.Whole = &s.whole
	for _, p := range s.pursuits {
		p.CountStepsTowards(&s.whole)
	}
	s.Effort.ReportStepsToTotal()
	if found {
		s.offer()
	}
}

// offer lets the user end the search, if it has a design as fast as asked.
func (s *sequence) offer() {
	if s.best == nil || goal.IntervalMeetsLimit(s.best.clocks, s.MaxIntervalClocks()) {
		s.Goal.Interrupt.SetStopFunc(s.cancel)
	}
}

// asked returns the best design at an interval of the given clocks, or nil if it finds none.
func (s *sequence) asked(clocks int) (*found, error) {
	key, remembers := s.key("asked", clocks), !s.goesOn() && !s.tried && s.Goal.Interrupt == nil
	if a, ok := s.made.answers.Load(key); ok && remembers {
		return a.(*found), nil
	}
	p := s.at(clocks)
	p.Told = func(t fit.FoundDesign) {
		s.offer()
		s.told(goal.BestDesignSoFarSummary{Interval: float64(clocks),
			Share: t.MeasureOf(s.ObjectiveOfMeasure(ResourceMeasureLoad))})
	}
	if err := p.FindFirstDesign(s.ctx); err != nil {
		return nil, err
	}
	s.begun(len(p.Takes) > 0)
	for times, before := 1, -1; s.whole.Done > before && !s.over(); times *= 4 {
		before = s.whole.Done
		if err := s.may(func(ctx context.Context) error { return p.ContinueSearch(ctx, times, false) }); err != nil {
			return nil, err
		}
		if !s.goesOn() || len(p.Takes) == 0 {
			break
		}
	}
	var f *found
	if best, err := p.BestFoldingWithBounds(s.ctx); err != nil {
		return nil, err
	} else if best != nil {
		f = &found{FoldingWithBounds: best}
	}
	if remembers && (f == nil || !f.Useless) {
		s.made.answers.Store(key, f)
	}
	return f, nil
}

// fastest returns the best design at the shortest interval within the budget, or nil if there is none.
func (s *sequence) fastest() (*found, error) {
	key, remembers := s.key("fastest", s.below), !s.goesOn() && !s.tried && s.Goal.Interrupt == nil
	if a, ok := s.made.answers.Load(key); ok && remembers {
		return a.(*found), nil
	}
	s.best, s.Than = nil, nil // any faster design is of use
	if err := s.begin(); err != nil {
		return nil, err
	}
	for times, before := 1, -1; s.best != nil && s.whole.Done > before && !s.over(); times *= 4 {
		before = s.whole.Done
		if err := s.narrow(times); err != nil {
			return nil, err
		}
		if err := s.settle(times); err != nil {
			return nil, err
		}
		if !s.goesOn() {
			break
		}
		s.failed = nil // more work may find a design there
	}
	f := s.answer()
	if remembers {
		s.made.answers.Store(key, f)
	}
	return f, nil
}

// begin looks for a first design, with longer and longer intervals.
func (s *sequence) begin() error {
	if s.below > 0 {
		return s.beginBelow()
	}
	if last := s.list[len(s.list)-1]; s.FIFOsMayLimitInterval() {
		p := s.at(last)
		if err := p.ContinueSearch(s.ctx, 1, true); err != nil || len(p.Takes) == 0 {
			s.begun(false)
			return err
		}
	} else if space.Knows(s.FoldingSpace, last) && s.hopeless(last) { // else it asks for options one by one
		s.exclude(last)
		s.begun(false)
		return nil
	}
	if err := s.ladder(func(p *fit.FixedIntervalSearch) error { return p.FindFirstDesign(s.ctx) }); err != nil {
		return err
	}
	s.begun(s.best != nil)
	if s.best != nil {
		return s.may(func(context.Context) error { s.price(); return nil })
	}
	s.failed = nil
	err := s.ladder(func(p *fit.FixedIntervalSearch) error {
		return s.may(func(ctx context.Context) error { return p.ContinueSearch(ctx, 1, true) })
	})
	s.begun(s.best != nil)
	return err
}

// beginBelow looks for a first design with an interval below s.below. It tries each interval with little work, as begin
// does, and then the longest with the usual work. The user may end it, because a slower design exists.
func (s *sequence) beginBelow() error {
	s.Goal.Interrupt.SetStopFunc(s.cancel)
	defer s.begun(false)
	s.list = s.list[:sort.SearchInts(s.list, s.below-1)]
	if len(s.list) == 0 && s.below-1 <= s.excluded {
		return nil
	}
	s.list = append(slices.Clone(s.list), s.below-1)
	if err := s.ladder(func(p *fit.FixedIntervalSearch) error {
		p.CountStepsTowards(&s.whole)
		return s.may(func(ctx context.Context) error { return p.FindFirstDesign(ctx) })
	}); err != nil {
		return err
	}
	if s.best == nil {
		p := s.at(s.below - 1)
		if err := s.may(func(ctx context.Context) error { return p.ContinueSearch(ctx, 1, true) }); err != nil {
			return err
		}
		if err := s.consider(p); err != nil {
			return err
		}
	}
	if s.best == nil {
		return nil
	}
	return s.may(func(context.Context) error { s.price(); return nil })
}

// ladder calls try with the searches at longer and longer intervals until there is a design, the list ends, or the
// search is over.
func (s *sequence) ladder(try func(p *fit.FixedIntervalSearch) error) error {
	for i, step, last := 0, 1, len(s.list)-1; ; i, step = min(i+step, last), 2*step {
		if s.list[i] > s.excluded {
			p := s.at(s.list[i])
			if err := try(p); err != nil {
				return err
			}
			if err := s.consider(p); err != nil {
				return err
			}
			if s.best != nil {
				return nil
			}
			s.fail(p)
		}
		if i == last || s.over() {
			return nil
		}
	}
}

// exclude records that no design has an interval of so few clocks or fewer.
func (s *sequence) exclude(clocks int) {
	s.excluded = max(s.excluded, clocks)
	s.failed = slices.DeleteFunc(s.failed, func(n int) bool { return n <= s.excluded })
	if s.best != nil {
		s.tell()
	}
}

// fail records that the search p found no design at its interval, or even proved that there is none.
func (s *sequence) fail(p *fit.FixedIntervalSearch) {
	if p.IsProvedImpossible() {
		s.exclude(p.Limit)
		return
	}
	if at, known := slices.BinarySearch(s.failed, p.Limit); !known && p.Limit > s.excluded {
		s.failed = slices.Insert(s.failed, at, p.Limit)
	}
}

// price finds intervals below the reached one that are proved impossible with little work, and excludes them.
func (s *sequence) price() {
	first := sort.SearchInts(s.list, s.excluded+1)
	end := sort.SearchInts(s.list, int(math.Ceil(s.best.clocks)))
	n := sort.Search(max(0, end-first), func(i int) bool { return s.over() || !s.hopeless(s.list[first+i]) })
	if n == 0 || s.over() {
		return
	}
	s.exclude(s.list[first+n-1])
	// Up to the next interval of the list, layers may take no more clocks, but the processor's memory carries more.
	next := int(math.Ceil(s.best.clocks))
	if first+n < len(s.list) {
		next = min(next, s.list[first+n])
	}
	low := s.excluded
	high := low + sort.Search(max(0, next-1-low), func(i int) bool { return s.over() || !s.hopeless(low+1+i) })
	if !s.over() {
		s.exclude(high)
	}
}

// key returns the cache key of an answer of the kind what: everything that it depends on, except the space.
func (s *sequence) key(what string, clocks int) answerKey {
	g := s.Goal
	return answerKey{what, clocks, s.Shorter, g.MaxUse, g.Least, g.MaxCycles > 0}
}

// An answerKey is the key of a cached answer: everything that it depends on besides the space.
type answerKey struct {
	what    string
	clocks  int
	shorter bool
	use     MaxUseFractions
	least   ResourceMeasure
	free    bool // whether there is no budget
}

// consider makes a search's designs the best if they are better: faster, or as fast and of smaller measure.
func (s *sequence) consider(p *fit.FixedIntervalSearch) error {
	for _, take := range p.Takes[s.seen[p]:] {
		f, err := s.FoldingWithCanonicalFIFOs(s.ctx, take.Folding, p.Limit, s.Goal.Least.MinimisationOrder())
		if err != nil {
			return err
		}
		clocks, err := s.clocks(f, p.Limit)
		if err != nil {
			return err
		}
		g := &fit.FoldingWithBounds{Folding: f, Limit: p.Limit, Spares: take.Spares}
		b := s.best
		if b == nil || clocks < b.clocks || clocks == b.clocks &&
			fit.CompareFoldingsByMeasures(s.DesignSearch, s.Goal.Least.MinimisationOrder(), f, b.Folding) < 0 {
			s.best = &incumbent{g, clocks}
			s.offer()
			s.tell()
		}
	}
	s.seen[p] = len(p.Takes)
	return nil
}

// clocks returns the interval of a design that keeps the limit.
func (s *sequence) clocks(f *space.Folding, limit int) (float64, error) {
	d := s.BuildDesign(f).Design
	slowest, _ := d.BottleneckInterval()
	if least := max(slowest, s.MinClocksPerFrame(d)); least == limit && !s.FIFOsMayLimitInterval() {
		return float64(limit), nil
	}
	clocks, err := s.SimulateIntervalClocks(s.ctx, d)
	return max(clocks, float64(s.MinClocksPerFrame(d))), err
}

// tell reports the best design so far, or what is known of it, to the user.
func (s *sequence) tell() {
	s.told(goal.BestDesignSoFarSummary{Interval: s.best.clocks, Floor: s.excluded + 1,
		Share: s.best.MeasureOf(s.ObjectiveOfMeasure(ResourceMeasureLoad))})
}

func (s *sequence) told(st goal.BestDesignSoFarSummary) {
	if s.Goal.Tell != nil {
		s.Goal.Tell(st)
	}
}

// narrowing limits the work to find the shortest interval, as a multiple of the usual work at an interval.
const narrowing = 4

// leap looks for a design at the shortest interval that prices do not exclude. If it finds one, no other interval has
// to be tried.
func (s *sequence) leap() error {
	const few = 2 // as few intervals are found as quickly by halving
	first, end := sort.SearchInts(s.list, s.excluded+1), sort.SearchInts(s.list, int(math.Ceil(s.best.clocks)))
	if end-first <= few {
		return nil
	}
	p := s.at(s.list[first])
	p.CountStepsTowards(&s.whole)
	if err := s.may(func(ctx context.Context) error { return p.FindFirstDesign(ctx) }); err != nil {
		return err
	}
	if p.IsProvedImpossible() {
		s.fail(p)
	}
	return s.consider(p)
}

// narrow looks for designs at shorter intervals, with the given multiple of the usual work.
func (s *sequence) narrow(times int) error {
	until := s.whole.Done + narrowing*times*s.at(s.best.Limit).UsualStepCount()
	if times == 1 {
		if err := s.leap(); err != nil {
			return err
		}
	}
	for !s.over() && s.whole.Done < until {
		clocks, ok := s.next()
		if !ok {
			break
		}
		p := s.at(clocks)
		p.CountStepsTowards(&s.whole)
		if err := s.may(func(ctx context.Context) error {
			if err := p.FindFirstDesign(ctx); err != nil || len(p.Takes) > 0 || p.IsProvedImpossible() {
				return err
			}
			return p.ContinueSearch(ctx, times, true)
		}); err != nil {
			return err
		}
		if s.stepped = len(p.Takes) > 0; !s.stepped && !s.over() {
			s.fail(p)
		}
		if err := s.consider(p); err != nil {
			return err
		}
		reached := int(math.Ceil(s.best.clocks))
		s.failed = slices.DeleteFunc(s.failed, func(n int) bool { return n >= reached })
	}
	return nil
}

// next returns the interval to try. It first halves the intervals of the list that were not tried. Then it tries those
// between two of the list, the longest first, which may prove that there is no shorter one. Then it tries again between
// the intervals at which nothing was found, in the widest gap. ok is false if there is nothing to try.
func (s *sequence) next() (clocks int, ok bool) {
	reached := int(math.Ceil(s.best.clocks))
	low := s.excluded
	if n := len(s.failed); n > 0 {
		low = s.failed[n-1]
	}
	if low+1 < reached {
		first, end := sort.SearchInts(s.list, low+1), sort.SearchInts(s.list, reached)
		if first < end {
			return s.list[(first+end)/2], true
		}
		if s.stepped {
			return (low + reached) / 2, true
		}
		return reached - 1, true
	}
	const narrowest = 1.01 // the least ratio of a gap that is searched
	widest := narrowest
	before := s.excluded
	for _, n := range append(slices.Clone(s.failed), reached) {
		if ratio := float64(n) / float64(max(1, before)); n > before+1 && ratio > widest {
			clocks, ok, widest = middle(s.list, before, n), true, ratio
		}
		before = n
	}
	return clocks, ok
}

// middle returns an interval between a and b: the middle one of those in the list, if the list has any there.
func middle(list []int, a, b int) int {
	if first, end := sort.SearchInts(list, a+1), sort.SearchInts(list, b); first < end {
		return list[(first+end)/2]
	}
	return (a + b) / 2
}

// settle looks for the design of least measure at the reached interval, with the given multiple of the usual work.
func (s *sequence) settle(times int) error {
	for !s.over() {
		reached := int(math.Ceil(s.best.clocks))
		p := s.at(reached)
		p.CountStepsTowards(&s.whole)
		if err := s.may(func(ctx context.Context) error {
			if err := p.FindFirstDesign(ctx); err != nil {
				return err
			}
			return p.ContinueSearch(ctx, times, false)
		}); err != nil {
			return err
		}
		if err := s.consider(p); err != nil {
			return err
		}
		if int(math.Ceil(s.best.clocks)) == reached {
			return nil
		}
	}
	return nil
}

// answer returns the best design with what is proved of it, or nil if there is none.
func (s *sequence) answer() *found {
	if s.best == nil {
		return nil
	}
	f := *s.best.FoldingWithBounds
	p := s.at(f.Limit)
	if at, ok := s.pursuits[int(math.Ceil(s.best.clocks))]; ok {
		p = at
	}
	f.Bounds = p.MeasuresWithBounds(f.Folding, f.Spares)
	g := &found{FoldingWithBounds: &f, clocks: s.best.clocks, floor: min(s.excluded+1, int(s.best.clocks))}
	if s.excluded >= s.list[0] {
		g.below = s.explain(s.excluded)
	}
	return g
}

package fit

import (
	"context"
	"math"

	"hlsgen/folding/goal"
	"hlsgen/folding/search"
	"hlsgen/folding/space"
)

// A FixedIntervalSearch looks for the best design at an interval, measure after measure: FindFirstDesign with little
// work, then ContinueSearch. It prefers designs that spare DSP slices (withoutNarrowDSPs). If usual work finds none, it
// looks for others, which a sparing design must then beat.
type FixedIntervalSearch struct {
	Limit int
	// Takes are the designs found so far, each better than the one before. Designs of the second line follow those of
	// the first.
	Takes []FoundDesign
	Told  func(FoundDesign) // is called for each design; may be nil
	lines []*line
}

// A FoundDesign is a design that a FixedIntervalSearch found. Spares reports whether the search that spares DSP slices
// found it.
type FoundDesign struct {
	*space.Folding
	Spares bool
}

// A line is one of a FixedIntervalSearch's searches: that for designs that spare DSP slices, or that for any designs.
type line struct {
	*DesignSearch
	limit int
	caps  search.Caps
	order []goal.ResourceMeasure
	hunts []*hunt // the hunts begun so far, one per measure
	best  *space.Folding
	taken func(*space.Folding)
}

// NewFixedIntervalSearch returns a search, not begun yet, for the best design at an interval of limit clocks, within
// the budget at that interval.
func (q *DesignSearch) NewFixedIntervalSearch(limit int) *FixedIntervalSearch {
	p := &FixedIntervalSearch{Limit: limit}
	if q.sparing() {
		s := q.WithNewStepCounter().withoutNarrowDSPs()
		p.follow(s, s.CapsAtInterval(limit))
	}
	p.follow(q.WithNewStepCounter(), q.CapsAtInterval(limit))
	return p
}

// NewIntervalSearchWithinCaps returns a search, not begun yet, for the best design at an interval of limit clocks,
// within caps, by the given measures in order. Unlike NewFixedIntervalSearch, it does not look for designs that spare
// DSP slices first.
func (q *DesignSearch) NewIntervalSearchWithinCaps(limit int, caps search.Caps,
	order []goal.ResourceMeasure) *FixedIntervalSearch {
	p := &FixedIntervalSearch{Limit: limit}
	p.follow(q.WithNewStepCounter(), caps).order = order
	return p
}

// sparing reports whether the search should spare DSP slices: some layer has the choice, and the goal does not minimise
// a single kind of resource.
func (q *DesignSearch) sparing() bool { return q.Few && q.Goal.Least == goal.ResourceMeasureLoad }

func (p *FixedIntervalSearch) follow(q *DesignSearch, caps search.Caps) *line {
	l := &line{DesignSearch: q, limit: p.Limit, caps: caps, order: q.Goal.Least.MinimisationOrder()}
	l.taken = func(f *space.Folding) {
		l.best = f
		if last := len(p.Takes) - 1; last < 0 || p.Takes[last].Spares == l.Spares ||
			l.better(f, p.Takes[last].Folding) {
			p.Takes = append(p.Takes, FoundDesign{f, l.Spares})
			if p.Told != nil {
				p.Told(FoundDesign{f, l.Spares})
			}
		}
	}
	p.lines = append(p.lines, l)
	return l
}

// better reports whether f is at least as good as the design than, by the line's measures in their order.
func (l *line) better(f, than *space.Folding) bool {
	return CompareFoldingsByMeasures(l.DesignSearch, l.order, f, than) <= 0
}

// CompareFoldingsByMeasures orders two designs by the given measures, the first that differs deciding. It returns -1 if
// a is better, 1 if b is, and 0 otherwise.
func CompareFoldingsByMeasures(q *DesignSearch, order []goal.ResourceMeasure, a, b *space.Folding) int {
	for _, m := range order {
		measure := q.ObjectiveOfMeasure(m)
		x, y := a.MeasureOf(measure), b.MeasureOf(measure)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
	}
	return 0
}

// CountStepsTowards makes all work of the search count towards w, whose limit may then end the search.
func (p *FixedIntervalSearch) CountStepsTowards(w *search.TotalStepCounter) {
	for _, l := range p.lines {
		l.Effort.Whole = w
		l.Effort.ReportStepsToTotal()
	}
}

// sparingPart divides the usual work of looking for designs that spare DSP slices, as long as none is found. Then the
// search accepts other designs. Once one is found, the search for a better one gets the usual work.
const sparingPart = 4

// FindFirstDesign looks for a design with little work, and spends some more on one that spares DSP slices. It adds
// designs to Takes; finding none is no error.
func (p *FixedIntervalSearch) FindFirstDesign(ctx context.Context) error {
	for i, l := range p.lines {
		if len(l.hunts) == 0 {
			l.Effort.Limit = math.MaxInt
			if err := l.hunt(0).first(ctx); err != nil {
				return err
			}
		}
		if l.best == nil && i < len(p.lines)-1 {
			if err := l.rest(ctx, l.work()/sparingPart, true, 0); err != nil {
				return err
			}
		}
		if l.best != nil {
			break
		}
	}
	return nil
}

// ContinueSearch continues the search, up to the given multiple of the usual work in total; it first calls
// FindFirstDesign. If any is true, it stops at the first design.
func (p *FixedIntervalSearch) ContinueSearch(ctx context.Context, times int, any bool) error {
	if err := p.FindFirstDesign(ctx); err != nil {
		return err
	}
	for i, l := range p.lines {
		if any && len(p.Takes) > 0 || len(l.hunts) == 0 {
			break
		}
		work := times * l.work()
		if i < len(p.lines)-1 && l.best == nil {
			work /= sparingPart
		}
		if err := l.rest(ctx, work, any, times*l.patience()); err != nil {
			return err
		}
		if last := len(p.Takes) - 1; l.best != nil && p.Takes[last].Spares == l.Spares {
			break // do not look for others
		}
	}
	return nil
}

// IsProvedImpossible reports whether it is proved that no design keeps the interval within the caps. It is false as
// long as the search has not begun.
func (p *FixedIntervalSearch) IsProvedImpossible() bool {
	l := p.lines[len(p.lines)-1]
	return len(l.hunts) > 0 && math.IsInf(l.hunts[0].bound(), 1)
}

// BestFoldingWithBounds returns the last design found, with its proofs; nil if there is none. Its FIFOs are built as
// for a user who asks for its folds.
func (p *FixedIntervalSearch) BestFoldingWithBounds(ctx context.Context) (*FoldingWithBounds, error) {
	last := len(p.Takes) - 1
	if last < 0 {
		return nil, nil
	}
	t := p.Takes[last]
	l := p.lines[len(p.lines)-1]
	f, err := l.FoldingWithCanonicalFIFOs(ctx, t.Folding, p.Limit, l.order)
	return &FoldingWithBounds{Folding: f, Limit: p.Limit, Spares: t.Spares, Bounds: p.MeasuresWithBounds(f, t.Spares),
		Useless: l.useless(t.Folding, t.Spares)}, err
}

// MeasuresWithBounds returns, for each measure that was minimised, the value of design f and a lower bound. The bound
// covers designs that spare DSP slices or, if spares is false, all. The list is nil if spares is true and the search
// looks for no such designs.
func (p *FixedIntervalSearch) MeasuresWithBounds(f *space.Folding, spares bool) (list []MeasureWithBound) {
	for _, l := range p.lines {
		if l.Spares == spares {
			return l.bounds(f)
		}
	}
	return nil
}

// UsualStepCount returns the steps of work that the search usually takes at this interval. FindFirstDesign must have
// been called before.
func (p *FixedIntervalSearch) UsualStepCount() int {
	if l := p.lines[len(p.lines)-1]; len(l.hunts) > 0 {
		return l.work()
	}
	return p.lines[0].work()
}

// perBounded is the work that a line gets per step of its first lower bound: perBounded times the steps of that bound.
const perBounded = 4

// work returns the steps of work that the line usually takes. Networks with costly first bounds, or with more words per
// frame, take more.
func (l *line) work() int {
	const perWord = 16 * wordSteps
	h := l.hunts[0]
	return maxWork + perBounded*h.bounded + perWord*h.words
}

// patience returns the steps without a better design after which the hunt for a measure ends.
func (l *line) patience() int { return goodWork + perBounded*l.hunts[0].bounded }

// hunt returns the search for the design with the least of measure i, and begins it if need be. Its designs take no
// more of the measures before than the best design does.
func (l *line) hunt(i int) *hunt {
	if i < len(l.hunts) {
		return l.hunts[i]
	}
	h := &hunt{DesignSearch: l.DesignSearch, limit: l.limit, measure: l.ObjectiveOfMeasure(l.order[i]), caps: l.caps,
		taken: l.taken}
	if i > 0 {
		before := l.hunts[i-1]
		h.caps, h.best, h.each = before.best.CapsToMatch(before.measure, before.caps, 0), l.best, before.each
	}
	l.hunts = append(l.hunts, h)
	return h
}

// rest hunts for one measure after the other, up to work steps in total. Each hunt gets half of what remains, the last
// one all. If any is true, it stops at the first design; patience ends hunts that find nothing better.
func (l *line) rest(ctx context.Context, work int, any bool, patience int) error {
	for i := range l.order {
		l.Effort.Limit = work
		if i < len(l.order)-1 {
			l.Effort.Limit = l.Effort.Done + max(0, work-l.Effort.Done)/2
		}
		h := l.hunt(i)
		was := h.best
		err := h.run(ctx, any, patience)
		if h.best != was {
			l.hunts = l.hunts[:i+1] // the later hunts kept up with another design
		}
		if err != nil || h.best == nil || any || h.Effort.MustEndAllSearches() {
			return err
		}
	}
	return nil
}

// bounds returns, for each measure that was minimised, the value of a design of this line and the lower bound.
func (l *line) bounds(f *space.Folding) (list []MeasureWithBound) {
	for i, m := range l.order {
		b := MeasureWithBound{Measure: m, Value: f.MeasureOf(l.ObjectiveOfMeasure(m))}
		if i < len(l.hunts) {
			b.Least = min(b.Value, l.hunts[i].bound())
		} else {
			b.Least = min(b.Value, l.NewFoldingTree(l.limit).LowerBoundOf(l.ObjectiveOfMeasure(m), l.caps))
		}
		list = append(list, b)
	}
	return list
}

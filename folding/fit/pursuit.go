package fit

import (
	"context"
	"math"

	"hlsgen/folding/goal"
	"hlsgen/folding/search"
	"hlsgen/folding/space"
)

// An IntervalSearch looks for the best design at an interval within the budget, measure after measure: First with
// little work, then Continue with as much as allowed. It may stop anywhere and resume later.
//
// Where DSP slices may be spared (Question.SparingDSPs), it first looks for designs that spare them. If a part of the
// usual work finds none, it looks for other designs; from then on a design that spares DSP slices must be better than
// these.
type IntervalSearch struct {
	Limit int
	// Takes are the designs found so far, each better than the one before. Designs of the second line follow those of
	// the first.
	Takes []FoundDesign
	Told  func(FoundDesign) // is called for each design; may be nil
	lines []*line
}

// A FoundDesign is a design that was found. Spares reports whether it comes from the line that spares DSP slices.
type FoundDesign struct {
	*space.Folding
	Spares bool
}

// A line looks for designs that spare DSP slices, or for any designs.
type line struct {
	*DesignSearch
	limit int
	caps  search.Caps
	order []goal.ResourceMeasure
	hunts []*hunt // the hunts begun so far, one per measure
	best  *space.Folding
	taken func(*space.Folding)
}

// NewIntervalSearch returns a new search of designs at an interval.
func (q *DesignSearch) NewIntervalSearch(limit int) *IntervalSearch {
	p := &IntervalSearch{Limit: limit}
	if q.sparing() {
		s := q.Restarted().SparingDSPs()
		p.follow(s, s.CapsAt(limit))
	}
	p.follow(q.Restarted(), q.CapsAt(limit))
	return p
}

// NewIntervalSearchWithin returns a new search of designs at an interval and within caps, with the given order of
// measures.
func (q *DesignSearch) NewIntervalSearchWithin(limit int, caps search.Caps,
	order []goal.ResourceMeasure) *IntervalSearch {
	p := &IntervalSearch{Limit: limit}
	p.follow(q.Restarted(), caps).order = order
	return p
}

// sparing reports whether the search should spare DSP slices: some layer has the choice, and the goal does not minimise
// a single kind of resource.
func (q *DesignSearch) sparing() bool { return q.Few && q.Goal.Least == goal.LeastLoad }

func (p *IntervalSearch) follow(q *DesignSearch, caps search.Caps) *line {
	l := &line{DesignSearch: q, limit: p.Limit, caps: caps, order: q.Goal.Least.Order()}
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

// better reports whether f measures no more than the other design.
func (l *line) better(f, than *space.Folding) bool {
	return Compare(l.DesignSearch, l.order, f, than) <= 0
}

// Compare orders designs by their measures, in the given order.
func Compare(q *DesignSearch, order []goal.ResourceMeasure, a, b *space.Folding) int {
	for _, m := range order {
		measure := q.ObjectiveOf(m)
		x, y := a.Value(measure), b.Value(measure)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
	}
	return 0
}

// CountTowards makes the search count towards w, which may end it.
func (p *IntervalSearch) CountTowards(w *search.TotalStepCounter) {
	for _, l := range p.lines {
		l.Effort.Whole = w
		l.Effort.Report()
	}
}

// sparingPart divides the usual work: this part looks for a design that spares DSP slices, before any other is
// accepted.
const sparingPart = 4

// First looks for a design with little work, and with some more for one that spares DSP slices.
func (p *IntervalSearch) First(ctx context.Context) error {
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

// Continue continues after First, up to times the usual work in total. If any is true, it stops at the first design.
func (p *IntervalSearch) Continue(ctx context.Context, times int, any bool) error {
	if err := p.First(ctx); err != nil {
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

// Impossible reports whether there surely is no design.
func (p *IntervalSearch) Impossible() bool {
	l := p.lines[len(p.lines)-1]
	return len(l.hunts) > 0 && math.IsInf(l.hunts[0].bound(), 1)
}

// Best returns the last design found, with its proofs; nil if there is none. Its FIFOs are built as for a user who asks
// for its folds.
func (p *IntervalSearch) Best(ctx context.Context) (*ProvedFolding, error) {
	last := len(p.Takes) - 1
	if last < 0 {
		return nil, nil
	}
	t := p.Takes[last]
	l := p.lines[len(p.lines)-1]
	f, err := l.CanonicalFIFOs(ctx, t.Folding, p.Limit, l.order)
	return &ProvedFolding{Folding: f, Limit: p.Limit, Spares: t.Spares, Bounds: p.Bounds(f, t.Spares),
		Useless: l.useless(t.Folding, t.Spares)}, err
}

// Bounds returns the bound of each measure for a design that keeps the interval, among the designs that spare DSP
// slices or among all.
func (p *IntervalSearch) Bounds(f *space.Folding, spares bool) (list []MinimisedMeasure) {
	for _, l := range p.lines {
		if l.Spares == spares {
			return l.bounds(f)
		}
	}
	return nil
}

// UsualSteps returns the usual number of steps for the interval.
func (p *IntervalSearch) UsualSteps() int {
	if l := p.lines[len(p.lines)-1]; len(l.hunts) > 0 {
		return l.work()
	}
	return p.lines[0].work()
}

// perBounded is the work that a line gets for a first bound, as a multiple of that bound's steps.
const perBounded = 4

// work returns the usual steps of a line: more if a first bound takes more, and if frames have more words.
func (l *line) work() int {
	const perWord = 16 * wordSteps
	h := l.hunts[0]
	return maxWork + perBounded*h.bounded + perWord*h.words
}

// patience returns the steps without a better design after which the hunt for a measure ends.
func (l *line) patience() int { return goodWork + perBounded*l.hunts[0].bounded }

// hunt returns the search for the least of measure i. Its designs take no more of the measures before than the best
// design.
func (l *line) hunt(i int) *hunt {
	if i < len(l.hunts) {
		return l.hunts[i]
	}
	h := &hunt{DesignSearch: l.DesignSearch, limit: l.limit, measure: l.ObjectiveOf(l.order[i]), caps: l.caps,
		taken: l.taken}
	if i > 0 {
		before := l.hunts[i-1]
		h.caps, h.best, h.each = before.best.CapsToMatch(before.measure, before.caps, 0), l.best, before.each
	}
	l.hunts = append(l.hunts, h)
	return h
}

// rest hunts for one measure after the other. Each hunt gets half of the remaining work, and the last one all of it.
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
		if err != nil || h.best == nil || any || h.Effort.Over() {
			return err
		}
	}
	return nil
}

// bounds returns the bound of each measure for a design that this line found.
func (l *line) bounds(f *space.Folding) (list []MinimisedMeasure) {
	for i, m := range l.order {
		b := MinimisedMeasure{Measure: m, Value: f.Value(l.ObjectiveOf(m))}
		if i < len(l.hunts) {
			b.Least = min(b.Value, l.hunts[i].bound())
		} else {
			b.Least = min(b.Value, l.Tree(l.limit).Bound(l.ObjectiveOf(m), l.caps))
		}
		list = append(list, b)
	}
	return list
}

package folding

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"hlsgen/folding/fit"
	"hlsgen/folding/goal"
	"hlsgen/internal/diag"
)

// FindParetoFront returns the designs within the budget that are worth choosing from. No other design has both an
// interval and a measure (Goal.Least) at most as large, or spares DSP slices (OptimalityCertificate.Spares) if the
// design does not. The designs come in the order of their intervals, the fastest first. With Goal.FPS or Goal.Interval
// none is slower than asked. Each is the design that FindBestDesign returns for its own interval.
//
// FindParetoFront makes at most most designs, spread over the intervals, unless most is 0. whole reports whether these
// are all. If step is not nil, FindParetoFront calls it with the number of designs after each round. It adds the same
// diagnostics, and returns the same errors, as FindBestDesign; Goal.Latency and Goal.MaxLatency have no effect.
func (l *Space) FindParetoFront(ctx context.Context, wanted Goal, most int, d *diag.List,
	step func(made int)) (list []*Design,
	whole bool, err error) {
	wanted.Latency, wanted.MaxLatency = false, 0
	if len(l.Model.Feedback) > 0 {
		return l.carriedFront(ctx, wanted, most, d, step)
	}
	return l.front(ctx, wanted, most, d, step)
}

// front is FindParetoFront for models whose states the host does not carry, by the intervals of pipelines.
func (l *Space) front(ctx context.Context, wanted Goal, most int, d *diag.List, step func(made int)) (list []*Design,
	whole bool, err error) {
	f := &front{Space: l, goal: wanted, list: l.IntervalsToTry()}
	last := len(f.list) - 1
	limit := wanted.MaxIntervalClocks(l.Clock, l.Model.Turns.SamplesPerFrame())
	if limit != nil {
		slowest, err := l.better(ctx, wanted, nil, d)
		if err != nil || slowest == nil {
			return nil, false, err
		}
		for last > 0 && f.list[last] > goal.CappedFloorOfRational(limit) {
			last--
		}
	}
	f.goal.FPS, f.goal.Interval = 0, 0
	fastest, err := l.better(ctx, f.goal, nil, d)
	if err != nil || fastest == nil {
		return nil, false, err
	}
	// only the whole space has designs as fast as asked
	if !goal.IntervalMeetsLimit(fastest.Clocks.Interval, limit) && l.more(math.MaxInt) != l {
		return l.whole().front(ctx, wanted, most, d, step)
	}
	first := f.number(fastest)
	f.spans = []span{{fastest, first, first}}
	if first < last {
		if err := f.insert(ctx, []int{last}); err != nil {
			return nil, false, err
		}
	}
	for most <= 0 || len(f.spans) < most {
		if step != nil {
			step(len(f.spans))
		}
		room := together
		if most > 0 {
			room = min(room, most-len(f.spans))
		}
		numbers := f.open(room)
		if len(numbers) == 0 {
			break
		}
		if err := f.insert(ctx, numbers); err != nil {
			return nil, false, err
		}
	}
	for _, p := range f.spans {
		list = append(list, p.design)
	}
	return list, len(f.open(1)) == 0, nil
}

// together is the number of designs that are made at the same time. It does not depend on the number of processors, so
// that the front does not either.
const together = 4

// A front holds the designs that were found so far, by interval. Between two neighbours there may be others.
type front struct {
	*Space
	goal  Goal
	list  []int // the intervals to try
	spans []span
}

// A span is the design of least measure at the intervals number first to last in the list. Number first is its own
// interval.
type span struct {
	design      *Design
	first, last int
}

// compare orders designs by their measure. One that spares DSP slices comes before all that do not, because
// FindBestDesign prefers it, too.
func (p *span) compare(o *span) int {
	a, b := &p.design.Certificate, &o.design.Certificate
	if a.Spares != b.Spares {
		if a.Spares {
			return -1
		}
		return 1
	}
	return cmp.Compare(p.value(), o.value())
}

// number returns the index of the shortest interval in the list that is at least the design's.
func (f *front) number(d *Design) int {
	n := slices.IndexFunc(f.list, func(interval int) bool { return float64(interval) >= d.Clocks.Interval })
	if n < 0 {
		return len(f.list) - 1
	}
	return n
}

// open returns the numbers of intervals to try: the middles of gaps between spans, where other designs may be. It
// returns at most most numbers, those of the widest gaps first, by ratio of intervals.
func (f *front) open(most int) (numbers []int) {
	type gap struct {
		middle int
		ratio  float64
	}
	var gaps []gap
	for i := range len(f.spans) - 1 {
		a, b := f.spans[i].last, f.spans[i+1].first
		if b-a > 1 {
			gaps = append(gaps, gap{(a + b) / 2, float64(f.list[b]) / float64(f.list[a])})
		}
	}
	slices.SortStableFunc(gaps, func(a, b gap) int { return cmp.Compare(b.ratio, a.ratio) })
	for _, g := range gaps[:min(most, len(gaps))] {
		numbers = append(numbers, g.middle)
	}
	return numbers
}

// insert makes the designs at the intervals with the given numbers, each in another gap, and places them between the
// spans.
func (f *front) insert(ctx context.Context, numbers []int) error {
	made := make([]*Design, len(numbers))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for k, number := range numbers {
		before := f.before(number)
		if before.design.Certificate.Spares || !f.Few {
			wanted := f.goal
			wanted.Interval = float64(f.list[number])
			if b, err := f.bound(ctx, wanted); err == nil && b.Interval > 0 && b.Measure >= before.value() {
				made[k] = before.design // no design measures less
				continue
			}
		}
		group.Go(func() (err error) {
			wanted := f.goal
			wanted.Interval = float64(f.list[number])
			var told diag.List
			if made[k], err = f.better(ctx, wanted, before.rival(), &told); errors.Is(err, errNoBetter) {
				err = nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for k, number := range numbers {
		f.place(made[k], number)
	}
	return nil
}

// before returns the last span that begins before a number.
func (f *front) before(number int) *span {
	at := slices.IndexFunc(f.spans, func(s span) bool { return s.first > number })
	if at < 0 {
		at = len(f.spans)
	}
	return &f.spans[at-1]
}

// place inserts the design at an interval between the spans. If it measures no less than the design before, it only
// extends that span. If it measures no more than the next design, it replaces it.
func (f *front) place(d *Design, number int) {
	before := f.before(number)
	if number <= before.last {
		return // the span before covers it already
	}
	at := slices.IndexFunc(f.spans, func(s span) bool { return s.first > number })
	if d == nil { // no better design was found than a faster one
		before.last = number
		return
	}
	p := span{d, min(f.number(d), number), number}
	switch {
	case p.compare(before) >= 0:
		before.last = max(before.last, number)
		return
	case p.first <= before.first:
		*before = p // the search for the faster design was cut short
		return
	case at >= 0 && p.compare(&f.spans[at]) <= 0:
		p.last = f.spans[at].last
		f.spans[at] = p
		return
	case at < 0:
		at = len(f.spans)
	}
	f.spans = slices.Insert(f.spans, at, p)
}

// rival returns what others must beat: the span's design as a known design for searches.
func (p *span) rival() *fit.MeasureToBeat {
	return &fit.MeasureToBeat{Value: p.value(), Spares: p.design.Certificate.Spares}
}

// value returns the design's value of the first measure that was minimised.
func (p *span) value() float64 { return p.design.Certificate.Bounds[0].Value }

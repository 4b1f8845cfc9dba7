package folding

import (
	"cmp"
	"context"
	"slices"

	"hlsgen/folding/ask"
	"hlsgen/internal/diag"
)

// Front is the designs within the budget that are worth choosing from: no other one has both an interval no longer and
// a measure (Goal.Least) no greater, or spares DSP slices where that one does not (Certificate.Spares). They come in
// the order of their intervals, the fastest first; with Goal.FPS or Goal.Interval none is slower than asked. Each is
// what Make gives for Goal.Interval of its own interval. At most so many are made, spread over the intervals, unless
// most is 0; whole reports whether these are all. step, if not nil, is told how many there are after each. Errors as in
// Make; Goal.Latency has no effect.
func (l *Space) Front(ctx context.Context, goal Goal, most int, d *diag.List, step func(made int)) (list []*Design,
	whole bool, err error) {
	goal.Latency = false
	f := &front{Space: l, goal: goal, list: l.Intervals()}
	last := len(f.list) - 1
	limit := goal.Limit(l.Clock, l.Model.Turns.PerFrame())
	if limit != nil {
		slowest, err := l.Make(ctx, goal, d)
		if err != nil || slowest == nil {
			return nil, false, err
		}
		for last > 0 && f.list[last] > ask.Floor(limit) {
			last--
		}
	}
	f.goal.FPS, f.goal.Interval = 0, 0
	fastest, err := l.Make(ctx, f.goal, d)
	if err != nil || fastest == nil {
		return nil, false, err
	}
	if !ask.Reaches(fastest.Clocks.Interval, limit) && l.whole() != l { // only that has what is as fast as asked
		return l.whole().Front(ctx, goal, most, d, step)
	}
	first := f.number(fastest)
	f.spans = []span{{fastest, first, first}}
	if first < last {
		if err := f.insert(ctx, 0, last); err != nil {
			return nil, false, err
		}
	}
	for most <= 0 || len(f.spans) < most {
		if step != nil {
			step(len(f.spans))
		}
		at := f.widest()
		if at < 0 {
			break
		}
		if err := f.insert(ctx, at, (f.spans[at].last+f.spans[at+1].first)/2); err != nil {
			return nil, false, err
		}
	}
	for _, p := range f.spans {
		list = append(list, p.design)
	}
	return list, f.widest() < 0, nil
}

// A front is what was found so far, by interval. Between two neighbours there may be others.
type front struct {
	*Space
	goal  Goal
	list  []int // of intervals
	spans []span
}

// A span is the design that measures least at the intervals from number first to number last in the list. The first
// is its own.
type span struct {
	design      *Design
	first, last int
}

// compare orders designs by what they measure. One that spares DSP slices comes before all that do not: so it is
// chosen.
func (p *span) compare(o *span) int {
	a, b := &p.design.Certificate, &o.design.Certificate
	if a.Spares != b.Spares {
		if a.Spares {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.Bounds[0].Value, b.Bounds[0].Value)
}

// number is that of the shortest interval in the list that is no shorter than a design's.
func (f *front) number(d *Design) int {
	n := slices.IndexFunc(f.list, func(interval int) bool { return float64(interval) >= d.Clocks.Interval })
	if n < 0 {
		return len(f.list) - 1
	}
	return n
}

// widest is the span behind which the most intervals, by ratio, are left open; -1 where none are.
func (f *front) widest() int {
	at, widest := -1, 0.0
	for i := range len(f.spans) - 1 {
		a, b := f.spans[i].last, f.spans[i+1].first
		if ratio := float64(f.list[b]) / float64(f.list[a]); b-a > 1 && ratio > widest {
			at, widest = i, ratio
		}
	}
	return at
}

// insert makes the design of a number behind a span. One that measures no less than that only tells more of it,
// and one that measures no more than the next takes its place.
func (f *front) insert(ctx context.Context, at, number int) error {
	goal := f.goal
	goal.Interval = f.list[number]
	var told diag.List
	d, err := f.Make(ctx, goal, &told)
	if err != nil {
		return err
	}
	before := &f.spans[at]
	if d == nil { // nothing was found, where something faster is known
		before.last = number
		return nil
	}
	p := span{d, min(f.number(d), number), number}
	switch {
	case p.compare(before) >= 0:
		before.last = max(before.last, number)
		return nil
	case p.first <= before.first:
		*before = p // the faster search had been cut
		return nil
	case at+1 < len(f.spans) && p.compare(&f.spans[at+1]) <= 0:
		p.last = f.spans[at+1].last
		f.spans[at+1] = p
		return nil
	}
	f.spans = slices.Insert(f.spans, at+1, p)
	return nil
}

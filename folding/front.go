package folding

import (
	"context"

	"hlsgen/folding/ask"
	"hlsgen/internal/diag"
)

// Front is the designs within the budget that are worth choosing from: no other one has both an interval no longer and a
// measure (Goal.Least) no greater. They come in the order of their intervals, the fastest first; with Goal.FPS or
// Goal.Interval none is slower than asked. Each is what Make gives for Goal.Interval of its own interval. At most so many are
// made, spread over the intervals, unless most is 0; whole reports whether these are all. step, if not nil, is told how many
// there are after each. Errors as in Make; Goal.Latency has no effect.
func (l *Space) Front(ctx context.Context, goal Goal, most int, d *diag.List, step func(made int)) (list []*Design, whole bool, err error) {
	goal.Latency = false
	f := &front{Space: l, goal: goal, list: l.Intervals()}
	last := len(f.list) - 1
	if limit := goal.Limit(l.Clock); limit != nil {
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
	first := f.place(fastest)
	f.points = []frontPoint{{fastest, first, first}}
	if first < last {
		if err := f.insert(ctx, 0, last); err != nil {
			return nil, false, err
		}
	}
	for most <= 0 || len(f.points) < most {
		if step != nil {
			step(len(f.points))
		}
		at := f.widest()
		if at < 0 {
			break
		}
		if err := f.insert(ctx, at, (f.points[at].last+f.points[at+1].first)/2); err != nil {
			return nil, false, err
		}
	}
	for _, p := range f.points {
		list = append(list, p.design)
	}
	return list, f.widest() < 0, nil
}

// A front is the points found so far, by interval. Between two neighbours there may be others.
type front struct {
	*Space
	goal   Goal
	list   []int // of intervals
	points []frontPoint
}

// A frontPoint is the design that measures least at the intervals from place first to place last in the list. The first is
// its own.
type frontPoint struct {
	design      *Design
	first, last int
}

// value is what a design measures.
func (p *frontPoint) value() float64 { return p.design.Certificate.Bounds[0].Value }

// place is that of the shortest interval in the list that is no shorter than a design's.
func (f *front) place(d *Design) int {
	at := 0
	for at < len(f.list)-1 && float64(f.list[at]) < d.Clocks.Interval {
		at++
	}
	return at
}

// widest is the point behind which the most intervals, by ratio, are left open; -1 where none are.
func (f *front) widest() int {
	at, widest := -1, 0.0
	for i := range len(f.points) - 1 {
		a, b := f.points[i].last, f.points[i+1].first
		if ratio := float64(f.list[b]) / float64(f.list[a]); b-a > 1 && ratio > widest {
			at, widest = i, ratio
		}
	}
	return at
}

// insert makes the design at a place behind a point. One that measures no less than that point only tells more of it, and one
// that measures no more than the next takes its place.
func (f *front) insert(ctx context.Context, at, place int) error {
	goal := f.goal
	goal.Interval = f.list[place]
	var told diag.List
	d, err := f.Make(ctx, goal, &told)
	if err != nil {
		return err
	}
	before := &f.points[at]
	if d == nil { // nothing was found, where something faster is known
		before.last = place
		return nil
	}
	p := frontPoint{d, min(f.place(d), place), place}
	switch {
	case p.value() >= before.value():
		before.last = max(before.last, place)
		return nil
	case p.first <= before.first:
		*before = p // the faster search had been cut
		return nil
	case at+1 < len(f.points) && p.value() <= f.points[at+1].value():
		p.last = f.points[at+1].last
		f.points[at+1] = p
		return nil
	}
	f.points = append(f.points[:at+1], append([]frontPoint{p}, f.points[at+1:]...)...)
	return nil
}

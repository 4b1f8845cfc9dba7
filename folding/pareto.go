package folding

import (
	"context"
	"errors"
	"slices"
	"sort"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// Pareto gives the foldings within the budget that are worth choosing from: no other one has both an interval no longer
// and a measure (Goal.Least) no greater. They come in the order of their intervals, the fastest first; with Goal.FPS none
// is slower than asked. At most so many are given, spread over the intervals, unless most is 0; whole reports whether
// these are all. What each one leaves open, its Proof states. Goal.Latency has no effect.
func Pareto(ctx context.Context, m *dataflow.Model, t dataflow.Target, goal Goal, most int, d *diag.List) (front []*Result, whole bool, err error) {
	s, err := prepare(m, t, goal, widthConverter, d)
	if err != nil || s == nil {
		return nil, false, err
	}
	return s.pareto(ctx, m, goal, most, d)
}

func (s *space) pareto(ctx context.Context, m *dataflow.Model, goal Goal, most int, d *diag.List) (front []*Result, whole bool, err error) {
	if goal.MaxCycles > 0 {
		return nil, false, errors.New("a front is of what fits the budget, it has no limit of cycles")
	}
	fast := goal
	fast.Latency = false
	c, err := s.choose(ctx, fast, d)
	if err != nil || c == nil {
		return nil, false, err
	}
	f := &frontier{space: s, goal: fast, list: s.intervals()}
	if err := f.ends(ctx, c); err != nil {
		return nil, false, err
	}
	for most <= 0 || len(f.points) < most {
		at := f.widest()
		if at < 0 {
			break
		}
		if err := f.split(ctx, at); err != nil {
			return nil, false, err
		}
	}
	for _, p := range f.points {
		front = append(front, s.result(m, fast, p.chosen))
	}
	return front, f.widest() < 0, nil
}

// A frontier is the points found so far, by interval. Between two neighbours there may be others.
type frontier struct {
	*space
	goal   Goal
	list   []int // of intervals
	points []point
}

// A point is a folding that measures least at the intervals from place first to place last in the list. The first is
// its own.
type point struct {
	*chosen
	first, last int
	value       float64
}

// ends begins with the fastest folding and the one that measures least at the longest interval.
func (f *frontier) ends(ctx context.Context, c *chosen) error {
	last := len(f.list) - 1
	if f.goal.FPS > 0 {
		want := ClocksPerFrame(f.target.ClockMHz, f.goal.FPS)
		last = sort.SearchInts(f.list, want+1) - 1
		fast, err := f.fastest(ctx, f.list)
		if err != nil {
			return err
		}
		if c, err = f.settle(ctx, f.goal, fast, &diag.List{}); err != nil {
			return err
		}
	}
	f.points = []point{f.point(c, c.limit)}
	if f.points[0].last >= last {
		return nil
	}
	slow, err := f.solve(ctx, last, c.folding)
	if err == nil {
		f.insert(0, slow)
	}
	return err
}

func (f *frontier) point(c *chosen, limit int) point {
	own := 0
	for i, o := range c.options {
		own = max(own, f.layers[i].options[o].iterations)
	}
	return point{c, sort.SearchInts(f.list, own), sort.SearchInts(f.list, limit), f.value(f.goal.Least, c.cost)}
}

// solve takes the best folding at a place, given one that is faster.
func (f *frontier) solve(ctx context.Context, at int, faster *folding) (point, error) {
	f.again()
	c, err := f.settle(ctx, f.goal, fastest{interval: f.list[at], fitting: faster, why: "a shorter interval takes more"}, &diag.List{})
	if err != nil {
		return point{}, err
	}
	return f.point(c, f.list[at]), nil
}

// widest is the point behind which the most intervals, by ratio, are left open; -1 where none are.
func (f *frontier) widest() int {
	at, widest := -1, 0.0
	for i := range len(f.points) - 1 {
		a, b := f.points[i].last, f.points[i+1].first
		if ratio := float64(f.list[b]) / float64(f.list[a]); b-a > 1 && ratio > widest {
			at, widest = i, ratio
		}
	}
	return at
}

// split looks at the middle of what is open behind a point.
func (f *frontier) split(ctx context.Context, at int) error {
	a, b := f.points[at].last, f.points[at+1].first
	p, err := f.solve(ctx, (a+b)/2, f.points[at].folding)
	if err == nil {
		f.insert(at, p)
	}
	return err
}

// insert puts a point behind another one. One that measures no less than that only tells more of it, and one that
// measures no more than the next takes its place.
func (f *frontier) insert(at int, p point) {
	if before := &f.points[at]; p.value >= before.value {
		before.last = max(before.last, p.last)
		return
	} else if p.first <= before.first {
		*before = p // the faster search had been cut
		return
	}
	if at+1 < len(f.points) && p.value <= f.points[at+1].value {
		p.last = f.points[at+1].last
		f.points[at+1] = p
		return
	}
	f.points = slices.Insert(f.points, at+1, p)
}

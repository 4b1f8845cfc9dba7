package folding

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"sync"

	"hlsgen/folding/ask"
	"hlsgen/folding/fit"
	"hlsgen/folding/search"
	"hlsgen/folding/space"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/rtlsim"
)

// An inquiry is a question whose answer is being made.
type inquiry struct {
	report
	made *memory // what other inquiries found
	told *diag.List
}

// found is the answer to a question: a folding, and what is known of its interval.
type found struct {
	*fit.Found
	floor int // no design within the budget has a shorter interval; 0 where the shortest was not asked for
	below *Excluded
}

// answer makes the design; nil where the user is told why there is none.
func (q *inquiry) answer(ctx context.Context) (*Design, error) {
	f, err := q.find(ctx)
	if err != nil || f == nil {
		return nil, err
	}
	made, err := q.design(ctx, f.Folding)
	if dead := new(rtlsim.Deadlock); errors.As(err, &dead) && q.Model.Lengths != nil && !q.Shorter {
		q.Question = q.Fresh() // a sequence that is not the longest needs deeper FIFOs
		q.Shorter = true
		return q.answer(ctx)
	}
	if err != nil {
		return nil, err
	}
	made.Certificate = q.certificate(f, made)
	q.tell(made)
	return made, nil
}

// find is the folding for the question; nil where the user is told why there is none.
func (q *inquiry) find(ctx context.Context) (*found, error) {
	list := q.Intervals()
	last := list[len(list)-1]
	if !q.Tree(last).Possible() {
		q.unjoined()
		return nil, nil
	}
	limit := q.Limit()
	if q.Goal.MaxCycles > 0 {
		first := sort.Search(len(list), func(i int) bool { return q.Tree(list[i]).Possible() })
		// The last interval is for depths that are given, where these hold it up.
		for _, clocks := range []int{max(q.Goal.MaxCycles, list[first]), last} {
			if f, err := q.at(ctx, clocks); f != nil || err != nil {
				return f, err
			}
		}
		return nil, q.deadlocked(ctx, last)
	}
	clocks := last
	if limit != nil {
		clocks = ask.Floor(limit)
	}
	if clocks >= list[0] {
		if q.Goal.Latency {
			f, err := q.Shortest(ctx, clocks)
			if err != nil || f != nil {
				return &found{Found: f}, err
			}
		} else if limit != nil {
			f, err := q.at(ctx, clocks)
			if err != nil || f != nil {
				return f, err
			}
		}
	}
	if !q.Goal.Latency || limit != nil {
		f, err := q.fastest(ctx, list)
		if err != nil {
			return nil, err
		}
		switch {
		case f == nil:
		case limit == nil:
			return f, nil
		case f.Limit <= clocks: // the search at the asked interval was cut, and this one is faster
			return q.slower(f, clocks), nil
		default:
			if q.Goal.OverBudget && clocks >= list[0] {
				more, err := q.leastLoad(ctx, clocks)
				if more != nil || err != nil {
					return more, err
				}
			}
			return nil, q.unreachable(ctx, f)
		}
	}
	if q.Shallow() {
		if err := q.deadlocked(ctx, last); err != nil {
			return nil, err
		}
	}
	return q.overBudget(ctx, list, max(clocks, list[0]))
}

// fastest is the best design at the shortest interval within the budget; nil where there is none. What trees exclude is
// excluded; from the first interval on at which they do not, designs are made.
func (q *inquiry) fastest(ctx context.Context, list []int) (*found, error) {
	low, high := 0, len(list) // nothing is possible below low
	excluded := 0             // the longest interval that nothing keeps
	for low < high {
		i := (low + high) / 2
		least, err := q.Tree(list[i]).Within(ctx, q.CapsAt(list[i]))
		switch {
		case err != nil:
			return nil, err
		case least.Best == nil && least.Proved:
			low, excluded = i+1, list[i]
		default:
			high = i
		}
	}
	if q.Shallow() {
		if f, _, err := q.tryAt(ctx, list[len(list)-1]); f == nil {
			return nil, err
		}
	}
	proved := true // up to low
	last := len(list) - 1
	for i, step, before := low, 1, low-1; before < last; i, step, before = min(i+step, last), 2*step, i {
		f, none, err := q.tryAt(ctx, list[i])
		if err != nil {
			return nil, err
		}
		if f == nil {
			if proved = proved && none; proved {
				low, excluded = i+1, list[i]
			}
			continue
		}
		// Between the last that failed and this one there may be shorter ones.
		for a, b := before, i; a+1 < b; {
			m := (a + b) / 2
			g, none, err := q.tryAt(ctx, list[m])
			if err != nil {
				return nil, err
			}
			if g == nil {
				if a = m; none && proved && m == low {
					low, excluded = m+1, list[m]
				}
				continue
			}
			f, b = g, m
		}
		if f, err = q.faster(ctx, f, excluded); err != nil {
			return nil, err
		}
		if excluded > 0 {
			f.below = q.excluded(excluded)
		}
		return f, nil
	}
	return nil, nil
}

// slower is a design as the answer at a longer interval, of which less is known.
func (q *inquiry) slower(f *found, limit int) *found {
	g := &fit.Found{Folding: f.Folding, Limit: limit, Spares: f.Spares}
	t := q.Tree(limit)
	for _, b := range f.Bounds {
		b.Least = min(b.Value, t.Bound(q.Measure(b.Measure), q.CapsAt(limit)))
		g.Bounds = append(g.Bounds, b)
	}
	return &found{Found: g}
}

// mostProbed is the words of a frame up to which intervals between those of layers are looked at: each takes seconds
// where frames are larger, to win what a FIFO gives.
const mostProbed = 1_000_000

// faster looks for shorter intervals than that of a design: FIFOs and the processor's memory may hold it up for any
// number of clocks, not only for what a layer takes. No design is as fast as excluded.
func (q *inquiry) faster(ctx context.Context, f *found, excluded int) (*found, error) {
	reached := func(f *found) (float64, error) {
		d := q.Build(f.Folding).Design
		clocks, err := q.Interval(ctx, d)
		return max(clocks, float64(q.MemoryClocks(d))), err
	}
	clocks, err := reached(f)
	if err == nil && !q.Shallow() && words(q.Build(f.Folding).Design) > mostProbed {
		at := int(math.Ceil(clocks)) - 1
		least, err := q.Tree(at).Within(ctx, q.CapsAt(at))
		if least.Best == nil && least.Proved {
			excluded = max(excluded, at)
		}
		f.floor = min(excluded+1, int(clocks))
		return f, err
	}
	low, failed := excluded, false // nothing was found at low
	for step := 1; err == nil && float64(low+1) < clocks; {
		high := int(math.Ceil(clocks))
		at := max(low+1, high-step)
		g, none, e := q.tryAt(ctx, at)
		switch {
		case e != nil:
			return nil, e
		case g != nil:
			f, step = g, 2*step
			clocks, err = reached(f)
		default:
			if low, failed = at, true; none {
				excluded = at
			}
		}
		if failed {
			step = max(1, (int(math.Ceil(clocks))-low)/2)
		}
	}
	f.floor = min(excluded+1, int(clocks))
	return f, err
}

// words is how many words a frame is on all streams.
func words(d *dataflow.Design) (n int) {
	for s := range d.Model.Graph.Streams {
		n += d.Port(s).Words
	}
	return n
}

// deadlockNodes is how many nodes the search for the folding that is held for a deadlock looks at.
const deadlockNodes = 200

// deadlocked is the *rtlsim.Deadlock of the folding of the least load, where only FIFOs whose depths are given are less
// deep than can be of use; nil where there is none.
func (q *inquiry) deadlocked(ctx context.Context, limit int) error {
	least, err := q.Tree(limit).Minimise(ctx, q.Measure(LeastLoad), nil, search.Unlimited, deadlockNodes)
	if err != nil || least.Best == nil {
		return err
	}
	b := q.Build(q.Folding(&space.Region{Limit: limit}, least.Best))
	if b == nil {
		return nil
	}
	for id, words := range b.Fixed(q.Given(b)) {
		if b.FIFO[id].Depth = words; words == 0 {
			b.FIFO[id].Depth = b.Port(id).Words
		}
	}
	_, err = rtlsim.Prove(ctx, b.Design)
	return err
}

// at is the best design at an interval within the budget; nil where none was found.
func (q *inquiry) at(ctx context.Context, limit int) (*found, error) {
	f, _, err := q.tryAt(ctx, limit)
	return f, err
}

// tryAt is at; none reports whether there is surely none.
func (q *inquiry) tryAt(ctx context.Context, limit int) (f *found, none bool, err error) {
	key := fmt.Sprint(limit, q.Shorter, q.Goal.MaxUse, q.Goal.Least, q.Goal.MaxCycles > 0, q.Effort.Limit)
	remembers := q.Goal.SearchTime == 0
	a, known := q.made.answers.Load(key)
	if !known || !remembers {
		best, none, err := q.least(ctx, limit)
		if err != nil {
			return nil, false, err
		}
		if a = (remembered{best, none}); remembers {
			q.made.answers.Store(key, a)
		}
	}
	r := a.(remembered)
	if r.best == nil {
		return nil, r.none, nil
	}
	return &found{Found: r.best}, false, nil
}

// least is the best design at an interval, of those that spare DSP slices where there is one.
func (q *inquiry) least(ctx context.Context, limit int) (best *fit.Found, none bool, err error) {
	order := q.Goal.Least.Order()
	if q.spares() {
		s := q.Fresh().Sparing()
		if best, _, err = s.Least(ctx, limit, s.CapsAt(limit), order); err != nil {
			return nil, false, err
		}
		if best != nil {
			best.Spares = true
			return best, false, nil
		}
	}
	caps := q.CapsAt(limit)
	best, none, err = q.Fresh().Least(ctx, limit, caps, order)
	if best != nil || none || err != nil || q.Goal.Least != LeastLoad || q.Goal.MaxCycles > 0 {
		return best, none, err
	}
	// The search was cut. Where FIFOs have little room, one that heeds the budget only at the end may find more.
	loose, err := q.leastLoad(ctx, limit)
	if err != nil || loose == nil || !loose.Cost.Within(&caps.Vector) {
		return nil, false, err
	}
	return loose.Found, false, nil
}

// spares reports whether DSP slices are spared where LUTs do: where there is a choice, and no one kind of resource is
// to be the least.
func (q *inquiry) spares() bool { return q.Few && q.Goal.Least == LeastLoad }

// memory keeps answers and bounds, which depend on nothing but the space and the part of the question that is their
// key.
type memory struct{ answers, bounds sync.Map }

type remembered struct {
	best *fit.Found
	none bool
}

package folding

import (
	"context"
	"errors"
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
	made  *memory // what other inquiries found
	told  *diag.List
	steps int // that searches took
	below int // only a design of a shorter interval is of use; 0: of any
}

// found is the answer to a question: a folding, and what is known of its interval.
type found struct {
	*fit.Found
	clocks float64 // per frame; 0 where that was not looked at
	floor  int     // no design within the budget has a shorter interval; 0 where the shortest was not asked for
	below  *Excluded
}

// answer makes the design; nil where the user is told why there is none.
func (q *inquiry) answer(ctx context.Context) (*Design, error) {
	f, err := q.find(ctx)
	if err != nil || f == nil {
		return nil, err
	}
	if f.Useless {
		return nil, errNoBetter
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
	made.steps = q.steps
	q.tell(made)
	return made, q.tellSlowFIFOs(ctx, made)
}

// errNoBetter says that the best design is no better than the one that there is already (fit.Question.Than).
var errNoBetter = errors.New("no design is better than the one that there is")

// find is the folding for the question; nil where the user is told why there is none.
func (q *inquiry) find(ctx context.Context) (*found, error) {
	list := q.Intervals()
	last := list[len(list)-1]
	if !q.Tree(last).Possible() {
		q.unjoined()
		return nil, nil
	}
	s := q.sequence(ctx, list)
	defer s.close()
	limit := q.Limit()
	if q.Goal.MaxCycles > 0 {
		first := sort.Search(len(list), func(i int) bool { return q.Tree(list[i]).Possible() })
		// The last interval is for depths that are given, where these hold it up.
		for _, clocks := range []int{max(q.Goal.MaxCycles, list[first]), last} {
			if f, err := s.asked(clocks); f != nil || err != nil {
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
			f, err := q.Shortest(ctx, clocks, fit.End{Ctx: s.cut, Whole: &s.whole,
				Found: func() { q.Goal.Interrupt.On(s.cancel) }})
			if err != nil || f != nil {
				return &found{Found: f}, err
			}
		} else if limit != nil {
			f, err := s.asked(clocks)
			if err != nil || f != nil {
				return f, err
			}
		}
	}
	if !q.Goal.Latency || limit != nil {
		f, err := s.fastest()
		if err != nil {
			return nil, err
		}
		switch {
		case q.below > 0:
			return f, nil
		case f == nil:
		case limit == nil:
			return f, nil
		case ask.Reaches(f.clocks, limit):
			// The search at the asked interval was cut, or this one's frames come unevenly.
			return q.slower(f, ask.Ceiling(limit)), nil
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

// hopeless reports whether prices prove that no design keeps an interval.
func (q *inquiry) hopeless(clocks int) bool {
	t := q.Tree(clocks)
	defer t.Dismiss()
	return t.Hopeless(q.CapsAt(clocks))
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
	for id, words := range q.Given(b) {
		if b.FIFO[id].Depth = words; words == 0 {
			b.FIFO[id].Depth = b.Port(id).Words
		}
	}
	_, err = rtlsim.Prove(ctx, b.Design)
	return err
}

// memory keeps answers and bounds, which depend on nothing but the space and the part of the question that is their
// key.
type memory struct{ answers, bounds sync.Map }

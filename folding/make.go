// Package folding makes a design of a network: how far each layer is unrolled, where its tables and multipliers lie, how
// deep FIFOs are and of what memory, for a device, a clock, a goal and a budget. Make is the only place where that is
// decided; whatever prints a figure of a design has it from there, so that what one command prints, another can ask for.
//
// At a given interval the layers decouple but for three things: they share the budget; neighbours must agree on how a frame
// travels, or be joined by a width converter; and FIFOs must be deep enough, which only the simulation of the whole can
// tell. space.go lists what each layer may be and words.go what joins them; plan.go and tree.go make a tree of tables of a
// part of the space, on which package search finds the best folding by what it takes at least; fit.go makes foldings whole
// until none that is left can be better; make.go looks for the interval, and then for the least resources at it.
// latency.go looks for the shortest latency, front.go for all that is worth choosing from, bound.go for what nothing goes
// below. certificate.go, bottleneck.go and trouble.go say what came of it; file.go and its neighbours (fix, finn, depths,
// names, json, format) read and write folding files.
package folding

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"sort"
	"sync"
	"time"

	"hlsgen/boards"
	"hlsgen/folding/search"
	"hlsgen/hlslib/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/rtlsim"
)

// A Space is what a model may become on a target, listed once for any number of designs. These may be made at the same time.
type Space struct {
	*space
	made *memory
}

// List lists the options of every layer, and how they join. fixed and fifo are those of the goals that are asked of it.
// Where the target has no board, zcu104 stands in for it; only Goal.MaxCycles does without a budget. What the user has to
// change goes to d, and the result is nil.
func List(m *dataflow.Model, t dataflow.Target, fixed *File, fifo FIFO, d *diag.List) (*Space, error) {
	if len(m.Graph.Nodes) == 0 {
		d.Add(diag.Diag{Severity: diag.Error, Code: diag.NothingQuantised, Msg: "there is no layer to fold"})
		return nil, nil
	}
	if t.Board.Name == "" {
		b, err := boards.Find("zcu104")
		if err != nil {
			return nil, err
		}
		t.Board = b
	}
	s := newSpace(m, t, fifo, widthConverter)
	if !s.fix(fixed, d) || !s.foldable(d) {
		return nil, nil
	}
	s.follow()
	s.makePlan()
	return &Space{s, &memory{}}, nil
}

// foldable reports whether every layer has an option, and tells of those that have none.
func (s *space) foldable(d *diag.List) bool {
	ok := true
	for i := range s.layers {
		l := &s.layers[i]
		if len(l.options) > 0 {
			continue
		}
		ok = false
		d.Add(l.diag(diag.Error, diag.BudgetExceeded, fmt.Sprintf("every fold of %s needs a kind of resource that %s does not have", l.node.Name, s.target.Board.Name),
			"choose a board that has it"))
	}
	return ok
}

// Make is Space.Make of a space that is listed for this goal alone.
func Make(ctx context.Context, m *dataflow.Model, t dataflow.Target, goal Goal, d *diag.List) (*Design, error) {
	if err := goal.verify(t); err != nil {
		return nil, err
	}
	s, err := List(m, t, goal.Fixed, goal.FIFO, d)
	if err != nil || s == nil {
		return nil, err
	}
	return s.Make(ctx, goal, d)
}

// maxWork bounds the work of one design: a few seconds. It is not a time, so that the answer does not depend on the
// machine.
const maxWork = 60_000_000

// Make makes the design for a goal. What the user has to change - a goal that cannot be reached, a budget that nothing
// fits - goes to d, with what can be had instead, and the result is nil. The error is the context's, a *rtlsim.Deadlock that
// depths which were given bring about, or says that the clock or the goal is malformed, which the command line rules out.
//
// What the search leaves open, the certificate states. The answer does not depend on the machine, unless Goal.SearchTime ends
// the search, nor on what else was asked of the space.
func (l *Space) Make(ctx context.Context, goal Goal, d *diag.List) (*Design, error) {
	s := l.space
	if err := goal.verify(s.target); err != nil {
		return nil, err
	}
	q := s.question(goal)
	found, err := s.answer(ctx, q, l.made, d)
	if err != nil || found == nil {
		return nil, err
	}
	made, err := s.design(ctx, q, found.folding)
	if err != nil {
		return nil, err
	}
	made.Certificate = s.certificate(q, found, made)
	s.tell(q, made, d)
	return made, nil
}

func (s *space) question(goal Goal) *question {
	q := &question{goal: goal, budget: BudgetOf(s.target.Board, goal.MaxUse)}
	if goal.MaxCycles > 0 {
		q.budget = BudgetOf(s.target.Board, DefaultMaxUse)
	}
	q.caps, q.yard = q.budget.caps(), q.budget.yard()
	q.host = s.board.vector(estimate.Host(s.target, s.graph).Total())
	q.effort.Limit = maxWork
	if goal.SearchTime > 0 {
		const stepsPerSecond = 20_000_000 // on a slow machine
		q.effort.Limit = max(1, int(goal.SearchTime.Seconds()*stepsPerSecond))
		q.effort.Deadline = time.Now().Add(goal.SearchTime)
	}
	return q
}

// capsAt is what a design may take at an interval: the budget, and what the processor's memory carries in that time.
func (s *space) capsAt(q *question, limit int) search.Caps {
	caps := q.caps
	if q.goal.MaxCycles > 0 {
		return search.Unlimited
	}
	if perClock := s.memoryBytes(); perClock != nil {
		caps.Vector[traffic] = int64(floor(perClock.Mul(perClock, big.NewRat(int64(min(limit, mostClocks/1000)), 1))))
	}
	return caps
}

// memoryBytes is how many bytes the processor's memory carries in a clock; nil where that does not matter, or is not known.
func (s *space) memoryBytes() *big.Rat {
	gb := s.target.Board.MemoryGBps
	if gb == 0 || s.target.PortBits() == 0 {
		return nil
	}
	perClock := new(big.Rat).Mul(decimal(gb), big.NewRat(1000, 1)) // MB/s over MHz
	return perClock.Quo(perClock, decimal(s.clock))
}

// memoryClocks is the clocks that the processor's memory takes at least to carry a frame of a design.
func (s *space) memoryClocks(d *dataflow.Design) int {
	perClock := s.memoryBytes()
	if perClock == nil {
		return 0
	}
	return ceiling(perClock.Quo(big.NewRat(int64(frameBytes(d)), 1), perClock))
}

// A found is the answer to a question: a folding, and what is known of it.
type found struct {
	*folding
	limit   int // clocks that were allowed
	floor   int // no design within the budget has a shorter interval; 0 where the shortest was not asked for
	below   *Excluded
	bounds  []Bound
	latency *Latency
	cut     bool
}

// answer finds the folding for the question; nil where d says why there is none.
func (s *space) answer(ctx context.Context, q *question, made *memory, d *diag.List) (*found, error) {
	list := s.intervals()
	last := list[len(list)-1]
	if loose := s.tree(&region{limit: last}, q); !loose.Possible() {
		s.unjoined(d)
		return nil, nil
	}
	limit := q.goal.limit(s.clock)
	if q.goal.MaxCycles > 0 {
		first := sort.Search(len(list), func(i int) bool { return s.tree(&region{limit: list[i]}, q).Possible() })
		// The last interval is for depths that are given, where these hold it up.
		for _, clocks := range []int{max(q.goal.MaxCycles, list[first]), last} {
			if f, err := s.at(ctx, q, clocks, made); f != nil || err != nil {
				return f, err
			}
		}
		return nil, s.deadlocked(ctx, q, last)
	}
	clocks := last
	if limit != nil {
		clocks = floor(limit)
	}
	if clocks >= list[0] {
		if q.goal.Latency {
			f, err := s.shortest(ctx, q, clocks)
			if err != nil || f != nil {
				return f, err
			}
		} else if limit != nil {
			f, err := s.at(ctx, q, clocks, made)
			if err != nil || f != nil {
				return f, err
			}
		}
	}
	if !q.goal.Latency || limit != nil {
		f, err := s.fastest(ctx, q, list, made)
		if err != nil {
			return nil, err
		}
		if f != nil && limit == nil {
			return f, nil
		}
		if f != nil && f.limit <= clocks { // the search at the asked interval was cut, and this one is faster
			return s.slower(q, f, clocks), nil
		}
		if f != nil && q.goal.OverBudget && clocks >= list[0] {
			more, err := s.leastLoad(ctx, q, clocks)
			if more != nil || err != nil {
				return more, err
			}
		}
		if f != nil {
			return nil, s.unreachable(ctx, q, limit, f, d)
		}
	}
	if s.shallow() {
		if err := s.deadlocked(ctx, q, last); err != nil {
			return nil, err
		}
	}
	return s.overBudget(ctx, q, list, max(clocks, list[0]), d)
}

// fastest is the best design at the shortest interval within the budget; nil where there is none. What trees exclude is
// excluded; from the first interval on at which they do not, designs are made.
func (s *space) fastest(ctx context.Context, q *question, list []int, made *memory) (*found, error) {
	low, high := 0, len(list) // nothing is possible below low
	excluded := 0             // the longest interval that nothing keeps
	for low < high {
		i := (low + high) / 2
		least, err := s.tree(&region{limit: list[i]}, q).Within(ctx, s.capsAt(q, list[i]))
		switch {
		case err != nil:
			return nil, err
		case least.Best == nil && least.Proved:
			low, excluded = i+1, list[i]
		default:
			high = i
		}
	}
	if s.shallow() {
		if f, _, err := s.tryAt(ctx, q, list[len(list)-1], made); f == nil {
			return nil, err
		}
	}
	proved := true // up to low
	for i, step := low, 1; i < len(list); i, step = i+step, 2*step {
		f, none, err := s.tryAt(ctx, q, list[i], made)
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
		for a, b := i-step/2, i; a+1 < b; {
			m := (a + b) / 2
			g, none, err := s.tryAt(ctx, q, list[m], made)
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
		if f, err = s.faster(ctx, q, f, excluded, made); err != nil {
			return nil, err
		}
		if excluded > 0 {
			f.below = s.excluded(q, excluded)
		}
		return f, nil
	}
	return nil, nil
}

// slower is a design as the answer at a longer interval, of which less is known.
func (s *space) slower(q *question, f *found, limit int) *found {
	g := &found{folding: f.folding, limit: limit, cut: true}
	t := s.tree(&region{limit: limit}, q)
	for _, b := range f.bounds {
		m := b.Measure.of(&q.yard)
		g.bounds = append(g.bounds, Bound{b.Measure, b.Value, min(b.Value, t.Bound(m, s.capsAt(q, limit)))})
	}
	return g
}

// shallow reports whether FIFOs are not as deep as they have to be, but as the user wants them. Then an interval may be any,
// and not one that a layer takes.
func (s *space) shallow() bool { return s.fifo != FIFO{} || s.deepened() }

// mostProbed is the words of a frame up to which intervals between those of layers are looked at: each takes seconds where
// frames are larger, to win what a FIFO gives.
const mostProbed = 1_000_000

// faster looks for shorter intervals than that of a design: FIFOs and the processor's memory may hold it up for any
// number of clocks, not only for what a layer takes. No design is as fast as excluded.
func (s *space) faster(ctx context.Context, q *question, f *found, excluded int, made *memory) (*found, error) {
	reached := func(f *found) (float64, error) {
		d := s.build(f.folding).Design
		clocks, err := interval(ctx, d)
		return max(clocks, float64(s.memoryClocks(d))), err
	}
	clocks, err := reached(f)
	if err == nil && !s.shallow() && words(s.build(f.folding).Design) > mostProbed {
		at := int(math.Ceil(clocks)) - 1
		least, err := s.tree(&region{limit: at}, q).Within(ctx, s.capsAt(q, at))
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
		g, none, e := s.tryAt(ctx, q, at, made)
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

// deadlocked is the *rtlsim.Deadlock of the folding of the least load, where only FIFOs whose depths are given are less deep than
// can be of use; nil where there is none.
func (s *space) deadlocked(ctx context.Context, q *question, limit int) error {
	r := region{limit: limit}
	least, err := s.tree(&r, q).Minimise(ctx, LeastLoad.of(&q.yard), nil, search.Unlimited, assessNodes)
	if err != nil || least.Best == nil {
		return err
	}
	b := s.build(s.folding(&r, least.Best))
	if b == nil {
		return nil
	}
	_, fixed := s.depths(b)
	for id, words := range fixed {
		if b.FIFO[id].Depth = words; words == 0 {
			b.FIFO[id].Depth = b.Port(id).Words
		}
	}
	_, err = rtlsim.Prove(ctx, b.Design)
	return err
}

// at is the best design at an interval within the budget; nil where none was found.
func (s *space) at(ctx context.Context, q *question, limit int, made *memory) (*found, error) {
	f, _, err := s.tryAt(ctx, q, limit, made)
	return f, err
}

// tryAt is at; none reports whether there is surely none.
func (s *space) tryAt(ctx context.Context, q *question, limit int, made *memory) (f *found, none bool, err error) {
	key := fmt.Sprint(limit, q.goal.MaxUse, q.goal.Least, q.goal.MaxCycles > 0, q.effort.Limit)
	if q.goal.SearchTime > 0 {
		made = nil
	}
	if made != nil {
		if x, ok := made.answers.Load(key); ok {
			a := x.(remembered)
			return a.found.copied(), a.none, nil
		}
	}
	fresh := *q
	fresh.effort.Done, fresh.effort.Cut = 0, false
	f, none, err = s.leastAt(ctx, &fresh, limit, s.capsAt(q, limit), q.goal.Least.order())
	if err == nil && made != nil {
		made.answers.Store(key, remembered{f.copied(), none})
	}
	return f, none, err
}

// leastAt takes the best design at an interval, measure after measure. A design that is faster than it has to be is what
// asking for its own interval gives.
func (s *space) leastAt(ctx context.Context, q *question, limit int, caps search.Caps, order []Measure) (f *found, none bool, err error) {
	f = &found{limit: limit}
	all := q.effort.Limit
	r := region{limit: limit}
	for i, m := range order {
		// What comes first may take half of the work that is left.
		q.effort.Limit = all
		if i < len(order)-1 {
			q.effort.Limit = (q.effort.Done + all) / 2
		}
		measure := m.of(&q.yard)
		best, err := s.fit(ctx, q, r, measure, caps, f.folding)
		if err != nil {
			return nil, false, err
		}
		if best.best == nil {
			return nil, best.proved, nil
		}
		f.folding = best.best
		f.bounds = append(f.bounds, Bound{m, f.measures(measure), best.bound})
		f.cut = f.cut || !best.proved
		caps = f.asGood(measure, caps, 0)
	}
	q.effort.Limit = all
	f.folding, err = s.settled(ctx, q, f.folding, limit, order)
	return f, false, err
}

// memory keeps answers and bounds, which depend on nothing but the space and the part of the question that is their key.
type memory struct{ answers, bounds sync.Map }

type remembered struct {
	found *found
	none  bool
}

// copied is a copy, for whoever adds to it what another question has no part in: a floor, what is excluded below it.
func (f *found) copied() *found {
	if f == nil {
		return nil
	}
	g := *f
	return &g
}

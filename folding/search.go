package folding

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"hlsgen/boards"
	"hlsgen/hlslib/dwc"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// Search folds the model onto the target. What the user has to change - a goal that cannot be reached, a folding file
// that asks for the impossible - goes to d, and the result is nil. The error is the context's, or says that the clock
// or the goal is malformed, which the command line rules out. With Goal.MaxCycles the target may do without a board;
// zcu104 then stands in for it.
//
// The measure of "least resources" is the largest share of the budget that any kind of resource takes, then LUTs.
// Every fold of every layer is costed; the choice among them is the best there is unless Result.Exact says otherwise.
func Search(ctx context.Context, m *dataflow.Model, t dataflow.Target, goal Goal, d *diag.List) (*Result, error) {
	if err := goal.verify(t); err != nil {
		return nil, err
	}
	if len(m.Graph.Nodes) == 0 {
		d.Add(diag.Diag{Severity: diag.Error, Code: diag.NothingQuantised, Msg: "there is no layer to fold"})
		return nil, nil
	}
	if goal.MaxCycles > 0 && t.Board == (boards.Board{}) {
		b, err := boards.Find("zcu104")
		if err != nil {
			return nil, err
		}
		t.Board = b
	}
	return search(ctx, newSpace(m.Graph, t, goal.MaxUse, converter), m, goal, d)
}

// converter makes the layer that stands where neighbours' words differ.
func converter(in, out int) dataflow.Op { return dwc.New(dwc.Params{In: in, Out: out}) }

func search(ctx context.Context, s *space, m *dataflow.Model, goal Goal, d *diag.List) (*Result, error) {
	if !s.fix(goal.Fixed, d) || !s.foldable(d) {
		return nil, nil
	}
	c, err := s.choose(ctx, goal, d)
	if err != nil || c == nil {
		return nil, err
	}
	return s.result(m, goal, c), nil
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

// A chosen is the folding that a search ends with.
type chosen struct {
	*folding
	exact bool   // there is no better one
	why   string // its interval is no shorter
}

// choose finds the folding for the goal; nil where d says why there is none.
func (s *space) choose(ctx context.Context, goal Goal, d *diag.List) (*chosen, error) {
	list := s.intervals()
	first, last := list[0], list[len(list)-1]
	l := s.lattice(last)
	loose, ok := s.relax(l)
	if !ok {
		s.unjoined(d)
		return nil, nil
	}
	if goal.MaxCycles > 0 {
		why := fmt.Sprintf("asked for: at most %d clocks per frame of every layer, without a budget", goal.MaxCycles)
		if first > goal.MaxCycles {
			why = s.floor()
		}
		return s.optimise(ctx, max(first, goal.MaxCycles), false, why)
	}
	want := last
	if goal.FPS > 0 {
		want = ClocksPerFrame(s.target.ClockMHz, goal.FPS)
	}
	why := fmt.Sprintf("asked for: %s frames per second allow %d clocks", plain(goal.FPS), want)
	if goal.FPS > 0 && want >= first {
		v, err := s.decide(ctx, want)
		if err != nil {
			return nil, err
		}
		if v.fits {
			return s.optimise(ctx, want, true, why)
		}
	}
	f, err := s.fastest(ctx, list)
	switch {
	case err != nil:
		return nil, err
	case f.interval > 0 && goal.FPS > 0:
		s.unreachable(goal, want, f, d)
		return nil, nil
	case f.interval > 0:
		c, err := s.optimise(ctx, f.interval, true, f.why)
		if err == nil {
			c.exact = c.exact && f.exact
		}
		return c, err
	case s.fixes() && want >= first:
		// The user's own folds count for more than the budget; what is left open is made as small as it can be.
		s.exceeded(l, loose, diag.Warning, d)
		return s.optimise(ctx, want, false, "the folding file asks for more than the budget")
	}
	s.exceeded(l, loose, diag.Error, d)
	return nil, nil
}

// fixes reports whether a folding file says something of a layer.
func (s *space) fixes() bool {
	return slices.ContainsFunc(s.layers, func(l layer) bool { return l.fixed })
}

// A verdict says whether some folding keeps an interval within the budget.
type verdict struct {
	fits, exact bool
	best        *folding // the least demanding one found, within the budget or not; nil where there is none at all
}

func (s *space) decide(ctx context.Context, interval int) (verdict, error) {
	l := s.lattice(interval)
	r, ok := s.relax(l)
	if !ok {
		return verdict{exact: l.exact}, nil
	}
	if r.best.cost.within(s.budget) {
		return verdict{true, true, r.best}, nil
	}
	for _, p := range slices.Concat(r.single, r.prices) {
		if p.rest[0][0] > p.unit.dot(s.budget) {
			return verdict{false, l.exact, r.best}, nil
		}
	}
	f, exact, err := s.label(ctx, l, r, s.budget)
	if f != nil {
		return verdict{true, true, f}, err
	}
	return verdict{false, exact && l.exact, r.best}, err
}

// optimise finds the best folding at an interval that some folding is known to keep, within the budget if budgeted.
func (s *space) optimise(ctx context.Context, interval int, budgeted bool, why string) (*chosen, error) {
	l := s.lattice(interval)
	r, _ := s.relax(l)
	best := r.best
	if budgeted && !best.cost.within(s.budget) {
		best = nil
	}
	// Each round looks among what is at least as good as the best so far; a round that drops no label has the last word.
	for {
		caps := s.budget
		if best != nil {
			caps = s.asGood(best, budgeted)
		}
		f, exact, err := s.label(ctx, l, r, caps)
		if err != nil {
			return nil, err
		}
		next := s.better(best, f)
		if exact || next == best {
			return &chosen{next, exact && l.exact, why}, nil
		}
		best = next
	}
}

// asGood is the most that a folding may take whose load is at most f's.
func (s *space) asGood(f *folding, budgeted bool) vector {
	_, kind := s.load(f.cost)
	var caps vector
	for i := range caps {
		caps[i] = s.yard[i] * f.cost[kind] / s.yard[kind]
		if budgeted {
			caps[i] = min(caps[i], s.budget[i])
		}
	}
	return caps
}

// A fastest is the shortest interval that fits the budget, 0 where none does.
type fastest struct {
	interval int
	exact    bool
	why      string // it is no shorter
}

func (s *space) fastest(ctx context.Context, list []int) (f fastest, err error) {
	f.exact = true
	var failed verdict // at the longest interval that does not fit
	at := sort.Search(len(list), func(i int) bool {
		if err != nil {
			return true
		}
		var v verdict
		if v, err = s.decide(ctx, list[i]); !v.fits {
			failed, f.exact = v, f.exact && v.exact
		}
		return v.fits
	})
	switch {
	case err != nil || at == len(list):
	case at == 0:
		f.interval, f.why = list[at], s.floor()
	default:
		f.interval, f.why = list[at], fmt.Sprintf("%d clocks %s", list[at-1], s.shortage(failed))
	}
	return f, err
}

// floor says why no interval is shorter than the slowest layer's.
func (s *space) floor() string {
	i, clocks := s.slowest()
	l := &s.layers[i]
	text := fmt.Sprintf("%s takes %d clocks ", l.node.Name, clocks)
	if l.fixed {
		return text + "as the folding file sets it"
	}
	return text + "in its widest fold"
}

// shortage says what is missing where nothing fits: "would take 231000 LUT of 184320".
func (s *space) shortage(v verdict) string {
	if v.best == nil {
		return "leave neighbours whose words no width converter joins"
	}
	kind := s.scarcest(v.best.cost)
	return fmt.Sprintf("would take %d %s of %d", v.best.cost[kind], names[kind], s.budget[kind])
}

// scarcest is the kind of which cost exceeds the budget by the largest factor.
func (s *space) scarcest(cost vector) int {
	at, worst := 0, 0.0
	for i := range cost {
		if f := float64(cost[i]) / float64(s.budget[i]); cost[i] > s.budget[i] && f > worst {
			at, worst = i, f
		}
	}
	return at
}

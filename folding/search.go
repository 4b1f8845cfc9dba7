package folding

import (
	"context"
	"fmt"
	"math"
	"slices"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// Search folds the model onto the target. What the user has to change - a goal that cannot be reached, a folding file
// that asks for the impossible - goes to d, and the result is nil. The error is the context's, or says that the clock
// or the goal is malformed, which the command line rules out. With Goal.MaxCycles the target may do without a board;
// zcu104 then stands in for it.
//
// Every fold of every layer is costed. The choice among them is the best there is as far as Result.Proof says so; what
// it leaves open is bounded there. The answer does not depend on the machine, unless Goal.SearchTime ends the search.
func Search(ctx context.Context, m *dataflow.Model, t dataflow.Target, goal Goal, d *diag.List) (*Result, error) {
	s, err := prepare(m, t, goal, widthConverter, d)
	if err != nil || s == nil {
		return nil, err
	}
	return s.search(ctx, m, goal, d)
}

// prepare lists what the search chooses from; nil where d says why there is nothing.
func prepare(m *dataflow.Model, t dataflow.Target, goal Goal, c converter, d *diag.List) (*space, error) {
	if err := goal.verify(t); err != nil {
		return nil, err
	}
	if len(m.Graph.Nodes) == 0 {
		d.Add(diag.Diag{Severity: diag.Error, Code: diag.NothingQuantised, Msg: "there is no layer to fold"})
		return nil, nil
	}
	if goal.MaxCycles > 0 && t.Board.Name == "" {
		b, err := boards.Find("zcu104")
		if err != nil {
			return nil, err
		}
		t.Board = b
	}
	s := newSpace(m.Graph, t, goal.MaxUse, c)
	if !s.fix(goal.Fixed, d) || !s.foldable(d) {
		return nil, nil
	}
	s.listForms()
	s.makePlan()
	s.begin(goal.SearchTime)
	return s, nil
}

func (s *space) search(ctx context.Context, m *dataflow.Model, goal Goal, d *diag.List) (*Result, error) {
	c, err := s.choose(ctx, goal, d)
	if err != nil || c == nil {
		return nil, err
	}
	if goal.Latency {
		if err := s.shorten(ctx, c); err != nil {
			return nil, err
		}
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
	*optimum
	why   string // its interval is no shorter
	proof Proof
	caps  vector // what it may take
	limit int    // the interval it may have
}

// choose finds the folding for the goal; nil where d says why there is none.
func (s *space) choose(ctx context.Context, goal Goal, d *diag.List) (*chosen, error) {
	list := s.intervals()
	first, last := list[0], list[len(list)-1]
	loose := s.at(last)
	if !loose.possible() || loose.inner != nil && !loose.inner.possible() {
		s.unjoined(d)
		return nil, nil
	}
	if goal.MaxCycles > 0 {
		why := fmt.Sprintf("asked for: at most %d clocks per frame of every layer, without a budget", goal.MaxCycles)
		if first > goal.MaxCycles {
			why = s.floor()
		}
		return s.settle(ctx, goal, fastest{interval: max(first, goal.MaxCycles), why: why}, d)
	}
	want := last
	if goal.FPS > 0 {
		want = ClocksPerFrame(s.target.ClockMHz, goal.FPS)
	}
	asked := fastest{interval: want, why: fmt.Sprintf("asked for: %s frames per second allow %s", plain(goal.FPS), clocks(want))}
	if goal.FPS > 0 && want >= first {
		found, err := s.at(min(want, last)).within(ctx, s.budget, lut)
		if err != nil {
			return nil, err
		}
		if asked.fitting = found.best; found.best != nil {
			return s.settle(ctx, goal, asked, d)
		}
	}
	f, err := s.fastest(ctx, list)
	switch {
	case err != nil:
		return nil, err
	case f.fitting != nil && goal.FPS > 0:
		s.unreachable(goal, want, f, d)
		return nil, nil
	case f.fitting != nil:
		return s.settle(ctx, goal, f, d)
	case s.fixes() && want >= first:
		// The user's own folds count for more than the budget; what is left open is made as small as it can be.
		s.exceeded(loose, diag.Warning, d)
		return s.settle(ctx, goal, fastest{interval: want, why: "the folding file asks for more than the budget"}, d)
	}
	s.exceeded(loose, diag.Error, d)
	return nil, nil
}

// settle takes the best folding at the interval; nil where d says that there is none.
func (s *space) settle(ctx context.Context, goal Goal, f fastest, d *diag.List) (*chosen, error) {
	order := goal.Least.order()
	if goal.Latency {
		order = nil // whatever it takes
	}
	o, err := s.optimise(ctx, f.interval, f.fitting, order)
	if err != nil {
		return nil, err
	}
	if o == nil {
		s.unjoined(d)
		return nil, nil
	}
	c := &chosen{optimum: o, why: f.why, limit: f.interval, caps: s.budget}
	if goal.Latency && goal.FPS == 0 && goal.MaxCycles == 0 {
		f.searched, f.excluded = false, 0
		c.why, c.limit = "chosen for the shortest latency", math.MaxInt
	}
	if f.fitting == nil {
		c.caps = unlimited
	}
	c.proof = s.proof(f, o)
	return c, nil
}

// fixes reports whether a folding file says something of a layer.
func (s *space) fixes() bool {
	return slices.ContainsFunc(s.layers, func(l layer) bool { return l.fixed })
}

// A fastest is the shortest interval at which a folding within the budget was found.
type fastest struct {
	interval int
	fitting  *folding // that keeps it; nil where none is known
	why      string   // it is no shorter
	searched bool     // it was looked for: no folding within the budget is known to be faster
	excluded int      // the longest interval that no folding within the budget keeps; 0 where none was tried
	bound    int      // no folding within the budget has a shorter interval
}

// fastest looks for the shortest interval, by bisection over all there are.
func (s *space) fastest(ctx context.Context, list []int) (f fastest, err error) {
	low, high := 0, len(list) // none is found below low, one at high
	f.searched, f.bound = true, list[0]
	for low < high {
		i := (low + high) / 2
		found, err := s.at(list[i]).within(ctx, s.budget, lut)
		if err != nil {
			return f, err
		}
		if found.best != nil {
			high, f.fitting = i, found.best
			continue
		}
		if low = i + 1; found.exact && list[i] > f.excluded {
			f.excluded = list[i]
			if low < len(list) {
				f.bound = list[low]
			}
		}
	}
	if high == len(list) {
		return f, nil
	}
	f.interval, f.why = list[high], s.floor()
	if high > 0 {
		f.why = fmt.Sprintf("an interval of %d would %s", list[high-1], s.shortage(s.at(list[high-1])))
	}
	return f, nil
}

// floor says why no interval is shorter than the slowest layer's.
func (s *space) floor() string {
	i, most := s.slowest()
	l := &s.layers[i]
	text := fmt.Sprintf("%s takes %s ", l.node.Name, clocks(most))
	if l.fixed {
		return text + "as the folding file sets it"
	}
	return text + "in its widest fold"
}

// shortage says what is missing where nothing fits: "take 231000 LUT of 184320".
func (s *space) shortage(t *tree) string {
	f := t.nearest()
	if f == nil {
		return "leave neighbours whose words no width converter joins"
	}
	kind := s.scarcest(f.cost)
	return fmt.Sprintf("take %d %s of %d", f.cost[kind], names[kind], s.budget[kind])
}

// nearest is the folding of those that turned up that takes the least share of the budget; nil where nothing keeps the
// interval.
func (t *tree) nearest() (nearest *folding) {
	if !t.possible() {
		return nil
	}
	if len(t.found) == 0 {
		t.relax(t.budget)
	}
	least := 0.0
	for _, f := range t.found {
		if share, _ := load(f.cost, t.budget); nearest == nil || share < least {
			nearest, least = f, share
		}
	}
	return nearest
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

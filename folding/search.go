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
	if goal.MaxCycles > 0 && t.Board.Name == "" {
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
	loose, ok := s.relax(l, s.yard)
	if !ok {
		s.unjoined(d)
		return nil, nil
	}
	if goal.MaxCycles > 0 {
		why := fmt.Sprintf("asked for: at most %d clocks per frame of every layer, without a budget", goal.MaxCycles)
		if first > goal.MaxCycles {
			why = s.floor()
		}
		return s.optimise(ctx, max(first, goal.MaxCycles), nil, why)
	}
	want := last
	if goal.FPS > 0 {
		want = ClocksPerFrame(s.target.ClockMHz, goal.FPS)
	}
	why := fmt.Sprintf("asked for: %s frames per second allow %s", plain(goal.FPS), clocks(want))
	if goal.FPS > 0 && want >= first {
		found, err := s.within(ctx, s.lattice(want), s.budget)
		if err != nil {
			return nil, err
		}
		if found.best != nil {
			return s.optimise(ctx, want, found.best, why)
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
		c, err := s.optimise(ctx, f.interval, f.fitting, f.why)
		if err == nil {
			c.exact = c.exact && f.exact
		}
		return c, err
	case s.fixes() && want >= first:
		// The user's own folds count for more than the budget; what is left open is made as small as it can be.
		s.exceeded(l, loose, diag.Warning, d)
		return s.optimise(ctx, want, nil, "the folding file asks for more than the budget")
	}
	s.exceeded(l, loose, diag.Error, d)
	return nil, nil
}

// fixes reports whether a folding file says something of a layer.
func (s *space) fixes() bool {
	return slices.ContainsFunc(s.layers, func(l layer) bool { return l.fixed })
}

// A finding is what is known of the foldings within caps at one interval.
type finding struct {
	best    *folding // one within caps, nil where none was found
	exact   bool     // where best is nil: there is none; else: none within caps has fewer LUTs
	nearest *folding // the one that takes least of caps; nil where nothing keeps the interval
}

// maxExamined bounds the effort of one search, in labels: some seconds. It is not a time, so that the answer does not
// depend on the machine.
const maxExamined = 2_000_000

// within looks for a folding within caps: by prices, and where these leave it open by label.
func (s *space) within(ctx context.Context, l *lattice, caps vector) (finding, error) {
	r, ok := s.relax(l, caps)
	switch {
	case !ok || r.excludes(caps):
		return finding{nil, l.exact, r.nearest}, nil
	case r.best != nil:
		return finding{r.best, false, r.nearest}, nil
	case s.examined > maxExamined:
		return finding{nil, false, r.nearest}, nil
	}
	f, exact, err := s.label(ctx, l, r, caps)
	return finding{f, exact && l.exact, r.nearest}, err
}

// optimise finds the best folding at an interval that some folding is known to keep: within the budget where fitting is
// one that is, else whatever the budget.
func (s *space) optimise(ctx context.Context, interval int, fitting *folding, why string) (*chosen, error) {
	l := s.lattice(interval)
	c, caps := &chosen{fitting, true, why}, s.budget
	if fitting == nil {
		r, _ := s.relax(l, s.yard)
		c.folding, caps = r.nearest, vector{most, most, most, most, most}
	}
	if err := s.leastLoad(ctx, l, c, caps); err != nil {
		return nil, err
	}
	return c, s.fewestLUTs(ctx, l, c, caps)
}

// most caps nothing.
const most = int64(1) << 40

// leastLoad replaces c's folding by one of the least load, by bisection: between low, which nothing is known to reach,
// and its own load.
func (s *space) leastLoad(ctx context.Context, l *lattice, c *chosen, caps vector) error {
	low := 0.0
	for {
		high, _ := load(c.cost, s.yard)
		below := s.asGood(c.folding, caps, 1)
		if below.within(s.share(low)) {
			return nil
		}
		middle := (low + high) / 2
		if below.within(s.share(middle)) {
			middle = high // all that is left lies above the middle
		}
		try := below
		for i, v := range s.share(middle) {
			try[i] = min(try[i], v)
		}
		found, err := s.within(ctx, l, try)
		if err != nil {
			return err
		}
		if found.best != nil {
			c.folding = found.best
		} else {
			low, c.exact = middle, c.exact && found.exact
		}
	}
}

// fewestLUTs replaces c's folding by one with the fewest LUTs at its load.
func (s *space) fewestLUTs(ctx context.Context, l *lattice, c *chosen, caps vector) error {
	for {
		fewer := s.asGood(c.folding, caps, 0)
		fewer[lut] = min(fewer[lut], c.cost[lut]-1)
		found, err := s.within(ctx, l, fewer)
		if err != nil {
			return err
		}
		if found.best == nil {
			c.exact = c.exact && found.exact
			return nil
		}
		c.folding = found.best
		if found.exact {
			return nil
		}
	}
}

// share is a part of the yardstick, rounded down.
func (s *space) share(part float64) (v vector) {
	for i := range v {
		v[i] = int64(part * float64(s.yard[i]))
	}
	return v
}

// asGood is the most within caps that a folding may take of each kind whose load is at most f's, or less for less = 1.
func (s *space) asGood(f *folding, caps vector, less int64) vector {
	_, kind := load(f.cost, s.yard)
	for i := range caps {
		caps[i] = min(caps[i], (s.yard[i]*f.cost[kind]-less)/s.yard[kind])
	}
	return caps
}

// A fastest is the shortest interval that fits the budget, 0 where none does.
type fastest struct {
	interval int
	fitting  *folding // that keeps it
	exact    bool
	why      string // it is no shorter
}

func (s *space) fastest(ctx context.Context, list []int) (f fastest, err error) {
	f.exact = true
	var failed finding // at the longest interval that does not fit
	at := sort.Search(len(list), func(i int) bool {
		if err != nil {
			return true
		}
		var found finding
		if found, err = s.within(ctx, s.lattice(list[i]), s.budget); found.best == nil {
			failed, f.exact = found, f.exact && found.exact
		} else {
			f.fitting = found.best
		}
		return found.best != nil
	})
	switch {
	case err != nil || at == len(list):
	case at == 0:
		f.interval, f.why = list[at], s.floor()
	default:
		f.interval, f.why = list[at], fmt.Sprintf("an interval of %d would %s", list[at-1], s.shortage(failed.nearest))
	}
	return f, err
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
func (s *space) shortage(f *folding) string {
	if f == nil {
		return "leave neighbours whose words no width converter joins"
	}
	kind := s.scarcest(f.cost)
	return fmt.Sprintf("take %d %s of %d", f.cost[kind], names[kind], s.budget[kind])
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

package folding

import (
	"context"
	"maps"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// A Space is what a model may be folded to on a target, listed once for any number of searches. These may run at the same
// time.
type Space struct {
	model *dataflow.Model
	space *space
}

// List lists the options of every layer, and how they join. fixed may be nil. What the user has to change goes to d, and
// the result is nil.
func List(m *dataflow.Model, t dataflow.Target, fixed *File, d *diag.List) (*Space, error) {
	s, err := prepare(m, t, Goal{Fixed: fixed}, widthConverter, d)
	if err != nil || s == nil {
		return nil, err
	}
	return &Space{m, s}, nil
}

// Search is Search for the model and the target; what the space has fixed counts in place of Goal.Fixed.
func (l *Space) Search(ctx context.Context, goal Goal, d *diag.List) (*Result, error) {
	if err := goal.verify(l.space.target); err != nil {
		return nil, err
	}
	return l.space.fresh(goal).search(ctx, l.model, goal, d)
}

// Pareto is Pareto for the model and the target; what the space has fixed counts in place of Goal.Fixed.
func (l *Space) Pareto(ctx context.Context, goal Goal, most int, d *diag.List) (front []*Result, whole bool, err error) {
	if err := goal.verify(l.space.target); err != nil {
		return nil, false, err
	}
	return l.space.fresh(goal).pareto(ctx, l.model, goal, most, d)
}

// fresh is the space with nothing searched yet.
func (s *space) fresh(goal Goal) *space {
	f := *s
	f.budget = vectorOf(Budget(s.target.Board, goal.MaxUse))
	f.yard = f.budget
	capacity := vectorOf(Capacity(s.target.Board))
	for i := range f.yard {
		if f.yard[i] == 0 {
			f.yard[i] = max(capacity[i], 1)
		}
	}
	f.converted, f.trees = maps.Clone(s.converted), map[int]*tree{}
	f.begin(goal.SearchTime)
	return &f
}

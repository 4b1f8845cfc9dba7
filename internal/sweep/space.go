package sweep

import (
	"context"
	"sync"

	"hlsgen/folding"
	"hlsgen/internal/build"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// A space is what a model may be folded to in a place.
type space struct {
	once   sync.Once
	target dataflow.Target
	list   *folding.Space // nil where told says why there is none
	told   diag.List
	err    error
}

// spaces makes each space once, whoever asks first.
type spaces struct {
	model *dataflow.Model
	salt  string // the model and what shapes its import, for names of designs
	mu    sync.Mutex
	made  map[string]*space
}

// of is the space of a spec: those that differ in their goals alone share one.
func (all *spaces) of(s spec) (*space, error) {
	s.FPS, s.Front, s.MaxUse = 0, 0, folding.Use{}
	k := s.key("")
	all.mu.Lock()
	x, ok := all.made[k]
	if !ok {
		x = &space{target: dataflow.Target{Board: s.Board, ClockMHz: s.ClockMHz, Formula: s.Formula}}
		all.made[k] = x
	}
	all.mu.Unlock()
	x.once.Do(func() {
		fixed, err := restrict(all.model.Graph, s.Memory, s.Compute)
		if x.err = err; err == nil {
			x.list, x.err = folding.List(all.model, x.target, fixed, &x.told)
		}
	})
	return x, x.err
}

// search is the foldings for a spec's goal.
func (x *space) search(ctx context.Context, s spec, d *diag.List) ([]build.Point, error) {
	if x.list == nil {
		d.Diags = append(d.Diags, x.told.Diags...)
		return nil, nil
	}
	find := func(ctx context.Context, goal folding.Goal, d *diag.List) ([]*folding.Result, error) {
		if s.Front > 0 {
			front, _, err := x.list.Pareto(ctx, goal, s.Front, d)
			return front, err
		}
		r, err := x.list.Search(ctx, goal, d)
		if r == nil {
			return nil, err
		}
		return []*folding.Result{r}, err
	}
	return build.Points(ctx, x.target, folding.Goal{FPS: s.FPS, MaxUse: s.MaxUse}, find, d)
}

package sweep

import (
	"context"
	"sync"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// A space is what a model may be folded to on a target, with some styles.
type space struct {
	once sync.Once
	list *folding.Space // nil where told says why there is none
	told diag.List
	err  error
}

// spaces makes each space once, whoever asks first.
type spaces struct {
	models map[int]*dataflow.Model // by the samples that take turns
	salt   string                  // the model's bytes and what shapes its imports, for keys and names of designs
	mu     sync.Mutex
	made   map[string]*space
}

// of is the space of a spec: those that differ in their goals alone share one.
func (all *spaces) of(s spec) (*space, error) {
	without := spec{Board: s.Board, ClockMHz: s.ClockMHz, IO: s.IO, FIFO: s.FIFO,
		Memory: s.Memory, Compute: s.Compute, Formula: s.Formula, Samples: s.Samples, Unroll: s.Unroll}
	k := without.key("")
	all.mu.Lock()
	x, ok := all.made[k]
	if !ok {
		x = &space{}
		all.made[k] = x
	}
	all.mu.Unlock()
	x.once.Do(func() {
		model := all.models[s.Samples]
		fixed, err := restrict(model.Graph, s.Memory, s.Compute)
		if x.err = err; err == nil {
			x.list, x.err = folding.List(model, s.target(), fixed, s.FIFO, &x.told)
		}
	})
	return x, x.err
}

// search is the designs for a spec; none where d says why.
func (x *space) search(ctx context.Context, s spec, d *diag.List) ([]*folding.Design, error) {
	if s.Front > 0 {
		front, _, err := x.list.Front(ctx, s.goal(), s.Front, d, nil)
		return front, err
	}
	r, err := x.list.Make(ctx, s.goal(), d)
	if err != nil || r == nil {
		return nil, err
	}
	return []*folding.Design{r}, nil
}

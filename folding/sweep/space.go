package sweep

import (
	"context"
	"sync"

	"hlsgen/folding"
	"hlsgen/internal/compiler/samples"
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
	models  map[made]*dataflow.Model
	refused map[string]string // why there is none, by precision
	sums    map[string]string // hashes of the files, by precision
	salt    string            // the model's bytes and what shapes its imports, for keys and names of designs
	mu      sync.Mutex
	made    map[string]*space

	precisions *Precisions       // nil where the model stays
	accuracy   *samples.Accuracy // of the model, where it stays, with labels
}

// made is what a model was made for: how it is quantised, and how many samples take turns.
type made struct {
	precision string
	samples   int
}

// saltOf is the salt of what a spec is a search of.
func (all *spaces) saltOf(s spec) string {
	if s.Precision == "" {
		return all.salt
	}
	return all.salt + all.sums[s.Precision]
}

// of is the space of a spec: those that differ in their goals alone share one.
func (all *spaces) of(s spec) (*space, error) {
	without := s
	without.FPS, without.Interval, without.Latency, without.Least, without.Front, without.Bound, without.MaxUse =
		0, 0, false, 0, 0, false, folding.Use{}
	k := without.key("")
	all.mu.Lock()
	x, ok := all.made[k]
	if !ok {
		x = &space{}
		all.made[k] = x
	}
	all.mu.Unlock()
	x.once.Do(func() {
		model := all.models[made{s.Precision, s.Samples}]
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

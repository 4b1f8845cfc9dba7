package sweep

import (
	"context"
	"sync"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/samples"
)

// A space holds the foldings of a model on a target with given styles.
type space struct {
	once sync.Once
	list *folding.Space // nil if there are none; told then says why
	told diag.List
	err  error
}

// A spaces holds the spaces of foldings of a sweep. It makes each one once, for the first search that needs it.
type spaces struct {
	models  map[made]*dataflow.Model
	refused map[string]string // per precision: why there is no model
	sums    map[string]string // per precision: the hash of the model's file
	salt    string            // hash of the model and of what shapes its import; a part of keys and IDs
	mu      sync.Mutex
	made    map[string]*space

	precisions *PrecisionAccuracies // nil if the model stays as it is
	accuracy   *samples.Accuracy    // the model's accuracy, if it stays as it is and there are labels
}

// A made identifies a form of the model: by its precision, and the number of samples that take turns.
type made struct {
	precision string
	samples   int
}

// saltOf returns the hash of the model that a spec searches, and of all that shapes its import.
func (all *spaces) saltOf(s spec) string {
	if s.Precision == "" {
		return all.salt
	}
	return all.salt + all.sums[s.Precision]
}

// of returns the space of a spec. Specs that differ only in their goals share a space.
func (all *spaces) of(s spec) (*space, error) {
	without := s
	without.FPS, without.Interval, without.Latency, without.Least, without.Front, without.Bound, without.MaxUse =
		0, 0, false, 0, 0, false, folding.MaxUseFractions{}
	without.MaxLatency = 0
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
			x.list, x.err = folding.NewSpace(model, s.target(), fixed, s.FIFO, &x.told)
		}
	})
	return x, x.err
}

// search returns the designs for a spec. If there are none, d says why.
func (x *space) search(ctx context.Context, s spec, d *diag.List) ([]*folding.Design, error) {
	if s.Front > 0 {
		front, _, err := x.list.FindParetoFront(ctx, s.goal(), s.Front, d, nil)
		return front, err
	}
	r, err := x.list.FindBestDesign(ctx, s.goal(), d)
	if err != nil || r == nil {
		return nil, err
	}
	return []*folding.Design{r}, nil
}

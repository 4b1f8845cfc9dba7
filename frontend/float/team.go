package float

import (
	"sync"
	"sync/atomic"

	"hlsgen/frontend/real"
)

// A team is goroutines that share the work of steps. Who does what changes no result: each element is computed by one
// of them, in one order.
type team struct{ workers []*worker }

// A worker is what one of them has for itself.
type worker struct {
	number int
	floats map[*real.Floats]*real.Floats // forks
	gather []float64                     // variables of functions
	panel  []float64                     // and the rest of tiles
	sums   []float64
	bases  []int
	runs   []int // where lanes begin that lie in a row, and the end
	terms  []int32
	places []int
}

func newTeam(n int) *team {
	t := &team{}
	for i := range max(1, n) {
		t.workers = append(t.workers, &worker{number: i, floats: map[*real.Floats]*real.Floats{}})
	}
	return t
}

// share has f called for ranges that are all of n together, each of about grain or more.
func (t *team) share(n, grain int, f func(w *worker, from, to int)) {
	parts := min((n+grain-1)/grain, 4*len(t.workers))
	if len(t.workers) == 1 || parts < 2 {
		if n > 0 {
			f(t.workers[0], 0, n)
		}
		return
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for _, w := range t.workers[:min(len(t.workers), parts)] {
		all.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= parts {
					return
				}
				f(w, i*n/parts, (i+1)*n/parts)
			}
		})
	}
	all.Wait()
}

// sized is a slice of n elements, which is one of before where that has room.
func sized[E any](before *[]E, n int) []E {
	if cap(*before) < n {
		*before = make([]E, n)
	}
	return (*before)[:n]
}

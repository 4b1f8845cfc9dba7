package float

import (
	"sync"
	"sync/atomic"

	"hlsgen/frontend/real"
)

// A team is a number of goroutines that share the work of a step. The division of work changes no result: one
// goroutine computes each element, in one order.
type team struct{ workers []*worker }

// A worker is one goroutine of a team, with its number and scratch space.
type worker struct {
	number int
	floats map[*real.BatchFloatFunc]*real.BatchFloatFunc // this goroutine's forks
	gather []float64                                     // arguments of functions
	// elements of a tile; the slices below are scratch space of tiles, too
	panel  []float64
	sums   []float64
	bases  []int
	runs   []int // the first lane of each run of consecutive elements, then the number of lanes
	terms  []int32
	places []int
}

func newTeam(n int) *team {
	t := &team{}
	for i := range max(1, n) {
		t.workers = append(t.workers, &worker{number: i, floats: map[*real.BatchFloatFunc]*real.BatchFloatFunc{}})
	}
	return t
}

// share calls f, on several goroutines, for ranges that together cover 0 to n. Each range has about grain elements or
// more.
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

// sized returns a slice of n elements, whose values are undefined. It reuses *before if that has room.
func sized[E any](before *[]E, n int) []E {
	if cap(*before) < n {
		*before = make([]E, n)
	}
	return (*before)[:n]
}

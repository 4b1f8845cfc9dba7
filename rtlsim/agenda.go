package rtlsim

import (
	"context"
	"math/bits"
)

// A task is the number of an input, a layer or an output of an engine. A visit takes the task as far as it can go. It
// is woken when it can go on again.
type task int

const nobody task = -1

// visitWords is the number of words that a task moves per visit. These are still in the cache when their reader reads
// them.
const visitWords = 512

// An agenda is the set of tasks that can go on.
type agenda []uint64

func newAgenda(tasks int) agenda { return make(agenda, tasks/64+1) }

func (a agenda) wake(t task) { a[t>>6] |= 1 << (t & 63) }

func (a agenda) wakeAll(tasks int) {
	for t := range tasks {
		a.wake(task(t))
	}
}

// run visits all tasks, and then every task that is woken, until none is left. Each sweep goes from low numbers to high
// ones. If writers have lower numbers than their readers, each task finds all words and all room that the sweep made.
// after is called at the end of each sweep.
func (a agenda) run(ctx context.Context, tasks int, visit func(task), after func()) error {
	a.wakeAll(tasks)
	return a.drain(ctx, visit, after)
}

// drain visits the tasks that are woken, until none is left. after is called at the end of each sweep.
func (a agenda) drain(ctx context.Context, visit func(task), after func()) error {
	for busy := true; busy; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for sweep := 0; sweep < 256 && busy; sweep++ {
			busy = a.sweep(visit)
			after()
		}
	}
	return nil
}

func (a agenda) sweep(visit func(task)) (any bool) {
	for i := range a {
		for from := 0; ; {
			set := a[i] &^ (1<<from - 1)
			if set == 0 {
				break
			}
			t := bits.TrailingZeros64(set)
			a[i] &^= 1 << t
			visit(task(i<<6 | t))
			from, any = t+1, true
		}
	}
	return any
}

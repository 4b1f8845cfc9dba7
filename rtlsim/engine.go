package rtlsim

import (
	"context"
	"fmt"
	"math"
)

// never is the clock of what cannot happen.
const never = math.MaxInt

// An engine is a design at work: layers, and the host at either end. Each goes on for as long as the clocks that it
// depends on are known, in any order: the clocks are a function of the design alone.
//
// All go through one frame before any begins the next. Within a frame nothing needs a word of a later one, and a stuck
// layer waits only for layers that are stuck in the same or an earlier frame; so this holds up nobody for good, and it
// keeps in memory the words of one frame at most.
type engine struct {
	*plan
	workers []*worker // in topological order
	streams []*stream
	sources []*source
	sinks   []*sink
	tasks   []visitor
	agenda  agenda

	frames int
	goal   int  // frames that may be gone through
	end    int  // clock in which nothing may happen any more
	late   bool // something would happen in clock end or later
	every  bool // every frame is wanted: data, logs
	trace  *Trace
	search search
}

// A visitor goes on as far as it can.
type visitor interface{ visit(*engine) }

// enlist makes tasks of all that works, writers before readers.
func (e *engine) enlist() {
	add := func(v visitor) task {
		e.tasks = append(e.tasks, v)
		return task(len(e.tasks) - 1)
	}
	for _, s := range e.sources {
		s.stream.writer = add(s)
	}
	for _, k := range e.workers {
		t := add(k)
		for p, s := range k.in {
			if k.joined.Read>>p&1 != 0 {
				s.reader = t
			}
		}
		for p, s := range k.out {
			if k.joined.Write>>p&1 != 0 {
				s.writer = t
			}
		}
	}
	for _, k := range e.sinks {
		k.stream.reader = add(k)
	}
	e.agenda = newAgenda(len(e.tasks))
	for _, s := range e.streams {
		s.agenda = e.agenda
	}
}

// drain visits tasks until none can go on.
func (e *engine) drain(ctx context.Context) error {
	return e.agenda.run(ctx, len(e.tasks), func(t task) { e.tasks[t].visit(e) })
}

// pass takes one more frame through the design; through is false where it does not come out.
func (e *engine) pass(ctx context.Context) (through bool, err error) {
	e.goal++
	err = e.drain(ctx)
	return err == nil && e.done(), err
}

// stopped says why a frame does not come out: a *Deadlock or the end of the clocks, or the context's error.
func (e *engine) stopped(ctx context.Context) error {
	e.goal = e.frames // what is not stuck in this frame goes on
	if err := e.drain(ctx); err != nil {
		return err
	}
	if e.late {
		out := e.frames
		for _, k := range e.sinks {
			out = min(out, k.frame)
		}
		return fmt.Errorf("no end after %d clocks: %d of %d frames are out", e.end, out, e.frames)
	}
	return e.deadlock(ctx)
}

// done reports whether all have reached the goal.
func (e *engine) done() bool {
	for _, k := range e.workers {
		if k.frame < e.goal {
			return false
		}
	}
	for _, k := range e.sinks {
		if k.frame < e.goal {
			return false
		}
	}
	return true
}

// clock is the one after the last iteration and the last word taken.
func (e *engine) clock() int {
	at := -1
	for _, k := range e.workers {
		at = max(at, k.at)
	}
	for _, k := range e.sinks {
		at = max(at, k.at)
	}
	return at + 1
}

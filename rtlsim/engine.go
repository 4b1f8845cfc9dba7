package rtlsim

import (
	"context"
	"fmt"
	"math"
	"slices"
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
	each    []*plan   // by frame, of given ones
	workers []*worker // in topological order
	streams []*stream
	sources []*source
	sinks   []*sink
	tasks   int // sources, workers, sinks
	agenda  agenda

	frames int
	shows  int  // so many frames may show the interval; 0 where all are wanted
	goal   int  // frames that may be gone through
	passed int  // frames that were gone through word by word, or begun
	end    int  // clock in which nothing may happen any more
	late   bool // something would happen in clock end or later
	every  bool // every frame is wanted: logs
	cut    bool // a trial ended before it showed anything
	trace  *Trace
	search search

	stretch stretch // what repeats within a frame
	drift   drift   // frames that are like each other
	course  course  // so far
}

// visitor lets a source, a worker or a sink go on as far as it can.
func visitor(e *engine) func(task) {
	return func(t task) {
		i := int(t) - len(e.sources)
		switch {
		case i < 0:
			e.sources[t].visit(e)
		case i < len(e.workers):
			if k := e.workers[i]; k.single {
				k.glide(e)
			} else {
				k.visit(e)
			}
		default:
			e.sinks[i-len(e.workers)].visit(e)
		}
	}
}

// enlist makes tasks of all that works, writers before readers.
func (e *engine) enlist() {
	add := func() task {
		e.tasks++
		return task(e.tasks - 1)
	}
	for _, s := range e.sources {
		s.stream.writer = add()
	}
	for _, k := range e.workers {
		t := add()
		k.task = t
		for _, s := range ports(nil, k.in, k.joined.Read) {
			s.reader = t
		}
		for _, s := range ports(nil, k.out, k.joined.Write) {
			s.writer = t
		}
	}
	for _, k := range e.sinks {
		k.stream.reader = add()
	}
	e.agenda = newAgenda(e.tasks)
	for _, s := range e.streams {
		s.agenda = e.agenda
	}
}

// drain visits tasks until none can go on.
func (e *engine) drain(ctx context.Context) error {
	e.stretch.begin(e)
	return e.agenda.run(ctx, e.tasks, visitor(e), e.repeat)
}

// pass takes one more frame through the design; through is false where it does not come out.
func (e *engine) pass(ctx context.Context) (through bool, err error) {
	if e.goal++; e.drift.follows(e) {
		e.trace.Record.ended(e)
		return true, nil
	}
	e.passed++
	e.stretch.rests = e.drift.whole || e.drift.settles
	err = e.drain(ctx)
	if through = err == nil && e.done(); through {
		e.drift.alike(e)
		e.trace.Record.ended(e)
	}
	return through, err
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
	return !slices.ContainsFunc(e.workers, func(k *worker) bool { return k.frame < e.goal }) &&
		!slices.ContainsFunc(e.sinks, func(k *sink) bool { return k.frame < e.goal })
}

// at is the plan of a frame.
func (e *engine) at(frame int) *plan {
	if len(e.each) == 0 {
		return e.plan
	}
	return e.each[min(frame, len(e.each)-1)]
}

// mixed reports whether frames have different lengths.
func (e *engine) mixed() bool {
	return slices.ContainsFunc(e.each, func(p *plan) bool { return p != e.plan })
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

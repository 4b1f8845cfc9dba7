package rtlsim

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// never is a clock later than any other. It stands for an event that cannot happen.
const never = math.MaxInt

// An engine simulates a design: its layers, and the host at both ends. Each of these is a task that goes on
// as long as the clocks it depends on are known. The order of the tasks does not matter, for the clocks are
// a function of the design alone.
//
// All tasks finish a frame before any task begins the next one. No word of a frame depends on a later
// frame, and a stuck layer waits only for layers that are stuck in the same frame or an earlier one. So
// this rule delays nothing for ever, and memory holds at most the words of one frame.
type engine struct {
	*plan
	each    []*plan   // the plan of each frame, if frames were given
	workers []*worker // in topological order
	streams []*stream
	sources []*source
	sinks   []*sink
	tasks   int // number of sources, workers and sinks
	agenda  agenda

	frames int
	shows  int  // the first frames among which the interval may show; 0 if all frames are wanted
	goal   int  // frames that may be run so far
	passed int  // frames that were run word by word, or begun
	end    int  // nothing may happen in this clock or later
	late   bool // something would happen in clock end or later
	every  bool // every frame must be run, as for a log
	cut    bool // a trial ended before it gave a result
	trace  *RunTrace
	search search

	stretch stretch // finds repetitions within a frame
	drift   drift   // finds frames that repeat with a shift
	course  course  // the run so far
}

// visitor returns a function that makes the input, layer or output with the number of a task go on as far as it can.
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

// enlist gives each input, layer and output of the engine a task number, writers before their readers.
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

// drain visits the engine's tasks until none can go on.
func (e *engine) drain(ctx context.Context) error {
	e.stretch.begin(e)
	return e.agenda.run(ctx, e.tasks, visitor(e), e.repeat)
}

// pass takes one more frame through the design. through is false if the frame does not come out.
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

// stopped returns the error that explains why a frame does not come out: a *Deadlock, the end of the allowed clocks, or
// the context's error.
func (e *engine) stopped(ctx context.Context) error {
	e.goal = e.frames // let the tasks that are not stuck in this frame go on
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

// done reports whether all workers and sinks have finished the frames up to the goal.
func (e *engine) done() bool {
	return !slices.ContainsFunc(e.workers, func(k *worker) bool { return k.frame < e.goal }) &&
		!slices.ContainsFunc(e.sinks, func(k *sink) bool { return k.frame < e.goal })
}

// at returns the plan of the given frame, which depends on its length if frames have several lengths.
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

// clock returns the last clock in which something happened so far: an iteration, or the host's taking of a word.
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

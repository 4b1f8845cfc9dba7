// Package rtlsim runs a Design clock by clock: layers with pipelines, FIFOs of finite depth, back-pressure, several
// frames in flight. It interprets dataflow.Loop and knows no layer by name.
//
// One clock has three phases, and each decides on the state that the phase before left:
//
//  1. Input. The host's next word enters an input's FIFO if that has a free place. Words in a FIFO are visible.
//  2. Work. By the rule of the target (dataflow.Stalls): Where a pipeline freezes, nothing of a layer moves if the
//     iteration at its last stage writes to a FIFO without a free place. Else that iteration writes, all stages move
//     on, and the next iteration starts if every word it reads is visible. With credits, the next iteration starts if
//     every word it reads is visible and every FIFO it writes to has a free place, which it takes; nothing stops it
//     then.
//  3. Output. The host takes one visible word from every output.
//
// All layers decide on the same state: a word that a reader takes in a clock leaves a place in the next one, and what
// an iteration that starts in clock c writes is visible from clock c + Latency on, and one later for each clock in
// between in which the pipeline was frozen. So the result does not depend on the order of nodes. docs/clock.md has the
// rules, and why what is proved free from deadlock is so by both.
//
// Clock 0 is the one in which the first input word is visible. A layer alone, whose ends never stall, hence starts
// iteration i in clock i, and its first and last output word are visible in the clocks Loop.FirstWrite and
// Loop.LastWrite.
//
// Around the FIFOs of the host are the ends of the design, which take the same clocks of every word
// (dataflow.Target.Ends). So the host gives the first word in clock -in, Trace.Start, and takes words out clocks after
// these phases have let them go. Nothing else depends on the ends.
//
// No clock is walked, though. What these phases decide is a set of equations in the clocks of iterations and words,
// whose right sides have earlier clocks only (see stream, worker and pipeline). With credits they are maxima plus
// constants: a timed event graph (F. Baccelli and others, Synchronization and Linearity, 1992). The engine solves them
// layer by layer; it costs time per word, not per clock. It looks for a state between frames that was there before,
// and leaves out the periods that follow; for frames that are like each other but that a FIFO fills, which are moved;
// and within a frame for what repeats, row after row of an image.
//
// Data have no part in this: what an iteration computes depends on the words that it reads, whenever that is. They are
// computed beside the clocks.
//
// In comes a dataflow.Design; what comes out does not depend on anything else. The package imports internal/dataflow
// and internal/num. Its files:
//
//	run.go      Run: frames through a design; trace.go, what it shows; bottleneck.go, where the interval comes from
//	plan.go     what folds fix of a design, and engines of it or of a part
//	engine.go   nodes (worker.go, line.go, pipeline.go), the host (host.go) and streams (stream.go) at work, each as
//	            far as it can go (agenda.go); period.go finds the steady state, settle.go before it is there, drift.go
//	            frames in which a FIFO fills, repeat.go rows that repeat
//	data.go     what streams carry; agree.go, that it is what the layers' Evals give
//	deadlock.go why nothing goes on; tokens.go, a frame without clocks; prove.go, Prove: that nothing deadlocks;
//	            lengths.go, sequences of different lengths
//	size.go     Size: how deep FIFOs have to be; grow.go, at least; depths.go, raised and lowered; trial.go, tried;
//	            behind.go, seen to fall behind; course.go, where another run tells; window.go, around a layer;
//	            blocks.go, between forks and joins;
//	            circle.go, what holds up a trial, of what its workers note (holds.go); schedule.go, depths that surely
//	            do where credits are counted, from the clocks of one frame (tour.go)
//	record.go   what happened in every clock; vcd.go and timeline.go draw it
//	counters.go what an accelerator's counters show
//	compare.go  two engines' outputs
package rtlsim

import (
	"context"
	"fmt"

	"hlsgen/internal/dataflow"
)

// Options say how to run. The zero value runs given frames at full speed.
type Options struct {
	Frames    int  // number of frames of a run without data; 0 where frames are given
	Words     int  // where these frames move more words, fewer frames: those that show the interval; 0 for all
	Record    bool // keep what happened in every clock in Trace.Record: three numbers for each word
	Layers    int  // keep of that what layers did alone, in so many of the first frames (Trace.Head): for WriteTimeline
	In, Out   Pace // of the host on every input and every output
	MaxCycles int  // give up at this clock; 0 for never

	// Carried is given what streams carry, frame by frame, in runs with data. It is not to be kept. May be nil; an
	// error ends the run
	Carried func(frame, stream int, t dataflow.Tensor) error

	Known *Known // runs that were made without data; may be nil. Their traces are not to be changed
}

// Run runs the design over frames (one tensor per Graph.In each), or over opt.Frames frames without data: the clocks
// are the same. An error is a *Deadlock, a design or frame that is not well formed, the end of opt.MaxCycles, or the
// context's.
func Run(ctx context.Context, d *dataflow.Design, frames [][]dataflow.Tensor, opt Options) (*Trace, error) {
	if err := d.Verify(); err != nil {
		return nil, fmt.Errorf("design: %w", err)
	}
	if err := opt.verify(len(frames)); err != nil {
		return nil, err
	}
	p := newPlan(d)
	if opt.Known != nil && len(frames) == 0 && !opt.Record {
		return p.known(ctx, opt)
	}
	return p.run(ctx, frames, opt)
}

// known is run without data and whole record, of what was not run before.
func (p *plan) known(ctx context.Context, opt Options) (*Trace, error) {
	b := fmt.Append(nil, opt.Frames, " ", opt.Words, " ", opt.In, " ", opt.Out, " ", opt.MaxCycles)
	for _, n := range p.design.Model.Graph.Nodes {
		b = fmt.Appendf(b, " %q", n.Name)
	}
	key := string(p.key(b, nil, p.design.Depths()))
	m := &made{done: make(chan struct{})}
	if was, ok := opt.Known.runs.LoadOrStore(key, m); ok {
		was := was.(*made)
		select {
		case <-was.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if t := was.trace; t != nil && (opt.Layers == 0 || t.Head(min(opt.Layers, opt.Frames)) != nil) {
			return t, nil
		}
		opt.Known.runs.Store(key, m)
	}
	defer close(m.done)
	t, err := p.run(ctx, nil, opt)
	m.trace = t
	return t, err
}

// A made is a run that is known once it is done: who needs the same waits for it.
type made struct {
	done  chan struct{}
	trace *Trace // nil where it came to an error
}

func (p *plan) run(ctx context.Context, frames [][]dataflow.Tensor, opt Options) (*Trace, error) {
	each, err := p.checked(frames)
	if err != nil {
		return nil, err
	}
	opt.Frames = max(opt.Frames, len(frames))
	e := p.whole(p.design.Depths(), each, opt)
	if opt.Record || opt.Layers > 0 {
		e.keep(opt)
	}
	if k := opt.Known; k != nil {
		defer func() { k.moved.Add(int64(e.passed * p.words(nil))) }()
	}
	for e.goal < e.frames {
		through, err := e.pass(ctx)
		if err != nil {
			return nil, err
		}
		if !through {
			return nil, e.stopped(ctx)
		}
		if words := p.words(nil); e.goal == 1 && opt.Words > 0 && words > opt.Words/e.frames {
			shorten(e, opt)
		}
		if !e.search.over {
			e.course.went(e)
			e.recur()
		}
		if shown(e) {
			endAfter(e, e.goal)
		}
	}
	t := e.finish()
	if e.search.bare > 0 && opt.Known != nil {
		opt.Known.courses.Store(courseKey(p, opt.In, opt.Out, p.design.Depths()), e.course.recurs(e))
	}
	t.Bottleneck = e.bottleneck(opt)
	if len(frames) > 0 {
		t.Outputs, err = p.carry(ctx, frames, each, opt.Carried)
	}
	return t, err
}

// shorten leaves, after the first frame, those that it takes to see the interval, and to draw: as many as are under way
// at a time, and some more. One more does where the last ones come evenly.
func shorten(e *engine, opt Options) {
	const more = 4
	underWay := 1 + e.clock()/max(1, fastest(e.plan, opt.In, opt.Out))
	endAfter(e, min(e.frames, max(underWay+more, opt.Layers)))
	e.shows = max(3, underWay+1, opt.Layers)
}

// endAfter has a run end after so many frames.
func endAfter(e *engine, frames int) {
	e.frames = frames
	e.trace.Frames = e.trace.Frames[:frames]
}

// shown reports whether a run that was shortened may end: the last two frames, and all of which Trace.Interval is the
// mean, come evenly. What is only moved costs nothing.
func shown(e *engine) bool {
	if e.shows == 0 || e.goal < e.shows || e.drift.left > 0 {
		return false
	}
	frames, last := e.trace.Frames, e.goal-1
	for f := min(last/2, last-2) + 1; f < last; f++ {
		if frames[f].Last-frames[f-1].Last != frames[f+1].Last-frames[f].Last {
			return false
		}
	}
	return true
}

// checked is the plan of each frame, all of which are well formed.
func (p *plan) checked(frames [][]dataflow.Tensor) (each []*plan, err error) {
	if each, err = p.byFrame(frames); err != nil {
		return nil, err
	}
	for f, in := range frames {
		if err := each[f].design.Model.Graph.Check(in); err != nil {
			return nil, fmt.Errorf("frame %d: %w", f, err)
		}
	}
	return each, nil
}

func (o Options) verify(given int) error {
	switch {
	case o.Frames < 0 || o.Frames > 0 && given > 0 || o.Frames == 0 && given == 0:
		return fmt.Errorf("%d frames given and %d asked without data: want one of the two", given, o.Frames)
	case o.Layers < 0:
		return fmt.Errorf("what layers did in %d frames", o.Layers)
	case o.MaxCycles < 0:
		return fmt.Errorf("at most %d clocks", o.MaxCycles)
	}
	for _, p := range []Pace{o.In, o.Out} {
		if err := p.verify(); err != nil {
			return err
		}
	}
	return nil
}

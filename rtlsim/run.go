// Package rtlsim simulates a Design clock by clock: layers with pipelines, FIFOs of finite depth, back-pressure,
// and several frames in flight. It interprets loops (dataflow.Loop) and knows no layer by name.
//
// Each clock has three phases. Each phase decides on the state that the phase before left:
//
//  1. Input. The host's next word enters an input's FIFO if that FIFO has a free place. Words in a FIFO are
//     visible.
//  2. Work. The rule of the target decides (dataflow.StallRule). Where a pipeline freezes, nothing in a layer moves if
//     the iteration at its last stage writes to a FIFO without a free place. Otherwise that iteration writes, and
//     all stages move on. The next iteration then starts if every word it reads is visible. With credits, the next
//     iteration starts if every word it reads is visible and every FIFO it writes to has a free place. It takes
//     that place at its start, and nothing stops it afterwards.
//  3. Output. The host takes one visible word from every output.
//
// All layers decide on the same state. A word that a reader takes in a clock leaves its place free in the next
// clock. The words of an iteration that starts in clock c are visible from clock c + Loop.Latency on. Each clock of a
// freeze in between adds one clock. So the result does not depend on the order of nodes. docs/clock.md has the
// rules, and explains why a design that is proved free from deadlock is free under both rules.
//
// Clock 0 is the first clock in which an input word is visible. A layer alone, whose inputs and outputs never
// stall, hence starts iteration i in clock i. Its first and last output words are visible in the clocks
// Loop.FirstWriteClock and Loop.LastWriteClock.
//
// The ends of the design lie between the host and its FIFOs. Each end delays every word by the same number of
// clocks, in and out (dataflow.Target.Ends). So the host gives the first word in clock -in, which is RunTrace.Start,
// and takes a word out clocks after these phases release it. Nothing else depends on the ends.
//
// The simulator does not walk clock by clock, though. The phases amount to a set of equations in the clocks of
// iterations and words, whose right sides contain earlier clocks only (see stream, worker and pipeline). With
// credits these are maxima plus constants: a timed event graph (F. Baccelli and others, Synchronization and
// Linearity, 1992). The engine solves the equations layer by layer, which takes time per word, not per clock. Three
// shortcuts leave out work. If a state between frames recurs, the periods that follow are skipped. If frames are
// alike except that a FIFO fills, frames are copied with a shift. Within a frame, repetitions such as the rows of
// an image are skipped.
//
// Data have no part in this: an iteration computes the same from the words that it reads, whenever it reads them.
// The engine computes data separately from the clocks.
//
// In comes a dataflow.Design; what comes out does not depend on anything else. The package imports
// internal/dataflow and internal/num. Its files:
//
//	run.go      RunFrames, which takes frames through a design; trace.go, its result; bottleneck.go, what limits the
//	            interval
//	plan.go     the facts that the folds fix, and engines for a design or a part of it
//	engine.go   simulates nodes (worker.go, line.go, pipeline.go), the host (host.go) and streams (stream.go), each as
//	            far as it can go (agenda.go); period.go finds the steady state, settle.go predicts it, drift.go copies
//	            frames while a FIFO fills, repeat.go skips repetitions within a frame
//	data.go     the data that streams carry; agree.go compares them with the layers' Evals;
//	            circuits.go computes them with the layers' circuits
//	deadlock.go explains a deadlock; tokens.go runs a frame without clocks; prove.go proves that nothing deadlocks;
//	            lengths.go handles sequences of different lengths
//	size.go     FindFIFODepths, for FIFO depths; grow.go, the least depths without deadlock; depths.go raises
//	            and lowers them; trial.go tries them; behind.go sees a trial fall behind; course.go reuses the
//	            result of a run; window.go sizes FIFOs around a layer; blocks.go finds the streams between forks
//	            and joins; circle.go finds the circle of waits that delays a trial from the workers' notes
//	            (holds.go); schedule.go finds depths that surely suffice with credits, from the clocks of one
//	            frame (tour.go)
//	record.go   records the state of every layer and stream; vcd.go, saif.go and timeline.go write it
//	counters.go predicts the counters of an accelerator
//	compare.go  compares the outputs of two engines
//	outside.go  has names of types for other modules
package rtlsim

import (
	"context"
	"fmt"

	"hlsgen/internal/dataflow"
)

// Options say how RunFrames simulates. The zero value runs the given frames with a host at full speed.
type Options struct {
	Frames int // number of frames in a run without data; 0 if frames are given
	// limit of words in all frames; above it, only the frames that show the interval run; 0: no limit
	Words  int
	Record bool // record every clock in RunTrace.Record: three numbers for each word
	// record the layers' states alone, in this many first frames (RunTrace.TraceOfFirstFrames), for WriteTimelineSVG
	Layers    int
	In, Out   HostSlowdown // pace of the host on every input and every output
	MaxCycles int          // stop with an error at this clock; 0 for no limit

	// OnTensor, if not nil, is called in runs with data with the tensor that each stream carries, frame by frame. It
	// must not keep the tensor. An error ends the run.
	OnTensor func(frame, stream int, t dataflow.Tensor) error

	Cache *RunCache // earlier runs without data, to be reused; may be nil. Callers must not change their traces
}

// RunFrames simulates the design over frames, each with one tensor per Graph.In. Without frames it runs opt.Frames
// frames without data, which take the same clocks. The error is a *Deadlock, a malformed design or frame, invalid
// options, the end of opt.MaxCycles, the context's error, or that of opt.OnTensor.
func RunFrames(ctx context.Context, d *dataflow.Design, frames [][]dataflow.Tensor, opt Options) (*RunTrace, error) {
	if err := d.Verify(); err != nil {
		return nil, fmt.Errorf("design: %w", err)
	}
	if err := opt.verify(len(frames)); err != nil {
		return nil, err
	}
	p := newPlan(d)
	if opt.Cache != nil && len(frames) == 0 && !opt.Record {
		return p.known(ctx, opt)
	}
	return p.run(ctx, frames, opt)
}

// known returns what run does without data. It takes the trace from opt.Cache if that has the same run already.
func (p *plan) known(ctx context.Context, opt Options) (*RunTrace, error) {
	b := fmt.Append(nil, opt.Frames, " ", opt.Words, " ", opt.In, " ", opt.Out, " ", opt.MaxCycles)
	for _, n := range p.design.Model.Graph.Nodes {
		b = fmt.Appendf(b, " %q", n.Name)
	}
	key := string(p.key(b, nil, p.design.FIFODepthsWords()))
	m := &made{done: make(chan struct{})}
	if was, ok := opt.Cache.runs.LoadOrStore(key, m); ok {
		was := was.(*made)
		select {
		case <-was.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if t := was.trace; t != nil && (opt.Layers == 0 || t.TraceOfFirstFrames(min(opt.Layers, opt.Frames)) != nil) {
			return t, nil
		}
		opt.Cache.runs.Store(key, m)
	}
	defer close(m.done)
	t, err := p.run(ctx, nil, opt)
	m.trace = t
	return t, err
}

// A made is an entry of a RunCache: a run that other goroutines may wait for. Its channel closes once the run is over.
type made struct {
	done  chan struct{}
	trace *RunTrace // nil if the run failed
}

func (p *plan) run(ctx context.Context, frames [][]dataflow.Tensor, opt Options) (*RunTrace, error) {
	each, err := p.checked(frames)
	if err != nil {
		return nil, err
	}
	opt.Frames = max(opt.Frames, len(frames))
	e := p.whole(p.design.FIFODepthsWords(), each, opt)
	if opt.Record || opt.Layers > 0 {
		e.keep(opt)
	}
	if k := opt.Cache; k != nil {
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
	if e.search.bare > 0 && opt.Cache != nil {
		opt.Cache.courses.Store(courseKey(p, opt.In, opt.Out, p.design.FIFODepthsWords()), e.course.recurs(e))
	}
	t.Bottleneck = e.bottleneck(opt)
	if len(frames) > 0 {
		t.Outputs, err = p.carry(ctx, frames, each, opt.OnTensor)
	}
	return t, err
}

// shorten cuts a run to the frames needed to see the interval and to draw the record. After the first frame, these
// are the frames under way at a time and a few more. One frame more is enough if the last ones come at even
// distances.
func shorten(e *engine, opt Options) {
	const more = 4
	underWay := 1 + e.clock()/max(1, fastest(e.plan, opt.In, opt.Out))
	endAfter(e, min(e.frames, max(underWay+more, opt.Layers)))
	e.shows = max(3, underWay+1, opt.Layers)
}

// endAfter makes the run e end after that many frames.
func endAfter(e *engine, frames int) {
	e.frames = frames
	e.trace.Frames = e.trace.Frames[:frames]
}

// shown reports whether a shortened run may end. Then the last two frames, and all frames that RunTrace.IntervalClocks
// averages, come at even distances. It may not while frames are being copied, which costs nothing.
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

// checked returns the plan of each frame. It returns an error if a frame is malformed.
func (p *plan) checked(frames [][]dataflow.Tensor) (each []*plan, err error) {
	if each, err = p.byFrame(frames); err != nil {
		return nil, err
	}
	for f, in := range frames {
		if err := each[f].design.Model.Graph.CheckInputs(in); err != nil {
			return nil, fmt.Errorf("frame %d: %w", f, err)
		}
	}
	return each, nil
}

func (o Options) verify(given int) error {
	switch {
	case o.Frames < 0 || o.Frames > 0 && given > 0 || o.Frames == 0 && given == 0:
		return fmt.Errorf("got data of %d frames and a request for %d frames without data; want one of them", given,
			o.Frames)
	case o.Layers < 0:
		return fmt.Errorf("what layers did in %d frames", o.Layers)
	case o.MaxCycles < 0:
		return fmt.Errorf("at most %d clocks", o.MaxCycles)
	}
	for _, p := range []HostSlowdown{o.In, o.Out} {
		if err := p.verify(); err != nil {
			return err
		}
	}
	return nil
}

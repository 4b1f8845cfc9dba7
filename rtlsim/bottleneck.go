package rtlsim

import "fmt"

// An IntervalCause says what limits the interval of a run: a layer, an end of the host, or a FIFO that is too short.
type IntervalCause struct {
	Node   string // the layer; empty for the host
	Reason string // one sentence
}

// bottleneck finds what limits the interval of a run. It takes the interval of the steady state or, if the run found
// none, the run's mean. It returns the zero IntervalCause for a single frame.
//
// With unbounded FIFOs the interval is that of the slowest layer or end of the host, for all other layers run ahead
// of it or are fed by it. So if no layer and no end is as slow as the interval, layers wait for each other at FIFOs
// that are too short.
func (e *engine) bottleneck(opt Options) IntervalCause {
	if e.mixed() {
		return IntervalCause{}
	}
	frames, clocks := e.trace.Period.Frames, e.trace.Period.Clocks
	if frames == 0 {
		if e.frames == 1 {
			return IntervalCause{}
		}
		last := e.frames - 1
		frames = last - last/2
		clocks = e.trace.Frames[last].Last - e.trace.Frames[last/2].Last
	}
	for i, l := range e.workers {
		if e.loops[i].IterationsPerFrame()*frames == clocks {
			return IntervalCause{l.name, l.name + " works in every clock"}
		}
	}
	for _, s := range e.sources {
		if n := s.gate.every; n > 1 && n*s.stream.port.Words*frames == clocks {
			return IntervalCause{Reason: fmt.Sprintf("the host gives one word every %d clocks on s%d", n, s.stream.id)}
		}
	}
	for _, k := range e.sinks {
		if n := k.gate.every; n > 1 && n*k.stream.port.Words*frames == clocks {
			return IntervalCause{Reason: fmt.Sprintf("the host takes one word every %d clocks from s%d", n,
				k.stream.id)}
		}
	}
	if opt.In.Stall > 0 || opt.Out.Stall > 0 {
		return IntervalCause{Reason: "the host stalls"}
	}
	return e.shortest()
}

// shortest returns the FIFO that limits the interval as its cause. Its writer waits longest for room, while its reader
// waits for words rather than for room.
func (e *engine) shortest() IntervalCause {
	var most *stream
	starving := false
	for _, s := range e.streams {
		if e.writer[s.id] < 0 || s.full == 0 {
			continue
		}
		hungry := true
		if r := e.reader[s.id]; r >= 0 {
			hungry = e.trace.Nodes[r].Starved >= e.trace.Nodes[r].Blocked
		}
		if most == nil || hungry && !starving || hungry == starving && s.full > most.full {
			most, starving = s, hungry
		}
	}
	if most == nil {
		return IntervalCause{} // too few frames to tell
	}
	name := e.name(e.writer[most.id])
	return IntervalCause{name, fmt.Sprintf("%s waits for room on s%d, which holds %d words", name, most.id, most.depth)}
}

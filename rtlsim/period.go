package rtlsim

import "slices"

// A SteadyState says that, again and again for ever, a number of frames (Frames) take a number of clocks (Clocks). The
// zero value means that no steady state is known.
type SteadyState struct{ Frames, Clocks int }

// Between frames all streams are empty and all loops are at their start. The clocks that follow are sums, maxima
// and comparisons of earlier clocks (see stream, worker and pipeline). The state is all that still matters to later
// clocks. If it equals the state some frames before, except that the same number was added to every clock, then it
// recurs for ever. Nothing depends on the absolute clock, except the host's dice.

// A search looks for a state that occurred before. It compares with the last state and with a mark that is replaced
// after 1, 2, 4, 8 ... frames (Brent 1980). This finds any period after at most three times the frames until the
// state first recurs.
type search struct {
	over       bool
	bare       int         // frames after which the state recurred apart from turns; 0 if it has not yet
	period     SteadyState // the period of that
	alike      SteadyState // the same for the last frame alone; zero if its state did not recur
	last, mark snapshot
	spare      []int
}

// A snapshot is the state after a frame, and the counts so far.
type snapshot struct {
	frame int // number of finished frames; 0 for no snapshot
	base  int // state holds clocks relative to this clock
	state []int
	turns int // number of last entries of state that tell how long the next frames wait for their turns
	count counts
}

// longest is the most entries of a state that is compared with earlier ones. A larger state has FIFOs that fill without
// end.
const longest = 1 << 22

// recur records the state after a frame, and returns true if it occurred before. The engine calls it until it does.
func (e *engine) recur() (found bool) {
	f := &e.search
	if f.over = len(e.workers) == 0; f.over {
		return false
	}
	f.alike = SteadyState{}
	now := e.snapshot(f.spare)
	for _, past := range []*snapshot{&f.last, &f.mark} {
		if past.frame == 0 || !slices.Equal(past.clocks(), now.clocks()) {
			continue
		}
		period := SteadyState{now.frame - past.frame, now.base - past.base}
		if f.alike == (SteadyState{}) {
			f.alike = period
		}
		if f.bare == 0 {
			f.bare, f.period = now.frame, period
		}
		if slices.Equal(past.state, now.state) {
			f.over, e.drift.over, e.drift.left = true, true, 0
			e.trace.Period = period
			once := now.count.minus(past.count)
			e.trace.Steady = once.nodes
			e.skip(once)
			return true
		}
	}
	f.spare, f.last = f.last.state, now
	if now.frame&(now.frame-1) == 0 {
		f.mark = now
		f.mark.state = slices.Clone(now.state)
	}
	f.over = len(now.state) > longest
	return false
}

// clocks returns the state without its last entries, which say how long frames wait for their turns.
func (s *snapshot) clocks() []int { return s.state[:len(s.state)-s.turns] }

func (e *engine) snapshot(state []int) snapshot {
	base := e.workers[0].at
	state = state[:0]
	for i, l := range e.workers {
		if i > 0 {
			state = append(state, l.at-base)
		}
		if l.pipe != nil {
			state = l.pipe.state(state, base)
		}
	}
	for _, s := range e.sources {
		state = append(state, s.gate.free-base)
	}
	for _, k := range e.sinks {
		state = append(state, k.gate.free-base)
	}
	for _, s := range e.streams {
		s.forget()
		state = s.state(append(state, s.read-s.kept), base)
	}
	turns := 0
	for _, l := range e.workers {
		if l.pace > 0 {
			state = append(state, l.wait())
			turns++
		}
	}
	for _, s := range e.sources {
		if s.pace > 0 {
			state = append(state, max(0, s.frame*s.pace-s.gate.free))
			turns++
		}
	}
	return snapshot{frame: e.goal, base: base, state: state, turns: turns, count: e.counts()}
}

// state appends to list the clocks of the stream's reads that still matter, as differences from clock to clock,
// starting with last. Each difference comes with the number of its repetitions, for FIFOs that hold frames have too
// many reads to list each.
func (s *stream) state(list []int, last int) []int {
	clocks, times := 0, 0
	for k := s.kept; k < s.read; k++ {
		at := s.reads.of(k)
		if at-last != clocks {
			list = append(list, clocks, times)
			clocks, times = at-last, 0
		}
		last, times = at, times+1
	}
	return append(list, clocks, times)
}

// skip leaves out as many whole periods of the steady state as remain; once are the counts of one. It leaves out none
// if a log of words is wanted.
func (e *engine) skip(once counts) {
	p := e.trace.Period
	times := (e.frames - e.goal) / p.Frames
	if times == 0 || e.every {
		return
	}
	for f := e.goal; f < e.goal+times*p.Frames; f++ {
		was := e.trace.Frames[f-p.Frames]
		e.trace.Frames[f] = FrameOutputClocks{was.First + p.Clocks, was.Last + p.Clocks}
	}
	e.add(once, times)
	e.trace.Record.repeats(e, p, times)
	frames, clocks := times*p.Frames, times*p.Clocks
	e.goal += frames
	for _, l := range e.workers {
		l.at += clocks
		l.frame += frames
		if l.pipe != nil {
			l.pipe.skip(clocks)
		}
	}
	for _, s := range e.sources {
		s.gate.free += clocks
		s.frame += frames
	}
	for _, k := range e.sinks {
		k.gate.free += clocks
		k.at += clocks
		k.frame += frames
	}
	for _, s := range e.streams {
		s.skip(clocks)
	}
}

// A counts holds the clocks that layers and streams have counted so far.
type counts struct {
	nodes       []NodeStateClocks
	empty, full []int
	host        []int
}

func (e *engine) counts() counts {
	c := counts{nodes: slices.Clone(e.trace.Nodes)}
	for _, s := range e.streams {
		c.empty = append(c.empty, s.empty)
		c.full = append(c.full, s.full)
		c.host = append(c.host, s.host.Clocks)
	}
	return c
}

// minus subtracts the counts o from c, and returns c.
func (c counts) minus(o counts) counts {
	for i := range c.nodes {
		c.nodes[i].add(o.nodes[i], -1)
	}
	for i := range c.empty {
		c.empty[i] -= o.empty[i]
		c.full[i] -= o.full[i]
		c.host[i] -= o.host[i]
	}
	return c
}

// add adds the counts o the given number of times.
func (n *NodeStateClocks) add(o NodeStateClocks, times int) {
	n.Busy += times * o.Busy
	n.Starved += times * o.Starved
	n.Blocked += times * o.Blocked
}

// add adds the counts of a period the given number of times.
func (e *engine) add(c counts, times int) {
	for i, n := range c.nodes {
		e.trace.Nodes[i].add(n, times)
	}
	for i, s := range e.streams {
		s.empty += times * c.empty[i]
		s.full += times * c.full[i]
		s.host.Clocks += times * c.host[i]
	}
}

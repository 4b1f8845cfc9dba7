package rtlsim

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"hlsgen/internal/dataflow"
)

// Known remembers which windows keep which intervals at which depths, and runs without data. It may be shared by any
// designs, also between goroutines. The zero value knows nothing.
type Known struct {
	windows, looks, runs, courses sync.Map
	moved                         atomic.Int64
}

// Moved returns the words that runs without data moved. Frames that repeat others move none.
func (k *Known) Moved() int { return int(k.moved.Load()) }

// trials run a design, or a window of it, at depths that are tried.
type trials struct {
	*plan
	ctx      context.Context
	err      error // the context's, from which on nothing is accepted
	known    *Known
	in, out  Pace
	interval int // clocks per frame that are to be kept
	hosts    hosts
	left     int // words that may be moved yet
	count    int
}

// hosts are those that the whole is tried with.
type hosts int

const (
	anyHost hosts = iota
	pacedHost
	fullHost // at full speed; a paced one is known to be kept up with
)

// A trial that keeps the interval shows it within a few frames. One that falls behind by very little may take long to
// do so: it is given up after so many frames, or so many words.
const (
	trialFrames = 64
	trialWords  = 2e7
)

// frames is how many frames a trial may take.
func (z *trials) frames(members []bool) int {
	words := 1
	for _, s := range z.streamsOf(members) {
		words += z.ports[s].Words
	}
	return min(trialFrames, max(8, trialWords/words))
}

// paced is the whole design with a host that gives a frame per interval.
func (z *trials) paced(depth []int, frames int) *engine {
	e := z.pressed(depth, frames)
	for _, s := range e.sources {
		s.pace = z.interval
	}
	e.drift.over = e.drift.over || z.hosts == pacedHost
	return e
}

// pressed is the whole design with a host that gives all it can.
func (z *trials) pressed(depth []int, frames int) *engine {
	e := z.whole(depth, nil, Options{Frames: frames, In: z.in, Out: z.out})
	e.every = true
	return e
}

// keepsPressed is keepsInterval of the whole design with a host at full speed. FIFOs in front of the slowest layer may
// take long to fill: where no state recurs, the second half of the run counts.
func (z *trials) keepsPressed(e *engine) bool { return z.keepsInterval(e) || z.keepsHalf(e) }

// keepsPaced is keepsInterval of the whole design with a host that gives a frame per interval. Where frames are so
// large that few are run, the second half of the run counts as well.
func (z *trials) keepsPaced(e *engine) bool {
	return z.keepsInterval(e) || e.frames < trialFrames && z.keepsHalf(e)
}

// keepsHalf reports whether a run in which no state recurs did not fall behind in its second half.
func (z *trials) keepsHalf(e *engine) bool {
	last := e.frames - 1
	half := last / 2
	e.cut = e.cut && e.goal < e.frames
	return e.goal == e.frames && z.err == nil && e.done() && e.trace.Period.Frames == 0 &&
		e.trace.Frames[last].Last-e.trace.Frames[half].Last <= (last-half)*z.interval
}

// keepsInterval runs until a state recurs, and reports whether frames then follow each other at the interval, or, where
// the host does not wait for it, faster. A run that falls behind by the same clocks frame after frame is given up, once
// the host waits for no turn of a frame. Before, it may catch up: a host that is late gives words as one at full speed
// does. Where a limit ends the run, the engine is cut.
func (z *trials) keepsInterval(e *engine) bool {
	l, turns, h := newLateness(z.interval, e.frames), 0, hurries(0)
	e.drift.asked, e.cut = true, false
	for e.goal < e.frames && z.err == nil && z.left > 0 {
		through, err := e.pass(z.ctx)
		if err != nil {
			z.err = err
		}
		if !through {
			return false
		}
		z.moved(e)
		e.course.went(e)
		if e.recur() {
			return e.trace.Period.Clocks <= z.interval*e.trace.Period.Frames
		}
		if h.behind(e, z.interval, l.settled) {
			return false
		}
		if e.drift.settled(e) {
			return e.drift.clocks[0] <= z.interval
		}
		before := turns
		if turns = waited(e.sources); l.grows(e.clock(), turns > before) {
			return false
		}
		if e.search.over {
			break
		}
	}
	e.cut = true
	return false
}

// waited returns how many frames of a paced host waited for their turn. Windows have none: a layer that waits for its
// turn at the edge of one does not say that the others may catch up.
func waited(host []*source) (frames int) {
	for _, s := range host {
		frames += s.turns
	}
	return frames
}

// moved charges for a frame.
func (z *trials) moved(e *engine) {
	for _, s := range e.streams {
		z.left -= s.port.Words
	}
}

// A lateness is by how much a run is behind, frame after frame.
type lateness struct {
	interval int
	settled  int // frames in turn, and two cycles, after which it is believed to fall behind for ever
	frames   int
	late     []int           // clocks, after each frame since one waited for its turn
	steady   [cycleMost]beat // by frames of a cycle, less one
}

// newLateness looks at a run of so many frames at most. Pipelines that freeze were seen to fall behind for eight frames
// by the same clocks, and then no more.
func newLateness(interval, frames int) lateness {
	return lateness{interval: interval, settled: min(16, max(4, frames/4))}
}

// cycleMost is the longest cycle that is looked for, in frames: where what holds up a run goes round over several
// frames, it falls behind once per round.
const cycleMost = 8

// A beat is by how many clocks a run fell behind over the last cycle, and for how many frames in turn it has been that.
type beat struct{ clocks, frames int }

// grows notes the clock after a frame, and whether one waited for its turn meanwhile. It reports whether the run falls
// behind by the same clocks cycle after cycle since one did.
func (l *lateness) grows(clock int, waited bool) bool {
	if l.frames++; waited {
		l.late, l.steady = l.late[:0], [cycleMost]beat{}
	}
	n := len(l.late)
	l.late = append(l.late, clock-l.frames*l.interval)
	for i := range min(cycleMost, n) {
		b, more := &l.steady[i], l.late[n]-l.late[n-1-i]
		if more != b.clocks {
			*b = beat{clocks: more}
		}
		if b.frames++; more > 0 && b.frames >= max(l.settled, 2*(i+1)) {
			return true
		}
	}
	return false
}

// free reports whether a frame gets through a window, or the whole where members is nil, in any order.
func (z *trials) free(members []bool, depth []int) bool {
	if z.err != nil {
		return false
	}
	through, err := newTokens(z.plan, members).run(z.ctx, depth)
	z.err = cmp.Or(z.err, err)
	return through
}

// tried is what came of a window. Streams are numbered within it.
type tried struct {
	keeps bool
	cut   bool   // a limit ended the run before it showed whether it does: not known
	full  []bool // the writer missed room: that other FIFOs are deeper changes nothing where it does not pass
	high  []int  // most words that were in the FIFO
	words int    // that were moved to find out
}

// try runs a window, or the whole design where members is nil.
func (z *trials) try(members []bool, depth []int) tried {
	if z.err != nil || z.left <= 0 {
		return tried{cut: true}
	}
	z.count++
	key, before := z.key(members, depth), z.left
	if v, ok := z.known.windows.Load(key); ok {
		t := v.(tried)
		z.left -= t.words // as if it had been tried here: results do not depend on what is known
		if z.left <= 0 {
			t.keeps, t.cut = false, true
		}
		return t
	}
	var t tried
	if frames := z.frames(members); members == nil {
		t = z.tryWhole(depth, frames)
	} else {
		e := z.part(members, depth, z.interval, frames)
		t = ran(e, z.keepsInterval(e))
	}
	if t.words = before - z.left; z.err == nil && z.left > 0 {
		z.known.windows.Store(key, t)
	}
	return t
}

// tryWhole tries the design with a paced host, and where pipelines freeze with one at full speed, too: that alone
// decides, as it does where an interval is printed.
func (z *trials) tryWhole(depth []int, frames int) (t tried) {
	key := courseKey(z.plan, z.in, z.out, depth)
	var pressed *course
	if c, ok := z.known.courses.Load(key); ok {
		pressed = c.(*course)
	}
	paced := z.hosts == fullHost
	if paced {
		t.keeps = true
	} else if pressed != nil && !pressed.waits(z.interval) {
		t = tried{full: pressed.full, high: pressed.high}
		t.keeps, paced = z.follow(pressed, frames)
	}
	if !paced {
		e := z.paced(depth, frames)
		t = ran(e, z.keepsPaced(e))
		if pressed == nil && e.search.bare > 0 && waited(e.sources) == 0 {
			pressed = e.course.recurs(e)
		}
	}
	if z.hosts == pacedHost || z.design.Target.Stalls != dataflow.Frozen {
		return t
	}
	if pressed != nil {
		if keeps, ok := z.follow(pressed, frames); ok && keeps == t.keeps {
			return t
		} else if ok {
			return tried{keeps: keeps, full: pressed.full, high: pressed.high}
		}
	}
	e := z.pressed(depth, frames)
	if keeps := z.keepsPressed(e); keeps != t.keeps {
		return ran(e, keeps)
	}
	return t
}

// ran is what came of a run.
func ran(e *engine, keeps bool) tried {
	t := tried{keeps: keeps, cut: e.cut && !keeps}
	for _, s := range e.streams {
		t.full, t.high = append(t.full, s.full > 0), append(t.high, s.high)
	}
	return t
}

// key is all that decides whether a window passes, as text: what plan.key has, the interval, the host.
func (z *trials) key(members []bool, depth []int) string {
	b := fmt.Append(nil, z.interval)
	if members == nil {
		b = fmt.Append(b, " whole ", z.in.Every, " ", z.out.Every, " ", z.hosts)
	}
	return string(z.plan.key(b, members, depth))
}

// enough is words that do for a stream whatever else is too little: those of every frame that can be under way at a
// time. A frame is no longer under way than its iterations and latencies take one after the other.
func (z *trials) enough(s int) int {
	clocks, latency := 0, 0
	for _, l := range z.loops {
		clocks, latency = clocks+l.Iterations()+l.Latency, latency+l.Latency
	}
	return (2+clocks/max(1, z.interval))*z.ports[s].Words + latency
}

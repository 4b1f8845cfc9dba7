package rtlsim

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// A RunCache remembers the results of runs without data, and which layers keep which intervals at which depths. Any
// designs may share it, also between goroutines. The zero value is empty.
type RunCache struct {
	windows, looks, runs, courses sync.Map
	moved                         atomic.Int64
}

// WordsMoved returns the number of words that runs without data moved. Repeated frames move none.
func (k *RunCache) WordsMoved() int { return int(k.moved.Load()) }

// A trials runs a design, or a window, which is a set of its layers, to see whether its depths keep the interval.
type trials struct {
	*plan
	ctx      context.Context
	err      error // the context's error; after it no trial succeeds
	known    *RunCache
	in, out  HostSlowdown
	interval int // clocks per frame to keep
	hosts    hosts
	left     int // words that may still be moved
	count    int
}

// A hosts says with which hosts the whole design is tried.
type hosts int

const (
	anyHost hosts = iota
	pacedHost
	fullHost // host at full speed; the design is known to keep up with a paced host
)

// The frames and words after which a trial is given up. One that keeps the interval shows it within a few frames; one
// that falls behind very slowly may take long.
const (
	trialFrames = 64
	trialWords  = 2e7
)

// frames returns the most frames that a trial of the layers in members, or of all if that is nil, may take.
func (z *trials) frames(members []bool) int {
	words := 1
	for _, s := range z.streamsOf(members) {
		words += z.ports[s].Words
	}
	return min(trialFrames, max(8, trialWords/words))
}

// paced returns an engine for the whole design with a host that gives one frame per interval.
func (z *trials) paced(depth []int, frames int) *engine {
	e := z.pressed(depth, frames)
	for _, s := range e.sources {
		s.pace = z.interval
	}
	e.drift.over = e.drift.over || z.hosts == pacedHost
	return e
}

// pressed returns an engine for the whole design with a host at full speed.
func (z *trials) pressed(depth []int, frames int) *engine {
	e := z.whole(depth, nil, Options{Frames: frames, In: z.in, Out: z.out})
	e.every = true
	return e
}

// keepsPressed does what keepsInterval does for the whole design with a host at full speed. FIFOs in front of the
// slowest layer may take long to fill. So if no state recurs, the second half of the run counts.
func (z *trials) keepsPressed(e *engine) bool { return z.keepsInterval(e) || z.keepsHalf(e) }

// keepsPaced does what keepsInterval does for the whole design with a host that gives one frame per interval. If frames
// are so large that only few are run, the second half of the run counts as well.
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

// keepsInterval runs until a state recurs. It reports whether frames then follow each other at the interval or,
// with a host at full speed, faster. It gives up a run that falls behind by the same clocks frame after frame, once
// no frame waits for its turn. Before that the run may catch up, for a late paced host gives words at full speed.
// If a limit ends the run, the engine's field cut is set.
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

// waited returns how many frames of a paced host waited for their turn. It is 0 if only some layers are run: if one at
// their edge waits for its turn, the others need not catch up.
func waited(host []*source) (frames int) {
	for _, s := range host {
		frames += s.turns
	}
	return frames
}

// moved subtracts the words of a frame of the engine e from the words that trials may still move.
func (z *trials) moved(e *engine) {
	for _, s := range e.streams {
		z.left -= s.port.Words
	}
}

// A lateness records by how many clocks a run is behind, frame after frame.
type lateness struct {
	interval int
	settled  int // frames (or two cycles) of equal growth, after which the run counts as falling behind for ever
	frames   int
	late     []int           // clocks of lateness, after each frame since a frame last waited for its turn
	steady   [cycleMost]beat // per cycle length in frames, less one
}

// newLateness returns the lateness of a run of at most the given number of frames. Pipelines that freeze have been
// observed to fall behind by the same clocks for eight frames, and then to recover.
func newLateness(interval, frames int) lateness {
	return lateness{interval: interval, settled: min(16, max(4, frames/4))}
}

// cycleMost is the longest cycle that lateness looks for, in frames. If the circle that delays a run spans several
// frames, the run falls behind once per round.
const cycleMost = 8

// A beat holds by how many clocks a run fell behind in the last cycle of frames, and for how many successive frames so.
type beat struct{ clocks, frames int }

// grows records the clock after a frame, and whether a frame waited for its turn meanwhile. It returns true if the run
// has fallen behind by the same clocks in cycle after cycle since the last such wait.
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

// free reports whether a frame gets through the layers in members, or through the whole design if that is nil, at any
// clocks.
func (z *trials) free(members []bool, depth []int) bool {
	if z.err != nil {
		return false
	}
	through, err := newTokens(z.plan, members).run(z.ctx, depth)
	z.err = cmp.Or(z.err, err)
	return through
}

// A tried is the result of a trial of some layers or of the whole design. Streams have their numbers among those of
// these layers.
type tried struct {
	keeps bool
	cut   bool   // a limit ended the run, so it is not known whether the window keeps the interval
	full  []bool // per stream: the writer lacked room; if none of these becomes deeper, a failed trial fails again
	high  []int  // the most words that were in the FIFO
	words int    // words that the trial moved
}

// try runs the layers in members, or the whole design if that is nil, with FIFOs of the given depths. It returns
// whether they keep the interval, and what they waited for.
func (z *trials) try(members []bool, depth []int) tried {
	if z.err != nil || z.left <= 0 {
		return tried{cut: true}
	}
	z.count++
	key, before := z.key(members, depth), z.left
	if v, ok := z.known.windows.Load(key); ok {
		t := v.(tried)
		z.left -= t.words // charge as if tried here, so that results do not depend on earlier ones
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

// tryWhole tries the whole design with a paced host. Where pipelines freeze, it also tries a host at full speed. That
// host decides, as it does for the interval that reports show.
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
	if z.hosts == pacedHost || !z.frozen {
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

// ran returns the result of the run of the engine e as a trial. keeps says whether it keeps the interval.
func ran(e *engine, keeps bool) tried {
	t := tried{keeps: keeps, cut: e.cut && !keeps}
	for _, s := range e.streams {
		t.full, t.high = append(t.full, s.full > 0), append(t.high, s.high)
	}
	return t
}

// key returns a text with everything that determines the result of a trial: what plan.key has, the interval, the host.
func (z *trials) key(members []bool, depth []int) string {
	b := fmt.Append(nil, z.interval)
	if members == nil {
		b = fmt.Append(b, " whole ", z.in.Every, " ", z.out.Every, " ", z.hosts)
	}
	return string(z.plan.key(b, members, depth))
}

// enough returns a depth that suffices for a stream whatever other FIFOs do. It is the number of words of all frames
// that can be under way at a time. A frame is under way at most as long as its iterations and latencies take one after
// the other.
func (z *trials) enough(s int) int {
	clocks, latency := 0, 0
	for _, l := range z.loops {
		clocks, latency = clocks+l.IterationsPerFrame()+l.Latency, latency+l.Latency
	}
	return (2+clocks/max(1, z.interval))*z.ports[s].Words + latency
}

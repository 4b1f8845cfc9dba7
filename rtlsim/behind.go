package rtlsim

import (
	"slices"

	"hlsgen/internal/dataflow"
)

// A window that does not keep the interval comes back to a state late: layers at its edge wait for the turn of each
// frame, less and less long, until the others are behind by a whole frame and more; and FIFOs behind layers that keep
// up take long to fill. But soon its last layers do the same frame after frame, later by the same clocks, which are
// more than the interval. What the others do comes earlier and earlier, as seen from these.
//
// With credits it matters no more: clocks are maxima of sums, and what was later by as much as the last layers are,
// from one frame to the next, had nothing to do with what came later by less.
//
// A pipeline that freezes may make words late that come early. So turns come earlier by more and more frames for as
// long as the window does the same, until none waits for its turn and a state comes back. And where FIFOs fill, they
// have to have room for as many frames as are else looked at, and no reader may have waited for a word that came when
// it did for a turn: one before the first that was late for want of room.

// hurries is by how many frames turns come earlier than the interval has it.
type hurries int

// behind reports whether a window falls behind an interval: for ever, or where pipelines freeze for some frames.
func (h *hurries) behind(e *engine, interval, frames int) bool {
	if len(e.sources) > 0 {
		return false
	}
	frozen, d := e.design.Target.Stalls == dataflow.Frozen, &e.drift
	if p := e.search.alike; p.Clocks > interval*p.Frames {
		if frozen && p.Frames == 1 {
			h.hurry(e, p.Clocks-interval)
		}
		return !frozen
	}
	if *h = 0; d.was.workers == nil || d.left > 0 {
		return false
	}
	d.later()
	return slices.Max(d.clocks) > interval && d.repeats(e) && (!frozen || d.early(e) && d.roomy(e, frames))
}

// hurry has turns come earlier, by as many clocks as they would some frames from now: three times as many each time.
func (h *hurries) hurry(e *engine, clocks int) {
	more := 1 + 2*int(*h)
	for _, k := range e.workers {
		if k.pace > 0 {
			k.early += more * clocks
		}
	}
	*h += hurries(more)
}

// repeats reports whether the last layers did in a frame what they did in the one before, and waited for no others.
func (d *drift) repeats(e *engine) bool {
	clocks := slices.Max(d.clocks)
	for i := range e.workers {
		if d.clocks[i] == clocks && !slices.Equal(d.was.workers[i].state, d.now.workers[i].state) {
			return false
		}
	}
	for i, s := range e.streams {
		was, now := &d.was.streams[i], &d.now.streams[i]
		writes, reads := d.clocks[s.writer] == clocks, d.clocks[s.reader] == clocks
		if writes && now.taken-was.taken != clocks || reads && now.read-was.read != clocks ||
			writes && reads && !slices.Equal(was.reads, now.reads) ||
			writes && !reads && (d.now.counts.full[i] > d.was.counts.full[i] || now.tight > was.tight) ||
			reads && !writes && d.now.counts.empty[i] > d.was.counts.empty[i] {
			return false
		}
	}
	return true
}

// early reports whether no reader waited for a word of one of the last layers that came when it did for a turn.
func (d *drift) early(e *engine) bool {
	last := slices.Max(d.clocks)
	for i, s := range e.streams {
		now := &d.now.streams[i]
		waited := d.clocks[s.writer] == last && d.now.counts.empty[i] > d.was.counts.empty[i]
		if waited && e.workers[s.writer].pace > 0 && (now.hungry < 0 || now.late < 0 || now.hungry < now.late) {
			return false
		}
	}
	return true
}

// roomy reports whether streams from layers that keep up to those that do not have room for so many frames more.
func (d *drift) roomy(e *engine, frames int) bool {
	last := slices.Max(d.clocks)
	for _, s := range e.streams {
		clocks := d.clocks[s.writer]
		if clocks == last || d.clocks[s.reader] < last {
			continue
		}
		ahead := e.workers[s.reader].at - e.workers[s.writer].at + frames*(last-clocks)
		if words := s.port.Words; (ahead/clocks+2)*words > s.depth {
			return false
		}
	}
	return true
}

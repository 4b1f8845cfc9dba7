package rtlsim

import (
	"slices"
)

// A window that does not keep the interval takes long to return to an earlier state. Layers at its edge wait for
// the turn of each frame, a little less each time, until the other layers are a whole frame behind and more. FIFOs
// behind layers that keep up take long to fill. But soon the last layers do the same frame after frame. Each frame
// is later by the same number of clocks, which exceeds the interval. Seen from these layers, all other layers get
// earlier and earlier.
//
// With credits the other layers do not matter any more. Clocks are maxima of sums, so a term that grows as fast as
// the last layers' clocks cannot be overtaken by a term that grows more slowly.
//
// Where pipelines freeze, a word that comes early may make other words late. So the simulator moves the turns
// earlier by more and more frames as long as the window does the same, until no layer waits for its turn and a
// state recurs. And where FIFOs fill, they must have room for as many frames as are normally examined. Besides, no
// reader may have waited for a word that came in its clock because of a turn. Such a word comes before the first
// word that lack of room delayed.

// A hurries counts by how many frames the turns of a window have been moved earlier than the interval demands. A window
// is a set of layers that is run alone.
type hurries int

// behind reports whether a window, a set of layers that is run alone, falls behind the interval. With credits it then
// does so for ever; where pipelines freeze, for at least the given frames.
func (h *hurries) behind(e *engine, interval, frames int) bool {
	if len(e.sources) > 0 {
		return false
	}
	frozen, d := e.frozen, &e.drift
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

// hurry lets the layers that are paced by turns begin their frames earlier, by the given clocks per frame. It triples
// the number of frames with each call.
func (h *hurries) hurry(e *engine, clocks int) {
	more := 1 + 2*int(*h)
	for _, k := range e.workers {
		if k.pace > 0 {
			k.early += more * clocks
		}
	}
	*h += hurries(more)
}

// repeats reports whether the layers that fall behind most did the same in the last two frames, and waited for no other
// layers.
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

// early reports whether no reader waited for a word that came late only because its writer waited for the turn of a
// frame. The writers are the layers that fall behind most.
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

// roomy reports whether streams from layers that keep the interval to layers that do not have room for the given number
// of further frames.
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

package rtlsim

import (
	"slices"

	"hlsgen/internal/dataflow"
)

// What holds up a run that falls behind is a circle: an iteration waited for a word or for room that another one made,
// which had waited in its turn, and so back to the iteration that it is in an earlier frame. If this way takes longer
// than the interval for each frame that it goes back, the run falls behind by that, round after round. Nothing outside
// of it can help, and where credits are counted (a timed event graph: the clocks are the longest ways) a single FIFO
// that helps is one of those at which the circle waits for room.

// A circle is the layers of one, and the streams at which they waited for room. There are no layers where none is
// found.
type circle struct{ nodes, rooms []int }

// A look is what came of a trial, and the circle that holds up what does not keep the interval.
type look struct {
	tried
	circle
}

// look is try of a window, or of the whole design where members is nil, and finds what holds it up. It takes longer.
func (z *trials) look(members []bool, depth []int) look {
	if z.err != nil || z.left <= 0 {
		return look{}
	}
	z.count++
	key, before := z.key(members, depth), z.left
	if v, ok := z.known.looks.Load(key); ok {
		l := v.(look)
		z.left -= l.words
		l.circle, l.keeps = l.circle.placed(z.plan, members), l.keeps && z.left > 0
		return l
	}
	frames := z.frames(members)
	var l look
	if members != nil {
		l = z.held(z.part(members, depth, z.interval, frames))
	} else if l = z.held(z.paced(depth, frames)); l.keeps && z.design.Target.Stalls == dataflow.Frozen {
		l = z.held(z.pressed(depth, frames))
	}
	if l.words = before - z.left; z.err == nil && z.left > 0 {
		z.known.looks.Store(key, look{l.tried, l.circle.numbered(z.plan, members)})
	}
	return l
}

// numbered is a circle with the numbers of layers and streams within a window, placed that in the design.
func (c circle) numbered(p *plan, members []bool) circle {
	nodes, streams := p.nodesOf(members), p.streamsOf(members)
	return c.renamed(func(i int) int { return slices.Index(nodes, i) },
		func(s int) int { return slices.Index(streams, s) })
}

func (c circle) placed(p *plan, members []bool) circle {
	nodes, streams := p.nodesOf(members), p.streamsOf(members)
	return c.renamed(func(i int) int { return nodes[i] }, func(s int) int { return streams[s] })
}

func (c circle) renamed(node, stream func(int) int) circle {
	var r circle
	for _, i := range c.nodes {
		r.nodes = append(r.nodes, node(i))
	}
	for _, s := range c.rooms {
		r.rooms = append(r.rooms, stream(s))
	}
	return r
}

// held is the look of an engine that is at rest yet. A run that is known to fall behind may be too short to show how:
// then it goes on, twice as far.
func (z *trials) held(e *engine) (l look) {
	e.noted()
	if l.tried = ran(e, z.keepsInterval(e)); l.keeps {
		return l
	}
	most := min(e.frames, 2*e.goal+2)
	for z.err == nil && e.done() && z.left > 0 {
		if l.circle = back(e, z.interval); len(l.nodes) > 0 || e.goal >= most {
			break
		}
		for range 2 {
			if e.goal < most && z.err == nil {
				_, z.err = e.pass(z.ctx)
				z.moved(e)
			}
		}
	}
	return l
}

// back is the circle on the way back from what came last.
func back(e *engine, interval int) circle {
	b := way{engine: e, workers: make([]*worker, len(e.loops)), visits: map[spot]visited{}}
	last := e.workers[0]
	for _, k := range e.workers {
		if b.workers[k.node] = k; k.at > last.at {
			last = k
		}
	}
	return b.find(last, interval)
}

// A way leads back from what came last, by what held it up.
type way struct {
	*engine
	workers []*worker // by node
	points  []waypoint
	visits  map[spot]visited // where it came to an earlier frame
}

// A waypoint is a layer that was held up, and the stream at which it waited for room, or -1.
type waypoint struct{ node, room int32 }

// A spot is an iteration of a frame, which started or wrote late.
type spot struct {
	node, number int
	written      bool
}

// A visited is a frame and a clock of a spot, and how long the way there is.
type visited struct{ frame, clock, way int }

func (b *way) find(k *worker, interval int) circle {
	at, writes, least := k.at, false, never
	for {
		h, written, ok := k.heldAt(at, writes)
		if !ok || h.cause.stream == nil {
			return circle{}
		}
		each := b.loops[k.node].Iterations()
		if written {
			each = k.pipe.started / b.goal
		}
		if frame := h.number / each; frame < least {
			least = frame
			here := spot{k.node, h.number % each, written}
			if was, ok := b.visits[here]; ok && was.clock-h.clock > interval*(was.frame-frame) {
				return round(b.points[was.way:])
			}
			b.visits[here] = visited{frame, h.clock, len(b.points)}
		}
		s, from, room := h.cause.stream, b.writer, int32(-1)
		if at = h.clock - s.delay; h.cause.room {
			at, from, room = h.clock-1, b.reader, int32(s.id)
		}
		b.points = append(b.points, waypoint{int32(k.node), room})
		if from[s.id] < 0 {
			return circle{} // the host
		}
		k = b.workers[from[s.id]]
		writes = k.pipe != nil && !h.cause.room
	}
}

// heldAt is what held up the iteration that started up to a clock, or that wrote in it, and whether that was room for
// the words of a pipeline. What is in a pipeline that was frozen since it started waited for what was written then.
func (k *worker) heldAt(clock int, writes bool) (h heldUp, written, ok bool) {
	if k.pipe == nil {
		h, ok = k.notes.last(clock)
		return h, false, ok
	}
	froze, frozen := k.pipe.notes.last(clock)
	if writes {
		if clock -= k.pipe.latency - 1; frozen && froze.clock >= clock {
			return froze, true, true
		}
	}
	if h, ok = k.notes.last(clock); frozen && (!ok || froze.clock >= h.clock) {
		return froze, true, true
	}
	return h, false, ok
}

// round is the circle of a way round.
func round(points []waypoint) (c circle) {
	for _, w := range points {
		c.nodes = append(c.nodes, int(w.node))
		if w.room >= 0 {
			c.rooms = append(c.rooms, int(w.room))
		}
		if len(c.nodes) > 1<<12 {
			c.tidy()
		}
	}
	c.tidy()
	return c
}

func (c *circle) tidy() {
	for _, list := range []*[]int{&c.nodes, &c.rooms} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}

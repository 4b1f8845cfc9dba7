package rtlsim

import (
	"slices"
)

// A run falls behind because of a circle of waits. An iteration waits for a word or for room that another iteration
// makes. That iteration has waited in turn, and so on back to an iteration of the first layer in an earlier frame.
// If this way takes longer than the interval for each frame that it goes back, the run falls behind by the
// difference in every round. Nothing outside the circle can help. Where credits are counted, clocks are the longest
// ways in a timed event graph; so a single FIFO can only help if the circle waits for room at it.

// A circle holds the layers of a circle of waits, and the streams at which they waited for room. It has no layers
// if none was found.
type circle struct{ nodes, rooms []int }

// A look is the result of a trial with, if it does not keep the interval, the circle of waits that delays it.
type look struct {
	tried
	circle
}

// look does what try does, and also finds the circle of waits that delays the layers in members, or the whole design
// for nil. It takes longer than try.
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
	} else if l = z.held(z.paced(depth, frames)); l.keeps && z.frozen {
		l = z.held(z.pressed(depth, frames))
	}
	if l.words = before - z.left; z.err == nil && z.left > 0 {
		z.known.looks.Store(key, look{l.tried, l.circle.numbered(z.plan, members)})
	}
	return l
}

// numbered returns the circle with layers and streams renumbered: as they are counted among the layers in members,
// instead of in the design. placed does the reverse.
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

// held runs a trial with an engine that has not started yet. It returns the result with the circle of waits that delays
// the run. A run that is known to fall behind may be too short to contain the circle; then it is made twice as long.
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

// back returns the circle of waits that leads to the iteration that came last in the run.
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

// A way leads back from the iteration that came last, from wait to wait.
type way struct {
	*engine
	workers []*worker // by node
	points  []waypoint
	visits  map[spot]visited // visits of a spot in an earlier frame
}

// A waypoint is a layer that had to wait. The field room is the stream at which it waited for room, or -1 if it waited
// for a word.
type waypoint struct{ node, room int32 }

// A spot identifies an iteration within its frame. The iteration started late, or wrote late if written is set.
type spot struct {
	node, number int
	written      bool
}

// A visited holds the frame and the clock in which the way came to a spot, and the length of the way there.
type visited struct{ frame, clock, way int }

func (b *way) find(k *worker, interval int) circle {
	at, writes, least := k.at, false, never
	for {
		h, written, ok := k.heldAt(at, writes)
		if !ok || h.cause.stream == nil {
			return circle{}
		}
		each := b.loops[k.node].IterationsPerFrame()
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

// heldAt returns the last wait of a worker up to the given clock. ok is false if there is none. If writes is true, an
// iteration wrote in that clock. written says that the pipeline was frozen for lack of room. Iterations that were in it
// all the time waited for the write that froze it.
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

// round returns the circle that consists of the given waypoints.
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

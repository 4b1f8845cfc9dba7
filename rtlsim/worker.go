package rtlsim

import (
	"math/bits"

	"hlsgen/internal/dataflow"
)

// A worker simulates one node. With credits, iteration i starts in clock
//
//	t(i) = max(t(i-1)+1, the arrival of every word it reads, the room for every word it writes)
//
// Where a blocked write freezes the pipeline, iteration i starts in the first clock from
//
//	max(t(i-1)+1, the arrival of every word it reads)
//
// on in which the pipeline moves. Neither rule depends on the order in which workers are visited. So a
// worker goes on as long as the clocks of its streams are known, and then the engine visits other workers.
type worker struct {
	node    int
	name    string
	in, out []*stream
	joined  dataflow.PortMoves // ports with a simulated stream; other ports never wait
	line    line               // the streams of joined, if single is true
	single  bool               // at most one stream on each side
	pipe    *pipeline          // nil with credits
	count   *NodeStateClocks
	task    task

	log   *StateSpans // nil if nothing is recorded, or after the last recorded frame
	notes *holds      // nil if waits are not recorded
	pace  int         // frame f starts no earlier than clock f*pace - early; 0 if frames need not wait
	early int

	walk   *dataflow.LoopWalker
	frame  int                // frame of the next iteration
	at     int                // clock of the last iteration
	reads  []*stream          // streams that the latest iterations read
	writes []*stream          // streams that the latest iterations write
	moved  dataflow.PortMoves // ports that these iterations move
}

// visit runs iterations of the layer as far as the streams and the goal allow.
func (k *worker) visit(e *engine) {
	if k.single {
		k.glide(e)
		return
	}
	k.advance(e)
	if k.pipe != nil {
		k.pipe.writeAll(k.out)
	}
}

func (k *worker) advance(e *engine) {
	for k.frame < e.goal {
		k.at = k.turn(k.at)
		alike := k.walk.EqualIterationsAhead()
		done := k.run(e, k.walk.NextMoves(), alike)
		if done < alike {
			k.walk.SkipEqualIterations(done)
			return
		}
		k.walk.SkipEqualIterations(alike - 1)
		if k.walk.AdvanceIteration() {
			k.frame++
			k.resize(e, e.at(k.frame-1))
		}
	}
}

// wait returns how many clocks the layer's next frame waits for its turn.
func (k *worker) wait() int { return max(0, k.frame*k.pace-k.early-k.at-1) }

// turn returns last, the clock of the last iteration. If the next frame is paced and has to wait, it returns the clock
// before the frame's turn instead.
func (k *worker) turn(last int) int {
	turn := k.frame*k.pace - k.early
	if k.pace == 0 || turn <= last+1 {
		return last // as always within a frame
	}
	if k.notes != nil {
		k.notes.add(turn, k.count.Busy, cause{})
	}
	return turn - 1
}

// resize prepares the layer for a frame whose plan differs from was, that of the frame before.
func (k *worker) resize(e *engine, was *plan) {
	if p := e.at(k.frame); p != was {
		k.walk = p.loops[k.node].NewWalker()
	}
}

// run runs up to n iterations with the moves m. It returns how many it ran, which is fewer than n if it is stuck.
func (k *worker) run(e *engine, m dataflow.PortMoves, n int) int {
	m.Read &= k.joined.Read
	m.Write &= k.joined.Write
	if m == (dataflow.PortMoves{}) {
		return k.idle(e, n)
	}
	if m != k.moved {
		k.reads, k.writes = ports(k.reads[:0], k.in, m.Read), ports(k.writes[:0], k.out, m.Write)
		k.moved = m
	}
	for i := range n {
		ready := k.at + 1
		words := ready // clock when every word has arrived
		for _, s := range k.reads {
			at, ok := s.arrival()
			if !ok {
				s.wants = true
				return i
			}
			words = max(words, at)
		}
		start, ok := k.room(words)
		if !ok {
			return i
		}
		if start >= e.end {
			e.late = true
			return i
		}
		if start > ready {
			k.waited(ready, words, start)
		}
		k.start(m, start)
	}
	return n
}

// room returns the first clock, from from on, in which nothing but a missing word can delay the next iteration. ok is
// false if that clock is not known yet.
func (k *worker) room(from int) (at int, ok bool) {
	if p := k.pipe; p != nil {
		if from >= p.free && p.calm > from {
			return from, true
		}
		return p.moves(from, k.out)
	}
	for _, s := range k.writes {
		room, ok := s.room()
		if !ok {
			s.blocks = true
			return 0, false
		}
		if room >= from {
			from = room
			s.tight++
		}
	}
	return from, true
}

// idle runs up to n iterations that move no word, and returns how many it ran.
func (k *worker) idle(e *engine, n int) (done int) {
	for done < n {
		ready := k.at + 1
		start, calm := ready, never
		if k.pipe != nil {
			var ok bool
			if k.single {
				start, ok = k.pipe.passes(ready, k.line.out)
			} else {
				start, ok = k.pipe.moves(ready, k.out)
			}
			if !ok {
				return done
			}
			calm = k.pipe.calm
		}
		if start >= e.end {
			e.late = true
			return done
		}
		if start > ready {
			k.waited(ready, ready, start)
		}
		more := min(n-done, min(calm, e.end)-start)
		k.at = start + more - 1
		k.count.Busy += more
		done += more
	}
	return done
}

// ports appends to list the elements of at whose index is in the set mask.
func ports[T any](list, at []T, mask uint64) []T {
	for ; mask != 0; mask &= mask - 1 {
		list = append(list, at[bits.TrailingZeros64(mask)])
	}
	return list
}

// start counts and moves the words of an iteration with the moves m that starts in clock at.
func (k *worker) start(m dataflow.PortMoves, at int) {
	for _, s := range k.reads {
		s.take(at)
	}
	switch {
	case k.pipe == nil:
		for _, s := range k.writes {
			s.put(at)
		}
	case m.Write != 0:
		k.pipe.start(at, m.Write)
	}
	k.at = at
	k.count.Busy++
}

// waited counts the waiting of an iteration that could start in clock ready by its turn. All its words have
// arrived in clock words, and it starts in clock start. It waits for words up to words, and only for room
// after that.
func (k *worker) waited(ready, words, start int) {
	if k.log != nil {
		k.logs(ready, words, start)
	}
	if k.notes != nil {
		k.note(words, start)
	}
	k.count.Starved += words - ready
	k.count.Blocked += start - words
	if words > ready {
		for _, s := range k.reads {
			if at, _ := s.arrival(); at > ready {
				s.missed(at - ready)
			}
		}
	}
	switch {
	case start == words:
	case k.pipe != nil:
		k.pipe.full(words, k.out)
	default:
		for _, s := range k.writes {
			from, _ := s.room()
			s.full += max(0, from-words)
		}
	}
}

// waits returns what the layer waits for once nothing moves any more, before it has finished goal frames. The next
// iteration may wait for words. Room is missing for the iterations in the pipeline or, without a pipeline, for the next
// iteration.
func (k *worker) waits(goal int) (list []NodeWait) {
	var m dataflow.PortMoves
	if k.frame < goal {
		m = k.walk.NextMoves()
	}
	for p, s := range k.in {
		if m.Read>>p&1 != 0 && s.read == s.written {
			list = append(list, NodeWait{Node: k.name, Stream: s.id, Depth: s.depth})
		}
	}
	if k.pipe != nil {
		m.Write = k.pipe.stuck()
	}
	for p, s := range k.out {
		if m.Write>>p&1 != 0 && s.written-s.read >= s.depth {
			list = append(list, NodeWait{Node: k.name, Room: true, Stream: s.id, Depth: s.depth})
		}
	}
	return list
}

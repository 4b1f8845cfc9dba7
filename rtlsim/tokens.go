package rtlsim

import (
	"context"

	"hlsgen/internal/dataflow"
)

// tokens runs one frame through a design without clocks. It only counts how many words each stream holds.
//
// An iteration that can start can still start after any other iteration. For only its own layer takes the words
// that it reads, and only its own layer takes the room that it writes to. So every order of iterations comes to the
// same end: the system is persistent. Hence, if one order does not deadlock, no clocks, paces or stalls do,
// provided an iteration starts once there is room for its words. The same holds if words may also wait in pipelines
// (docs/clock.md). More capacity never stops an iteration.
//
// The host gives every word and takes every word sooner or later, so its streams never delay anything.
type tokens struct {
	workers []tokenWorker
	*plan
	capacity []int // capacity per stream in words
	held     []int
	wants    []bool // the reader stands still until a word is written
	blocks   []bool // the writer stands still until a word is read
	agenda   agenda
}

type tokenWorker struct {
	in, out []int              // streams
	reads   []int              // streams that the current iterations read
	writes  []int              // streams that the current iterations write
	joined  dataflow.PortMoves // ports whose other end is simulated too
	loop    dataflow.Loop
	walk    *dataflow.LoopWalker
	moved   int // number of iterations so far
	done    bool
}

// newTokens returns a run of the layers in members, or of all layers if members is nil, and the streams between them.
func newTokens(p *plan, members []bool) *tokens {
	n := len(p.ports)
	t := &tokens{plan: p, workers: make([]tokenWorker, len(p.loops)), held: make([]int, n), wants: make([]bool, n),
		blocks: make([]bool, n),
		agenda: newAgenda(len(p.loops))}
	joined := func(s int) bool { return p.inner(s) && (members == nil || p.within(members, s)) }
	for i, node := range p.design.Model.Graph.Nodes {
		if members != nil && !members[i] {
			continue
		}
		l := &t.workers[i]
		l.in, l.out, l.loop = node.In, node.Out, p.loops[i]
		l.joined = dataflow.PortMoves{Read: mask(node.In, joined), Write: mask(node.Out, joined)}
	}
	return t
}

// mask returns the set of ports for whose streams is returns true.
func mask(streams []int, is func(s int) bool) (m uint64) {
	for port, s := range streams {
		if is(s) {
			m |= 1 << port
		}
	}
	return m
}

// run takes a frame as far as it goes with FIFOs of the given capacities in words, and returns whether the frame comes
// through.
func (t *tokens) run(ctx context.Context, capacity []int) (through bool, err error) {
	t.capacity = capacity
	clear(t.held)
	clear(t.wants)
	clear(t.blocks)
	for i := range t.workers {
		l := &t.workers[i]
		l.moved, l.done = 0, l.loop.Body == nil
		if !l.done {
			l.walk = l.loop.NewWalker()
		}
	}
	t.agenda.wakeAll(len(t.workers))
	return t.goOn(ctx)
}

// goOn takes the frame further after layers were woken, and returns whether it comes through.
func (t *tokens) goOn(ctx context.Context) (through bool, err error) {
	if err := t.agenda.drain(ctx, t.visit, func() {}); err != nil {
		return false, err
	}
	for i := range t.workers {
		if !t.workers[i].done {
			return false, nil
		}
	}
	return true, nil
}

func (t *tokens) visit(i task) {
	for l := &t.workers[i]; !l.done; {
		m := l.walk.NextMoves()
		m.Read &= l.joined.Read
		m.Write &= l.joined.Write
		alike := l.walk.EqualIterationsAhead()
		l.reads, l.writes = ports(l.reads[:0], l.in, m.Read), ports(l.writes[:0], l.out, m.Write)
		n := t.most(l, alike)
		t.move(l, n)
		if n < alike {
			l.walk.SkipEqualIterations(n)
			return
		}
		l.walk.SkipEqualIterations(alike - 1)
		l.done = l.walk.AdvanceIteration()
	}
}

// most returns how many of n equal iterations the layer l can run now, one after the other.
func (t *tokens) most(l *tokenWorker, n int) int {
	for _, s := range l.reads {
		if t.held[s] < n {
			n = t.held[s]
			t.wants[s] = true
		}
	}
	for _, s := range l.writes {
		if room := t.capacity[s] - t.held[s]; room < n {
			n = room
			t.blocks[s] = true
		}
	}
	return n
}

func (t *tokens) move(l *tokenWorker, n int) {
	l.moved += n
	if n == 0 {
		return
	}
	for _, s := range l.reads {
		t.held[s] -= n
		if t.blocks[s] {
			t.blocks[s] = false
			t.agenda.wake(task(t.writer[s]))
		}
	}
	for _, s := range l.writes {
		t.held[s] += n
		if t.wants[s] {
			t.wants[s] = false
			t.agenda.wake(task(t.reader[s]))
		}
	}
}

// wait returns a wait of layer i, which is stuck at the end of a run of tokens. The wait is for a word if one is
// missing, otherwise for room.
func (t *tokens) wait(i int) wait {
	l := &t.workers[i]
	m := l.walk.NextMoves()
	for p, s := range l.in {
		if m.Read&l.joined.Read>>p&1 != 0 && t.held[s] == 0 {
			return wait{i, s, t.writer[s], false}
		}
	}
	for p, s := range l.out {
		if m.Write&l.joined.Write>>p&1 != 0 && t.held[s] >= t.capacity[s] {
			return wait{i, s, t.reader[s], true}
		}
	}
	panic("rtlsim: a layer stands still and waits for nothing")
}

// A wait states that a layer waits for another layer to move a word of a stream.
type wait struct {
	layer, stream, other int
	room                 bool
}

// progress returns the number of iterations that each layer has run.
func (t *tokens) progress() []int {
	var moved []int
	for i := range t.workers {
		moved = append(moved, t.workers[i].moved)
	}
	return moved
}

// cycle returns the closed chain of waits that the first stuck layer leads to, beginning with a wait for room. It
// exists if a run did not come through. Every stuck layer waits for a stuck layer then, because a finished one has
// moved all its words.
func (t *tokens) cycle() []wait {
	at := 0
	for t.workers[at].done {
		at++
	}
	var chain []wait
	seen := map[int]int{}
	for {
		if from, ok := seen[at]; ok {
			chain = chain[from:]
			break
		}
		seen[at] = len(chain)
		w := t.wait(at)
		chain = append(chain, w)
		at = w.other
	}
	// Streams lead from writers to readers, without a way back. So a closed chain has a wait for room.
	for i, w := range chain {
		if w.room {
			return append(chain[i:len(chain):len(chain)], chain[:i]...)
		}
	}
	panic("rtlsim: layers that wait for words in a circle")
}

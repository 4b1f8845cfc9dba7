package rtlsim

import (
	"math"
	"math/bits"

	"hlsgen/internal/dataflow"
)

// A tour goes through one frame of a layer in a schedule, forward from its first iteration or backward from its
// last.
type tour struct {
	latency int
	in, out []*side
	clock   int // clock of the iteration visited last
}

// A side holds the words of a frame at one port: the clocks in which they are visible and in which they are read. A
// list on which the tour would depend is nil if its clocks are not known.
type side struct {
	seen, read []int
	next       int // number of the next word
}

// ends returns the clocks of the first and the last iteration, after the tour has visited all iterations.
func (t *tour) ends(l dataflow.Loop) (first, last int) {
	first, last = math.MaxInt, math.MinInt
	end := l.IterationsPerFrame() - 1
	note := func(clock, iteration int) { first, last = min(first, clock-iteration), max(last, clock+end-iteration) }
	for p, x := range t.in {
		n := len(x.read) - 1
		note(x.read[0], l.IterationOfRead(p, 0))
		note(x.read[n], l.IterationOfRead(p, n))
	}
	for p, x := range t.out {
		n := len(x.seen) - 1
		note(x.seen[0]-t.latency, l.IterationOfWrite(p, 0))
		note(x.seen[n]-t.latency, l.IterationOfWrite(p, n))
	}
	return first, last
}

// rewind sets every port of the tour to its first word, or behind its last word if end is true.
func (t *tour) rewind(end bool) {
	for _, sides := range [][]*side{t.in, t.out} {
		for _, x := range sides {
			if x.next = 0; end {
				x.next = max(len(x.seen), len(x.read))
			}
		}
	}
}

// ahead goes through iterations forward, each as soon as the words that it reads are visible.
func (t *tour) ahead(body []dataflow.LoopRun) {
	for _, r := range body {
		switch {
		case r.Body != nil:
			for range r.Times {
				t.ahead(r.Body)
			}
		case r.Moves == dataflow.PortMoves{}:
			t.clock += r.Times
		case r.Times == 1 || several(r.Moves):
			for range r.Times {
				t.one(r.Moves)
			}
		default:
			t.alike(r.Moves, r.Times)
		}
	}
}

// several reports whether an iteration reads more than one port or writes more than one.
func several(m dataflow.PortMoves) bool { return m.Read&(m.Read-1) != 0 || m.Write&(m.Write-1) != 0 }

// one goes forward through one iteration, with the moves m.
func (t *tour) one(m dataflow.PortMoves) {
	t.clock++
	for r := m.Read; r != 0; r &= r - 1 {
		if x := t.in[bits.TrailingZeros64(r)]; x.seen != nil {
			t.clock = max(t.clock, x.seen[x.next])
		}
	}
	for r := m.Read; r != 0; r &= r - 1 {
		x := t.in[bits.TrailingZeros64(r)]
		x.read[x.next] = t.clock
		x.next++
	}
	for w := m.Write; w != 0; w &= w - 1 {
		x := t.out[bits.TrailingZeros64(w)]
		x.seen[x.next] = t.clock + t.latency
		x.next++
	}
}

// alike goes forward through n iterations with the moves m, which read at most one port and write at most one.
func (t *tour) alike(m dataflow.PortMoves, n int) {
	var seen, read, write []int
	if m.Write != 0 {
		x := t.out[bits.TrailingZeros64(m.Write)]
		write = x.seen[x.next:][:n]
		x.next += n
	}
	if m.Read != 0 {
		x := t.in[bits.TrailingZeros64(m.Read)]
		if read = x.read[x.next:][:n]; x.seen != nil {
			seen = x.seen[x.next:][:n]
		}
		x.next += n
	}
	at := t.clock
	if seen == nil {
		for k := range read {
			read[k] = at + 1 + k
		}
		for k := range write {
			write[k] = at + 1 + k + t.latency
		}
		t.clock = at + n
		return
	}
	for k, s := range seen {
		at = max(at+1, s)
		read[k] = at
	}
	for k := range write {
		write[k] = read[k] + t.latency
	}
	t.clock = at
}

// back goes through iterations backward, each as late as the readers of its words allow.
func (t *tour) back(body []dataflow.LoopRun) {
	for i := len(body) - 1; i >= 0; i-- {
		r := body[i]
		switch {
		case r.Body != nil:
			for range r.Times {
				t.back(r.Body)
			}
		case r.Moves == dataflow.PortMoves{}:
			t.clock -= r.Times
		case r.Times == 1 || several(r.Moves):
			for range r.Times {
				t.oneBack(r.Moves)
			}
		default:
			t.alikeBack(r.Moves, r.Times)
		}
	}
}

// oneBack goes through one iteration backward, with the moves m.
func (t *tour) oneBack(m dataflow.PortMoves) {
	t.clock--
	for w := m.Write; w != 0; w &= w - 1 {
		x := t.out[bits.TrailingZeros64(w)]
		if x.next--; x.read != nil {
			t.clock = min(t.clock, x.read[x.next]-t.latency)
		}
	}
	for w := m.Write; w != 0; w &= w - 1 {
		x := t.out[bits.TrailingZeros64(w)]
		x.seen[x.next] = t.clock + t.latency
	}
	for r := m.Read; r != 0; r &= r - 1 {
		x := t.in[bits.TrailingZeros64(r)]
		x.next--
		x.read[x.next] = t.clock
	}
}

// alikeBack goes backward through n iterations with the moves m, which read at most one port and write at most one.
func (t *tour) alikeBack(m dataflow.PortMoves, n int) {
	var due, read, write []int
	if m.Read != 0 {
		x := t.in[bits.TrailingZeros64(m.Read)]
		x.next -= n
		read = x.read[x.next:][:n]
	}
	if m.Write != 0 {
		x := t.out[bits.TrailingZeros64(m.Write)]
		x.next -= n
		if write = x.seen[x.next:][:n]; x.read != nil {
			due = x.read[x.next:][:n]
		}
	}
	at := t.clock
	if due == nil {
		for k := range read {
			read[k] = at - n + k
		}
		for k := range write {
			write[k] = at - n + k + t.latency
		}
		t.clock = at - n
		return
	}
	for k := n - 1; k >= 0; k-- {
		at = min(at-1, due[k]-t.latency)
		write[k] = at + t.latency
	}
	for k := range read {
		read[k] = write[k] - t.latency
	}
	t.clock = at
}

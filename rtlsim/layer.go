package rtlsim

import (
	"fmt"
	"math/bits"

	"hlsgen/internal/dataflow"
)

// A layer is a node at work. Iteration i starts in the clock
//
//	t(i) = max(t(i-1)+1, the arrival of every word it reads, the room for every word it writes)
//
// which does not depend on who asks first. So a layer goes on as far as its streams are known, and then lets others go.
type layer struct {
	name    string
	in, out []*stream
	joined  dataflow.Moves // ports with a stream; the others never wait
	latency int
	kernel  dataflow.Kernel // nil in a run without data
	count   *Node

	log  *[]Span // nil without a record
	pace int     // no frame starts before so many clocks times its number; 0 in a whole design

	walk      *dataflow.Walker
	iteration int             // the next one's number within its frame; kept in a run with data
	frame     int             // of the next iteration
	at        int             // clock of the last iteration
	words     []dataflow.Word // that the kernel reads, reused
}

// visit runs iterations as far as the streams and the goal allow.
func (l *layer) visit(e *engine) {
	for l.frame < e.goal {
		if l.pace > 0 {
			l.at = max(l.at, l.frame*l.pace-1) // harmless within the frame
		}
		alike := l.walk.Alike()
		done := l.run(e, l.walk.Moves(), alike)
		if done < alike {
			l.walk.Skip(done)
			return
		}
		l.walk.Skip(alike - 1)
		if l.walk.Advance() {
			l.iteration = 0
			l.frame++
		}
	}
}

// run runs up to n iterations that move the same. Fewer were possible if it returns less.
func (l *layer) run(e *engine, m dataflow.Moves, n int) int {
	m.Read &= l.joined.Read
	m.Write &= l.joined.Write
	if m == (dataflow.Moves{}) && l.kernel == nil {
		if most := e.end - 1 - l.at; n > most {
			n, e.late = most, true
		}
		l.at += n
		l.count.Busy += n
		if l.log != nil {
			l.record(Busy, l.at+1)
		}
		return n
	}
	for i := range n {
		ready := l.at + 1
		words := ready // every word is there
		for r := m.Read; r != 0; r &= r - 1 {
			s := l.in[bits.TrailingZeros64(r)]
			at, ok := s.arrival()
			if !ok {
				s.wants = true
				return i
			}
			words = max(words, at)
		}
		start := words
		for w := m.Write; w != 0; w &= w - 1 {
			s := l.out[bits.TrailingZeros64(w)]
			from, ok := s.room()
			if !ok {
				s.blocks = true
				return i
			}
			start = max(start, from)
		}
		if start >= e.end {
			e.late = true
			return i
		}
		if start > ready {
			l.waited(m, ready, words, start)
		}
		if l.log != nil {
			l.record(Starved, words)
			l.record(Blocked, start)
			l.record(Busy, start+1)
		}
		l.start(e, m, start)
	}
	return n
}

// start moves the words of an iteration.
func (l *layer) start(e *engine, m dataflow.Moves, at int) {
	for r := m.Read; r != 0; r &= r - 1 {
		s := l.in[bits.TrailingZeros64(r)]
		s.take(at)
		if s.blocks {
			s.blocks = false
			e.agenda.wake(s.writer)
		}
	}
	for w := m.Write; w != 0; w &= w - 1 {
		s := l.out[bits.TrailingZeros64(w)]
		s.put(at)
		if s.wants {
			s.wants = false
			e.agenda.wake(s.reader)
		}
	}
	l.at = at
	l.count.Busy++
	if l.kernel != nil {
		l.compute(m)
	}
}

// waited counts the clocks from ready on in which the iteration that starts in clock start missed a word, up to clock
// words, or only room.
func (l *layer) waited(m dataflow.Moves, ready, words, start int) {
	l.count.Starved += words - ready
	l.count.Blocked += start - words
	if words > ready {
		for r := m.Read; r != 0; r &= r - 1 {
			s := l.in[bits.TrailingZeros64(r)]
			s.empty += max(0, s.arriving-ready)
		}
	}
	if start > words {
		for w := m.Write; w != 0; w &= w - 1 {
			s := l.out[bits.TrailingZeros64(w)]
			from, _ := s.room()
			s.full += max(0, from-words)
		}
	}
}

// compute moves the data of an iteration. A kernel that breaks its contract is a defect of ours.
func (l *layer) compute(m dataflow.Moves) {
	i := l.iteration
	l.iteration++
	for p, s := range l.in {
		l.words[p] = nil
		if m.Read>>p&1 != 0 {
			l.words[p] = s.data.pop()
		}
	}
	out := l.kernel.Step(i, l.words)
	if len(out) != len(l.out) {
		panic(fmt.Sprintf("rtlsim: %s, iteration %d: words for %d ports, want %d", l.name, i, len(out), len(l.out)))
	}
	for p, w := range out {
		if writes := m.Write>>p&1 != 0; writes != (w != nil) {
			panic(fmt.Sprintf("rtlsim: %s, iteration %d, output %d: the loop says writes=%t, the kernel gives %v", l.name, i, p, writes, w))
		}
		if w != nil {
			if err := l.out[p].data.push(w); err != nil {
				panic(fmt.Sprintf("rtlsim: %s, iteration %d, output %d: %v", l.name, i, p, err))
			}
		}
	}
}

// waits lists what the next iteration waits for when nothing moves any more.
func (l *layer) waits() (list []Wait) {
	m := l.walk.Moves()
	for p, s := range l.in {
		if m.Read>>p&1 != 0 && s.read == s.written {
			list = append(list, Wait{Node: l.name, Stream: s.id, Depth: s.depth})
		}
	}
	for p, s := range l.out {
		if m.Write>>p&1 != 0 && s.written-s.read >= s.capacity {
			list = append(list, Wait{Node: l.name, Room: true, Stream: s.id, Depth: s.depth})
		}
	}
	return list
}

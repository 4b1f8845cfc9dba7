package rtlsim

import (
	"fmt"
	"math/bits"

	"hlsgen/internal/dataflow"
)

// A worker is a node at work. Iteration i starts in the clock
//
//	t(i) = max(t(i-1)+1, the arrival of every word it reads, the room for every word it writes)
//
// which does not depend on who asks first. So a worker goes on as far as its streams are known, and then lets others
// go.
type worker struct {
	node    int
	name    string
	in, out []*stream
	joined  dataflow.Moves // ports with a stream; the others never wait
	latency int
	kernel  dataflow.Kernel // nil in a run without data
	count   *Node

	log  *[]Span // nil without a record
	pace int     // no frame starts before so many clocks times its number; 0 in a whole design

	walk      *dataflow.Walker
	iteration int       // the next one's number within its frame; kept in a run with data
	frame     int       // of the next iteration
	at        int       // clock of the last iteration
	reads     []*stream // that the iterations which are run now read
	writes    []*stream
	words     []dataflow.Word // that the kernel reads, reused
}

// visit runs iterations as far as the streams and the goal allow.
func (k *worker) visit(e *engine) {
	for k.frame < e.goal {
		if k.pace > 0 {
			k.at = max(k.at, k.frame*k.pace-1) // harmless within the frame
		}
		alike := k.walk.Alike()
		done := k.run(e, k.walk.Moves(), alike)
		if done < alike {
			k.walk.Skip(done)
			return
		}
		k.walk.Skip(alike - 1)
		if k.walk.Advance() {
			k.iteration = 0
			k.frame++
			k.resize(e, e.at(k.frame-1))
		}
	}
}

// resize makes ready for a frame whose length is not that of the one before, which had a plan.
func (k *worker) resize(e *engine, was *plan) {
	p := e.at(k.frame)
	if p == was {
		return
	}
	k.walk = p.loops[k.node].Walk()
	if k.kernel != nil {
		next := p.design.Model.Graph.Nodes[k.node].Op.Kernel(p.design.Folds[k.node], p.design.Target)
		if r, ok := next.(dataflow.Resuming); ok {
			r.Resume(k.kernel)
		}
		k.kernel = next
	}
}

// run runs up to n iterations that move the same. Fewer were possible if it returns less.
func (k *worker) run(e *engine, m dataflow.Moves, n int) int {
	m.Read &= k.joined.Read
	m.Write &= k.joined.Write
	if m == (dataflow.Moves{}) && k.kernel == nil {
		if most := e.end - 1 - k.at; n > most {
			n, e.late = most, true
		}
		k.at += n
		k.count.Busy += n
		if k.log != nil {
			k.record(Busy, k.at+1)
		}
		return n
	}
	k.reads, k.writes = ports(k.reads[:0], k.in, m.Read), ports(k.writes[:0], k.out, m.Write)
	for i := range n {
		ready := k.at + 1
		words := ready // every word is there
		for _, s := range k.reads {
			at, ok := s.arrival()
			if !ok {
				s.wants = true
				return i
			}
			words = max(words, at)
		}
		start := words
		for _, s := range k.writes {
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
			k.waited(ready, words, start)
		}
		if k.log != nil {
			k.record(Starved, words)
			k.record(Blocked, start)
			k.record(Busy, start+1)
		}
		k.start(m, start)
	}
	return n
}

// ports adds to a list what stands at the ports of a mask.
func ports[T any](list, at []T, mask uint64) []T {
	for ; mask != 0; mask &= mask - 1 {
		list = append(list, at[bits.TrailingZeros64(mask)])
	}
	return list
}

// start moves the words of an iteration.
func (k *worker) start(m dataflow.Moves, at int) {
	for _, s := range k.reads {
		s.take(at)
	}
	for _, s := range k.writes {
		s.put(at)
	}
	k.at = at
	k.count.Busy++
	if k.kernel != nil {
		k.compute(m)
	}
}

// waited counts the clocks from ready on in which the iteration that starts in clock start missed a word, up to clock
// words, or only room.
func (k *worker) waited(ready, words, start int) {
	k.count.Starved += words - ready
	k.count.Blocked += start - words
	if words > ready {
		for _, s := range k.reads {
			s.empty += max(0, s.arriving-ready)
		}
	}
	if start > words {
		for _, s := range k.writes {
			from, _ := s.room()
			s.full += max(0, from-words)
		}
	}
}

// compute moves the data of an iteration. A kernel that breaks its contract is a defect of ours.
func (k *worker) compute(m dataflow.Moves) {
	i := k.iteration
	k.iteration++
	for p, s := range k.in {
		k.words[p] = nil
		if m.Read>>p&1 != 0 {
			k.words[p] = s.data.pop()
		}
	}
	out := k.kernel.Step(i, k.words)
	if len(out) != len(k.out) {
		panic(fmt.Sprintf("rtlsim: %s, iteration %d: words for %d ports, want %d", k.name, i, len(out), len(k.out)))
	}
	for p, w := range out {
		if writes := m.Write>>p&1 != 0; writes != (w != nil) {
			panic(fmt.Sprintf("rtlsim: %s, iteration %d, output %d: the loop says writes=%t, the kernel gives %v",
				k.name, i, p, writes, w))
		}
		if w != nil {
			if err := k.out[p].data.push(w); err != nil {
				panic(fmt.Sprintf("rtlsim: %s, iteration %d, output %d: %v", k.name, i, p, err))
			}
		}
	}
}

// waits lists what the next iteration waits for when nothing moves any more.
func (k *worker) waits() (list []Wait) {
	m := k.walk.Moves()
	for p, s := range k.in {
		if m.Read>>p&1 != 0 && s.read == s.written {
			list = append(list, Wait{Node: k.name, Stream: s.id, Depth: s.depth})
		}
	}
	for p, s := range k.out {
		if m.Write>>p&1 != 0 && s.written-s.read >= s.capacity {
			list = append(list, Wait{Node: k.name, Room: true, Stream: s.id, Depth: s.depth})
		}
	}
	return list
}

package rtlsim

import (
	"fmt"
	"math/bits"

	"hlsgen/internal/dataflow"
)

// A layer is a node at work.
type layer struct {
	name    string
	in, out []*fifo
	latency int
	kernel  dataflow.Kernel // nil in a run without data
	count   *Node

	walk      *dataflow.Walker
	iteration int // the next one's number within its frame
	left      int // frames not yet complete
	wait      wait
	words     []dataflow.Word // that the kernel reads, reused
}

// wait says why a layer does not start in a clock.
type wait uint8

const (
	waitsForNothing wait = iota
	waitsForWord
	waitsForRoom
)

func newLayer(n *dataflow.Node, l dataflow.Loop, streams []*fifo, frames int) *layer {
	p := &layer{name: n.Name, latency: l.Latency, left: frames, walk: l.Walk(), words: make([]dataflow.Word, len(n.In))}
	for _, s := range n.In {
		p.in = append(p.in, streams[s])
	}
	for _, s := range n.Out {
		streams[s].delay(l.Latency)
		p.out = append(p.out, streams[s])
	}
	return p
}

// advance goes to the next iteration.
func (l *layer) advance() {
	l.iteration++
	if l.walk.Advance() {
		l.iteration = 0
		l.left--
	}
}

// mayStart looks at the words first: a layer that misses both a word and room waits for the word.
func (l *layer) mayStart() wait {
	for m := l.walk.Moves().Read; m != 0; m &= m - 1 {
		if l.in[bits.TrailingZeros64(m)].visible == 0 {
			return waitsForWord
		}
	}
	for m := l.walk.Moves().Write; m != 0; m &= m - 1 {
		if l.out[bits.TrailingZeros64(m)].full() {
			return waitsForRoom
		}
	}
	return waitsForNothing
}

// start takes the words that the next iteration reads, and sends off those that it writes.
func (l *layer) start(clock int) {
	for m := l.walk.Moves().Read; m != 0; m &= m - 1 {
		l.in[bits.TrailingZeros64(m)].visible--
	}
	for m := l.walk.Moves().Write; m != 0; m &= m - 1 {
		l.out[bits.TrailingZeros64(m)].send(clock + l.latency)
	}
	if l.kernel != nil {
		l.compute()
	}
	l.advance()
}

// compute moves the data of the next iteration. A kernel that breaks its contract is a defect of ours.
func (l *layer) compute() {
	for i, f := range l.in {
		l.words[i] = nil
		if l.walk.Moves().Read>>i&1 != 0 {
			l.words[i] = f.pop()
		}
	}
	out := l.kernel.Step(l.iteration, l.words)
	if len(out) != len(l.out) {
		panic(fmt.Sprintf("rtlsim: %s, iteration %d: words for %d ports, want %d", l.name, l.iteration, len(out), len(l.out)))
	}
	for i, w := range out {
		if writes := l.walk.Moves().Write>>i&1 != 0; writes != (w != nil) {
			panic(fmt.Sprintf("rtlsim: %s, iteration %d, output %d: the loop says writes=%t, the kernel gives %v", l.name, l.iteration, i, writes, w))
		}
		if w != nil {
			if err := l.out[i].push(w); err != nil {
				panic(fmt.Sprintf("rtlsim: %s, iteration %d, output %d: %v", l.name, l.iteration, i, err))
			}
		}
	}
}

// tally counts n clocks that were as this one.
func (l *layer) tally(n int) {
	switch l.wait {
	case waitsForNothing:
		l.count.Busy += n
	case waitsForWord:
		l.count.Starved += n
	case waitsForRoom:
		l.count.Blocked += n
	}
}

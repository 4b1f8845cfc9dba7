package rtlsim

import (
	"fmt"
	"math/bits"
	"slices"

	"hlsgen/internal/dataflow"
)

// A layer is a node at work. It keeps its place in the loop nest, and the ports that move a word there, from one
// iteration to the next without dividing.
type layer struct {
	name    string
	in, out []*fifo
	latency int
	kernel  dataflow.Kernel // nil in a run without data
	count   *Node

	levels    []level
	index     []int   // of the next iteration, per level
	outer     []ports // outer[k]: the ports that the indices of the levels before k allow
	now       ports   // that the next iteration moves
	iteration int     // the next one's number within its frame
	left      int     // frames not yet complete
	wait      wait
	words     []dataflow.Word // that the kernel reads, reused
}

// A level of the loop nest knows the ports whose access has an index in its set. Without patterns all indices but the
// first and the last are alike.
type level struct {
	trips               int
	first, middle, last ports
	table               []ports // per index; nil where there is no pattern
}

func (v *level) allows(index int) ports {
	switch {
	case v.table != nil:
		return v.table[index]
	case index == 0:
		return v.first
	case index == v.trips-1:
		return v.last
	}
	return v.middle
}

// ports is a set of input and of output ports.
type ports struct{ read, write uint64 }

func (p ports) and(o ports) ports { return ports{p.read & o.read, p.write & o.write} }

// maxPorts is how many inputs, and outputs, a layer can have here.
const maxPorts = 64

// wait says why a layer does not start in a clock.
type wait uint8

const (
	waitsForNothing wait = iota
	waitsForWord
	waitsForRoom
)

func newLayer(n *dataflow.Node, l dataflow.Loop, streams []*fifo, frames int) (*layer, error) {
	if len(n.In) > maxPorts || len(n.Out) > maxPorts {
		return nil, fmt.Errorf("%s has %d inputs and %d outputs: at most %d of each can be simulated", n.Name, len(n.In), len(n.Out), maxPorts)
	}
	p := &layer{name: n.Name, latency: l.Latency, left: frames,
		index: make([]int, len(l.Trips)), outer: make([]ports, len(l.Trips)+1), words: make([]dataflow.Word, len(n.In))}
	for _, s := range n.In {
		p.in = append(p.in, streams[s])
	}
	for _, s := range n.Out {
		streams[s].delay(l.Latency)
		p.out = append(p.out, streams[s])
	}
	for k := range l.Trips {
		p.levels = append(p.levels, newLevel(l, k))
	}
	p.outer[0] = ports{1<<len(n.In) - 1, 1<<len(n.Out) - 1}
	p.settle(0)
	return p, nil
}

func newLevel(l dataflow.Loop, k int) level {
	n := l.Trips[k]
	one := dataflow.Loop{Trips: []int{n}}
	pattern := false
	for _, a := range slices.Concat(l.Read, l.Write) {
		pattern = pattern || a[k].Kind == dataflow.At
	}
	allows := func(index int) (p ports) {
		for port, a := range l.Read {
			if one.Moves(a[k:k+1], index) {
				p.read |= 1 << port
			}
		}
		for port, a := range l.Write {
			if one.Moves(a[k:k+1], index) {
				p.write |= 1 << port
			}
		}
		return p
	}
	v := level{trips: n, first: allows(0), middle: allows(min(1, n-1)), last: allows(n - 1)}
	if pattern {
		v.table = make([]ports, n)
		for j := range v.table {
			v.table[j] = allows(j)
		}
	}
	return v
}

// settle works out the ports of the next iteration after the indices from level on have changed.
func (l *layer) settle(level int) {
	for k := level; k < len(l.levels); k++ {
		l.outer[k+1] = l.outer[k].and(l.levels[k].allows(l.index[k]))
	}
	l.now = l.outer[len(l.levels)]
}

// advance goes to the next iteration.
func (l *layer) advance() {
	l.iteration++
	for k := len(l.levels) - 1; k >= 0; k-- {
		if l.index[k]++; l.index[k] < l.levels[k].trips {
			l.settle(k)
			return
		}
		l.index[k] = 0
	}
	l.iteration = 0
	l.left--
	l.settle(0)
}

// mayStart looks at the words first: a layer that misses both a word and room waits for the word.
func (l *layer) mayStart() wait {
	for m := l.now.read; m != 0; m &= m - 1 {
		if l.in[bits.TrailingZeros64(m)].visible == 0 {
			return waitsForWord
		}
	}
	for m := l.now.write; m != 0; m &= m - 1 {
		if l.out[bits.TrailingZeros64(m)].full() {
			return waitsForRoom
		}
	}
	return waitsForNothing
}

// start takes the words that the next iteration reads, and sends off those that it writes.
func (l *layer) start(clock int) {
	for m := l.now.read; m != 0; m &= m - 1 {
		l.in[bits.TrailingZeros64(m)].visible--
	}
	for m := l.now.write; m != 0; m &= m - 1 {
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
		if l.now.read>>i&1 != 0 {
			l.words[i] = f.pop()
		}
	}
	out := l.kernel.Step(l.iteration, l.words)
	if len(out) != len(l.out) {
		panic(fmt.Sprintf("rtlsim: %s, iteration %d: words for %d ports, want %d", l.name, l.iteration, len(out), len(l.out)))
	}
	for i, w := range out {
		if writes := l.now.write>>i&1 != 0; writes != (w != nil) {
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

package rtlsim

import (
	"fmt"
	"math"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A fifo is a stream: the FIFO, and the delay line of the layer that writes it. The line is elastic: its words keep
// their order, and enter the FIFO when they are due or, later, when there is room.
type fifo struct {
	id      int // of the stream
	port    dataflow.Port
	depth   int // words of the FIFO
	visible int // words in it
	high    int // most words that were in it at once
	limit   int // words of FIFO and line together
	due     []int
	first   int // of the line, in the ring due
	flying  int // words in the line

	words  []dataflow.Word // of FIFO and line, oldest first, from head on; unused without data
	head   int
	kept   []int64 // all that was ever written, where it is kept
	values num.Range
}

func newFIFO(id int, p dataflow.Port, depth int) *fifo {
	return &fifo{id: id, port: p, depth: depth, limit: depth, values: p.Elem.Range()}
}

// delay adds the delay line of the writer.
func (f *fifo) delay(latency int) {
	f.due = make([]int, latency)
	f.limit = min(f.depth, math.MaxInt-latency) + latency
}

func (f *fifo) full() bool { return f.visible+f.flying >= f.limit }

// send puts a word into the line; there is room for it.
func (f *fifo) send(due int) {
	i := f.first + f.flying
	if i >= len(f.due) {
		i -= len(f.due)
	}
	f.due[i] = due
	f.flying++
}

// arrive lets the oldest word of the line into the FIFO. One per clock is all that can be due: lines get at most one
// word per clock, and where words of a line are overdue the FIFO was full, and was read at most once since.
func (f *fifo) arrive(clock int) {
	if f.flying > 0 && f.due[f.first] <= clock && f.visible < f.depth {
		if f.first++; f.first == len(f.due) {
			f.first = 0
		}
		f.flying--
		f.enter()
	}
}

func (f *fifo) enter() {
	f.visible++
	f.high = max(f.high, f.visible)
}

func (f *fifo) nextArrival(clock int) int {
	if f.flying > 0 && f.visible < f.depth {
		return max(f.due[f.first], clock+1)
	}
	return never
}

// push adds the data of a word that was sent.
func (f *fifo) push(w dataflow.Word) error {
	if len(w) != f.port.PerWord {
		return fmt.Errorf("a word of %d elements, want %d", len(w), f.port.PerWord)
	}
	for i, v := range w {
		if !f.values.Contains(v) || v == 0 && f.port.Elem.Kind == num.Bipolar {
			return fmt.Errorf("element %d is %d: no %s", i, v, f.port.Elem)
		}
	}
	if f.head > 64 && 2*f.head > len(f.words) {
		n := copy(f.words, f.words[f.head:])
		clear(f.words[n:])
		f.words, f.head = f.words[:n], 0
	}
	f.words = append(f.words, w)
	if f.kept != nil {
		f.kept = append(f.kept, w...)
	}
	return nil
}

// pop takes the data of the oldest word.
func (f *fifo) pop() dataflow.Word {
	w := f.words[f.head]
	f.words[f.head] = nil
	f.head++
	return w
}

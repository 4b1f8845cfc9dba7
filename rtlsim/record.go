package rtlsim

import (
	"cmp"
	"slices"
)

// A Record is a run clock by clock, as far as its frames went.
type Record struct {
	Layers  [][]Span // per node: what it did, without gaps from clock 0 on
	Streams []Moved  // per stream; nil where layers alone were asked for
}

// Moved are the clocks in which the words of a stream were written and read.
func (r *Record) Moved(stream int) (written, read []int) {
	return r.Streams[stream].Written, r.Streams[stream].Read
}

// A State is what a layer does in a clock.
type State uint8

// The states, as Node counts them.
const (
	Busy State = iota
	Starved
	Blocked
)

func (s State) String() string { return [...]string{"busy", "starved", "blocked"}[s] }

// A Span is the clocks from From up to, without, To.
type Span struct {
	State
	From, To int
}

// Moved is the clocks in which each word of a stream took its place of the FIFO (which is when it is written where
// pipelines freeze, and when its iteration starts where credits are counted), from which on it was visible, and was
// read.
type Moved struct{ Written, Arrived, Read []int }

// record adds clocks up to one; spans of a state that follow each other are one.
func (l *worker) record(state State, to int) {
	list := *l.log
	n := len(list)
	from := 0
	if n > 0 {
		from = list[n-1].To
	}
	switch {
	case to <= from:
	case n > 0 && list[n-1].State == state:
		list[n-1].To = to
	default:
		*l.log = append(list, Span{state, from, to})
	}
}

// works adds the clocks of an iteration that had all its words in one clock and started in another one.
func (l *worker) works(words, start int) {
	list := *l.log
	if n := len(list); n > 0 && list[n-1].To == start && list[n-1].State == Busy {
		list[n-1].To++
		return
	}
	l.record(Starved, words)
	l.record(Blocked, start)
	l.record(Busy, start+1)
}

// again is the last so many clocks of a layer so many times more.
func (l *worker) again(clocks, times int) {
	list := *l.log
	to := list[len(list)-1].To
	first, _ := slices.BinarySearchFunc(list, to-clocks, func(s Span, at int) int { return cmp.Compare(s.To, at+1) })
	list = slices.Clone(list[first:])
	for n := 1; n <= times; n++ {
		for _, s := range list {
			l.record(s.State, s.To+n*clocks)
		}
	}
}

// keep makes a run keep its record, of streams or of layers alone.
func (e *engine) keep(streams bool) {
	e.stretch.over, e.drift.over = true, true
	e.trace.Record = &Record{Layers: make([][]Span, len(e.workers))}
	for i, l := range e.workers {
		l.log = &e.trace.Record.Layers[i]
	}
	if !streams {
		return
	}
	e.every = true
	e.trace.Record.Streams = make([]Moved, len(e.streams))
	for i, s := range e.streams {
		s.log = &e.trace.Record.Streams[i]
	}
}

package rtlsim

// A Record is a run clock by clock, as far as its frames went.
type Record struct {
	Layers  [][]Span // per node: what it did, without gaps from clock 0 on
	Streams []Moved  // per stream
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

// keep makes a run keep its record.
func (e *engine) keep() {
	e.every, e.stretch.over, e.drift.over = true, true, true
	r := &Record{Layers: make([][]Span, len(e.workers)), Streams: make([]Moved, len(e.streams))}
	for i, l := range e.workers {
		l.log = &r.Layers[i]
	}
	for i, s := range e.streams {
		s.log = &r.Streams[i]
	}
	e.trace.Record = r
}

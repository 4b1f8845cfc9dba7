package rtlsim

import (
	"encoding/binary"
	"iter"
)

// A Record is a run clock by clock, as far as its frames went.
type Record struct {
	Layers  []Spans // per node: what it did
	Streams []Moved // per stream; nil where layers alone were asked for
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

// Spans are spans that follow each other without gaps. Most take a byte: their states and lengths are kept.
type Spans struct {
	from   int // where the first one begins
	packed []byte
	last   Span // behind the packed ones; empty where there is none
}

// All gives the spans in order.
func (l *Spans) All() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		from := l.from
		for rest := l.packed; len(rest) > 0; {
			v, n := binary.Uvarint(rest)
			s := Span{State(v & 3), from, from + int(v>>2)}
			if !yield(s) {
				return
			}
			from, rest = s.To, rest[n:]
		}
		if l.last.To > l.last.From {
			yield(l.last)
		}
	}
}

// record adds clocks up to one; spans of a state that follow each other are one.
func (l *Spans) record(state State, to int) {
	switch last := &l.last; {
	case to <= last.To:
	case last.State == state:
		last.To = to
	default:
		if n := last.To - last.From; n > 0 {
			l.packed = binary.AppendUvarint(l.packed, uint64(n)<<2|uint64(last.State))
		}
		*last = Span{state, last.To, to}
	}
}

// works adds the clocks of an iteration that had all its words in one clock and started in another one.
func (l *worker) works(words, start int) {
	log := l.log
	if log.last.To == start && log.last.State == Busy {
		log.last.To++
		return
	}
	log.record(Starved, words)
	log.record(Blocked, start)
	log.record(Busy, start+1)
}

// again is the last so many clocks of a layer so many times more.
func (l *worker) again(clocks, times int) {
	list := l.log.since(l.log.last.To - clocks)
	for n := 1; n <= times; n++ {
		for s := range list.All() {
			l.log.record(s.State, s.To+n*clocks)
		}
	}
}

// since is the spans from the one on that a clock lies in.
func (l *Spans) since(clock int) Spans {
	from, end := l.last.From, len(l.packed)
	for from > clock && end > 0 {
		begin := end - 1
		for begin > 0 && l.packed[begin-1] >= 0x80 { // a byte of the same number
			begin--
		}
		v, _ := binary.Uvarint(l.packed[begin:end])
		from, end = from-int(v>>2), begin
	}
	return Spans{from, l.packed[end:], l.last}
}

// keep makes a run keep its record, of streams or of layers alone.
func (e *engine) keep(streams bool) {
	e.stretch.over, e.drift.over = e.stretch.over || streams, true
	e.trace.Record = &Record{Layers: make([]Spans, len(e.workers))}
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

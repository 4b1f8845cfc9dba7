package rtlsim

import (
	"encoding/binary"
	"iter"
	"slices"
)

// A Record is a run clock by clock, as far as its frames went.
type Record struct {
	Layers  []Spans // per node: what it did
	Streams []Moved // per stream; nil where layers alone were asked for

	wanted int   // frames, of layers alone
	ends   []end // of these so far
}

// An end is of a frame.
type end struct {
	clock  int   // after it
	layers []int // per node: clock after its last iteration
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
	end    int  // the clock in which the last one that is seen ends; 0 for all
}

// All gives the spans in order.
func (l *Spans) All() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		from := l.from
		for rest := l.packed; len(rest) > 0; {
			v, n := binary.Uvarint(rest)
			s := Span{State(v & 3), from, from + int(v>>2)}
			if l.end > 0 && s.To >= l.end {
				s.To = l.end
				yield(s)
				return
			}
			if !yield(s) {
				return
			}
			from, rest = s.To, rest[n:]
		}
		s := l.last
		if l.end > 0 {
			s.To = min(s.To, l.end)
		}
		if s.To > s.From {
			yield(s)
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

// A log lags behind its layer: up to the last iteration, the clocks that are not in it yet are busy.

// logs adds the clocks of a wait, from one on, for words up to another one, and then for room.
func (l *worker) logs(ready, words, start int) {
	l.log.record(Busy, ready)
	l.log.record(Starved, words)
	l.log.record(Blocked, start)
}

// again is the last so many clocks of a layer so many times more.
func (l *worker) again(clocks, times int) {
	l.log.record(Busy, l.at+1)
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
	return Spans{from: from, packed: l.packed[end:], last: l.last}
}

// keep makes a run keep the record that is asked for.
func (e *engine) keep(opt Options) {
	r := &Record{Layers: make([]Spans, len(e.workers)), wanted: opt.Layers}
	e.trace.Record = r
	for i, l := range e.workers {
		l.log = &r.Layers[i]
	}
	if !opt.Record {
		return
	}
	e.stretch.over, e.drift.over, e.every, r.wanted = true, true, true, 0
	r.Streams = make([]Moved, len(e.streams))
	for i, s := range e.streams {
		s.log = &r.Streams[i]
	}
}

// whole reports whether no frame is to be added any more; there may be no record.
func (r *Record) whole() bool { return r == nil || len(r.ends) >= r.wanted }

// ended notes that a frame is through.
func (r *Record) ended(e *engine) {
	if r.whole() {
		return
	}
	at := end{clock: e.clock()}
	for _, l := range e.workers {
		l.log.record(Busy, l.at+1)
		at.layers = append(at.layers, l.at+1)
	}
	r.add(at, e)
}

// repeats adds a period so many times, as far as frames are wanted.
func (r *Record) repeats(e *engine, p Period, times int) {
	if r.whole() {
		return
	}
	times = min(times, (r.wanted-len(r.ends)+p.Frames-1)/p.Frames)
	for _, l := range e.workers {
		l.again(p.Clocks, times)
	}
	for range times * p.Frames {
		if r.whole() {
			return
		}
		was := r.ends[len(r.ends)-p.Frames]
		at := end{clock: was.clock + p.Clocks}
		for _, clock := range was.layers {
			at.layers = append(at.layers, clock+p.Clocks)
		}
		r.add(at, e)
	}
}

// add adds the end of a frame. After the last one that is wanted, layers are not followed any more.
func (r *Record) add(at end, e *engine) {
	if r.ends = append(r.ends, at); r.whole() {
		for _, l := range e.workers {
			l.log = nil
		}
	}
}

// Head is what a run of so many frames shows, as far as WriteTimeline asks: of the first ones of a run with
// Options.Layers. It is nil where that kept fewer, for no frames, and of a run with Options.Record.
func (t *Trace) Head(frames int) *Trace {
	if t.Record == nil || frames < 1 || len(t.Record.ends) < frames {
		return nil
	}
	last := t.Record.ends[frames-1]
	layers := slices.Clone(t.Record.Layers)
	for i := range layers {
		layers[i].end = last.layers[i]
	}
	return &Trace{Start: t.Start, Cycles: last.clock, Frames: t.Frames[:frames], Record: &Record{Layers: layers}}
}

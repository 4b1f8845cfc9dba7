package rtlsim

import (
	"encoding/binary"
	"iter"
	"slices"
)

// A RunRecord holds, clock by clock, what layers did and when words moved on streams in a run.
type RunRecord struct {
	Layers  []StateSpans // per node: its states over time
	Streams []WordClocks // per stream; nil if only layers are recorded

	wanted int   // number of frames to record, if only layers are recorded
	ends   []end // ends of the frames recorded so far
}

// An end is the clock at which a frame ended and, by layer, the clock after its last iteration of the frame.
type end struct {
	clock  int   // clock after the frame
	layers []int // per node: clock after its last iteration of the frame
}

// MoveClocks returns the clocks in which the words of a stream were written and read.
func (r *RunRecord) MoveClocks(stream int) (written, read []int) {
	return r.Streams[stream].Written, r.Streams[stream].Read
}

// A LayerState says what a layer does in a clock: it works, or waits for a word or for room.
type LayerState uint8

// The states, which NodeStateClocks defines.
const (
	StateBusy LayerState = iota
	StateStarved
	StateBlocked
)

func (s LayerState) String() string { return [...]string{"busy", "starved", "blocked"}[s] }

// A StateSpan is a state of a layer that lasts from clock From up to, but not including, clock To.
type StateSpan struct {
	LayerState
	From, To int
}

// WordClocks holds three clocks for each word of a stream. They tell when it took its place in the FIFO, when it became
// visible and when it was read. Where pipelines freeze, a word takes its place when it is written. With credits, it
// does when its iteration starts.
type WordClocks struct{ Written, Arrived, Read []int }

// A StateSpans is a list of StateSpan values without gaps between them. Most spans take one byte, which holds the state
// and the length.
type StateSpans struct {
	from   int // clock when the first span begins
	packed []byte
	last   StateSpan // the span behind the packed ones; empty if there is none
	end    int       // clock when the last visible span ends; 0 if all are visible
}

// AllSpans returns the spans in order.
func (l *StateSpans) AllSpans() iter.Seq[StateSpan] {
	return func(yield func(StateSpan) bool) {
		from := l.from
		for rest := l.packed; len(rest) > 0; {
			v, n := binary.Uvarint(rest)
			s := StateSpan{LayerState(v & 3), from, from + int(v>>2)}
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

// record adds a span of the given state, from the end of the last one up to clock to. It extends the last span if that
// has the same state.
func (l *StateSpans) record(state LayerState, to int) {
	switch last := &l.last; {
	case to <= last.To:
	case last.LayerState == state:
		last.To = to
	default:
		if n := last.To - last.From; n > 0 {
			l.packed = binary.AppendUvarint(l.packed, uint64(n)<<2|uint64(last.LayerState))
		}
		*last = StateSpan{state, last.To, to}
	}
}

// A log lags behind its layer. The layer is busy in all clocks up to the last iteration that the log does not
// contain yet.

// logs records a wait of the layer that begins in clock ready: until clock words for missing words, and then until
// clock start for room.
func (l *worker) logs(ready, words, start int) {
	l.log.record(StateBusy, ready)
	l.log.record(StateStarved, words)
	l.log.record(StateBlocked, start)
}

// again adds to the layer's log, the given number of times, a copy of what the layer did in the last clocks clocks.
func (l *worker) again(clocks, times int) {
	l.log.record(StateBusy, l.at+1)
	list := l.log.since(l.log.last.To - clocks)
	for n := 1; n <= times; n++ {
		for s := range list.AllSpans() {
			l.log.record(s.LayerState, s.To+n*clocks)
		}
	}
}

// since returns the spans from the one that contains the given clock on.
func (l *StateSpans) since(clock int) StateSpans {
	from, end := l.last.From, len(l.packed)
	for from > clock && end > 0 {
		begin := end - 1
		for begin > 0 && l.packed[begin-1] >= 0x80 { // the byte belongs to the same number
			begin--
		}
		v, _ := binary.Uvarint(l.packed[begin:end])
		from, end = from-int(v>>2), begin
	}
	return StateSpans{from: from, packed: l.packed[end:], last: l.last}
}

// keep makes the engine record what the options ask for: everything (Options.Record), or only the layers' states
// (Options.Layers).
func (e *engine) keep(opt Options) {
	r := &RunRecord{Layers: make([]StateSpans, len(e.workers)), wanted: opt.Layers}
	e.trace.Record = r
	for i, l := range e.workers {
		l.log = &r.Layers[i]
	}
	if !opt.Record {
		return
	}
	e.stretch.over, e.drift.over, e.every, r.wanted = true, true, true, 0
	r.Streams = make([]WordClocks, len(e.streams))
	for i, s := range e.streams {
		s.log = &r.Streams[i]
	}
}

// whole reports whether the record has all frames that are wanted. It is true if there is no record.
func (r *RunRecord) whole() bool { return r == nil || len(r.ends) >= r.wanted }

// ended records that a frame is finished.
func (r *RunRecord) ended(e *engine) {
	if r.whole() {
		return
	}
	at := end{clock: e.clock()}
	for _, l := range e.workers {
		l.log.record(StateBusy, l.at+1)
		at.layers = append(at.layers, l.at+1)
	}
	r.add(at, e)
}

// repeats adds the frames of the steady state p to the record, as many times as times says, but not more frames than
// are wanted.
func (r *RunRecord) repeats(e *engine, p SteadyState, times int) {
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

// add adds the end of a frame. After the last frame that is wanted, it ends the logs of all layers.
func (r *RunRecord) add(at end, e *engine) {
	if r.ends = append(r.ends, at); r.whole() {
		for _, l := range e.workers {
			l.log = nil
		}
	}
}

// TraceOfFirstFrames returns the trace of the first frames of a run, with the data that WriteTimelineSVG needs. The run
// must have had Options.Layers. It returns nil if frames is below 1, if the run recorded fewer frames, or after a run
// with Options.Record.
func (t *RunTrace) TraceOfFirstFrames(frames int) *RunTrace {
	if t.Record == nil || frames < 1 || len(t.Record.ends) < frames {
		return nil
	}
	last := t.Record.ends[frames-1]
	layers := slices.Clone(t.Record.Layers)
	for i := range layers {
		layers[i].end = last.layers[i]
	}
	return &RunTrace{Start: t.Start, Cycles: last.clock, Frames: t.Frames[:frames], Record: &RunRecord{Layers: layers}}
}

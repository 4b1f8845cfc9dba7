package rtlsim

import (
	"math/bits"
	"slices"
	"sort"

	"hlsgen/internal/dataflow"
)

// States also recur within a frame, for example in row after row of an image. Here a state is the progress of all
// tasks between two sweeps. It consists of numbers of words and iterations, with their clocks. It recurs against an
// earlier state of the same frame if:
//
//  - every worker has not moved, or has gone over whole repetitions of one run of its loop;
//  - every stream has not moved; or it holds as many words as before and some have passed; or it was only read, and
//    all words read had arrived when its reader began;
//  - all clocks that still matter to the tasks that moved are later by the same number.
//
// Then the same can happen again, later by the same number of clocks, as long as these runs have repetitions left
// and the host has words of the frame left: the equations and their right sides are the same. A task that has not
// moved shares no stream with a task that has, and stays as it is. Nothing is left out if streams are recorded or
// the host stalls at random.

// A stretch looks for repetitions within a frame. It compares each state with two marks of earlier states. The mark of
// far is replaced after 1, 2, 4, 8 ... sweeps of the frame and finds long repetitions. The mark of near begins anew
// after each repetition and finds short ones.
type stretch struct {
	over   bool // nothing may be left out
	rests  bool // nothing may be left out in this frame
	far    rung
	near   rung
	words  int      // words read when the last mark was made, or before the frame
	clocks []int    // memory to use again
	flown  []uint64 // memory to use again
}

// A rung is a mark of an earlier state, and the number of sweeps since the rung began.
type rung struct {
	sweeps int
	made   bool
	mark   mark
}

// A mark holds how far an engine's layers, streams and host had come between two sweeps.
type mark struct {
	workers []workerMark
	streams []streamMark
	sources []hostMark
	sinks   []hostMark
	apart   [2]int // two workers whose clocks had different shifts in the last comparison
}

type workerMark struct {
	at, frame                int
	walk                     dataflow.LoopWalker
	started, written, passed int
	clocks                   []int
	flown                    []uint64
	count                    NodeStateClocks
}

type streamMark struct {
	written, read int
	clocks        []int
	empty, full   int
	tight, host   int
}

type hostMark struct{ frame, word, free int }

// begin prepares the stretch for a new frame: it forgets all marks.
func (f *stretch) begin(e *engine) {
	for _, r := range []*rung{&f.near, &f.far} {
		r.sweeps, r.made = 0, false
	}
	f.words, _ = e.stretch.moved(e)
}

// repeat leaves out repetitions within a frame. It is called after each sweep.
func (e *engine) repeat() {
	f := &e.stretch
	if f.over || f.rests {
		return
	}
	for _, r := range []*rung{&f.near, &f.far} {
		if !r.made {
			continue
		}
		if clocks, times := e.since(&r.mark); times > 0 {
			e.follow(&r.mark, clocks, times)
			f.near.sweeps, f.near.made = 0, false
			break
		}
	}
	same := f.near.sweeps == f.far.sweeps // a single mark is enough
	f.far.step(e, true)
	f.near.step(e, !same)
}

// step counts a sweep, and replaces the rung's mark if its time has come. A mark holds the clocks of all words under
// way. It is made only after about as many words have moved; otherwise it would take longer than these if FIFOs hold
// whole frames.
func (r *rung) step(e *engine, marks bool) {
	const few = 1 << 12 // clocks; so few cost little
	if r.sweeps++; r.sweeps&(r.sweeps-1) != 0 || !marks {
		return
	}
	f := &e.stretch
	if read, state := f.moved(e); state <= few+read-f.words {
		e.note(&r.mark)
		r.made, f.words = true, read
	}
}

// moved returns the number of words read so far, and the number of word clocks that still matter or are kept.
func (*stretch) moved(e *engine) (read, state int) {
	for _, s := range e.streams {
		read += s.read
		state += s.written - s.kept
	}
	return read, state
}

// note sets the mark m to how far the engine has come.
func (e *engine) note(m *mark) {
	if m.workers == nil {
		*m = mark{make([]workerMark, len(e.workers)), make([]streamMark, len(e.streams)),
			make([]hostMark, len(e.sources)), make([]hostMark, len(e.sinks)), [2]int{}}
	}
	for i, k := range e.workers {
		was := &m.workers[i]
		was.at, was.frame, was.count = k.at, k.frame, *k.count
		was.walk.MoveTo(k.walk)
		if p := k.pipe; p != nil {
			was.started, was.written, was.passed = p.started, p.written, p.passed
			was.clocks, was.flown = p.clocks(was.clocks[:0], k.at), p.flown(was.flown[:0])
		}
	}
	for i, s := range e.streams {
		was := &m.streams[i]
		was.written, was.read, was.empty, was.full = s.written, s.read, s.empty, s.full
		was.tight, was.host, was.clocks = s.tight, s.host.Clocks, s.clocks(was.clocks[:0])
	}
	for i, s := range e.sources {
		m.sources[i] = hostMark{s.frame, s.word, s.gate.free}
	}
	for i, k := range e.sinks {
		m.sinks[i] = hostMark{k.frame, k.word, k.gate.free}
	}
}

// since compares the engine's state with a mark. If everything that moved is later by the same number of clocks, it
// returns that number and how often the repetition can follow. Otherwise, or if that saves too little, it returns 0
// times.
func (e *engine) since(m *mark) (clocks, times int) {
	moved := func(i int) int { return e.workers[i].at - m.workers[i].at }
	if a, b := moved(m.apart[0]), moved(m.apart[1]); a != b && a != 0 && b != 0 {
		return 0, 0 // most comparisons end here
	}
	first := 0
	for i := range e.workers {
		switch later := moved(i); {
		case later == 0:
		case clocks == 0:
			clocks, first = later, i
		case later != clocks:
			m.apart = [2]int{first, i}
			return 0, 0
		}
	}
	if clocks == 0 {
		return 0, 0
	}
	for i, s := range e.streams {
		was := &m.streams[i]
		if s.written-s.read != was.written-was.read &&
			(s.written != was.written || s.taken+s.delay > s.readyThen(e, m)) {
			return 0, 0
		}
	}
	for i, k := range e.workers {
		if !e.stretch.worker(k, &m.workers[i], clocks) {
			return 0, 0
		}
	}
	for i, s := range e.sources {
		if was := m.sources[i]; s.frame != was.frame || s.word != was.word &&
			(was.word == 0 || s.gate.free-was.free != clocks) {
			return 0, 0
		}
	}
	for i, k := range e.sinks {
		if was := m.sinks[i]; k.frame != was.frame || k.word != was.word && k.gate.free-was.free != clocks {
			return 0, 0
		}
	}
	if times = e.fits(m); times == 0 {
		return 0, 0
	}
	for i, s := range e.streams {
		if !e.stretch.stream(s, &m.streams[i], clocks) {
			return 0, 0
		}
	}
	return clocks, times
}

// ready returns the first clock in which the reader of the stream could take a word. readyThen returns that clock at
// the time of a mark.
func (s *stream) ready(e *engine) int {
	if i := int(s.reader) - len(e.sources); i < len(e.workers) {
		return e.workers[i].at + 1
	}
	return e.sinks[int(s.reader)-len(e.sources)-len(e.workers)].gate.free
}

func (s *stream) readyThen(e *engine, m *mark) int {
	if i := int(s.reader) - len(e.sources); i < len(e.workers) {
		return m.workers[i].at + 1
	}
	return m.sinks[int(s.reader)-len(e.sources)-len(e.workers)].free
}

// drains reports whether the stream was read but not written since the mark was.
func (s *stream) drains(was *streamMark) bool { return s.written == was.written && s.read > was.read }

// there returns how many words of the stream are visible in the clock ready.
func (s *stream) there(ready int) int {
	return sort.Search(s.written-s.read, func(i int) bool { return s.due.of(s.read+i) > ready })
}

// drain reads the last words words of the stream again, times times, at the same distances. Each repetition is later
// than the one before by clocks clocks.
func (s *stream) drain(words, times, clocks int) {
	for range times * words {
		s.taken = s.due.of(s.read) - s.delay
		s.fill()
		s.leave(s.reads.of(s.read-words) + clocks)
	}
}

// stream reports whether the stream s was not written since the mark was, or has the same clocks, later by clocks.
func (f *stretch) stream(s *stream, was *streamMark, clocks int) bool {
	if s.written == was.written {
		return true
	}
	f.clocks = s.clocks(f.clocks[:0])
	return later(f.clocks, was.clocks, clocks)
}

// worker reports whether the layer k has not moved since the mark was, or has the same clocks, later by clocks.
func (f *stretch) worker(k *worker, was *workerMark, clocks int) bool {
	way, ok := k.walk.StretchSince(&was.walk)
	if !ok || k.frame != was.frame {
		return false
	}
	p := k.pipe
	if way.IsEmpty() {
		return k.at == was.at && (p == nil || p.started == was.started && p.written == was.written &&
			p.passed == was.passed)
	}
	if k.at-was.at != clocks || was.at < was.frame*k.pace-k.early-1 {
		return false
	}
	if p == nil {
		return true
	}
	f.clocks, f.flown = p.clocks(f.clocks[:0], k.at), p.flown(f.flown[:0])
	return p.started-p.written == was.started-was.written && slices.Equal(f.flown, was.flown) &&
		later(f.clocks, was.clocks, clocks)
}

// clocks appends the clocks that matter to later writes and reads of the stream to list.
func (s *stream) clocks(list []int) []int {
	s.forget()
	for k := s.kept; k < s.read; k++ {
		list = append(list, s.reads.of(k))
	}
	for k := s.read; k < s.written; k++ {
		list = append(list, s.due.of(k))
	}
	return list
}

// clocks appends the clocks that matter after an iteration that started in clock at to list.
func (p *pipeline) clocks(list []int, at int) []int {
	list = append(list, max(p.free, at))
	for n := p.passed; n < p.started; n++ {
		f := p.at(n)
		if list = append(list, f.move+p.past); n >= p.written {
			continue
		}
		list = append(list, f.to)
		for m := f.ports; m != 0; m &= m - 1 {
			list = append(list, max(p.rooms(n)[bits.TrailingZeros64(m)], at))
		}
	}
	return list
}

// flown appends to list, for each iteration under way, the set of outputs that it writes.
func (p *pipeline) flown(list []uint64) []uint64 {
	for n := p.passed; n < p.started; n++ {
		list = append(list, p.at(n).ports)
	}
	return list
}

// later reports whether each clock in now is the one in was plus clocks.
func later(now, was []int, clocks int) bool {
	return slices.EqualFunc(now, was, func(a, b int) bool { return a-b == clocks })
}

// fits returns how often the repetition since the mark m can happen again within the frame. The runs of loops and the
// host's words limit it. It returns 0 if running the repetitions takes less time than skipping them.
func (e *engine) fits(m *mark) int {
	times := never
	for i, k := range e.workers {
		if way, _ := k.walk.StretchSince(&m.workers[i].walk); !way.IsEmpty() {
			times = min(times, way.RepeatsLeft())
		}
	}
	for i, s := range e.streams {
		if was := &m.streams[i]; s.drains(was) {
			times = min(times, s.there(s.ready(e))/(s.read-was.read))
		}
	}
	host := func(word int, was hostMark, s *stream) {
		if words := word - was.word; words > 0 {
			times = min(times, (s.port.Words-1-word)/words)
		}
	}
	for i, s := range e.sources {
		host(s.word, m.sources[i], s.stream)
	}
	for i, k := range e.sinks {
		host(k.word, m.sinks[i], k.stream)
	}
	words, state := 0, 8*len(e.workers)
	for i, s := range e.streams {
		words += s.read - m.streams[i].read
		state += len(s.reads) + len(s.due)
	}
	if times*words <= state {
		return 0
	}
	return times
}

// follow skips times repetitions of what happened since the mark m, each of which takes clocks clocks.
func (e *engine) follow(m *mark, clocks, times int) {
	for i, s := range e.streams {
		if was := &m.streams[i]; s.drains(was) {
			s.drain(s.read-was.read, times, clocks)
		}
	}
	clocks *= times
	for i, k := range e.workers {
		was := &m.workers[i]
		way, _ := k.walk.StretchSince(&was.walk)
		if way.IsEmpty() {
			continue
		}
		once := *k.count
		once.add(was.count, -1)
		k.count.add(once, times)
		k.walk.RepeatStretch(way, times)
		if k.log != nil {
			k.again(k.at-was.at, times)
		}
		k.at += clocks
		if k.pipe != nil {
			k.pipe.skip(clocks)
		}
	}
	for i, s := range e.streams {
		if was := &m.streams[i]; s.written > was.written {
			s.full += times * (s.full - was.full)
			s.empty += times * (s.empty - was.empty)
			s.tight += times * (s.tight - was.tight)
			s.host.Clocks += times * (s.host.Clocks - was.host)
			s.skip(clocks)
		}
	}
	for i, s := range e.sources {
		if words := s.word - m.sources[i].word; words > 0 {
			s.word += times * words
			s.gate.free += clocks
		}
	}
	for i, k := range e.sinks {
		if words := k.word - m.sinks[i].word; words > 0 {
			k.word += times * words
			k.at += clocks
			k.gate.free += clocks
		}
	}
	e.agenda.wakeAll(e.tasks)
}

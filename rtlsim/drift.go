package rtlsim

import (
	"math/bits"
	"slices"
)

// Some runs never return to an earlier state. With a host at full speed, the layers in front of the slowest one may
// take a frame every 3600 clocks, and those behind it every 4608 clocks. The FIFO between them fills, perhaps for a
// hundred frames. No state is then like an earlier one, but each frame is like the last one: each layer does the
// same, later by its own number of clocks. The simulator copies such frames instead of running them. It adds a
// frame of words to the FIFO that fills, and makes all clocks later.
//
// The rule is as follows. Each clock of the state between frames (see recur) belongs to a layer or to the host.
// Suppose that each clock is later than a frame before by the shift of its owner. The engine computes the next
// frame from these clocks by maxima and comparisons. A comparison between clocks of the same shift has the same
// result. Other comparisons occur only at streams whose writer is faster than their reader; these streams fill. A
// frame is free if none of these comparisons mattered: no reader waited for a word there, and more room would not
// have let any word take its place sooner. If a free frame lies between two states that are alike up to the shifts,
// it is a copy. The next frame is then the same, later by the shifts, as long as it is free too:
//
//  - Words are there when their reader comes for them. They were in the last frame, and they come earlier, relative
//    to the reader, from frame to frame.
//  - There is room for a limited number of frames. Word j of frame f takes its place in clock w. It needs the place
//    that word k of frame f - q left in clock r. In the copies t frames later these clocks are w + t W and r + t R,
//    if frame f - q is a copy. So there is room while w + t W > r + t R. The reads of frames before the copies were
//    over before the writing of the next frame begins.
//
// Copying a frame moves the words of the FIFOs that fill, which then hold more words. The other FIFOs hold as many
// words as in the last frame.

// A drift finds frames that are copies of the frame before, in a run that does not return to an earlier state.
type drift struct {
	over     bool // every frame must be run
	was, now pause
	clocks   []int // per task: shift of the last frame against the frame before
	free     int   // number of successive frames that are copies
	since    []int // per stream: clock of the last read before these frames
	whole    bool  // the next frame must be run in full, because all its words have to be seen
	left     int   // frames that may be copied
	asked    bool  // whether settled is going to be asked
	settles  bool  // frames may have settled; the next frame must be run in full, because its words have to be seen
}

// A pause is the state of an engine between two frames.
type pause struct {
	workers []held
	sources []held
	sinks   []held
	streams []filled
	counts  counts
}

// A held is the clock of a layer, or of an end of the host, between two frames. The rest of its state is relative to
// that clock.
type held struct {
	at    int
	state []int
}

// A filled is the state of a stream between two frames. It has the clocks of its last word, and the reads that still
// matter relative to the last read.
type filled struct {
	taken, read int
	reads       []int
	words       int // words read, without those skipped within a frame (see stretch)
	tight       int
	hungry      int // in the frame before
	late        int
}

// follows copies one more frame if it is known to be a copy of the last one; otherwise it returns false.
func (d *drift) follows(e *engine) bool {
	if d.left == 0 {
		return false
	}
	d.left--
	d.move(e)
	d.was, d.now = d.now, d.was
	d.now.note(e)
	return true
}

// alike is called after a frame that was run. It sets how many of the following frames may be copied.
func (d *drift) alike(e *engine) {
	if d.over && !d.asked {
		return
	}
	d.was, d.now = d.now, d.was
	if d.now.note(e); d.over {
		return
	}
	if d.was.workers == nil {
		least := paces(e)
		for _, s := range e.streams {
			if 8*s.depth >= s.port.Words || least[s.writer] < least[s.reader] { // it may fill for long
				s.widen()
			}
		}
		return
	}
	same := d.later()
	d.whole = false
	if !d.moved(e) || !d.undecided(e) {
		d.free = 0
		return
	}
	if d.free == 0 || !same {
		d.free, d.since = 0, d.since[:0]
		for _, s := range d.was.streams {
			d.since = append(d.since, s.read)
		}
	}
	d.free++
	if d.seen(e) {
		d.left = d.moves(e)
	}
}

// paces returns, per task of the engine, a lower bound of the clocks per frame. It is that of the slowest of the task
// itself and the tasks that feed it. All are 0 if the host is paced.
func paces(e *engine) []int {
	least := make([]int, e.tasks)
	if len(e.sources) == 0 || e.sources[0].pace > 0 {
		return least
	}
	for i, k := range e.workers {
		t := len(e.sources) + i
		least[t] = e.loops[k.node].IterationsPerFrame()
		for _, s := range ports(nil, k.in, k.joined.Read) {
			least[t] = max(least[t], least[s.writer])
		}
	}
	for i, k := range e.sinks {
		least[len(e.sources)+len(e.workers)+i] = least[k.stream.writer]
	}
	return least
}

// note records in p the state of an engine between two frames.
func (p *pause) note(e *engine) {
	if p.workers == nil {
		p.workers, p.streams = make([]held, len(e.workers)), make([]filled, len(e.streams))
		p.sources, p.sinks = make([]held, len(e.sources)), make([]held, len(e.sinks))
	}
	for i, k := range e.workers {
		h := &p.workers[i]
		h.at, h.state = k.at, h.state[:0]
		if k.pipe != nil {
			h.state = k.pipe.state(h.state, k.at)
		}
	}
	for i, s := range e.sources {
		p.sources[i].at = s.gate.free
	}
	for i, k := range e.sinks {
		p.sinks[i].at = k.gate.free
	}
	for i, s := range e.streams {
		s.forget()
		h := &p.streams[i]
		h.taken, h.read, h.reads = s.taken, s.reads.of(s.read-1), h.reads[:0]
		h.words, h.tight, h.hungry, h.late = s.read, s.tight, s.hungry, s.late
		s.hungry, s.late = -1, -1
		for k := s.kept; k < s.read; k++ {
			h.reads = append(h.reads, s.reads.of(k)-h.read)
		}
	}
	p.counts = e.counts()
}

// later sets by how many clocks each task was later in the last frame than in the frame before. It returns true if
// these numbers are the same as one frame ago.
func (d *drift) later() (same bool) {
	var clocks []int
	for _, side := range []struct{ was, now []held }{{d.was.sources, d.now.sources}, {d.was.workers, d.now.workers},
		{d.was.sinks, d.now.sinks}} { // in the order of the tasks
		for i, h := range side.now {
			clocks = append(clocks, h.at-side.was[i].at)
		}
	}
	same = slices.Equal(clocks, d.clocks)
	d.clocks = clocks
	return same
}

// moved reports whether the last frame is like the frame before, except that everything of a task is later by the shift
// of that task.
func (d *drift) moved(e *engine) bool {
	was, now, clocks := &d.was, &d.now, d.clocks
	for _, s := range e.sources {
		if !paced(s.pace, clocks[0], s.frame*s.pace-s.gate.free) {
			return false
		}
		clocks = clocks[1:]
	}
	for i, k := range e.workers {
		if !slices.Equal(was.workers[i].state, now.workers[i].state) ||
			!paced(k.pace, clocks[0], k.frame*k.pace-k.early-k.at-1) {
			return false
		}
		clocks = clocks[1:]
	}
	for range e.sinks {
		if clocks[0] != d.clocks[e.tasks-1] {
			return false // the last word of a frame no longer comes from the same output
		}
		clocks = clocks[1:]
	}
	for i, s := range e.streams {
		w, r := d.clocks[s.writer], d.clocks[s.reader]
		was, now := &was.streams[i], &now.streams[i]
		if now.taken-was.taken != w || now.read-was.read != r || w > r ||
			w == r && !slices.Equal(was.reads, now.reads) {
			return false
		}
	}
	return true
}

// paced reports whether frames that follow each other after the given clocks keep doing so. No frame begins before
// its turn, for which the next frame would wait for wait clocks. If frames wait less and less, the last frame must
// not have waited. Otherwise its wait would wrongly count as a wait for words or room in the frames that follow.
func paced(pace, clocks, wait int) bool {
	return pace == 0 || clocks == pace || clocks > pace && wait+clocks-pace <= 0
}

// undecided reports whether, in the last frame, no two tasks that take different clocks per frame waited for each
// other.
func (d *drift) undecided(e *engine) bool {
	was, now := &d.was, &d.now
	for i, s := range e.streams {
		if d.clocks[s.writer] == d.clocks[s.reader] {
			continue
		}
		waited := now.counts.empty[i] - was.counts.empty[i]
		if e.reader[s.id] < 0 {
			waited = now.counts.host[i] - was.counts.host[i]
		}
		if waited > 0 || now.counts.full[i] > was.counts.full[i] || now.streams[i].tight > was.streams[i].tight {
			return false
		}
	}
	return true
}

// seen reports whether the clocks of all words of the last frame are known in the streams that fill. If not, the
// engine runs the next frame in full.
func (d *drift) seen(e *engine) bool {
	for i, s := range e.streams {
		words := s.port.Words
		if d.clocks[s.writer] == d.clocks[s.reader] || s.whole >= 0 && s.read-words >= s.whole &&
			d.now.streams[i].words-d.was.streams[i].words == words {
			continue
		}
		s.widen()
		d.whole = true
	}
	return !d.whole
}

// moves returns how many frames may be copied from now on.
func (d *drift) moves(e *engine) int {
	times, size := e.frames-e.goal, 0
	for i, s := range e.streams {
		w, r := d.clocks[s.writer], d.clocks[s.reader]
		if w == r {
			size += len(d.now.streams[i].reads)
			continue
		}
		size += min(s.depth, e.frames*s.port.Words) + s.port.Words
		times = min(times, d.lasts(e, i))
	}
	if size > longest/2 {
		return 0
	}
	return max(0, times)
}

// lasts returns for how many frames there is room in stream i, which fills.
func (d *drift) lasts(e *engine, i int) int {
	s := e.streams[i]
	w, r, words := d.clocks[s.writer], d.clocks[s.reader], s.port.Words
	first := s.read - words
	taken := func(j int) int { return s.due.of(first+j) - s.delay }
	if ahead := d.ahead(e, s); ahead > 0 {
		// A lack of room on another stream may delay the writer. Then this stream counts as tight too, if it has no
		// room when the next iteration could begin. That is no earlier than after the writing of as many words as
		// may be under way. So there must be room for a word when the word that many before it takes its place.
		if ahead > words || d.free == 1 {
			return 0
		}
		taken = func(j int) int {
			if j < ahead {
				return s.due.of(first+j-ahead+words) - s.delay - w
			}
			return s.due.of(first+j-ahead) - s.delay
		}
	}
	if d.since[i] >= taken(0)+w {
		return 0
	}
	least := never
	for j := range words {
		back := (max(0, s.depth-j) + words - 1) / words // frames
		left := s.reads.of(first+j-s.depth+back*words) - back*r
		least = min(least, taken(j)-left-1)
	}
	return least / (r - w)
}

// ahead returns how many words of a stream may be under way when its writer begins the next iteration. It returns 0
// if the writer writes no other stream.
func (d *drift) ahead(e *engine, s *stream) int {
	i := int(s.writer) - len(e.sources)
	if i < 0 {
		return 0
	}
	k := e.workers[i]
	if bits.OnesCount64(k.joined.Write) == 1 {
		return 0
	}
	return max(1, e.loops[k.node].Latency)
}

// move copies the last frame: it makes everything later by as many clocks as the frame took.
func (d *drift) move(e *engine) {
	for _, s := range e.streams {
		w, r := d.clocks[s.writer], d.clocks[s.reader]
		if w == r {
			s.skip(w)
			continue
		}
		for range s.port.Words {
			last := s.read - s.port.Words
			s.due.set(s.read, s.due.of(last)+w)
			s.take(s.reads.of(last) + r)
		}
		s.written = s.read
	}
	e.add(e.counts().minus(d.was.counts), 1)
	clocks := d.clocks
	for _, s := range e.sources {
		s.gate.free += clocks[0]
		s.begins = append(s.begins, s.begins[s.frame-1]+clocks[0])
		s.frame++
		clocks = clocks[1:]
	}
	for _, k := range e.workers {
		if k.log != nil {
			k.again(clocks[0], 1)
		}
		k.at += clocks[0]
		k.frame++
		if k.pipe != nil {
			k.pipe.skip(clocks[0])
		}
		clocks = clocks[1:]
	}
	for i, k := range e.sinks {
		k.gate.free += clocks[i]
		k.at += clocks[i]
		f := e.trace.Frames[k.frame-1]
		e.trace.Frames[k.frame] = FrameOutputClocks{f.First + clocks[i], f.Last + clocks[i]}
		k.frame++
	}
}

package rtlsim

import (
	"math/bits"
	"slices"
)

// Not every run comes back to a state. With a host at full speed the layers in front of the slowest one may take a
// frame every 3600 clocks and those behind it one every 4608, while a FIFO between them fills, a hundred frames long.
// Then no state is like another, and still each frame is like the last one: every layer does the same, by its own
// number of clocks later. Such frames are not run but moved: a frame of the FIFO's words is added, and all clocks are
// later.
//
// Say that each clock of the state between frames (see recur) is later than a frame before by the clocks of who has it:
// a layer, or the host. The next frame is computed of these by maxima and comparisons. Where both sides belong to those
// that are later by the same, they come out the same. The others are at streams whose writer is faster than its reader
// (filling). A frame is free where nothing was decided at these: no reader waited for a word, and no word would have
// taken its place sooner if there had been more room. A frame that is free, and between two states that are so alike,
// is a copy: the next one is the same, by each one's clocks later, as long as it is free, too:
//
//   - Words are there when their reader comes for them, for they were in the last frame, and come earlier for it from
//     frame to frame.
//   - There is room as long as it lasts. Word j of frame f takes its place in clock w, and needs the one that word k of
//     frame f - q left in clock r. In the copies t frames later these are w + t W and r + t R, if frame f - q is one,
//     and so there is room while w + t W > r + t R. Reads of frames before the copies were over when the next frame
//     begins to be written.
//
// What is moved are the words of the FIFOs that fill, which hold more from frame to frame; the others hold what they
// held in the last frame.

// A drift is how frames follow each other without coming back to a state.
type drift struct {
	over     bool // every frame is to be run
	was, now pause
	clocks   []int // per task: by how many the last frame was later
	free     int   // frames in turn that are copies
	since    []int // per stream: clock of the last read before these
	whole    bool  // nothing is to be left out of the next frame, whose words have to be seen
	left     int   // frames that may be moved
	asked    bool  // whether frames have settled
	settles  bool  // that may be, and nothing is to be left out of the next one, whose words have to be seen
}

// A pause is an engine between two frames.
type pause struct {
	workers []held
	sources []held
	sinks   []held
	streams []filled
	counts  counts
}

// A held is the clock of a layer or an end of the host, and what else matters of it, relative to that clock.
type held struct {
	at    int
	state []int
}

// A filled is the last word of a stream, and the reads that still matter, relative to the last one.
type filled struct {
	taken, read int
	reads       []int
	words       int // that were read, but for those that were gone over within a frame (see stretch)
	tight       int
	hungry      int // in the frame before
	late        int
}

// follows moves one more frame, if it is known to be like the last one.
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

// alike looks after a frame that was run how many may be moved.
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

// paces returns, per task, the clocks that a frame takes the slowest of it and the tasks that its words come from. They
// are 0 where the host is paced.
func paces(e *engine) []int {
	least := make([]int, e.tasks)
	if len(e.sources) == 0 || e.sources[0].pace > 0 {
		return least
	}
	for i, k := range e.workers {
		t := len(e.sources) + i
		least[t] = e.loops[k.node].Iterations()
		for _, s := range ports(nil, k.in, k.joined.Read) {
			least[t] = max(least[t], least[s.writer])
		}
	}
	for i, k := range e.sinks {
		least[len(e.sources)+len(e.workers)+i] = least[k.stream.writer]
	}
	return least
}

// note is where an engine is now.
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

// later finds by how many clocks the last frame was later than the one before, and reports whether that one was, too.
func (d *drift) later() (same bool) {
	var clocks []int
	for _, side := range []struct{ was, now []held }{{d.was.sources, d.now.sources}, {d.was.workers, d.now.workers},
		{d.was.sinks, d.now.sinks}} { // as they are enlisted
		for i, h := range side.now {
			clocks = append(clocks, h.at-side.was[i].at)
		}
	}
	same = slices.Equal(clocks, d.clocks)
	d.clocks = clocks
	return same
}

// moved reports whether the last frame is like the one before, but that each has its own clocks later.
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
			return false // the last word of a frame is no longer the same one's
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

// paced reports whether frames that come so many clocks after each other keep coming so where none begins before its
// turn, for which the next one would wait so many clocks. Where they wait less and less, the last one must not have
// waited: what it waited for its turn is counted as a wait for words or room of those that follow.
func paced(pace, clocks, wait int) bool {
	return pace == 0 || clocks == pace || clocks > pace && wait+clocks-pace <= 0
}

// undecided reports whether the last frame was free.
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

// seen reports whether the clocks of all words of the last frame are known where streams fill; else they are of the
// next one.
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

// moves is how many frames may be moved.
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

// lasts is for how many frames there is room in a stream that fills.
func (d *drift) lasts(e *engine, i int) int {
	s := e.streams[i]
	w, r, words := d.clocks[s.writer], d.clocks[s.reader], s.port.Words
	first := s.read - words
	taken := func(j int) int { return s.due.of(first+j) - s.delay }
	if ahead := d.ahead(e, s); ahead > 0 {
		// What is written elsewhere may hold up the writer, and then this stream is counted as well, if there is no
		// room yet when the next iteration could begin. That is not before as many words as may be under way were
		// written: there has to be room for a word when the one so many before it takes its place.
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

// ahead is how many words of a stream may be under way when its writer begins the next iteration, if it also writes
// other streams; else 0.
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

// move goes over a frame that is like the last one.
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
		e.trace.Frames[k.frame] = Frame{f.First + clocks[i], f.Last + clocks[i]}
		k.frame++
	}
}

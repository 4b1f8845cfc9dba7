package rtlsim

import (
	"math/bits"

	"hlsgen/internal/dataflow"
)

// A stream is a FIFO behind the pipeline of the layer that writes it, seen as the clocks in which its words move. Word
// k takes a place of the FIFO in clock w(k) and is visible from clock w(k)+delay on. It is read in clock r(k), which
// leaves its place free from clock r(k)+1 on. There are depth places, so that
//
//	w(k) > r(k-depth)
//
// A pipeline that freezes takes the place when it writes, one clock before the word is visible. With credits the place
// is taken when the iteration starts, a latency before. The host's words are visible when they are written.
type stream struct {
	depth, delay  int  // words of the FIFO; clocks from the taking of a place to the word's arrival
	written, read int  // words so far
	due           ring // when the words that are written and not read are visible
	reads         ring // of the words read, as far back as they can hold up anything
	kept          int  // the first of these
	whole         int  // the rings keep clocks for as long as a frame takes from this word on; -1 where they need not
	taken         int  // clock in which the last word read took its place
	gone          int  // words read before that, at least; exactly until high is depth
	high          int  // most places taken in a clock
	empty, full   int  // clocks in which the reader waited for a word, the writer for room
	tight         int  // words that could not have taken their place a clock sooner for want of room
	hungry, late  int  // this frame, or -1: the first word waited for, and the first that room held up, or one before

	agenda         agenda
	writer, reader task
	wants          bool // the reader stands still until a word is written
	blocks         bool // the writer stands still until a word is read

	id   int
	port dataflow.Port
	host HostWait
	log  *Moved // nil without a record
}

// newStreams is streams at rest, in one piece of memory: which is read and written where the next one is.
func newStreams(list []int, p *plan, depth []int) []*stream {
	const words = 16
	all, clocks := make([]stream, len(list)), make(ring, 2*words*len(list))
	streams := make([]*stream, len(list))
	for i, s := range list {
		all[i] = stream{id: s, port: p.ports[s], depth: depth[s], delay: p.delay[s], taken: -1, whole: -1, hungry: -1,
			late: -1, writer: nobody, reader: nobody, due: clocks[:words:words], reads: clocks[words:][:words:words]}
		streams[i], clocks = &all[i], clocks[2*words:]
	}
	return streams
}

// arrival is the clock from which on the next word to read is visible; ok is false while that word is not written.
func (s *stream) arrival() (at int, ok bool) {
	if s.read == s.written {
		return 0, false
	}
	return s.due.of(s.read), true
}

// take reads the next word.
func (s *stream) take(at int) {
	s.taken = s.due.of(s.read) - s.delay
	if s.high < s.depth {
		s.fill()
	}
	if s.log != nil {
		s.logRead(at)
	}
	s.leave(at)
	if s.blocks {
		s.agenda.wake(s.writer)
		s.blocks = false
	}
}

// missed counts clocks in which the reader waited for the next word.
func (s *stream) missed(clocks int) {
	if s.empty += clocks; s.hungry < 0 {
		s.hungry = s.read
	}
}

// fill counts the places that were taken when the word that is read took its own.
func (s *stream) fill() {
	gone := max(s.gone, s.kept)
	for gone < s.read && s.reads.of(gone) < s.taken {
		gone++
	}
	s.gone = gone
	s.high = max(s.high, s.read+1-gone)
}

// leave notes when the next word leaves its place.
func (s *stream) leave(at int) {
	if s.read-s.kept == len(s.reads) {
		s.tidy()
	}
	s.reads.set(s.read, at)
	s.read++
}

// tidy makes room for the clock of one more read.
func (s *stream) tidy() {
	if s.forget(); 2*(s.read-s.kept) >= len(s.reads) {
		s.reads = s.reads.grown(2*len(s.reads), s.read)
	}
}

func (s *stream) logRead(at int) {
	s.log.Arrived = append(s.log.Arrived, s.taken+s.delay)
	s.log.Read = append(s.log.Read, at)
}

// room is the first clock in which the next word may take a place; ok is false while that is not known.
func (s *stream) room() (from int, ok bool) {
	k := s.written - s.depth
	switch {
	case k < s.kept:
		return 0, true
	case k >= s.read:
		return 0, false
	}
	return s.reads.of(k) + 1, true
}

// put gives the next word a place.
func (s *stream) put(at int) {
	if s.written-s.read == len(s.due) {
		s.due = s.due.grown(2*len(s.due), s.written)
	}
	s.due.set(s.written, at+s.delay)
	s.written++
	if s.log != nil {
		s.log.Written = append(s.log.Written, at)
	}
	if s.wants {
		s.agenda.wake(s.reader)
		s.wants = false
	}
}

// forget drops the reads that hold up nothing any more: words take places one after the other, so that what was read
// before the last one did holds up none of the next, and counts in no later high-water mark.
func (s *stream) forget() {
	for s.kept < s.read && s.reads.of(s.kept) <= s.taken {
		s.kept++
	}
}

// widen keeps the clocks of a whole frame from now on, where they do not yet.
func (s *stream) widen() {
	if s.whole < 0 {
		s.due, s.reads = s.due.grown(s.port.Words, s.written), s.reads.grown(s.port.Words, s.read)
		s.whole = s.read
	}
}

// skip moves all that by so many clocks.
func (s *stream) skip(clocks int) {
	s.taken += clocks
	for i := range s.reads {
		s.reads[i] += clocks
	}
	for i := range s.due {
		s.due[i] += clocks
	}
}

// A ring is clocks of the last words, by their numbers: as many as it has places, which is a power of two.
type ring []int

func (r ring) of(k int) int  { return r[k&(len(r)-1)] }
func (r ring) set(k, at int) { r[k&(len(r)-1)] = at }

// grown is a ring of so many places at least with the same clocks, which end before a number.
func (r ring) grown(places, end int) ring {
	bigger := make(ring, 1<<bits.Len(uint(max(places, len(r))-1)))
	for k := max(0, end-len(r)); k < end; k++ {
		bigger.set(k, r.of(k))
	}
	return bigger
}

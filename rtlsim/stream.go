package rtlsim

import (
	"math/bits"

	"hlsgen/internal/dataflow"
)

// A stream models a FIFO, together with the pipeline of the layer that writes it, by the clocks when its
// words move. Word k takes a place of the FIFO in clock w(k) and is visible from clock w(k)+delay on. It is
// read in clock r(k), and its place is free from clock r(k)+1 on. The FIFO has depth places, so
//
//	w(k) > r(k-depth)
//
// A pipeline that freezes takes the place when it writes, one clock before the word is visible. With
// credits the place is taken when the iteration starts, a latency before the word is visible. The host's
// words are visible in the clock when they are written.
type stream struct {
	depth, delay  int  // words of the FIFO; clocks from the word's place being taken to the word's arrival
	written, read int  // numbers of words so far
	due           ring // clocks when the words written but not yet read become visible
	reads         ring // clocks of past reads, as far back as they can still delay a write
	kept          int  // number of the first word in reads
	whole         int  // the rings keep a whole frame's clocks from this word on; -1 if they need not
	taken         int  // clock when the last word read took its place
	gone          int  // a lower bound of the words read before clock taken; exact until high is depth
	high          int  // the most places taken in any clock
	empty, full   int  // clocks that the reader waited for a word, and the writer for room
	tight         int  // words that waited for room, for at least one clock
	hungry, late  int  // this frame's first word that came late, and first (or earlier) that lacked room; -1: none

	agenda         agenda
	writer, reader task
	wants          bool // the reader stands still until a word is written
	blocks         bool // the writer stands still until a word is read

	id   int
	port dataflow.Port
	host HostWaitClocks
	log  *WordClocks // nil if nothing is recorded
}

// newStreams returns empty streams in one block of memory. Streams that are used together then lie close
// together.
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

// arrival returns the first clock in which the next word to read is visible. ok is false if that word is not written
// yet.
func (s *stream) arrival() (at int, ok bool) {
	if s.read == s.written {
		return 0, false
	}
	return s.due.of(s.read), true
}

// take reads the next word of the stream in clock at.
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

// missed counts the given clocks as clocks in which the reader waited for the next word.
func (s *stream) missed(clocks int) {
	if s.empty += clocks; s.hungry < 0 {
		s.hungry = s.read
	}
}

// fill updates the most words that the stream held, with the places that were taken when the word being read took its
// own place.
func (s *stream) fill() {
	gone := max(s.gone, s.kept)
	for gone < s.read && s.reads.of(gone) < s.taken {
		gone++
	}
	s.gone = gone
	s.high = max(s.high, s.read+1-gone)
}

// leave records that the next word leaves its place in clock at.
func (s *stream) leave(at int) {
	if s.read-s.kept == len(s.reads) {
		s.tidy()
	}
	s.reads.set(s.read, at)
	s.read++
}

// tidy makes room in s.reads for one more clock.
func (s *stream) tidy() {
	if s.forget(); 2*(s.read-s.kept) >= len(s.reads) {
		s.reads = s.reads.grown(2*len(s.reads), s.read)
	}
}

func (s *stream) logRead(at int) {
	s.log.Arrived = append(s.log.Arrived, s.taken+s.delay)
	s.log.Read = append(s.log.Read, at)
}

// room returns the first clock in which the next word may take a place. ok is false if that clock is not known yet.
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

// put writes the next word: it takes its place in the FIFO in clock at.
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

// forget drops past reads that can delay nothing any more. Words take places one after the other. So a read
// before the last word took its place delays no later word and affects no later high-water mark.
func (s *stream) forget() {
	for s.kept < s.read && s.reads.of(s.kept) <= s.taken {
		s.kept++
	}
}

// widen makes the stream keep the clocks of a whole frame from now on, unless it already does.
func (s *stream) widen() {
	if s.whole < 0 {
		s.due, s.reads = s.due.grown(s.port.Words, s.written), s.reads.grown(s.port.Words, s.read)
		s.whole = s.read
	}
}

// skip makes all clocks of the stream later by the given number of clocks.
func (s *stream) skip(clocks int) {
	s.taken += clocks
	for i := range s.reads {
		s.reads[i] += clocks
	}
	for i := range s.due {
		s.due[i] += clocks
	}
}

// A ring holds the clocks of a stream's latest words, by the word's number. Its length is a power of two.
type ring []int

func (r ring) of(k int) int  { return r[k&(len(r)-1)] }
func (r ring) set(k, at int) { r[k&(len(r)-1)] = at }

// grown returns a ring with at least the given number of places. It copies the clocks of the words before
// number end.
func (r ring) grown(places, end int) ring {
	bigger := make(ring, 1<<bits.Len(uint(max(places, len(r))-1)))
	for k := max(0, end-len(r)); k < end; k++ {
		bigger.set(k, r.of(k))
	}
	return bigger
}

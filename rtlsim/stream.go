package rtlsim

import "hlsgen/internal/dataflow"

// A stream is a FIFO behind the pipeline of the layer that writes it, seen as the clocks in which its words move. Word
// k takes a place of the FIFO in clock w(k) and is visible from clock w(k)+delay on. It is read in clock r(k), which
// leaves its place free from clock r(k)+1 on. There are depth places, so that
//
//	w(k) > r(k-depth)
//
// A pipeline that freezes takes the place when it writes, one clock before the word is visible. With credits the place
// is taken when the iteration starts, a latency before. The host's words are visible when they are written.
type stream struct {
	id    int
	port  dataflow.Port
	depth int // words of the FIFO
	delay int // clocks from the taking of a place to the word's arrival

	written, read int   // words so far
	due           clock // when the words that are written and not read are visible
	reads         clock // of the words read, as far back as they can hold up anything
	taken         int   // clock in which the last word read took its place
	gone          int   // words read before that

	high        int // most places taken in a clock
	empty, full int // clocks in which the reader waited for a word, the writer for room
	host        HostWait

	agenda         agenda
	writer, reader task
	wants          bool // the reader stands still until a word is written
	blocks         bool // the writer stands still until a word is read

	data *words // nil in a run without data
	log  *Moved // nil without a record
}

func newStream(id int, p *plan, depth int) *stream {
	return &stream{id: id, port: p.ports[id], depth: depth, delay: p.delay[id], taken: -1, writer: nobody,
		reader: nobody}
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
	for s.gone < s.read && (s.gone < s.reads.first || s.reads.of(s.gone) < s.taken) {
		s.gone++
	}
	s.high = max(s.high, s.read+1-s.gone)
	if s.log != nil {
		s.log.Arrived = append(s.log.Arrived, s.taken+s.delay)
		s.log.Read = append(s.log.Read, at)
	}
	s.leave(at)
	s.due.first++
	s.read++
	if s.blocks {
		s.blocks = false
		s.agenda.wake(s.writer)
	}
}

// leave notes when a word left its place.
func (s *stream) leave(at int) {
	if s.reads.full() {
		if s.forget(); 2*(s.reads.end-s.reads.first) >= len(s.reads.at) {
			s.reads.grow()
		}
	}
	s.reads.push(at)
}

// room is the first clock in which the next word may take a place; ok is false while that is not known.
func (s *stream) room() (from int, ok bool) {
	k := s.written - s.depth
	switch {
	case k < s.reads.first:
		return 0, true
	case k >= s.read:
		return 0, false
	}
	return s.reads.of(k) + 1, true
}

// put gives the next word a place.
func (s *stream) put(at int) {
	if s.due.full() {
		s.due.grow()
	}
	s.due.push(at + s.delay)
	if s.log != nil {
		s.log.Written = append(s.log.Written, at)
	}
	s.written++
	if s.wants {
		s.wants = false
		s.agenda.wake(s.reader)
	}
}

// forget drops the reads that hold up nothing any more: words take places one after the other, so that what was read
// before the last one did holds up none of the next, and counts in no later high-water mark.
func (s *stream) forget() {
	for s.reads.first < s.reads.end && s.reads.of(s.reads.first) <= s.taken {
		s.reads.first++
	}
}

// skip moves all that by so many clocks.
func (s *stream) skip(clocks int) {
	s.taken += clocks
	for i := range s.reads.at {
		s.reads.at[i] += clocks
	}
	for i := range s.due.at {
		s.due.at[i] += clocks
	}
}

// A clock is the clocks of the words from number first up to number end, in a ring.
type clock struct {
	at         []int
	first, end int
}

func (c *clock) of(k int) int { return c.at[k&(len(c.at)-1)] }
func (c *clock) full() bool   { return c.end-c.first == len(c.at) }

func (c *clock) push(at int) {
	c.at[c.end&(len(c.at)-1)] = at
	c.end++
}

func (c *clock) grow() {
	bigger := make([]int, max(8, 2*len(c.at)))
	for k := c.first; k < c.end; k++ {
		bigger[k&(len(bigger)-1)] = c.of(k)
	}
	c.at = bigger
}

package rtlsim

import (
	"math"

	"hlsgen/internal/dataflow"
)

// A stream is a FIFO behind the delay line of the layer that writes it, seen as the clocks in which its words move.
// Word k is written in clock w(k) and due at w(k)+latency. With r(k) for the clock in which it is read, it enters the
// FIFO in the clock
//
//	a(k) = max(due(k), a(k-1)+1, r(k-depth)+1)
//
// since words keep their order, one enters per clock, and a place that is freed in a clock is there in the next. It is
// read at a(k) or later, and written no earlier than r(k-depth-latency)+1, when FIFO and line together have room.
type stream struct {
	id       int
	port     dataflow.Port
	depth    int // words of the FIFO
	latency  int // of the line; 0 at an input of the host
	capacity int // words of FIFO and line together

	written, read int   // words so far
	due           clock // of the words written and not read
	reads         clock // of the words read, as far back as they can hold up anything
	wrote         int   // clock of the last word written
	arrived       int   // clock in which the last word read entered the FIFO
	arriving      int   // and the word that is looked at now
	gone          int   // words read before clock arrived

	high        int // most words in the FIFO in a clock, before any is read
	empty, full int // clocks in which the reader waited for a word, the writer for room

	agenda         agenda
	writer, reader task
	wants          bool // the reader stands still until a word is written
	blocks         bool // the writer stands still until a word is read

	data *words // nil in a run without data
	log  *Moved // nil without a record
}

func newStream(id int, p dataflow.Port, depth, latency int) *stream {
	return &stream{id: id, port: p, depth: depth, latency: latency, capacity: min(depth, math.MaxInt-latency) + latency,
		wrote: -1, arrived: -1, writer: nobody, reader: nobody}
}

// arrival is the clock in which the next word to read enters the FIFO; ok is false while that word is not written.
func (s *stream) arrival() (at int, ok bool) {
	if s.read == s.written {
		return 0, false
	}
	at = max(s.due.of(s.read), s.arrived+1)
	if k := s.read - s.depth; k >= s.reads.first {
		at = max(at, s.reads.of(k)+1)
	}
	s.arriving = at
	return at, true
}

// take reads the word whose arrival was asked for.
func (s *stream) take(at int) {
	s.arrived = s.arriving
	for s.gone < s.read && (s.gone < s.reads.first || s.reads.of(s.gone) < s.arrived) {
		s.gone++
	}
	s.high = max(s.high, s.read+1-s.gone)
	if s.reads.full() {
		if s.forget(); 2*(s.reads.end-s.reads.first) >= len(s.reads.at) {
			s.reads.grow()
		}
	}
	if s.log != nil {
		s.log.Arrived = append(s.log.Arrived, s.arrived)
		s.log.Read = append(s.log.Read, at)
	}
	s.reads.push(at)
	s.due.first++
	s.read++
	if s.blocks {
		s.blocks = false
		s.agenda.wake(s.writer)
	}
}

// room is the first clock in which the next word may be written; ok is false while that is not known.
func (s *stream) room() (from int, ok bool) {
	k := s.written - s.capacity
	switch {
	case k < s.reads.first:
		return 0, true
	case k >= s.read:
		return 0, false
	}
	return s.reads.of(k) + 1, true
}

// put writes a word.
func (s *stream) put(at int) {
	if s.due.full() {
		s.due.grow()
	}
	s.due.push(at + s.latency)
	if s.log != nil {
		s.log.Written = append(s.log.Written, at)
	}
	s.wrote = at
	s.written++
	if s.wants {
		s.wants = false
		s.agenda.wake(s.reader)
	}
}

// forget drops the reads that hold up nothing any more: the next word is written after clock wrote and arrives after
// clock arrived, so what was read by then frees no place too late and counts in no later high-water mark.
func (s *stream) forget() {
	by := min(s.wrote, s.arrived)
	needed := max(0, min(s.written-s.capacity, s.read-s.depth))
	for s.reads.first < s.reads.end && (s.reads.first < needed || s.reads.of(s.reads.first) <= by) {
		s.reads.first++
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

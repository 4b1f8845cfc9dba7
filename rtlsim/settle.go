package rtlsim

import "slices"

// Where words wait for long, at a join behind many layers, a state comes back late: a FIFO that holds sixteen frames
// has sixteen frames of reads in it, and has them only once so many were run alike. But frames that are alike show what
// comes of them as soon as the clocks of one of them are known word by word.
//
// Say that in a frame all that works, and the host, was later than a frame before by the same clocks, with the same in
// its pipelines, and that a stream whose reads are not the same as then had decided nothing: no word of it waited for
// room. If all frames from now on are copies of this one, word j needs the place that the word so many before it
// leaves, which is one of a copy, or of a frame before. It has it, if
//
//   - words of frames before were read no later than those of copies would have been, and
//   - the words of copies that are held when it comes, it included, are no more than the FIFO's.
//
// So nothing waits for room in the next frame either, which then is a copy, and so on for ever. The most words that
// copies hold are what the FIFO will be seen to hold.

// settled reports whether all frames from now on are copies of the last one, as far as that is known without running
// them. Where words have to be seen for that, they are of the next frame.
func (d *drift) settled(e *engine) bool {
	seen := d.settles
	d.settles = false
	if d.was.workers == nil || d.left > 0 {
		return false
	}
	d.later()
	open, ok := d.copies(e)
	if !ok || len(open) == 0 { // where none is open, a state came back
		return false
	}
	for _, s := range open {
		words := s.port.Words
		if !seen || s.whole < 0 || s.read-words < s.whole {
			s.widen()
			d.settles = true
		}
	}
	if d.settles {
		return false
	}
	most := make([]int, len(open))
	for i, s := range open {
		if most[i], ok = s.holds(d.clocks[0]); !ok {
			return false
		}
	}
	for i, s := range open {
		s.high = max(s.high, most[i])
	}
	return true
}

// copies reports whether the last frame is like the one before, by the same clocks later, but that some streams, which
// decided nothing, are open: not read as they were.
func (d *drift) copies(e *engine) (open []*stream, ok bool) {
	clocks := d.clocks[0]
	if slices.ContainsFunc(d.clocks, func(c int) bool { return c != clocks }) {
		return nil, false
	}
	for _, s := range e.sources {
		if !paced(s.pace, clocks, s.frame*s.pace-s.gate.free) {
			return nil, false
		}
	}
	for i, k := range e.workers {
		if !slices.Equal(d.was.workers[i].state, d.now.workers[i].state) ||
			!paced(k.pace, clocks, k.frame*k.pace-k.early-k.at-1) {
			return nil, false
		}
	}
	for i, s := range e.streams {
		was, now := &d.was.streams[i], &d.now.streams[i]
		if now.taken-was.taken != clocks || now.read-was.read != clocks {
			return nil, false
		}
		if slices.Equal(was.reads, now.reads) {
			continue
		}
		if d.now.counts.full[i] > d.was.counts.full[i] || now.tight > was.tight {
			return nil, false
		}
		open = append(open, s)
	}
	return open, true
}

// holds is the most words that a stream holds if the last frame is followed by copies, so many clocks after each other;
// ok is false where there may be no room for them. All words of the last frame have to be known.
func (s *stream) holds(clocks int) (most int, ok bool) {
	words := s.port.Words
	first := s.read - words
	// read is when a word of any frame is read, if all are copies
	read := func(k int) int {
		frames := 0
		if k < first {
			frames = (first - k + words - 1) / words
		}
		return s.reads.of(k+frames*words) - frames*clocks
	}
	for k := s.kept; k < first; k++ {
		if s.reads.of(k) > read(k) {
			return 0, false
		}
	}
	gone := first // before it all words are gone
	for taken := s.due.of(first) - s.delay; read(gone-1) >= taken; {
		gone--
	}
	for k := first; k < s.read; k++ {
		for taken := s.due.of(k) - s.delay; gone < k && read(gone) < taken; {
			gone++
		}
		most = max(most, k+1-gone)
	}
	return most, most <= s.depth
}

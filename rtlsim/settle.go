package rtlsim

import "slices"

// If words wait long at a join behind many layers, a state takes long to recur. A FIFO that holds sixteen frames
// keeps the reads of sixteen frames, which are all alike only after that many frames have been run. But one frame
// suffices to predict the future once the clocks of its words are known.
//
// Suppose that in a frame all layers and the host were later than a frame before by the same number of clocks, with
// the same state in their pipelines. Suppose also that no word waited for room on a stream whose reads differ from
// those of the frame before. If all frames from now on are copies of this frame, word j needs the place of an
// earlier word, of a copy or of a frame before. It gets the place in time if
//
//  - words of frames before were read no later than those of copies would have been, and
//  - the FIFO has room for all words of copies that it holds when word j comes, including word j.
//
// So nothing waits for room in the next frame either. That frame is then a copy, and so is every later one. The
// high-water mark becomes the most words that the copies hold.

// settled reports whether all frames from now on are known to be copies of the last one. If words have to be seen
// for that, it makes the next frame be run in full.
func (d *drift) settled(e *engine) bool {
	seen := d.settles
	d.settles = false
	if d.was.workers == nil || d.left > 0 {
		return false
	}
	d.later()
	open, ok := d.copies(e)
	if !ok || len(open) == 0 { // without open streams, a state recurred
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

// copies reports whether the last frame is like the frame before, all of it later by the same number of clocks. open
// are the streams whose reads differ, although no word waited for room there.
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

// holds returns the most words that the stream holds if copies of the last frame follow at the given distance. ok is
// false if there may be no room for them. The clocks of all words of the last frame must be known.
func (s *stream) holds(clocks int) (most int, ok bool) {
	words := s.port.Words
	first := s.read - words
	// read returns the clock when word k is read, if all frames are copies.
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
	gone := first // all words before this one have been read
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

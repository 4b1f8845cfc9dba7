package rtlsim

import "sort"

// A cause is what held up an iteration: a word that was not there, or room that was not. The zero value is the turn of
// a frame that is paced.
type cause struct {
	stream *stream
	room   bool
}

// holds are the iterations of a worker that were held up, in their order: where it waited for room, what wrote last
// where its pipeline freezes, else what started. They are kept as long as they follow each other evenly, as most do.
type holds []evenly

// evenly is holds for the same cause, which come after so many clocks and so many iterations each.
type evenly struct {
	clock, number   int // of the first
	clocks, numbers int
	times           int
	cause           cause
}

// add notes that iteration number came in a clock, sooner than which a cause did not let it.
func (h *holds) add(clock, number int, c cause) {
	if n := len(*h); n > 0 && (*h)[n-1].goesOn(clock, number, c) {
		return
	}
	*h = append(*h, evenly{clock: clock, number: number, times: 1, cause: c})
}

func (r *evenly) goesOn(clock, number int, c cause) bool {
	if r.cause != c {
		return false
	}
	if r.times == 1 {
		r.clocks, r.numbers = clock-r.clock, number-r.number
	}
	if clock-r.clock != r.times*r.clocks || number-r.number != r.times*r.numbers {
		return false
	}
	r.times++
	return true
}

// A heldUp is one of holds.
type heldUp struct {
	clock, number int
	cause         cause
}

// last is the last hold up to a clock; ok is false where there is none.
func (h holds) last(clock int) (last heldUp, ok bool) {
	i := sort.Search(len(h), func(i int) bool { return h[i].clock > clock }) - 1
	if i < 0 {
		return heldUp{}, false
	}
	r, n := &h[i], 0
	if r.times > 1 {
		n = min(r.times-1, (clock-r.clock)/r.clocks)
	}
	return heldUp{r.clock + n*r.clocks, r.number + n*r.numbers, r.cause}, true
}

// noted has an engine at rest note what holds up its workers, every word of every frame.
func (e *engine) noted() {
	e.stretch.over, e.drift.over = true, true
	for _, k := range e.workers {
		k.notes = &holds{}
		if k.pipe != nil {
			k.pipe.notes = &holds{}
		}
	}
}

// note notes what held up an iteration whose words are there in one clock, and that starts in another. A pipeline notes
// itself which writes have frozen it.
func (k *worker) note(words, start int) {
	if start > words && k.pipe != nil {
		return
	}
	c := cause{room: start > words}
	if c.room {
		for _, s := range k.writes {
			if from, _ := s.room(); from == start {
				c.stream = s
			}
		}
	} else {
		for _, s := range k.reads {
			if at, _ := s.arrival(); at == start {
				c.stream = s
			}
		}
	}
	k.notes.add(start, k.count.Busy, c)
}

// noteLine is note for a worker of single streams.
func (k *worker) noteLine(words, start int) {
	switch {
	case start == words:
		k.notes.add(start, k.count.Busy, cause{stream: k.line.in})
	case k.pipe == nil:
		k.notes.add(start, k.count.Busy, cause{stream: k.line.out, room: true})
	}
}

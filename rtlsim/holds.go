package rtlsim

import "sort"

// A cause is what delayed an iteration: a missing word, or missing room if room is set. The zero value stands for a
// paced frame that waited for its turn.
type cause struct {
	stream *stream
	room   bool
}

// A holds lists the iterations of a layer that had to wait, in their order. For lack of room it lists the iteration
// that wrote late where the pipeline freezes, otherwise the one that started late. Waits at even distances are stored
// as one entry.
type holds []evenly

// evenly stores waits with the same cause and with even distances in clocks and in iterations.
type evenly struct {
	clock, number   int // of the first wait
	clocks, numbers int // distances between two waits
	times           int // number of waits
	cause           cause
}

// add records that the iteration number came in the given clock, because c did not allow it sooner.
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

// A heldUp is one wait of an iteration: the clock in which it came, its number, and the cause.
type heldUp struct {
	clock, number int
	cause         cause
}

// last returns the last wait up to a clock. ok is false if there is none.
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

// noted makes an engine record all waits of its workers. It must be called before the engine starts. The engine then
// runs every word of every frame.
func (e *engine) noted() {
	e.stretch.over, e.drift.over = true, true
	for _, k := range e.workers {
		k.notes = &holds{}
		if k.pipe != nil {
			k.pipe.notes = &holds{}
		}
	}
}

// note records why an iteration of the layer waited. Its words had arrived in clock words, and it starts in clock
// start. Writes that froze the pipeline are recorded by the pipeline itself.
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

// noteLine does what note does for a layer with at most one input and one output.
func (k *worker) noteLine(words, start int) {
	switch {
	case start == words:
		k.notes.add(start, k.count.Busy, cause{stream: k.line.in})
	case k.pipe == nil:
		k.notes.add(start, k.count.Busy, cause{stream: k.line.out, room: true})
	}
}

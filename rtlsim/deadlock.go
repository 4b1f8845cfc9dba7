package rtlsim

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
)

// A Deadlock describes a design that stands still although frames are on their way.
type Deadlock struct {
	// From this clock on no layer starts and the host takes no word. It is negative if the deadlock was found
	// without clocks.
	Clock int
	Waits []NodeWait // all layers and ends of the host that stand still
	Cycle []NodeWait // a closed chain of these: each waits for the next node, the last for the first
	// Deepening the FIFO of Stream breaks the chain with the fewest bits. Depth is the smallest depth at which this
	// FIFO delays nothing any more, whatever pipelines hold.
	Stream, Depth int
}

// A NodeWait is one reason why a layer, or the host, stands still: a stream without a word, or without room.
type NodeWait struct {
	Node   string // empty for the host
	Room   bool   // it waits for room, otherwise for a word
	Stream int
	Depth  int // depth of the stream's FIFO
}

func (w NodeWait) String() string {
	who, what := w.Node, fmt.Sprintf("a word on s%d", w.Stream)
	if who == "" {
		who = "the host"
	}
	if w.Room {
		what = fmt.Sprintf("room on s%d (depth %d)", w.Stream, w.Depth)
	}
	return who + " waits for " + what
}

func (d *Deadlock) Error() string {
	s := "deadlock"
	if d.Clock >= 0 {
		s += fmt.Sprintf(" at clock %d", d.Clock)
	}
	if len(d.Cycle) == 0 {
		return s
	}
	var waits []string
	for i, w := range d.Cycle {
		what := "give"
		if w.Room {
			what = "take"
		}
		waits = append(waits, fmt.Sprintf("%s that %s is to %s", w, d.Cycle[(i+1)%len(d.Cycle)].Node, what))
	}
	return fmt.Sprintf("%s: %s; a depth of %d on s%d breaks this chain", s, strings.Join(waits, ", "), d.Depth,
		d.Stream)
}

// explain sets the closed chain of waits in d, and the cheapest depth that breaks it. It returns d as an error, or the
// context's error.
func (d *Deadlock) explain(ctx context.Context, p *plan) error {
	depth := p.design.FIFODepthsWords()
	t := newTokens(p, nil)
	if through, err := t.run(ctx, depth); err != nil || through {
		return cmp.Or[error](err, d)
	}
	cycle := t.cycle()
	fewest := math.MaxInt
	for _, w := range cycle {
		d.Cycle = append(d.Cycle, NodeWait{p.name(w.layer), w.room, w.stream, depth[w.stream]})
		if !w.room {
			continue
		}
		more, err := t.enough(ctx, depth, w.stream, p.ports[w.stream].Words)
		if err != nil {
			return err
		}
		if bits := more * p.ports[w.stream].Width(); bits < fewest {
			fewest, d.Stream, d.Depth = bits, w.stream, depth[w.stream]+more
		}
	}
	return d
}

// enough returns the fewest words by which the stream's FIFO must grow so that the frame goes as far as with an
// unbounded FIFO. frame is the number of words of a whole frame, which are always enough.
func (t *tokens) enough(ctx context.Context, depth []int, stream, frame int) (words int, err error) {
	reach := func(more int) []int {
		with := slices.Clone(depth)
		with[stream] += more
		if _, e := t.run(ctx, with); e != nil {
			err = e
		}
		return t.progress()
	}
	most := reach(frame)
	return sort.Search(frame, func(more int) bool { return slices.Equal(reach(more), most) }), err
}

// deadlock returns a *Deadlock with everything that stands still: the inputs, the layers in topological order, and
// the outputs.
func (e *engine) deadlock(ctx context.Context) error {
	d := &Deadlock{Clock: e.clock()}
	for _, s := range e.sources {
		if s.frame < e.frames {
			d.Waits = append(d.Waits, NodeWait{Room: true, Stream: s.stream.id, Depth: s.stream.depth})
		}
	}
	for _, l := range e.workers {
		d.Waits = append(d.Waits, l.waits(e.frames)...)
	}
	for _, k := range e.sinks {
		if k.frame < e.frames {
			d.Waits = append(d.Waits, NodeWait{Stream: k.stream.id, Depth: k.stream.depth})
		}
	}
	return d.explain(ctx, e.plan)
}

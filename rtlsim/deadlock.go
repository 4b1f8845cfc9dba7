package rtlsim

import (
	"fmt"
	"strings"
)

// A Deadlock is a design in which nothing can happen any more although frames are on their way.
type Deadlock struct {
	Clock int // from which on no layer starts and no output word is taken
	Waits []Wait
}

// A Wait is one reason why a layer, or the host, stands still.
type Wait struct {
	Node   string // empty for the host
	Room   bool   // it waits for room, else for a word
	Stream int
	Depth  int // of the stream's FIFO
}

func (w Wait) String() string {
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
	var waits []string
	for _, w := range d.Waits {
		waits = append(waits, w.String())
	}
	return fmt.Sprintf("deadlock at clock %d: %s", d.Clock, strings.Join(waits, ", "))
}

// deadlock names everything that stands still: the inputs, the layers in topological order, the outputs.
func (s *state) deadlock() *Deadlock {
	d := &Deadlock{Clock: s.trace.Cycles}
	add := func(node string, room bool, f *fifo) {
		d.Waits = append(d.Waits, Wait{Node: node, Room: room, Stream: f.id, Depth: f.depth})
	}
	for _, src := range s.sources {
		if src.left > 0 {
			add("", true, src.fifo)
		}
	}
	for _, l := range s.layers {
		if l.left == 0 {
			continue
		}
		for i, f := range l.in {
			if l.walk.Moves().Read>>i&1 != 0 && f.visible == 0 {
				add(l.name, false, f)
			}
		}
		for i, f := range l.out {
			if l.walk.Moves().Write>>i&1 != 0 && f.full() {
				add(l.name, true, f)
			}
		}
	}
	for _, k := range s.sinks {
		if !k.done() {
			add("", false, k.fifo)
		}
	}
	return d
}

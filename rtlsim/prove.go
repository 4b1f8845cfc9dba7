package rtlsim

import (
	"context"
	"fmt"
	"math"
	"sort"

	"hlsgen/internal/dataflow"
)

// A Proof says that a design is free from deadlock for any number of frames, whatever the host does and however long
// anything takes. It rests on one frame that went through, executed without clocks (see tokens):
//
//   - The order of iterations makes no difference, so that no clock, pace or stall does.
//   - After the frame all streams are empty and all loops at their start: the state before it. So the next frame goes
//     through as well, and the one after that. Frames that overlap are another order of the same iterations.
//   - Where sequences have different lengths, this holds for a frame of each: all of them begin and end in that same
//     state, so that they may follow each other in any mix. A shorter one comes through where the longest does if every
//     layer's loop is one that the longest ends with (see ends), or if no layers lie between a fork and a join; every
//     other one is executed like the longest.
//   - More room never stops anything. A FIFO has Depth words of room; the pipeline of the layer that writes it may hold
//     words as well, but how many depends on the hardware. Room is how many words of it the proof counts on. With 0 it
//     holds for any latencies whatever.
type Proof struct {
	Lengths    *dataflow.Lengths // of sequences, all of which it holds for; nil where all are alike
	Executed   []int             // lengths beside the longest that were executed
	Frames     int               // after which the design is where it was before: 1
	Iterations int               // of all layers in these
	Words      int               // on all streams between layers in these
	// words that a layer's pipeline must hold, or its Latency if that is less; 0: any latencies do
	Room int
}

// Short is what is proved.
func (p Proof) Short() string {
	s := "free for any number of frames, any stalls and any kernel latencies"
	if l := p.Lengths; l != nil {
		s = fmt.Sprintf("free for any number of sequences of %d to %d steps in any order, any stalls and any kernel "+
			"latencies", l.Min, l.Max)
	}
	if p.Room > 0 {
		s += fmt.Sprintf(" of at least those estimated, or %d", p.Room)
	}
	return s
}

// String adds why.
func (p Proof) String() string {
	frame := "one frame"
	if p.Lengths != nil {
		frame = "the longest sequence, and with fewer each shorter one,"
	}
	return fmt.Sprintf("%s: after %d iterations and %d words %s is through, and all streams and loops are where they "+
		"were before it", p.Short(), p.Iterations, p.Words, frame)
}

// Prove proves a design free from deadlock. The error is a *Deadlock where it is not free at the latencies of its
// loops, which then has no Clock; a design that is not well formed; or the context's.
func Prove(ctx context.Context, d *dataflow.Design) (Proof, error) {
	if err := d.Verify(); err != nil {
		return Proof{}, fmt.Errorf("design: %w", err)
	}
	of := newPlan(d)
	room, err := of.proved(ctx)
	if err != nil {
		return Proof{}, err
	}
	p := Proof{Frames: 1, Lengths: d.Model.Lengths, Room: room}
	err = of.shorter(func(steps int, at *plan) error {
		room, err := at.proved(ctx)
		if err != nil {
			return fmt.Errorf("sequences of %d steps: %w", steps, err)
		}
		p.Room, p.Executed = max(p.Room, room), append(p.Executed, steps)
		return nil
	})
	if err != nil {
		return Proof{}, err
	}
	for i, l := range of.loops {
		p.Iterations += l.Iterations()
		for port, s := range d.Model.Graph.Nodes[i].Out {
			if of.inner(s) {
				p.Words += l.Writes(port)
			}
		}
	}
	return p, nil
}

// proved is how many words a pipeline must hold at least for a frame to come through. The error is a *Deadlock where it
// does not, or the context's.
func (p *plan) proved(ctx context.Context) (room int, err error) {
	room, through, err := newTokens(p, nil).room(ctx, p.design.Depths())
	if err == nil && !through {
		err = (&Deadlock{Clock: -1}).explain(ctx, p)
	}
	return room, err
}

// room is how many words a pipeline must hold at least for a frame to come through; through is false where it does not
// even with all that pipelines hold.
func (t *tokens) room(ctx context.Context, depth []int) (room int, through bool, err error) {
	through, err = t.run(ctx, t.capacities(depth, math.MaxInt))
	if err != nil || !through {
		return 0, false, err
	}
	most := 0
	for _, l := range t.latency {
		most = max(most, l)
	}
	room = sort.Search(most, func(room int) bool {
		ok, e := t.run(ctx, t.capacities(depth, room))
		if e != nil {
			err = e
		}
		return ok
	})
	return room, true, err
}

package rtlsim

import (
	"context"
	"fmt"

	"hlsgen/internal/dataflow"
)

// A Proof says that a design is free from deadlock for any number of frames, whatever the host does and however long
// anything takes. It rests on one frame that went through, executed without clocks (see tokens) between forks and
// joins: nothing else waits in a circle.
//
//   - The order of iterations makes no difference, so that no clock, pace or stall does.
//   - After the frame all streams are empty and all loops at their start: the state before it. So the next frame goes
//     through as well, and the one after that. Frames that overlap are another order of the same iterations.
//   - Where sequences have different lengths, this holds for a frame of each: all of them begin and end in that same
//     state, so that they may follow each other in any mix. A shorter one comes through where the longest does if every
//     layer's loop is one that the longest ends with (see ends), or if no layers lie between a fork and a join; every
//     other one is executed like the longest.
//   - A FIFO has Depth words of room, and an iteration starts when its words have theirs. This is the rule of credits,
//     and the weakest: where a pipeline holds words beside the FIFOs, as one that freezes does, the frame gets through
//     as well. See docs/clock.md for why.
type Proof struct {
	Lengths    *dataflow.Lengths // of sequences, all of which it holds for; nil where all are alike
	Executed   []int             // lengths beside the longest that were executed
	Frames     int               // after which the design is where it was before: 1
	Iterations int               // of all layers in these
	Words      int               // on all streams between layers in these
}

// Short is what is proved.
func (p Proof) Short() string {
	s := "free for any number of frames, any stalls and any kernel latencies"
	if l := p.Lengths; l != nil {
		s = fmt.Sprintf("free for any number of sequences of %d to %d steps in any order, any stalls and any kernel "+
			"latencies", l.Min, l.Max)
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

// Prove proves a design free from deadlock. The error is a *Deadlock where its FIFOs alone do not get a frame through,
// which then has no Clock; a design that is not well formed; or the context's.
func Prove(ctx context.Context, d *dataflow.Design) (Proof, error) {
	if err := d.Verify(); err != nil {
		return Proof{}, fmt.Errorf("design: %w", err)
	}
	of := newPlan(d)
	if err := of.proved(ctx); err != nil {
		return Proof{}, err
	}
	p := Proof{Frames: 1, Lengths: d.Model.Lengths}
	err := of.shorter(func(steps int, at *plan) error {
		if err := at.proved(ctx); err != nil {
			return fmt.Errorf("sequences of %d steps: %w", steps, err)
		}
		p.Executed = append(p.Executed, steps)
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

// proved reports whether a frame comes through. The error is a *Deadlock where it does not, or the context's.
//
// It comes through where it does in every block. Were it stuck, layers would wait for each other in a circle, which
// lies within a block; what was done in that block could be done in it alone, and there they would wait as well.
func (p *plan) proved(ctx context.Context) error {
	for _, b := range p.split() {
		if len(b.streams) == 1 {
			continue // no circle
		}
		through, err := newTokens(p, b.members).run(ctx, p.design.Depths())
		if err == nil && !through {
			err = (&Deadlock{Clock: -1}).explain(ctx, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

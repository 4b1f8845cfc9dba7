package rtlsim

import (
	"context"
	"fmt"

	"hlsgen/internal/dataflow"
)

// A DeadlockFreedomProof states that a design is free from deadlock for any number of frames, whatever the host does
// and however long anything takes. It rests on one frame that was executed without clocks (see tokens) in each block
// between forks and joins. No layers wait in a circle elsewhere.
//
//   - The order of iterations makes no difference, so no clock, pace or stall does.
//   - After the frame all streams are empty and all loops are at their start, as before it. So the next frame goes
//     through as well, and every frame after that. Frames that overlap are another order of the same iterations.
//   - Where sequences have different lengths, this holds for a frame of each length. All frames begin and end in the
//     same state, so they may follow each other in any mix. A shorter sequence goes through where the longest does
//     if the longest ends with every layer's loop of the shorter (see ends), or if no layers lie between a fork and
//     a join. Every other length is executed like the longest.
//   - A FIFO has room for Depth words, and an iteration starts when there is room for its words. This is the rule of
//     credits, and the weakest. A pipeline that freezes holds words beside the FIFOs, and the frame goes through as
//     well. See docs/clock.md for the reason.
type DeadlockFreedomProof struct {
	Lengths    *dataflow.SequenceLengths // lengths of sequences that the proof covers; nil if all frames are alike
	Executed   []int                     // lengths that were executed besides the longest
	Frames     int                       // number of frames after which the design is in the same state again: 1
	Iterations int                       // iterations of all layers in these frames
	Words      int                       // words on all streams between layers in these frames
}

// Statement returns the statement that is proved.
func (p DeadlockFreedomProof) Statement() string {
	s := "free for any number of frames, any stalls and any kernel latencies"
	if l := p.Lengths; l != nil {
		s = fmt.Sprintf("free for any number of sequences of %d to %d steps in any order, any stalls and any kernel "+
			"latencies", l.Min, l.Max)
	}
	return s
}

// String returns the statement and the reason for it.
func (p DeadlockFreedomProof) String() string {
	frame := "one frame"
	if p.Lengths != nil {
		frame = "the longest sequence, and with fewer each shorter one,"
	}
	return fmt.Sprintf("%s: after %d iterations and %d words %s is through, and all streams and loops are where they "+
		"were before it", p.Statement(), p.Iterations, p.Words, frame)
}

// ProveDeadlockFree proves that a design cannot deadlock. The error is a *Deadlock without a Clock if the FIFOs alone
// do not let a frame through. Other errors report a malformed design, or are the context's.
func ProveDeadlockFree(ctx context.Context, d *dataflow.Design) (DeadlockFreedomProof, error) {
	if err := d.Verify(); err != nil {
		return DeadlockFreedomProof{}, fmt.Errorf("design: %w", err)
	}
	of := newPlan(d)
	if err := of.proved(ctx); err != nil {
		return DeadlockFreedomProof{}, err
	}
	p := DeadlockFreedomProof{Frames: 1, Lengths: d.Model.Lengths}
	err := of.shorter(func(steps int, at *plan) error {
		if err := at.proved(ctx); err != nil {
			return fmt.Errorf("sequences of %d steps: %w", steps, err)
		}
		p.Executed = append(p.Executed, steps)
		return nil
	})
	if err != nil {
		return DeadlockFreedomProof{}, err
	}
	for i, l := range of.loops {
		p.Iterations += l.IterationsPerFrame()
		for port, s := range d.Model.Graph.Nodes[i].Out {
			if of.inner(s) {
				p.Words += l.WordsWritten(port)
			}
		}
	}
	return p, nil
}

// proved returns nil if a frame comes through with the design's FIFO depths. The error is a *Deadlock if it does not,
// or the context's.
//
// The frame comes through if it does so in every block. If it were stuck, layers would wait for each other in a
// circle, which lies within a block. All that was done in that block could also be done in the block alone, and
// there the layers would wait as well.
func (p *plan) proved(ctx context.Context) error {
	for _, b := range p.split() {
		if len(b.streams) == 1 {
			continue // a single stream forms no circle
		}
		through, err := newTokens(p, b.members).run(ctx, p.design.FIFODepthsWords())
		if err == nil && !through {
			err = (&Deadlock{Clock: -1}).explain(ctx, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

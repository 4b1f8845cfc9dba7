package layertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"hlsgen/internal/dataflow"
	"hlsgen/rtlsim"
)

// simulate runs the frames through the clock simulator, at full speed and with both ends stalling at random. At full
// speed Loop determines every clock; otherwise only the data are compared.
func (b *bound) simulate(ctx context.Context, f dataflow.Fold, r *rand.Rand) error {
	calm := b.design(f, 4)
	calm.Model.Graph.Nodes[0].Op = careless{b.op}
	trace, err := rtlsim.RunFrames(ctx, calm, b.frames, rtlsim.Options{})
	if err != nil {
		return err
	}
	if err := b.compare(trace); err != nil {
		return err
	}
	if err := b.checkClocks(trace, calm); err != nil {
		return named(checkClocks, err)
	}
	stall := func() rtlsim.HostSlowdown { return rtlsim.HostSlowdown{Stall: 20 + r.IntN(60), Seed: r.Uint64()} }
	trace, err = rtlsim.RunFrames(ctx, b.design(f, 1+r.IntN(3)), b.frames, rtlsim.Options{In: stall(), Out: stall()})
	if err != nil {
		return fmt.Errorf("stalled: %w", err)
	}
	if err := b.compare(trace); err != nil {
		return fmt.Errorf("stalled: %w", err)
	}
	return nil
}

// checkClocks compares a run without stalls with the loop. Frame n begins in clock n times the iterations, and its
// words reach the host after the delay of the design's end.
func (b *bound) checkClocks(trace *rtlsim.RunTrace, d *dataflow.Design) error {
	l := d.LoopOfNode(0)
	_, end := d.Target.IOLatencyClocks()
	first, last := l.FirstWriteClock(0), l.LastWriteClock(0)
	for p := 1; p < len(b.out); p++ {
		first, last = min(first, l.FirstWriteClock(p)), max(last, l.LastWriteClock(p))
	}
	for n, frame := range trace.Frames {
		begin := n * l.IterationsPerFrame()
		if want := (rtlsim.FrameOutputClocks{First: begin + first + end, Last: begin + last + end}); frame != want {
			return fmt.Errorf("frame %d comes out in clocks %+v, the loop says %+v", n, frame, want)
		}
	}
	if n := trace.Nodes[0]; n.Busy != len(b.frames)*l.IterationsPerFrame() || n.Starved+n.Blocked != 0 {
		return fmt.Errorf("%d frames take %+v clocks, the loop says %d each", len(b.frames), n, l.IterationsPerFrame())
	}
	return nil
}

// compare compares the outputs of a run with Eval's.
func (b *bound) compare(trace *rtlsim.RunTrace) error {
	for n, want := range b.want {
		for i, w := range want {
			got := trace.Outputs[n][i]
			if !slices.Equal(got.Shape, w.Shape) || len(got.Data) != len(w.Data) {
				return fmt.Errorf("frame %d, output %d: %d values of shape %v, Eval gives %d of %v", n, i,
					len(got.Data), got.Shape, len(w.Data), w.Shape)
			}
			for k, v := range w.Data {
				if got.Data[k] != v {
					return fmt.Errorf("frame %d, output %d, element %d: the kernel gives %d, Eval %d", n, i, k,
						got.Data[k], v)
				}
			}
		}
	}
	return nil
}

// careless is a layer whose kernel is called by a caller that overwrites every input word as soon as the contract
// allows.
type careless struct{ dataflow.Op }

// Kernel returns the layer's kernel with such a caller.
func (o careless) Kernel(f dataflow.Fold, t dataflow.Target) dataflow.Kernel {
	return overwriting{o.Op.Kernel(f, t)}
}

// An overwriting is a kernel whose input words are overwritten after each step.
type overwriting struct{ dataflow.Kernel }

// Step runs a step on copies of the words, and overwrites these afterwards.
func (k overwriting) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	lent := clones(in)
	out := clones(k.Kernel.Step(iteration, lent))
	for _, w := range lent {
		for i := range w {
			w[i] = 1 << 40
		}
	}
	return out
}

// clones returns copies of words.
func clones(words []dataflow.Word) []dataflow.Word {
	list := make([]dataflow.Word, len(words))
	for i, w := range words {
		list[i] = slices.Clone(w)
	}
	return list
}

package folding

import (
	"context"
	"math/big"
	"slices"

	"hlsgen/hlslib/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/rtlsim"
)

// A Design is a design made whole, and the figures of it: those that are printed, written and asked for again.
type Design struct {
	*dataflow.Design
	Clocks      Clocks
	Estimate    estimate.Design // of layers, FIFOs and the host's port
	Budget      Budget
	Shares      []Share // what it takes of the budget, by kind
	Over        bool    // of the budget, as a goal without one, or with OverBudget, allows
	Bottleneck  Bottleneck
	Certificate Certificate
	Reasons     []string // per stream: why the FIFO is deep; empty where it is not
	Given       []int    // per stream: the words that the user gave the FIFO, 0 where it was sized
}

// Clocks is what the simulation of a design shows, clock by clock and without data.
type Clocks struct {
	Interval float64       // clocks between frames, once the pipeline is full; no fewer than the processor's memory takes for one
	Latency  int           // clocks from the first input word to the last output word of a lone frame
	Slowest  int           // clocks of the slowest layer, end of the host or memory: no FIFO makes the interval shorter
	Trace    *rtlsim.Trace // of as many frames as it takes
	Proof    rtlsim.Proof  // that nothing deadlocks
}

// ClockMHz is the clock at which rates are given: the one asked for, or what the layers allow, in whole MHz, if that is
// less.
func (d *Design) ClockMHz() float64 { return reachedClock(d.Design) }

func reachedClock(d *dataflow.Design) float64 {
	asked := d.Target.ClockMHz
	if most := d.Fmax(); asked > most {
		return float64(int(most))
	}
	return asked
}

// FPS is the frame rate at the simulated interval and at the clock that is reached, so rounded that asking for it gives the
// interval again (Rate).
func (d *Design) FPS() float64 { return Rate(d.ClockMHz(), d.Clocks.Interval) }

// Traffic is the bytes per second that frames at the simulated interval move to and from the processor's memory, in GB (1e9).
func (d *Design) Traffic() float64 {
	return float64(d.FrameBytes()) * d.ClockMHz() * 1e6 / d.Clocks.Interval / 1e9
}

// FrameBytes is the bytes that a frame moves to and from the processor's memory.
func (d *Design) FrameBytes() int { return frameBytes(d.Design) }

func frameBytes(d *dataflow.Design) (bytes int) {
	if d.Target.PortBits() == 0 {
		return 0
	}
	for _, ends := range [][]int{d.Model.Graph.In, d.Model.Graph.Out} {
		for _, s := range ends {
			bytes += d.Port(s).Bytes()
		}
	}
	return bytes
}

// frames is how many frames settle the interval: more than the design holds at a time.
func frames(d *dataflow.Design) int { return 16 + 2*len(d.Model.Graph.Nodes) }

// words is how many words a frame is on all streams.
func words(d *dataflow.Design) (n int) {
	for s := range d.Model.Graph.Streams {
		n += d.Port(s).Words
	}
	return n
}

// interval is the clocks per frame of a design. The error may be a *rtlsim.Deadlock.
func interval(ctx context.Context, d *dataflow.Design) (float64, error) {
	t, err := rtlsim.Run(ctx, d, nil, rtlsim.Options{Frames: frames(d)})
	if err != nil {
		return 0, err
	}
	return t.Interval(), nil
}

// reaches reports whether an interval is no longer than asked; nil asks for nothing.
func reaches(clocks float64, limit *big.Rat) bool {
	return limit == nil || new(big.Rat).SetFloat64(clocks).Cmp(limit) <= 0
}

// design makes a folding whole. The error may be a *rtlsim.Deadlock.
func (s *space) design(ctx context.Context, q *question, f *folding) (*Design, error) {
	b := s.build(f)
	d := &Design{Design: b.Design, Budget: q.budget}
	proof, err := rtlsim.Prove(ctx, b.Design)
	if err != nil {
		return nil, err
	}
	trace, err := rtlsim.Run(ctx, b.Design, nil, rtlsim.Options{Frames: frames(b.Design)})
	if err != nil {
		return nil, err
	}
	slowest, _ := b.Interval()
	memory := s.memoryClocks(b.Design)
	d.Clocks = Clocks{Interval: max(trace.Interval(), float64(memory)), Latency: trace.Latency(), Slowest: max(slowest, memory), Trace: trace, Proof: proof}
	d.Estimate = estimate.Whole(b.Design)
	d.Shares = q.budget.Shares(d.Estimate.Total)
	d.Over = !q.budget.Fits(d.Estimate.Total)
	_, d.Given = s.depths(b)
	d.Reasons, err = s.reasons(ctx, q, b, int(d.Clocks.Interval))
	if err != nil {
		return nil, err
	}
	d.Bottleneck = s.bottleneck(q, d)
	return d, nil
}

// reasons says why FIFOs are deep: what makes the simulator ask for it.
func (s *space) reasons(ctx context.Context, q *question, b *built, limit int) ([]string, error) {
	reasons := make([]string, len(b.FIFO))
	if !slices.ContainsFunc(b.FIFO, func(f dataflow.FIFO) bool { return f.Depth > rtlsim.Step(rtlsim.Least+1) }) {
		return reasons, nil
	}
	z, err := rtlsim.Size(ctx, b.Design, rtlsim.SizeOptions{Interval: limit, From: b.Depths(), Effort: sizingWords, Known: &s.known,
		Minimal: q.goal.FIFO != FIFO{}})
	if err != nil {
		return nil, err
	}
	return z.Reason, nil
}

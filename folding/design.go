package folding

import (
	"context"
	"fmt"

	"hlsgen/folding/fit"
	"hlsgen/folding/space"
	"hlsgen/hlslib/delay"
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
	Series      Series // what many frames take, and why
	Certificate Certificate
	Reasons     []string // per stream: why the FIFO is deep; empty where it is not
	Given       []int    // per stream: the words that the user gave the FIFO, 0 where it was sized

	memory space.Memory // of the processor
	steps  int          // that the search took
}

// Clocks is what the simulation of a design shows, clock by clock and without data: of the longest sequences, where
// these have different lengths.
type Clocks struct {
	Pace
	Ends     Ends          // of every latency
	Slowest  int           // clocks of the slowest layer, end of the host or memory: no FIFO makes the interval shorter
	Trace    *rtlsim.Trace // of as many frames as it takes
	Proof    rtlsim.Proof  // that nothing deadlocks
	Shortest *Pace         // of the shortest sequences; nil where all have one length
	// What frames take at least and at most, of three runs: with every operation as fast as it may be, with the
	// latencies of Pace, and with every one as slow. Nil before Range, or where delays are calibrated.
	Least, Most *Pace
}

// A Pace is what frames take that are alike.
type Pace struct {
	// clocks between frames, once the pipeline is full; no fewer than the processor's memory takes for one. None where
	// a lone frame was run
	Interval float64 `json:"interval_clocks,omitempty"`
	// clocks from the first input word to the last output word of a lone frame, on the AXI4-Streams
	Latency int `json:"latency_clocks"`
}

// Ends is what a design's ends add to the latency of a frame (dataflow.Target.Ends).
type Ends struct {
	In  int `json:"in"`  // clocks from an input's AXI4-Stream to its first FIFO
	Out int `json:"out"` // clocks from an output's last FIFO to its AXI4-Stream
}

// String says how many clocks of a latency these are.
func (e Ends) String() string {
	return fmt.Sprintf("%d of the latency's clocks: %d from an AXI4-Stream to its first FIFO, "+
		"%d from the last FIFO to its AXI4-Stream", e.In+e.Out, e.In, e.Out)
}

// ClockMHz is the clock at which rates are given: the one asked for, or what the layers allow, in whole MHz, if that is
// less.
func (d *Design) ClockMHz() float64 {
	asked := d.Target.ClockMHz
	if most := d.Fmax(); asked > most {
		return float64(int(most))
	}
	return asked
}

// Every returns the clocks from frame to frame that a user has: the interval of a pace, or, where a state that the host
// carries has to come back first, its latency. All rates are those of Every.
func (d *Design) Every(p Pace) float64 {
	if len(d.Model.Feedback) > 0 {
		return float64(p.Latency)
	}
	return p.Interval
}

// Rate returns the samples per second of a pace at a clock, so rounded that asking for it gives the clocks again.
func (d *Design) Rate(clockMHz float64, p Pace) float64 {
	return Rate(clockMHz, d.Every(p), d.Model.Turns.PerFrame())
}

// FPS is the samples per second at the clock that is reached.
func (d *Design) FPS() float64 { return d.Rate(d.ClockMHz(), d.Clocks.Pace) }

// Pace returns FPS, and the clocks from frame to frame.
func (d *Design) Pace() (fps, clocks float64) { return d.FPS(), d.Every(d.Clocks.Pace) }

// Traffic is the bytes per second that frames move to and from the processor's memory, in GB (1e9).
func (d *Design) Traffic() float64 {
	return float64(d.FrameBytes()) * d.ClockMHz() * 1e6 / d.Every(d.Clocks.Pace) / 1e9
}

// FrameBytes is the bytes that a frame moves to and from the processor's memory.
func (d *Design) FrameBytes() int { return space.FrameBytes(d.Design) }

// A report tells of designs that were made for a question.
type report struct{ *fit.Question }

// design makes a folding whole. The error may be a *rtlsim.Deadlock.
func (q report) design(ctx context.Context, f *space.Folding) (*Design, error) {
	b := q.Build(f)
	d := &Design{Design: b.Design, Budget: q.Budget, Given: q.Given(b), memory: q.Memory}
	proof, err := rtlsim.Prove(ctx, b.Design)
	if err != nil {
		return nil, err
	}
	trace, err := q.Run(ctx, b.Design)
	if err != nil {
		return nil, err
	}
	slowest, _ := b.Interval()
	d.Clocks = Clocks{Pace: pace(b.Design, trace, q.Memory), Trace: trace, Proof: proof}
	d.Clocks.Slowest = max(slowest, q.MemoryClocks(b.Design))
	d.Clocks.Ends.In, d.Clocks.Ends.Out = b.Target.Ends()
	if d.Clocks.Shortest, err = q.shortest(ctx, b.Design); err != nil {
		return nil, err
	}
	d.Estimate = estimate.Whole(b.Design)
	d.Shares = q.Budget.Shares(d.Estimate.Total)
	d.Over = !q.Budget.Fits(d.Estimate.Total)
	d.Reasons = rtlsim.Reasons(b.Design)
	d.Bottleneck = q.bottleneck(d)
	if d.Series, err = q.series(ctx, d); err != nil {
		return nil, err
	}
	return d, nil
}

// pace is that of a run until the pipeline is full.
func pace(d *dataflow.Design, t *rtlsim.Trace, memory space.Memory) Pace {
	return Pace{max(t.Interval(), float64(memory.MemoryClocks(d))), t.Latency()}
}

// timed is the pace of a design that is simulated for that alone.
func timed(ctx context.Context, d *dataflow.Design, opt rtlsim.Options, memory space.Memory) (*Pace, error) {
	t, err := rtlsim.Run(ctx, d, nil, opt)
	if err != nil {
		return nil, err
	}
	p := pace(d, t, memory)
	if opt.Frames == 1 {
		p.Interval = 0
	}
	return &p, nil
}

// Drawn is how many of the first frames a timeline shows at most: 0 where a frame has too many words. Clocks.Trace has
// them, if it has so many frames at all (rtlsim.Trace.Head).
func (d *Design) Drawn() int { return fit.Drawn(d.Design) }

// mostRanged is the most words of a frame of which Range runs several.
const mostRanged = 4_000_000

// Range simulates the same design at both ends of the range of its latencies, for Clocks.Least and Most. Where a frame
// has more than mostRanged words, it runs a lone one: that shows the latency, and not the interval.
func (d *Design) Range(ctx context.Context) error {
	if d.Target.Calibrated() {
		return nil
	}
	opt := fit.Filled(d.Design)
	if fit.FrameWords(d.Design) > mostRanged {
		opt.Frames = 1
	}
	at := func(b delay.Bound) (*Pace, error) {
		c := *d.Design
		c.Target.Bound = b
		return timed(ctx, &c, opt, d.memory)
	}
	fast, err := at(delay.Least)
	if err != nil {
		return err
	}
	slow, err := at(delay.Most)
	if err != nil {
		return err
	}
	d.Clocks.Least, d.Clocks.Most = d.Clocks.around(*fast, *slow)
	return nil
}

// around returns the least and the most of three paces, figure by figure: a pipeline that is longer may well have
// frames come more often. Intervals that a lone frame has not stay out of it.
func (p Pace) around(a, b Pace) (least, most *Pace) {
	least, most = &p, &Pace{p.Interval, p.Latency}
	if a.Interval == 0 || b.Interval == 0 {
		least.Interval, most.Interval = 0, 0
	}
	for _, o := range []Pace{a, b} {
		least.Interval, most.Interval = min(least.Interval, o.Interval), max(most.Interval, o.Interval)
		least.Latency, most.Latency = min(least.Latency, o.Latency), max(most.Latency, o.Latency)
	}
	return least, most
}

// shortest is the pace of the shortest sequences; nil where all frames have one length.
func (q report) shortest(ctx context.Context, d *dataflow.Design) (*Pace, error) {
	l := d.Model.Lengths
	if l == nil {
		return nil, nil
	}
	at, err := d.At(l.Min)
	if err != nil {
		return nil, err
	}
	return timed(ctx, at, fit.Filled(at), q.Memory)
}

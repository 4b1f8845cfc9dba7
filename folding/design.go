package folding

import (
	"context"
	"fmt"

	"hlsgen/folding/fit"
	"hlsgen/folding/space"
	"hlsgen/hlslib/price/delay"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/rtlsim"
)

// A Design is a finished design with its figures: those that reports print, files contain and users can ask for again.
type Design struct {
	*dataflow.Design
	Clocks      SimulatedClocks
	Estimate    estimate.DesignEstimate // the estimated resources of layers, FIFOs and the host's port
	Budget      Budget
	Shares      []Share // the shares of the budget that it takes, by kind
	Over        bool    // whether it exceeds the budget, which goals without a budget and OverBudget allow
	Bottleneck  Bottleneck
	Series      FrameSeries // the clocks of many frames, with the reason
	Certificate Certificate
	Reasons     []string // per stream: why the FIFO is deep; empty if it is not
	Given       []int    // per stream: the depth that the user gave the FIFO; 0 if it was sized

	memory space.MemoryBandwidth // the processor's memory
	steps  int                   // steps of work of the search
}

// SimulatedClocks holds the figures from the simulation of a design, clock by clock and without data. They are those of
// the longest sequences if lengths differ.
type SimulatedClocks struct {
	FramePace
	Ends IOLatency // the clocks of every latency that the design's ends take
	// clocks of the slowest layer, host port or memory: no FIFO depth makes the interval shorter
	Slowest  int
	Trace    *rtlsim.Trace        // the trace of the simulated frames
	Proof    rtlsim.DeadlockProof // the proof that the design cannot deadlock
	Shortest *FramePace           // the figures of the shortest sequences; nil if all have one length
	// The least and the most clocks of three runs: with each operation as fast as possible, with the latencies of
	// FramePace, and with each operation as slow as possible. Nil before SimulateRange, or if delays are calibrated.
	Least, Most *FramePace
}

// A FramePace holds the clocks of frames that are alike.
type FramePace struct {
	// clocks between frames once the pipeline is full, at least what the processor's memory takes for one; 0 if a
	// single frame was run
	Interval float64 `json:"interval_clocks,omitempty"`
	// clocks from the first input word to the last output word of a single frame, on the AXI4-Streams
	Latency int `json:"latency_clocks"`
}

// IOLatency holds the clocks that a design's ends add to the latency of a frame (dataflow.Target.Ends).
type IOLatency struct {
	In  int `json:"in"`  // clocks from an input's AXI4-Stream to its first FIFO
	Out int `json:"out"` // clocks from an output's last FIFO to its AXI4-Stream
}

// String describes which clocks of the latency these are.
func (e IOLatency) String() string {
	return fmt.Sprintf("%d of the latency's clocks: %d from an AXI4-Stream to its first FIFO, "+
		"%d from the last FIFO to its AXI4-Stream", e.In+e.Out, e.In, e.Out)
}

// ClockMHz returns the clock for all rates: the requested clock, or the fastest that the layers allow if that is
// slower, in whole MHz.
func (d *Design) ClockMHz() float64 {
	asked := d.Target.ClockMHz
	if most := d.Fmax(); asked > most {
		return float64(int(most))
	}
	return asked
}

// ClocksBetweenFrames returns the clocks between frames that a user gets: the interval of a pace, or its latency, if
// the host has to carry a state from frame to frame. All rates are those of Every.
func (d *Design) ClocksBetweenFrames(p FramePace) float64 {
	if len(d.Model.Feedback) > 0 {
		return float64(p.Latency)
	}
	return p.Interval
}

// Rate returns the samples per second of a pace at a clock. It is rounded such that a user who asks for it gets the
// clocks again.
func (d *Design) Rate(clockMHz float64, p FramePace) float64 {
	return Rate(clockMHz, d.ClocksBetweenFrames(p), d.Model.Turns.PerFrame())
}

// FPS returns the samples per second at the clock that the design reaches.
func (d *Design) FPS() float64 { return d.Rate(d.ClockMHz(), d.Clocks.FramePace) }

// FPSAndClocks returns the samples per second, and the clocks between frames.
func (d *Design) FPSAndClocks() (fps, clocks float64) {
	return d.FPS(), d.ClocksBetweenFrames(d.Clocks.FramePace)
}

// MemoryTraffic returns the GB (1e9 bytes) per second that frames move to and from the processor's memory.
func (d *Design) MemoryTraffic() float64 {
	return float64(d.FrameBytes()) * d.ClockMHz() * 1e6 / d.ClocksBetweenFrames(d.Clocks.FramePace) / 1e9
}

// FrameBytes returns the bytes that a frame moves to and from the processor's memory.
func (d *Design) FrameBytes() int { return space.FrameBytes(d.Design) }

// A report computes the figures of designs that were found for a question.
type report struct{ *fit.DesignSearch }

// design builds, simulates and describes the design of a folding. The error may be a *rtlsim.Deadlock.
func (q report) design(ctx context.Context, f *space.Folding) (*Design, error) {
	b := q.Build(f)
	d := &Design{Design: b.Design, Budget: q.Budget, Given: q.GivenDepths(b), memory: q.MemoryBandwidth}
	proof, err := rtlsim.ProveDeadlockFree(ctx, b.Design)
	if err != nil {
		return nil, err
	}
	trace, err := q.Run(ctx, b.Design)
	if err != nil {
		return nil, err
	}
	slowest, _ := b.Interval()
	d.Clocks = SimulatedClocks{FramePace: pace(b.Design, trace, q.MemoryBandwidth), Trace: trace, Proof: proof}
	d.Clocks.Slowest = max(slowest, q.MemoryClocks(b.Design))
	d.Clocks.Ends.In, d.Clocks.Ends.Out = b.Target.EndLatencyClocks()
	if d.Clocks.Shortest, err = q.shortest(ctx, b.Design); err != nil {
		return nil, err
	}
	d.Estimate = estimate.DesignCost(b.Design)
	d.Shares = q.Budget.Shares(d.Estimate.Total)
	d.Over = !q.Budget.Allows(d.Estimate.Total)
	d.Reasons = rtlsim.FIFODepthReasons(b.Design)
	d.Bottleneck = q.bottleneck(d)
	if d.Series, err = q.series(ctx, d); err != nil {
		return nil, err
	}
	return d, nil
}

// pace returns the figures of a run that fills the pipeline.
func pace(d *dataflow.Design, t *rtlsim.Trace, memory space.MemoryBandwidth) FramePace {
	return FramePace{max(t.Interval(), float64(memory.MemoryClocks(d))), t.Latency()}
}

// timed simulates a design and returns its interval and latency.
func timed(ctx context.Context, d *dataflow.Design, opt rtlsim.Options, memory space.MemoryBandwidth) (*FramePace,
	error) {
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

// TimelineFrames returns how many of the first frames a timeline shows at most: 0 if a frame has too many words.
// Clocks.Trace has them if it has as many frames (rtlsim.Trace.Head).
func (d *Design) TimelineFrames() int { return fit.TimelineFrames(d.Design) }

// mostRanged is the most words per frame for which SimulateRange runs several frames.
const mostRanged = 4_000_000

// SimulateRange simulates the design with the shortest and with the longest latencies of its operations, and sets
// SimulatedClocks.Least and SimulatedClocks.Most. If a frame has more than mostRanged words, it runs a single frame,
// which shows the latency but not the interval.
func (d *Design) SimulateRange(ctx context.Context) error {
	if d.Target.Calibrated() {
		return nil
	}
	opt := fit.SteadyStateOptions(d.Design)
	if fit.FrameWords(d.Design) > mostRanged {
		opt.Frames = 1
	}
	at := func(b delay.RangeEnd) (*FramePace, error) {
		c := *d.Design
		c.Target.Bound = b
		return timed(ctx, &c, opt, d.memory)
	}
	fast, err := at(delay.MinDelay)
	if err != nil {
		return err
	}
	slow, err := at(delay.MaxDelay)
	if err != nil {
		return err
	}
	d.Clocks.Least, d.Clocks.Most = d.Clocks.around(*fast, *slow)
	return nil
}

// around returns the least and the most of each figure of three paces. The order can differ between figures, because a
// longer pipeline may make frames come more often. It sets both intervals to 0 if a or b has none.
func (p FramePace) around(a, b FramePace) (least, most *FramePace) {
	least, most = &p, &FramePace{p.Interval, p.Latency}
	if a.Interval == 0 || b.Interval == 0 {
		least.Interval, most.Interval = 0, 0
	}
	for _, o := range []FramePace{a, b} {
		least.Interval, most.Interval = min(least.Interval, o.Interval), max(most.Interval, o.Interval)
		least.Latency, most.Latency = min(least.Latency, o.Latency), max(most.Latency, o.Latency)
	}
	return least, most
}

// shortest returns the figures of the shortest sequences, or nil if all frames have one length.
func (q report) shortest(ctx context.Context, d *dataflow.Design) (*FramePace, error) {
	l := d.Model.Lengths
	if l == nil {
		return nil, nil
	}
	at, err := d.At(l.Min)
	if err != nil {
		return nil, err
	}
	return timed(ctx, at, fit.SteadyStateOptions(at), q.MemoryBandwidth)
}

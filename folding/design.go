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
	Estimate    estimate.DesignResourceEstimate // the estimated resources of layers, FIFOs and the host's port
	Budget      Budget
	Shares      []ResourceShare // the shares of the budget that it takes, by kind
	Over        bool            // whether it exceeds the budget, which goals without a budget and OverBudget allow
	Bottleneck  Bottleneck
	Series      FrameSeriesTiming // the clocks of many frames, with the reason
	Certificate OptimalityCertificate
	Reasons     []string // per stream: why the FIFO is deep; empty if it is not
	Given       []int    // per stream: the depth that the user gave the FIFO; 0 if it was sized

	memory  space.HostMemoryBandwidth // the processor's memory
	space   *space.FoldingSpace       // in which it was found
	folding *space.Folding
	steps   int // steps of work of the search
}

// SimulatedClocks holds the figures from the simulation of a design, clock by clock and without data. They are those of
// the longest sequences if lengths differ.
type SimulatedClocks struct {
	IntervalAndLatency
	Ends IOLatencyClocks // the clocks of every latency that the design's ends take
	// clocks of the slowest layer, host port or memory: no FIFO depth makes the interval shorter
	Slowest  int
	Trace    *rtlsim.RunTrace            // the trace of the simulated frames
	Proof    rtlsim.DeadlockFreedomProof // the proof that the design cannot deadlock
	Shortest *IntervalAndLatency         // the figures of the shortest sequences; nil if all have one length
	// The least and the most clocks of three runs: with each operation as fast as possible, with the latencies of
	// IntervalAndLatency, and with each operation as slow as possible. Nil before SimulateAndStoreLatencyRange, or if
	// delays are calibrated.
	Least, Most *IntervalAndLatency
}

// An IntervalAndLatency holds the clocks of frames that are alike.
type IntervalAndLatency struct {
	// clocks between frames once the pipeline is full, at least what the processor's memory takes for one; 0 if a
	// single frame was run
	Interval float64 `json:"interval_clocks,omitempty"`
	// clocks from the first input word to the last output word of a single frame, on the AXI4-Streams
	Latency int `json:"latency_clocks"`
}

// IOLatencyClocks holds the clocks that a design's ends add to the latency of a frame (dataflow.Target.Ends).
type IOLatencyClocks struct {
	In  int `json:"in"`  // clocks from an input's AXI4-Stream to its first FIFO
	Out int `json:"out"` // clocks from an output's last FIFO to its AXI4-Stream
}

// String returns a text that says which clocks of the latency the design's ends take.
func (e IOLatencyClocks) String() string {
	return fmt.Sprintf("%d of the latency's clocks: %d from an AXI4-Stream to its first FIFO, "+
		"%d from the last FIFO to its AXI4-Stream", e.In+e.Out, e.In, e.Out)
}

// ReachedClockMHz returns the clock for all rates: the requested clock, or the fastest that the layers allow if that is
// slower, in whole MHz.
func (d *Design) ReachedClockMHz() float64 {
	asked := d.Target.ClockMHz
	if most := d.FmaxMHz(); asked > most {
		return float64(int(most))
	}
	return asked
}

// ClocksBetweenFrames returns the clocks between frames that a user gets by the figures p: the interval. If the host
// has to carry a state from frame to frame, it is the latency. All rates follow from it.
func (d *Design) ClocksBetweenFrames(p IntervalAndLatency) float64 {
	if len(d.Model.Feedback) > 0 {
		return float64(p.Latency)
	}
	return p.Interval
}

// SamplesPerSecondAt returns the samples per second that the figures p give at a clock in MHz. It is rounded such that
// a user who asks for it gets the clocks again.
func (d *Design) SamplesPerSecondAt(clockMHz float64, p IntervalAndLatency) float64 {
	return SamplesPerSecondForInterval(clockMHz, d.ClocksBetweenFrames(p), d.Model.Turns.SamplesPerFrame())
}

// SamplesPerSecond returns the samples per second at the clock that the design reaches.
func (d *Design) SamplesPerSecond() float64 {
	return d.SamplesPerSecondAt(d.ReachedClockMHz(), d.Clocks.IntervalAndLatency)
}

// SamplesPerSecondAndInterval returns the samples per second, and the clocks between frames.
func (d *Design) SamplesPerSecondAndInterval() (fps, clocks float64) {
	return d.SamplesPerSecond(), d.ClocksBetweenFrames(d.Clocks.IntervalAndLatency)
}

// HostMemoryTrafficGBPerSecond returns the GB (1e9 bytes) per second that frames move to and from the processor's
// memory.
func (d *Design) HostMemoryTrafficGBPerSecond() float64 {
	clocks := d.ClocksBetweenFrames(d.Clocks.IntervalAndLatency)
	return float64(d.MemoryBytesPerFrame()) * d.ReachedClockMHz() * 1e6 / clocks / 1e9
}

// MemoryBytesPerFrame returns the bytes that a frame moves to and from the processor's memory.
func (d *Design) MemoryBytesPerFrame() int { return space.MemoryBytesPerFrame(d.Design) }

// A report computes the figures of designs that were found for a question.
type report struct{ *fit.DesignSearch }

// design builds, simulates and describes the design of a folding. The error may be a *rtlsim.Deadlock.
func (q report) design(ctx context.Context, f *space.Folding) (*Design, error) {
	b := q.BuildDesign(f)
	d := &Design{Design: b.Design, Budget: q.Budget, Given: q.GivenFIFODepths(b), memory: q.HostMemoryBandwidth,
		space: q.FoldingSpace, folding: f}
	proof, err := rtlsim.ProveDeadlockFree(ctx, b.Design)
	if err != nil {
		return nil, err
	}
	trace, err := q.SimulateSteadyState(ctx, b.Design)
	if err != nil {
		return nil, err
	}
	slowest, _ := b.BottleneckInterval()
	d.Clocks = SimulatedClocks{IntervalAndLatency: pace(b.Design, trace, q.HostMemoryBandwidth), Trace: trace,
		Proof: proof}
	d.Clocks.Slowest = max(slowest, q.MinClocksPerFrame(b.Design))
	d.Clocks.Ends.In, d.Clocks.Ends.Out = b.Target.IOLatencyClocks()
	if d.Clocks.Shortest, err = q.shortest(ctx, b.Design); err != nil {
		return nil, err
	}
	d.Estimate = estimate.EstimateDesignResources(b.Design)
	d.Shares = q.Budget.ResourceSharesOf(d.Estimate.Total)
	d.Over = !q.Budget.AllowsResources(d.Estimate.Total)
	d.Reasons = rtlsim.FIFODepthReasons(b.Design)
	d.Bottleneck = q.bottleneck(d)
	if d.Series, err = q.series(ctx, d); err != nil {
		return nil, err
	}
	return d, nil
}

// pace returns the interval and latency that the trace of a run that fills the pipeline shows. The interval is at least
// what the processor's memory needs.
func pace(d *dataflow.Design, t *rtlsim.RunTrace, memory space.HostMemoryBandwidth) IntervalAndLatency {
	return IntervalAndLatency{max(t.IntervalClocks(), float64(memory.MinClocksPerFrame(d))),
		t.FirstFrameLatencyClocks()}
}

// timed simulates a design and returns its interval and latency.
func timed(ctx context.Context, d *dataflow.Design, opt rtlsim.Options,
	memory space.HostMemoryBandwidth) (*IntervalAndLatency,
	error) {
	t, err := rtlsim.RunFrames(ctx, d, nil, opt)
	if err != nil {
		return nil, err
	}
	p := pace(d, t, memory)
	if opt.Frames == 1 {
		p.Interval = 0
	}
	return &p, nil
}

// MaxTimelineFrames returns how many of the first frames a timeline shows at most: 0 if a frame has too many words.
// Clocks.Trace has them if it recorded as many frames (rtlsim.RunTrace.TraceOfFirstFrames).
func (d *Design) MaxTimelineFrames() int { return fit.MaxTimelineFrames(d.Design) }

// mostRanged is the most words per frame for which SimulateAndStoreLatencyRange runs several frames.
const mostRanged = 4_000_000

// SimulateAndStoreLatencyRange simulates the design with the shortest and the longest latencies of its operations, and
// sets SimulatedClocks.Least and SimulatedClocks.Most. With calibrated delays it does nothing. If a frame has more than
// mostRanged words, it runs a single frame; then both intervals are 0.
func (d *Design) SimulateAndStoreLatencyRange(ctx context.Context) error {
	if d.Target.HasUserCalibration() {
		return nil
	}
	opt := fit.NewSteadyStateRunOptions(d.Design)
	if fit.StreamWordsPerFrame(d.Design) > mostRanged {
		opt.Frames = 1
	}
	at := func(b delay.DelayRangeEnd) (*IntervalAndLatency, error) {
		c := *d.Design
		c.Target.Bound = b
		return timed(ctx, &c, opt, d.memory)
	}
	fast, err := at(delay.DelayRangeMin)
	if err != nil {
		return err
	}
	slow, err := at(delay.DelayRangeMax)
	if err != nil {
		return err
	}
	d.Clocks.Least, d.Clocks.Most = d.Clocks.around(*fast, *slow)
	return nil
}

// around returns the least and the most of each figure of p, a and b. The order can differ between figures, because a
// longer pipeline may make frames come more often. It sets both intervals to 0 if a or b has none.
func (p IntervalAndLatency) around(a, b IntervalAndLatency) (least, most *IntervalAndLatency) {
	least, most = &p, &IntervalAndLatency{p.Interval, p.Latency}
	if a.Interval == 0 || b.Interval == 0 {
		least.Interval, most.Interval = 0, 0
	}
	for _, o := range []IntervalAndLatency{a, b} {
		least.Interval, most.Interval = min(least.Interval, o.Interval), max(most.Interval, o.Interval)
		least.Latency, most.Latency = min(least.Latency, o.Latency), max(most.Latency, o.Latency)
	}
	return least, most
}

// shortest returns the figures of the shortest sequences, or nil if all frames have one length.
func (q report) shortest(ctx context.Context, d *dataflow.Design) (*IntervalAndLatency, error) {
	l := d.Model.Lengths
	if l == nil {
		return nil, nil
	}
	at, err := d.AtSequenceLength(l.Min)
	if err != nil {
		return nil, err
	}
	return timed(ctx, at, fit.NewSteadyStateRunOptions(at), q.HostMemoryBandwidth)
}

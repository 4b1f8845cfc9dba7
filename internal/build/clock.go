package build

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"hlsgen/internal/cost"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/estimate"
	"hlsgen/rtlsim"
)

// A FIFO says how deep FIFOs are. The zero value makes them as deep as the interval of unbounded ones needs.
type FIFO struct {
	Words   int  // of every FIFO, where not 0
	Minimal bool // no deeper than freedom from deadlock needs, at any speed
}

// String is the FIFO as --fifo has it.
func (f FIFO) String() string {
	switch {
	case f.Words > 0:
		return strconv.Itoa(f.Words)
	case f.Minimal:
		return "minimal"
	}
	return "throughput"
}

// Cycles is what the simulation of the folded design shows, clock by clock and without data.
type Cycles struct {
	Latency  int            // clocks from the first input word to the last output word of a lone frame
	Interval float64        // clocks between frames, once the pipeline is full
	Deepest  int            // words in the deepest FIFO
	Bits     int            // in all FIFOs, beyond two words each
	Trace    *rtlsim.Trace  // of as many frames as it takes
	Proof    rtlsim.Proof   // that nothing deadlocks
	Sizing   *rtlsim.Sizing // nil where the user set the depth
}

// FPS is the frame rate at the simulated interval, and at a clock that the layers allow.
func (r *Result) FPS() float64 { return r.ClockMHz() * 1e6 / r.Cycles.Interval }

// sizingEffort is how many words the sizing of FIFOs may move in its trials: a few seconds. What FIFOs could do with
// beyond that is a few percent of their bits.
const sizingEffort = 5e7

// clock sizes the FIFOs, proves the design free from deadlock and simulates it. The error may be a *rtlsim.Deadlock.
func (r *Result) clock(ctx context.Context, o Options, d *diag.List) error {
	c := &r.Cycles
	if o.FIFO.Words == 0 {
		sizing, err := rtlsim.Size(ctx, r.Design, rtlsim.SizeOptions{Minimal: o.FIFO.Minimal, Effort: sizingEffort})
		if err != nil {
			return err
		}
		sized := *r.Design
		sized.FIFO = make([]dataflow.FIFO, len(sizing.Words))
		for s, words := range sizing.Words {
			made := cost.ImplementFIFO(words, sized.Port(s).Width())
			sized.FIFO[s] = dataflow.FIFO{Depth: made.Depth, Memory: estimate.FIFOMemory(made.Memory)}
		}
		c.Sizing, r.Design, r.Folding.Design = sizing, &sized, &sized
	}
	proof, err := rtlsim.Prove(ctx, r.Design)
	if err != nil {
		return err
	}
	trace, err := r.tokens(ctx, r.Design)
	if err != nil {
		return err
	}
	c.Latency, c.Interval, c.Proof, c.Trace = trace.Latency(), trace.Interval(), proof, trace
	for s, words := range r.Design.Depths() {
		c.Deepest = max(c.Deepest, words)
		c.Bits += max(0, words-rtlsim.Least) * r.Design.Port(s).Width()
	}
	r.checkClock(d)
	if fps := r.Design.Target.ClockMHz * 1e6 / c.Interval; o.FPS > 0 && fps < o.FPS {
		hint := "leave --fifo out, and FIFOs are made as deep as they need to be"
		if o.FIFO == (FIFO{}) {
			hint = "ask for fewer frames per second"
		}
		d.Add(diag.Diag{Severity: diag.Warning, Code: diag.FPSUnreachable,
			Msg: fmt.Sprintf("simulated, a frame takes %s clocks, which is %s frames per second of the %s asked for: %s",
				plain(c.Interval), plain(math.Floor(fps)), plain(o.FPS), trace.Bottleneck.Reason),
			Hint: hint})
	}
	return nil
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// tokens runs enough frames for the interval to settle: more than the design holds at a time.
func (r *Result) tokens(ctx context.Context, d *dataflow.Design) (*rtlsim.Trace, error) {
	return rtlsim.Run(ctx, d, nil, rtlsim.Options{Frames: 16 + 2*len(d.Model.Graph.Nodes)})
}

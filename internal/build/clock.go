package build

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/rtlsim"
)

// Cycles is what the simulation of the folded design shows, clock by clock and without data.
type Cycles struct {
	Latency  int     // clocks from the first input word to the last output word of a lone frame
	Interval float64 // clocks between frames, once the pipeline is full
	Deepest  int     // words in the deepest FIFO
	Bits     int     // in all FIFOs, beyond two words each
}

// FPS is the frame rate at the simulated interval.
func (r *Result) FPS() float64 { return r.Design.Target.ClockMHz * 1e6 / r.Cycles.Interval }

// clock simulates the design. Where layers hold each other up because FIFOs are short, and the user did not set their
// depth, FIFOs get what they use when each may hold a whole frame, rounded up to a power of two.
func (r *Result) clock(ctx context.Context, o Options, d *diag.List) error {
	trace, err := r.tokens(ctx, r.Design)
	var dead *rtlsim.Deadlock
	if stuck := errors.As(err, &dead); err != nil && (!stuck || o.FIFO != 0) {
		return err
	}
	if o.FIFO == 0 && (trace == nil || trace.Interval() > float64(r.Folding.Interval)) {
		if trace, err = r.deepen(ctx, trace); err != nil {
			return err
		}
	}
	r.Cycles = Cycles{Latency: trace.Latency(), Interval: trace.Interval()}
	for s, words := range r.Design.Depth {
		r.Cycles.Deepest = max(r.Cycles.Deepest, words)
		r.Cycles.Bits += max(0, words-2) * r.Design.Port(s).Width()
	}
	if o.FPS > 0 && r.FPS() < o.FPS {
		d.Add(diag.Diag{Severity: diag.Warning, Code: diag.FPSUnreachable,
			Msg: fmt.Sprintf("simulated, a frame takes %s clocks, which is %s frames per second of the %s asked for: layers wait for each other at FIFOs of %d words",
				plain(r.Cycles.Interval), plain(math.Floor(r.FPS())), plain(o.FPS), r.Cycles.Deepest),
			Hint: "leave --fifo out, and FIFOs are made as deep as they need to be"})
	}
	return nil
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// tokens runs enough frames for the interval to settle: more than the design holds at a time.
func (r *Result) tokens(ctx context.Context, d *dataflow.Design) (*rtlsim.Trace, error) {
	return rtlsim.Run(ctx, d, nil, rtlsim.Options{Frames: 16 + 2*len(d.Model.Graph.Nodes)})
}

func (r *Result) deepen(ctx context.Context, before *rtlsim.Trace) (*rtlsim.Trace, error) {
	free := *r.Design
	free.Depth = make([]int, len(r.Design.Depth))
	for s, words := range r.Design.Depth {
		free.Depth[s] = max(words, r.Design.Port(s).Words)
	}
	most, err := r.tokens(ctx, &free)
	if err != nil || before != nil && most.Interval() >= before.Interval() {
		return before, err // depth is not what is missing
	}
	sized := *r.Design
	sized.Depth = make([]int, len(free.Depth))
	for s, high := range most.High {
		sized.Depth[s] = max(r.Design.Depth[s], 1<<bits.Len(uint(max(high, 1)-1)))
	}
	after, err := r.tokens(ctx, &sized)
	if err != nil {
		return nil, err
	}
	if after.Interval() > most.Interval() { // what they use when free does not suffice when bounded
		sized.Depth, after = free.Depth, most
	}
	r.Design, r.Folding.Design = &sized, &sized
	return after, nil
}

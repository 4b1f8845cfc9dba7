package folding

import (
	"context"
	"fmt"
	"math"

	"github.com/dustin/go-humanize"

	"hlsgen/folding/goal"
	"hlsgen/rtlsim"
)

// FrameSeriesLength is the number of frames of a FrameSeriesTiming.
const FrameSeriesLength = 1000

// A FrameSeriesTiming holds the clocks that hardware takes for many frames in direct succession, with the reasons. If
// sequences have different lengths, all are the longest.
type FrameSeriesTiming struct {
	Frames int     `json:"frames"`
	Clocks int     `json:"clocks"`              // from the first input word to the last output word
	First  int     `json:"first_frame_clocks"`  // the clocks of the first frame
	Each   float64 `json:"each_further_clocks"` // the clocks of each further frame
	// further clocks until FIFOs are as full as they get; negative if frames come sooner meanwhile
	Filling float64 `json:"filling_clocks"`
	// whether the run showed all frames or a steady state; if not, further frames are assumed to take as long as the
	// last
	Settled bool `json:"settled"`

	Slowest string  `json:"slowest_layer"`        // the first of the layers with the most iterations
	Works   int     `json:"slowest_works_clocks"` // the clocks of a frame in which it starts an iteration
	Waits   float64 `json:"slowest_waits_clocks"` // the other clocks of a frame
	// a frame's clocks if each kernel call were a loop over a frame, whose pipeline would empty before the next frame
	// begins (docs/clock.md)
	AsLoops float64 `json:"each_as_loops_clocks"`

	of     string // the description of a frame, if it is not a sample
	reason string // the reason of the bottleneck
	mhz    float64
}

// seriesWords is the most words that are moved to simulate all frames of a series, if the trace shows no steady state.
const seriesWords = 2_000_000

// series returns the series of a design whose clocks and bottleneck are known.
func (q report) series(ctx context.Context, d *Design) (FrameSeriesTiming, error) {
	c := &d.Clocks
	trace, back := c.Trace, len(d.Model.Feedback) > 0 // each frame waits for a state
	if !back && trace.Period.Frames == 0 && FrameSeriesLength*words(d.Design) <= seriesWords {
		var err error
		opt := rtlsim.Options{Frames: FrameSeriesLength, Cache: &q.Known}
		if trace, err = rtlsim.RunFrames(ctx, d.Design, nil, opt); err != nil {
			return FrameSeriesTiming{}, err
		}
	}
	s := FrameSeriesTiming{Frames: FrameSeriesLength, First: c.Latency,
		Each:    d.ClocksBetweenFrames(c.IntervalAndLatency),
		AsLoops: d.ClocksBetweenFrames(c.IntervalAndLatency),
		reason:  d.Bottleneck.Reason, mhz: d.ReachedClockMHz()}
	if n := d.Model.Turns.SamplesPerFrame(); n > 1 {
		s.of = fmt.Sprintf(" of %d samples", n)
	}
	if l := d.Model.Lengths; l != nil {
		s.of = fmt.Sprintf(" of %d steps", l.Max)
	}
	for i, n := range d.Model.Graph.Nodes {
		loop := d.LoopOfNode(i)
		if loop.IterationsPerFrame() > s.Works {
			s.Slowest, s.Works = n.Name, loop.IterationsPerFrame()
		}
		s.AsLoops = max(s.AsLoops, float64(loop.IterationsPerFrame()+loop.Latency))
	}
	s.Waits = max(0, s.Each-float64(s.Works))
	even := float64(s.First) + float64(s.Frames-1)*s.Each
	s.Clocks = int(math.Ceil(even))
	if last, ok := trace.LastOutputClockOfFrame(s.Frames - 1); ok || back {
		s.Settled = true
		if !back && c.Interval == c.Trace.IntervalClocks() { // otherwise the processor's memory is slower
			s.Clocks = trace.ClocksFromFirstInputUntil(last)
		}
	}
	s.Filling = float64(s.Clocks) - even
	return s, nil
}

// DescribeInLines describes the clocks of all frames, and how the slowest layer spends the clocks of one frame. It says
// that no clock lies between frames.
func (s *FrameSeriesTiming) DescribeInLines() []string {
	about := ""
	if !s.Settled {
		about = "about "
	}
	whole := func(n int) string { return humanize.Comma(int64(n)) }
	all := fmt.Sprintf("%s frames%s take %s%s (%s µs at %s MHz): %s for the first, %s for each further one",
		whole(s.Frames), s.of, about, goal.FormatClocks(s.Clocks), humanize.CommafWithDigits(float64(s.Clocks)/s.mhz,
			1),
		goal.FormatUpToSixDecimals(s.mhz), whole(s.First), humanize.Commaf(s.Each))
	switch {
	case s.Filling >= 1:
		all += fmt.Sprintf(", and %s until FIFOs are as full as they get", humanize.Commaf(s.Filling))
	case s.Filling <= -1:
		all += fmt.Sprintf(", less %s until FIFOs are as full as they get", humanize.Commaf(-s.Filling))
	}
	if s.Slowest == "" {
		return []string{all}
	}
	each := fmt.Sprintf("%s works in all of a frame's %s, one iteration in each", s.Slowest, goal.FormatClocks(s.Each))
	if s.Waits > 0 {
		each = fmt.Sprintf("%s works in %s of a frame's %s, one iteration in each, and waits in %s: %s",
			s.Slowest, whole(s.Works), goal.FormatClocks(s.Each), humanize.Commaf(s.Waits), s.reason)
	}
	between := "no clock lies between frames: a call of a kernel is one iteration, and no pipeline empties"
	if s.AsLoops > s.Each {
		between += fmt.Sprintf(". With a loop for each frame it would, and a frame would take about %s (docs/clock.md)",
			goal.FormatClocks(s.AsLoops))
	}
	return []string{all, each, between}
}

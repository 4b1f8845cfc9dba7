package report

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"hlsgen/folding"
	"hlsgen/templates"
)

// A SequenceRatesReport gives the rates of a design that accepts sequences of different lengths, one per frame: for the
// longest and for the shortest sequences.
type SequenceRatesReport struct {
	Axis     string               `json:"axis"`     // name of the model's axis
	Longest  SequenceTimingReport `json:"longest"`  // its interval, latency and rate are those of the design
	Shortest SequenceTimingReport `json:"shortest"` // from a simulation of its own
}

// A SequenceTimingReport gives the timing of consecutive sequences of one length.
type SequenceTimingReport struct {
	Steps    int     `json:"steps"`
	Interval float64 `json:"interval_clocks"` // from the start of a sequence to the start of the next one
	PerStep  float64 `json:"clocks_per_step"` // the interval divided by Steps
	Latency  int     `json:"latency_clocks"`
	FPS      float64 `json:"fps"`
}

// NewSequenceRatesReport returns the report on the rates of sequences, or nil if all sequences have the same length.
func NewSequenceRatesReport(d *folding.Design) *SequenceRatesReport {
	l := d.Model.Lengths
	if l == nil {
		return nil
	}
	of := func(steps int, p folding.IntervalAndLatency) SequenceTimingReport {
		every := d.ClocksBetweenFrames(p)
		return SequenceTimingReport{Steps: steps, Interval: every, PerStep: rounded(every / float64(steps)),
			Latency: p.Latency, FPS: d.SamplesPerSecondAt(d.ReachedClockMHz(), p)}
	}
	return &SequenceRatesReport{l.Axis, of(l.Max, d.Clocks.IntervalAndLatency), of(l.Min, *d.Clocks.Shortest)}
}

// LengthRangeText returns the range of lengths as text: "1 to 520 steps".
func (s *SequenceRatesReport) LengthRangeText() string {
	return fmt.Sprintf("%d to %d steps", s.Shortest.Steps, s.Longest.Steps)
}

// String returns text about the timing: "of 520 steps: one every 33,280 clocks, 64 a step, latency 40,000".
func (p SequenceTimingReport) String() string {
	steps := "steps"
	if p.Steps == 1 {
		steps = "step"
	}
	text := fmt.Sprintf("of %d %s: one every %s clocks", p.Steps, steps, humanize.Commaf(p.Interval))
	if p.Steps > 1 {
		text += fmt.Sprintf(", %s a step", humanize.Commaf(p.PerStep))
	}
	return text + fmt.Sprintf(", latency %s", humanize.Comma(int64(p.Latency)))
}

// sent returns Markdown about the way in which the host sends sequences and receives results.
func (s *SequenceRatesReport) sent() string {
	return fmt.Sprintf("A frame is a sequence of %s (axis %s of the model), sent step by step.\n"+
		"TLAST ends it: it is set with the last word of the last step, and only there. The\n"+
		"next sequence may follow in the next clock, whatever its length. The output has\n"+
		"TLAST with the last word of what is computed of a sequence. By simulation,\n\n- %v\n- %v\n\n"+
		"The test bench does so, too: `hls/tb/data/frames.txt` has the steps of each frame.",
		s.LengthRangeText(), templates.FormatMarkdownCodeSpan(s.Axis), s.Longest, s.Shortest)
}

// FormatNumberList returns the numbers as text: "1, 4 and 8". For no numbers it returns "".
func FormatNumberList(numbers []int) string {
	text := ""
	for i, n := range numbers {
		switch {
		case i > 0 && i == len(numbers)-1:
			text += " and "
		case i > 0:
			text += ", "
		}
		text += fmt.Sprint(n)
	}
	return text
}

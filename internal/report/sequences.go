package report

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"hlsgen/folding"
	"hlsgen/templates"
)

// A SequencesReport describes the sequences that a design accepts, with one sequence per frame. It gives the rate of
// the longest and of the shortest sequences.
type SequencesReport struct {
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

// SequencesOf returns the report of a design, or nil if all sequences have the same length.
func SequencesOf(d *folding.Design) *SequencesReport {
	l := d.Model.Lengths
	if l == nil {
		return nil
	}
	of := func(steps int, p folding.FramePace) SequenceTimingReport {
		every := d.ClocksBetweenFrames(p)
		return SequenceTimingReport{Steps: steps, Interval: every, PerStep: rounded(every / float64(steps)),
			Latency: p.Latency, FPS: d.Rate(d.ClockMHz(), p)}
	}
	return &SequencesReport{l.Axis, of(l.Max, d.Clocks.FramePace), of(l.Min, *d.Clocks.Shortest)}
}

// Range returns the range of lengths: "1 to 520 steps".
func (s *SequencesReport) Range() string {
	return fmt.Sprintf("%d to %d steps", s.Shortest.Steps, s.Longest.Steps)
}

// String describes the timing: "of 520 steps: one every 33,280 clocks, 64 a step, latency 40,000".
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

// sent describes, in Markdown, how the host sends sequences and receives results.
func (s *SequencesReport) sent() string {
	return fmt.Sprintf("A frame is a sequence of %s (axis %s of the model), sent step by step.\n"+
		"TLAST ends it: it is set with the last word of the last step, and only there. The\n"+
		"next sequence may follow in the next clock, whatever its length. The output has\n"+
		"TLAST with the last word of what is computed of a sequence. By simulation,\n\n- %v\n- %v\n\n"+
		"The test bench does so, too: `hls/tb/data/frames.txt` has the steps of each frame.",
		s.Range(), templates.MarkdownCode(s.Axis), s.Longest, s.Shortest)
}

// JoinNumbers formats numbers as a list: "1, 4 and 8".
func JoinNumbers(numbers []int) string {
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

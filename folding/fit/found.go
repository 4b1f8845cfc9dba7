package fit

import (
	"fmt"

	"hlsgen/folding/goal"
	"hlsgen/folding/space"
)

// A FoldingWithBounds is the answer to a DesignSearch: a folding, with lower bounds on what any design takes.
type FoldingWithBounds struct {
	*space.Folding
	Limit   int                // the most clocks per frame that were allowed
	Bounds  []MeasureWithBound // the measures that were minimised, in order
	Latency *LatencyWithBound  // nil if the latency was not minimised
	// whether Bounds cover only designs that spare DSP slices (DesignSearch.withoutNarrowDSPs)
	Spares bool
	// whether the design is no better than DesignSearch.Than; then it may not have been simulated
	Useless bool
}

// A MeasureWithBound is the result for a measure that a search minimised: the design's value, and a lower bound of it.
type MeasureWithBound struct {
	Measure goal.ResourceMeasure
	Value   float64 // the design's value: a share of the budget, or an amount
	// no design that is as good in the measures before has less; equal to Value if that is proved to be the least
	Least float64
}

// A LatencyWithBound holds a design's clocks from the first word of a frame to its last word at the outputs (Clocks).
// No design within the budget and the interval takes fewer than Least clocks.
type LatencyWithBound struct{ Clocks, Least int }

// String returns the design's value of the measure and how far it may be above the least possible, as text for the
// user.
func (b MeasureWithBound) String() string {
	if b.Measure == goal.ResourceMeasureLoad {
		return fmt.Sprintf("load %.3f %% of the budget, %s", 100*b.Value, gap(b.Value, b.Least, fmt.Sprintf("%.3f %%",
			100*b.Least)))
	}
	return fmt.Sprintf("%d %s, %s", int(b.Value), b.Measure, gap(b.Value, b.Least, fmt.Sprint(int(b.Least))))
}

// String returns the latency and how far it may be above the least possible, as text for the user.
func (l LatencyWithBound) String() string {
	return fmt.Sprintf("latency %s, %s", goal.FormatClocks(l.Clocks), gap(float64(l.Clocks), float64(l.Least),
		goal.FormatClocks(l.Least)))
}

// RelativeGap returns how far the value may be above the least possible, as a share of the bound Least. It is 0.1 for
// 10 %, and 0 if the value is proved to be the least.
func (b MeasureWithBound) RelativeGap() float64 { return open(b.Value, b.Least) }

// RelativeGap returns how far the latency may be above the least possible, as a share of the bound Least. It is 0.1 for
// 10 %, and 0 if the latency is proved to be the least.
func (l LatencyWithBound) RelativeGap() float64 { return open(float64(l.Clocks), float64(l.Least)) }

func open(value, least float64) float64 {
	if value == least {
		return 0
	}
	return (value - least) / max(least, 1e-9)
}

// gap returns a text that says how far a value may be above the least there is. least is a lower bound of that, and
// text shows it.
func gap(value, least float64, text string) string {
	if value == least {
		return "the least there is"
	}
	return fmt.Sprintf("at most %.2f %% above the least there is (no less than %s)", 100*open(value, least), text)
}

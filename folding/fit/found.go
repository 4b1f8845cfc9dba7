package fit

import (
	"fmt"

	"hlsgen/folding/ask"
	"hlsgen/folding/space"
)

// Found is the answer to a question: a folding, and what is known of it.
type Found struct {
	*space.Folding
	Limit   int      // clocks per frame that were allowed
	Bounds  []Bound  // what was minimised, in order
	Latency *Latency // nil where it was not minimised
	Spares  bool     // what was minimised is so of designs that spare DSP slices (Question.Sparing)
	Useless bool     // it is no better than Question.Than, and may not have been run
}

// A Bound is one thing that a search minimised.
type Bound struct {
	Measure ask.Measure
	Value   float64 // of the design: a share of the budget, or an amount
	Least   float64 // what every design has at least that is as good in the measures before; Value where that is proved
}

// A Latency is clocks from the first word of a frame to its last word at the outputs, and what no design within the
// budget and the interval goes below.
type Latency struct{ Clocks, Least int }

// String says what was reached and what nothing goes below.
func (b Bound) String() string {
	if b.Measure == ask.LeastLoad {
		return fmt.Sprintf("load %.3f %% of the budget, %s", 100*b.Value, gap(b.Value, b.Least, fmt.Sprintf("%.3f %%",
			100*b.Least)))
	}
	return fmt.Sprintf("%d %s, %s", int(b.Value), b.Measure, gap(b.Value, b.Least, fmt.Sprint(int(b.Least))))
}

// String says what was reached and what nothing goes below.
func (l Latency) String() string {
	return fmt.Sprintf("latency %s, %s", ask.Clocks(l.Clocks), gap(float64(l.Clocks), float64(l.Least),
		ask.Clocks(l.Least)))
}

// Open is how far a value may be above the least there is, from 0.
func (b Bound) Open() float64 { return open(b.Value, b.Least) }

// Open is how far the latency may be above the least there is, from 0.
func (l Latency) Open() float64 { return open(float64(l.Clocks), float64(l.Least)) }

func open(value, least float64) float64 {
	if value == least {
		return 0
	}
	return (value - least) / max(least, 1e-9)
}

// gap says how far a value is from what is proved.
func gap(value, least float64, text string) string {
	if value == least {
		return "the least there is"
	}
	return fmt.Sprintf("at most %.2f %% above the least there is (no less than %s)", 100*open(value, least), text)
}

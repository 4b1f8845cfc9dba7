package folding

import (
	"fmt"
	"slices"
	"strings"
)

// A Certificate says what is known of all whole designs in the space: every choice of one fold per layer, with the width
// converters that it needs, FIFOs of any depth that does, in any memory, and the host's port, within the budget that was
// asked for.
type Certificate struct {
	Options     int // legal folds, summed over the layers
	Unavailable int // of these: what the device cannot build, or the folding file rules out
	// Interval is reached. No design within the budget has a shorter one than Floor, where the shortest was looked for; else
	// Floor is 0.
	Interval float64
	Floor    int
	Below    *Excluded // why none does; nil where no layer is as fast, or where the shortest was not looked for
	Bounds   []Bound   // what was minimised at the interval, in order
	Latency  *Latency  // nil where it was not minimised
	Gap      string    // why something is left open; empty where nothing is
}

// A Bound is one thing that a search minimised.
type Bound struct {
	Measure Measure
	Value   float64 // of the design: a share of the budget, or an amount
	Least   float64 // what every design has at least that is as good in the measures before; Value where that is proved
}

// A Latency is clocks from the first word of a frame to its last word at the outputs, and what no design within the budget
// and the interval goes below.
type Latency struct{ Clocks, Least int }

// An Excluded tells why no folding keeps an interval within the budget: for each option, the first reason why it cannot be
// in one.
type Excluded struct {
	Interval  int
	TooSlow   int            // takes more clocks
	Dominated int            // another option of the same words takes no more of anything
	Unjoined  int            // no width converter joins it to any option of a neighbour
	Alone     map[string]int // by kind: with it the rest of the network takes more of this kind than the budget
	Together  int            // weighing the kinds against each other proves that with it they do not all suffice
	Compared  int            // every combination of what is left was compared
}

// Proved reports whether nothing is better: in interval, in latency, and in each measure after it.
func (c *Certificate) Proved() bool {
	if c.Floor > 0 && float64(c.Floor) != c.Interval || c.Latency != nil && c.Latency.Least != c.Latency.Clocks {
		return false
	}
	return !slices.ContainsFunc(c.Bounds, func(b Bound) bool { return b.Least != b.Value })
}

// Effort says what there was to choose from.
func (c *Certificate) Effort() string {
	if c.Unavailable > 0 {
		return fmt.Sprintf("of %d options the device and the folding file leave %d, one per layer to choose", c.Options, c.Options-c.Unavailable)
	}
	return fmt.Sprintf("%d options, one per layer to choose", c.Options)
}

// Lines says what is proved and what is left open, a line each.
func (c *Certificate) Lines() (lines []string) {
	at := plain(c.Interval)
	switch {
	case c.Floor > 0 && float64(c.Floor) == c.Interval:
		line := fmt.Sprintf("no design of these layers within the budget takes fewer than %s per frame", clocks(c.Floor))
		if c.Below != nil {
			line += ": " + c.Below.String()
		}
		lines = append(lines, line)
	case c.Floor > 0:
		line := fmt.Sprintf("%s clocks per frame found, none below %d possible", at, c.Floor)
		if c.Below != nil {
			line += ": " + c.Below.String()
		}
		lines = append(lines, line)
	}
	for _, b := range c.Bounds {
		lines = append(lines, b.String())
	}
	if l := c.Latency; l != nil {
		lines = append(lines, fmt.Sprintf("latency %s, %s", clocks(l.Clocks), gap(float64(l.Clocks), float64(l.Least), clocks(l.Least))))
	}
	if c.Gap != "" {
		lines = append(lines, c.Gap)
	}
	return lines
}

// String says what was reached and what nothing goes below.
func (b Bound) String() string {
	if b.Measure == LeastLoad {
		return fmt.Sprintf("load %.3f %% of the budget, %s", 100*b.Value, gap(b.Value, b.Least, fmt.Sprintf("%.3f %%", 100*b.Least)))
	}
	return fmt.Sprintf("%d %s, %s", int(b.Value), b.Measure, gap(b.Value, b.Least, fmt.Sprint(int(b.Least))))
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

// String lists the reasons: "at 63 clocks, of 486 options 300 too slow, 120 dominated, 66 excluded by LUT".
func (e *Excluded) String() string {
	var parts []string
	n := 0
	add := func(k int, text string) {
		if k > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", k, text))
			n += k
		}
	}
	add(e.TooSlow, "too slow")
	add(e.Dominated, "dominated")
	add(e.Unjoined, "without a width converter")
	for _, name := range names {
		add(e.Alone[name], "excluded by "+name)
	}
	add(e.Together, "excluded by several resources together")
	add(e.Compared, "compared in every combination")
	return fmt.Sprintf("at %s, of %d options %s", clocks(e.Interval), n, strings.Join(parts, ", "))
}

// certificate gathers what the search knows of the answer and of the design made of it.
func (s *space) certificate(q *question, f *found, d *Design) Certificate {
	c := Certificate{Interval: d.Clocks.Interval, Floor: f.floor, Below: f.below, Bounds: f.bounds, Latency: f.latency}
	for i := range s.layers {
		l := &s.layers[i]
		c.Options += len(l.folds)
		c.Unavailable += len(l.folds) - len(l.options)
	}
	if !c.Proved() {
		c.Gap = s.gapReason(q, f)
	}
	return c
}

// deepFIFO is the words that a FIFO of shift registers holds at the price of a shallow one.
const deepFIFO = 32

// gapReason says why something is left open.
func (s *space) gapReason(q *question, f *found) string {
	if !q.effort.Deadline.IsZero() {
		return "the end of --search-time came before all was proved"
	}
	deep := 0
	for id := range s.streams {
		s.eachFIFO(id, f.options, func(side streamSide, _ form, _ bool) {
			if _, given := s.given(side, true); f.fifos[side].Depth > deepFIFO && !given {
				deep++
			}
		})
	}
	if deep > 0 {
		return fmt.Sprintf("left open: the bound holds whatever FIFOs hold, so it takes for shallow the %d that hold more than %d words; "+
			"a longer --search-time may close it", deep, deepFIFO)
	}
	return "left open: the search has done as much work as it may; --search-time lets it go on"
}

// excluded gives every option the first reason why it cannot be in a folding that keeps an interval within the budget.
func (s *space) excluded(q *question, interval int) *Excluded {
	caps := s.capsAt(q, interval)
	t := s.tree(&region{limit: interval}, q)
	e := &Excluded{Interval: interval, Alone: map[string]int{}}
	if t.Possible() && !t.Excludes(caps) {
		t.Relax(caps)
	}
	why := t.Explain(caps)
	for i := range s.layers {
		l := &s.layers[i]
		fast := 0
		for o := range l.options {
			if l.clocks(o) <= interval {
				fast++
			}
		}
		e.TooSlow += len(l.options) - fast
		w := why[i]
		e.Unjoined += w.Impossible
		e.Together += w.Together
		e.Compared += w.Left
		e.Dominated += fast - w.Impossible - w.Together - w.Left
		for k, n := range w.Alone {
			e.Dominated -= n
			if n > 0 {
				name := "the host's port"
				if k < traffic {
					name = names[k]
				}
				e.Alone[name] += n
			}
		}
	}
	return e
}

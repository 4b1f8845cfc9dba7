package folding

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"hlsgen/boards"
	"hlsgen/folding/ask"
	"hlsgen/folding/space"
	"hlsgen/internal/dataflow"
)

// A Certificate says what is known of all whole designs in the space: every choice of one fold per layer, with the
// width converters that it needs, FIFOs of any depth that does, in any memory (InLUTs), and the host's port, within the
// budget that was asked for.
type Certificate struct {
	Options     int // legal folds, summed over the layers
	Unavailable int // of these: what the device cannot build, the folding file rules out, or is dear (Dear)
	// Interval is reached. No design within the budget has a shorter one than Floor, where the shortest was looked for;
	// else Floor is 0.
	Interval float64
	Floor    int
	Below    *Excluded // why none does; nil where no layer is as fast, or where the shortest was not looked for
	Slowest  string    // where Below is nil: what takes as many clocks as Floor however it is folded
	Bounds   []Bound   // what was minimised at the interval, in order
	// Spares: Bounds are of designs that multiply factors of few bits (ask.FewBits) in LUTs, where there is a choice.
	// Others may measure less. Floor is of all designs.
	Spares bool
	// Dear is how many folds with serial step functions, as fast as that, were no choice, for what they take of block
	// RAM. All that is proved is proved without them.
	Dear int
	// Large counts the folds, as fast as that, that were left out for large tables in LUTs (dataflow.LargeTable).
	Large int
	// InLUTs: LUTs hold FIFOs of few words, where they can, though block RAM would save logic. All that is proved is
	// proved of designs in which no FIFO in block RAM takes less logic than few words in LUTs (space.Spared).
	InLUTs  bool
	Latency *Latency // nil where it was not minimised
	Gap     string   // why something is left open; empty where nothing is
	// Interrupted: the user ended the search, which had this design.
	Interrupted bool
	// how long sequences may be, of which the longest are meant; nil where all frames are alike
	Lengths *dataflow.Lengths
	// On has the kinds of resource that Lines and Excluded name, some by its own names.
	On boards.Board
}

// An Excluded tells why no folding keeps an interval within the budget: for each option, the first reason why it cannot
// be in one.
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

// Given says of which designs alone Bounds are: " with ...", or nothing where they are of all.
func (c *Certificate) Given() string {
	if c.Spares {
		return fmt.Sprintf(" with factors of %d bits or fewer in LUTs", ask.FewBits) +
			strings.Replace(c.Without(), " ", " and ", 1)
	}
	return c.Without()
}

// Without says of which designs nothing is proved: " without ...", or nothing where it is proved of all.
func (c *Certificate) Without() string {
	var left []string
	if c.Dear > 0 {
		left = append(left, "serial step functions dear in block RAM")
	}
	if c.Large > 0 {
		left = append(left, "large tables in LUTs")
	}
	if c.InLUTs {
		left = append(left, "FIFOs in block RAM that save logic")
	}
	if left == nil {
		return ""
	}
	return " without " + list(left)
}

// list is "a, b or c".
func list(names []string) string {
	if n := len(names); n > 2 {
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return strings.Join(names, " or ")
}

// BelowFloor says of which designs it is not proved that none is faster than Floor, as Without does. FIFOs are none of
// them where a layer takes as many clocks however it is folded.
func (c *Certificate) BelowFloor() string {
	of := *c
	of.InLUTs = c.InLUTs && c.Slowest == ""
	return of.Without()
}

// Effort says what there was to choose from.
func (c *Certificate) Effort() string {
	if c.Unavailable > 0 {
		return fmt.Sprintf("of %d options %d are a choice, one per layer", c.Options,
			c.Options-c.Unavailable)
	}
	return fmt.Sprintf("%d options, one per layer to choose", c.Options)
}

// Lines says what is proved and what is left open, a line each.
func (c *Certificate) Lines() (lines []string) {
	if c.Floor > 0 {
		line := fmt.Sprintf("%s clocks per frame found, none below %d possible%s", ask.Plain(c.Interval), c.Floor,
			c.BelowFloor())
		if float64(c.Floor) == c.Interval {
			line = fmt.Sprintf("no design of these layers within the budget%s takes fewer than %s per frame",
				c.BelowFloor(), ask.Clocks(c.Floor))
		}
		switch {
		case c.Below != nil:
			line += ": " + c.Below.String()
		case c.Slowest != "":
			line += ": " + c.Slowest
		}
		lines = append(lines, line)
	}
	for _, b := range c.Bounds {
		lines = append(lines, b.String())
	}
	if given := c.Given(); len(c.Bounds) > 0 && given != "" {
		lines = append(lines, "this covers designs"+given)
	}
	if c.Spares {
		lines = append(lines,
			"LUTs are enough for factors of few bits, so no DSP slice multiplies any: with some the load might be "+
				"lower")
	}
	if c.Dear > 0 {
		lines = append(lines, fmt.Sprintf("serial step functions of %d folds were no choice: they take more than %d "+
			"times the share of block RAM that they save of LUTs; a folding file may ask for them", c.Dear,
			space.Dearest))
	}
	if c.Large > 0 {
		lines = append(lines, fmt.Sprintf("tables of more than %s rows in LUTs were no choice for %d folds. These may "+
			"have them in block RAM, and a folding file may ask for them", humanize.Comma(dataflow.LargeTable), c.Large))
	}
	if c.InLUTs {
		lines = append(lines, "LUTs hold FIFOs of few words, where they can: block RAM would save logic")
	}
	if c.Latency != nil {
		lines = append(lines, c.Latency.String()+c.Without())
	}
	if c.Gap != "" {
		lines = append(lines, c.Gap)
	}
	for i, line := range lines {
		lines[i] = ask.Called(line, c.On)
	}
	if l := c.Lengths; l != nil {
		lines = append(lines, fmt.Sprintf("a frame is a sequence of %d to %d steps (axis %s): all this is said of the "+
			"longest", l.Min, l.Max, l.Axis))
	}
	return lines
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
	for _, name := range ask.Names {
		add(e.Alone[name], "excluded by "+name)
	}
	add(e.Together, "excluded by several resources together")
	add(e.Compared, "compared in every combination")
	return fmt.Sprintf("at %s, of %d options %s", ask.Clocks(e.Interval), n, strings.Join(parts, ", "))
}

// certificate gathers what the search knows of the answer and of the design made of it.
func (q report) certificate(f *found, d *Design) Certificate {
	c := Certificate{Interval: d.Clocks.Interval, Floor: f.floor, Below: f.below, Bounds: f.Bounds, Spares: f.Spares,
		Latency: f.Latency, Lengths: d.Model.Lengths, On: q.Target.Board, Interrupted: q.Goal.Interrupt.Taken()}
	if c.Floor > 0 && c.Below == nil {
		c.Slowest = q.slowest(c.Floor)
	}
	limit := int(c.Interval)
	if c.Latency != nil {
		limit = math.MaxInt
	}
	c.Dear, c.Large, c.InLUTs = space.Dear(q.Space, limit), space.Large(q.Space, limit), space.Spared(q.Space)
	for i := range q.Layers {
		l := &q.Layers[i]
		c.Options += len(l.Folds)
		c.Unavailable += len(l.Folds) - len(l.Options)
	}
	if !c.Proved() {
		c.Gap = q.gap(f)
	}
	return c
}

// slowest says what takes so many clocks at least, however it is folded; empty where nothing takes just as many.
func (q report) slowest(clocks int) string {
	if i, least := q.Slowest(); least == clocks {
		return q.Layers[i].Node.Name + " takes as many in its widest fold"
	}
	if q.PortClocks() == clocks {
		return "the host's port takes as many"
	}
	return ""
}

// deepFIFO is the words that a FIFO of shift registers holds at the price of a shallow one.
const deepFIFO = 32

// gap says why something is left open.
func (q report) gap(f *found) string {
	if q.Goal.Interrupt.Taken() {
		return "left open: the search was interrupted"
	}
	if q.Goal.SearchTime > 0 {
		return "the end of --search-time came before all was proved"
	}
	if deep := q.Sized(f.Folding, deepFIFO); deep > 0 {
		return fmt.Sprintf("left open: the bound holds whatever FIFOs hold, so it takes for shallow the %d that "+
			"hold more than %d words; "+
			"a longer --search-time may close it", deep, deepFIFO)
	}
	return "left open: the search has done as much work as it may; --search-time lets it go on"
}

// explain gives every option the first reason why it cannot be in a folding that keeps an interval within the budget.
func (q report) explain(interval int) *Excluded {
	caps := q.CapsAt(interval)
	t := q.Tree(interval)
	e := &Excluded{Interval: interval, Alone: map[string]int{}}
	if t.Possible() && !t.Excludes(caps) {
		t.Relax(caps)
	}
	why := t.Explain(caps)
	for i, l := range q.Layers {
		w, left := why[i], len(l.Options)
		for o := range l.Options {
			if l.Clocks(o) > interval {
				e.TooSlow++
				left--
			}
		}
		e.Unjoined += w.Impossible
		e.Together += w.Together
		e.Compared += w.Left
		left -= w.Impossible + w.Together + w.Left
		for k, n := range w.Alone {
			if left -= n; n > 0 {
				e.Alone[kindName(k)] += n
			}
		}
		e.Dominated += left
	}
	return e
}

func kindName(kind int) string {
	if kind < ask.Traffic {
		return ask.Names[kind]
	}
	return "the host's port"
}

package folding

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"hlsgen/boards"
	"hlsgen/folding/goal"
	"hlsgen/folding/space"
	"hlsgen/internal/dataflow"
)

// An OptimalityCertificate says what the search proved about all designs in the space within the budget of the goal.
// These have any choice of one fold per layer, the width converters between them, and the host's port. Their FIFOs have
// any sufficient depth, in any memory (but see InLUTs).
type OptimalityCertificate struct {
	Options int // the number of legal folds, summed over the layers
	// how many of them the device cannot build, the folding file excludes, or take too much block RAM (Dear)
	Unavailable int
	// Interval is the design's. No design within the budget has an interval shorter than Floor, if the goal was the
	// shortest interval; otherwise Floor is 0.
	Interval float64
	Floor    int
	// why no interval below Floor is possible; nil if no layer is as fast, or if Floor is 0
	Below   *FoldExclusionCounts
	Slowest string             // if Below is nil: what takes at least Floor clocks in every fold
	Bounds  []MeasureWithBound // the measures that were minimised at the interval, in order
	// Spares reports that Bounds cover only designs that multiply factors of few bits (goal.MaxNarrowFactorBits) in
	// LUTs, where there is a choice. Other designs may measure less. Floor covers all designs.
	Spares bool
	// Dear counts the folds with serial step functions, at least as fast, that were left out because they take much
	// block RAM. All proofs exclude them.
	Dear int
	// Large counts the folds, at least as fast, that were left out because of large tables in LUTs
	// (dataflow.MaxLUTTableRows).
	Large int
	// InLUTs reports that FIFOs of few words lie in LUTs where possible, although block RAM would save logic. All
	// proofs exclude designs with a FIFO in block RAM that takes less logic than few words in LUTs
	// (space.CanBlockRAMFIFOsSaveLogic).
	InLUTs  bool
	Latency *LatencyWithBound // nil if the latency was not minimised
	// Sampled reports that the goal limits the latency, and that only some intervals were tried of those with which
	// designs may keep it. All proofs are then about designs of this interval.
	Sampled bool
	Gap     string // why something is not proved; empty if everything is
	// Interrupted reports that the user ended the search.
	Interrupted bool
	// the lengths of sequences, all proofs being about the longest; nil if all frames are alike
	Lengths *dataflow.SequenceLengths
	// On is the board, whose data sheet names some kinds of resource in its own way.
	On boards.Board
}

// A FoldExclusionCounts counts options by the reason why no folding with them keeps an interval within the budget. Each
// option counts once, for the first reason.
type FoldExclusionCounts struct {
	Interval  int
	TooSlow   int            // options that take more clocks
	Dominated int            // options for which another one with the same words takes no more of anything
	Unjoined  int            // options that no width converter joins to any option of a neighbour
	Alone     map[string]int // per kind: options with which the network takes more of this kind than the budget
	Together  int            // options excluded by a weighted sum of several kinds
	Compared  int            // the remaining options, all combinations of which were compared
}

// IsProvedBest reports whether the design is proved to be the best in each measure. It must also be the best in latency
// if that was minimised, and in its interval if Floor is not 0. No design is if only some intervals were tried.
func (c *OptimalityCertificate) IsProvedBest() bool {
	if c.Sampled {
		return false
	}
	if c.Floor > 0 && float64(c.Floor) != c.Interval || c.Latency != nil && c.Latency.Least != c.Latency.Clocks {
		return false
	}
	return !slices.ContainsFunc(c.Bounds, func(b MeasureWithBound) bool { return b.Least != b.Value })
}

// BoundsConditionText returns the condition under which Bounds hold, as " with ..." or " without ...". It returns "" if
// they cover all designs.
func (c *OptimalityCertificate) BoundsConditionText() string {
	if c.Spares {
		return fmt.Sprintf(" with factors of %d bits or fewer in LUTs", goal.MaxNarrowFactorBits) +
			strings.Replace(c.ExcludedDesignsText(), " ", " and ", 1)
	}
	return c.ExcludedDesignsText()
}

// ExcludedDesignsText returns the kinds of designs that the proofs exclude, as " without ...". It returns "" if they
// cover all designs.
func (c *OptimalityCertificate) ExcludedDesignsText() string {
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

// list returns the names as the text "a, b or c".
func list(names []string) string {
	if n := len(names); n > 2 {
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return strings.Join(names, " or ")
}

// FloorExcludedDesignsText returns the kinds of designs that the proof of Floor excludes, in the form of
// ExcludedDesignsText. It leaves out FIFOs if a layer takes Floor clocks in every fold.
func (c *OptimalityCertificate) FloorExcludedDesignsText() string {
	of := *c
	of.InLUTs = c.InLUTs && c.Slowest == ""
	return of.ExcludedDesignsText()
}

// DescribeInOneSentence returns what is proved of the design, and what is not.
func (c *OptimalityCertificate) DescribeInOneSentence() string {
	if c.IsProvedBest() {
		return "no design within the budget is better, whatever its FIFOs hold" +
			CoveredDesignsSentence(c.BoundsConditionText())
	}
	var parts []string
	if c.Floor > 0 && float64(c.Floor) != c.Interval {
		parts = append(parts, fmt.Sprintf("no interval below %s is possible%s", goal.FormatClocks(c.Floor),
			c.FloorExcludedDesignsText()))
	}
	if l := c.Latency; l != nil && l.RelativeGap() > 0 {
		parts = append(parts, fmt.Sprintf("no latency below %s is possible%s", goal.FormatClocks(l.Least),
			c.ExcludedDesignsText()))
	}
	for _, b := range c.Bounds {
		if b.RelativeGap() > 0 {
			parts = append(parts, fmt.Sprintf("at most %.2f %% above the least %s there is%s", 100*b.RelativeGap(),
				b.Measure, CoveredDesignsSentence(c.BoundsConditionText())))
			break
		}
	}
	if c.Sampled {
		parts = append(parts, "some intervals were tried of those with which designs may keep the latency")
	}
	return strings.Join(parts, "; ")
}

// CoveredDesignsSentence returns the sentence that says which designs a proof covers, by their condition such as that
// of BoundsConditionText. It is empty without one.
func CoveredDesignsSentence(given string) string {
	if given == "" {
		return ""
	}
	return ". This covers designs" + given
}

// DescribeOptionCounts returns a text that says how many options the search could choose from.
func (c *OptimalityCertificate) DescribeOptionCounts() string {
	if c.Unavailable > 0 {
		return fmt.Sprintf("of %d options %d are a choice, one per layer", c.Options,
			c.Options-c.Unavailable)
	}
	return fmt.Sprintf("%d options, one per layer to choose", c.Options)
}

// DescribeInLines returns what is proved and what is not, one statement per line.
func (c *OptimalityCertificate) DescribeInLines() (lines []string) {
	if c.Floor > 0 {
		line := fmt.Sprintf("%s clocks per frame found, none below %d possible%s",
			goal.FormatUpToSixDecimals(c.Interval),
			c.Floor,
			c.FloorExcludedDesignsText())
		if float64(c.Floor) == c.Interval {
			line = fmt.Sprintf("no design of these layers within the budget%s takes fewer than %s per frame",
				c.FloorExcludedDesignsText(), goal.FormatClocks(c.Floor))
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
	if given := c.BoundsConditionText(); len(c.Bounds) > 0 && given != "" {
		lines = append(lines, "this covers designs"+given)
	}
	if c.Spares {
		lines = append(lines,
			"LUTs multiply all factors of few bits; with DSP slices the load might be lower")
	}
	if c.Dear > 0 {
		lines = append(lines, fmt.Sprintf("%d folds with serial step functions were left out: their share of block "+
			"RAM is more than %d times the share of LUTs that they save; a folding file may ask for them", c.Dear,
			space.MaxBRAMPerSavedLUTShare))
	}
	if c.Large > 0 {
		lines = append(lines, fmt.Sprintf("%d folds with tables of more than %s rows in LUTs were left out: block RAM "+
			"can hold them; a folding file may ask for them", c.Large, humanize.Comma(dataflow.MaxLUTTableRows)))
	}
	if c.InLUTs {
		lines = append(lines, "FIFOs of few words lie in LUTs where possible; block RAM would save logic")
	}
	if c.Latency != nil {
		lines = append(lines, c.Latency.String()+c.ExcludedDesignsText())
	}
	if c.Sampled {
		lines = append(lines, "a design of another interval may keep the latency that is asked for, and take less: "+
			"only some were tried")
	}
	if c.Gap != "" {
		lines = append(lines, c.Gap)
	}
	for i, line := range lines {
		lines[i] = goal.ReplaceRAMB18ByBoardName(line, c.On)
	}
	if l := c.Lengths; l != nil {
		lines = append(lines, fmt.Sprintf("a frame is a sequence of %d to %d steps (axis %s); all this holds for the "+
			"longest", l.Min, l.Max, l.Axis))
	}
	return lines
}

// String returns the reasons with their counts: "at 63 clocks, of 486 options 300 too slow, 120 dominated, 66 excluded
// by LUT".
func (e *FoldExclusionCounts) String() string {
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
	for _, name := range goal.KindNames {
		add(e.Alone[name], "excluded by "+name)
	}
	add(e.Together, "excluded by several resources together")
	add(e.Compared, "compared in every combination")
	return fmt.Sprintf("at %s, of %d options %s", goal.FormatClocks(e.Interval), n, strings.Join(parts, ", "))
}

// certificate collects what the search proved about the answer f and the design d made of it.
func (q report) certificate(f *found, d *Design) OptimalityCertificate {
	c := OptimalityCertificate{Interval: d.Clocks.Interval, Floor: f.floor, Below: f.below, Bounds: f.Bounds,
		Spares:  f.Spares,
		Latency: f.Latency, Lengths: d.Model.Lengths, On: q.Target.Board, Interrupted: q.Goal.Interrupt.WasStopped()}
	if c.Floor > 0 && c.Below == nil {
		c.Slowest = q.slowest(c.Floor)
	}
	limit := c.mostClocks()
	c.Dear, c.Large, c.InLUTs = space.CountOmittedSerialFolds(q.FoldingSpace, limit),
		space.CountOmittedLargeTableFolds(q.FoldingSpace, limit),
		space.CanBlockRAMFIFOsSaveLogic(q.FoldingSpace)
	for i := range q.Layers {
		l := &q.Layers[i]
		c.Options += len(l.Folds)
		c.Unavailable += len(l.Folds) - space.CountOffered(q.FoldingSpace, i, limit)
	}
	if !c.IsProvedBest() {
		c.Gap = q.gap(f)
	}
	return c
}

// mostClocks returns the most clocks of folds that the search compared: the interval, or any if the latency was to be
// short.
func (c *OptimalityCertificate) mostClocks() int {
	if c.Latency != nil {
		return math.MaxInt
	}
	return int(c.Interval)
}

// slowest returns a clause that names what takes exactly the given clocks in its fastest fold: a layer or the host's
// port. It returns "" if nothing does.
func (q report) slowest(clocks int) string {
	if i, least := q.SlowestLayerAtFastestOptions(); least == clocks {
		return q.Layers[i].Node.Name + " takes as many in its widest fold"
	}
	if q.MinHostPortClocksPerFrame() == clocks {
		return "the host's port takes as many"
	}
	return ""
}

// deepFIFO is the depth in words of a FIFO of shift registers that costs as little as a shallow one.
const deepFIFO = 32

// gap returns a text that says why something about the answer is not proved.
func (q report) gap(f *found) string {
	if q.Goal.Interrupt.WasStopped() {
		return "left open: the search was interrupted"
	}
	if q.Goal.SearchTime > 0 {
		return "left open: --search-time ended before everything was proved"
	}
	if deep := q.CountFIFOsDeeperThan(f.Folding, deepFIFO); deep > 0 {
		return fmt.Sprintf("left open: %d FIFOs hold more than %d words, which the bound does not count; "+
			"a longer --search-time may close the gap", deep, deepFIFO)
	}
	return "left open: the search reached its limit of work; --search-time lets it continue"
}

// explain counts, for each option, the first reason why no folding with it keeps the interval within the budget.
func (q report) explain(interval int) *FoldExclusionCounts {
	caps := q.CapsAtInterval(interval)
	t := q.NewFoldingTree(interval)
	e := &FoldExclusionCounts{Interval: interval, Alone: map[string]int{}}
	if t.HasAnySolution() && !t.Excludes(caps) {
		t.LearnBestPrices(caps)
	}
	why := t.ExplainExclusions(caps)
	for i := range q.Layers {
		l := &q.Layers[i]
		w, left := why[i], space.CountOffered(q.FoldingSpace, i, interval)
		for o := range l.Options {
			if l.OptionClocks(o) > interval {
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
	if over := space.CountOver(q.FoldingSpace, interval); over > 0 { // no choices of the tree
		e.Dominated -= over
		e.Alone[kindName(goal.KindDSP)] += over
	}
	return e
}

func kindName(kind int) string {
	if kind < goal.KindMemoryBytesPerFrame {
		return goal.KindNames[kind]
	}
	return "the host's port"
}

package folding

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"hlsgen/folding/fit"
	"hlsgen/folding/goal"
	"hlsgen/folding/space"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/rtlsim"
)

// A cure is a change of flags that makes the design faster. Its search gets a part of the steps of the design's own
// search, but at least cureWork steps, a tenth of a second. To list a layer's fold again counts as listSteps steps.
const (
	curePart  = 20
	cureWork  = 4_000_000
	listSteps = 1_000
)

// fasterClock is the ratio of the clock tried last to the requested clock.
const fasterClock = 1.25

// An attempt is a change of what the user asked for that may make the design faster: flags, and the goal that they
// give.
type attempt struct {
	flags  []string // flags for the command line
	target dataflow.Target
	goal   Goal
	anew   bool // whether layers get other options, or other FIFOs between them
	below  bool // whether it asks for the next shorter interval
}

// with returns a copy of the attempt with one more flag for the command line, after the change that the flag makes.
func (a attempt) with(flag string, change func(a *attempt)) attempt {
	a.flags = append(slices.Clone(a.flags), flag)
	change(&a)
	return a
}

// anewWith is like with, for a flag that changes the layers' options, so that they must be listed again.
func (a attempt) anewWith(flag string, change func(a *attempt)) attempt {
	a.anew = true
	return a.with(flag, change)
}

// asks makes the attempt ask for an interval in clocks instead of the goal's rate or interval.
func (a *attempt) asks(clocks float64) { a.goal.FPS, a.goal.Interval = 0, clocks }

// A trial describes the fastest design that an attempt found within its steps.
type trial struct {
	clocks float64 // per frame; 0 if there is no design
	fps    float64
	total  dataflow.Resources
	cut    bool // whether the steps ran out, so that there may be a faster design
}

// cured tries attempts until one makes the design faster, and records it in the design's bottleneck.
func (l *Space) cured(ctx context.Context, wanted Goal, d *Design) error {
	steps := max(cureWork, d.steps/curePart)
	q := report{fit.NewDesignSearch(l.FoldingSpace, wanted)}
	for _, a := range q.attempts(d) {
		if steps <= 0 {
			break
		}
		got, err := l.attempt(ctx, &a, d, &steps)
		switch {
		case err != nil:
			return err
		case got == nil:
		case got.fps > d.SamplesPerSecond():
			if a.goal.MaxUse != wanted.MaxUse {
				if a, got, err = l.tightened(ctx, q, a, got, &steps); err != nil {
					return err
				}
			}
			samples := d.Model.Turns.SamplesPerFrame()
			d.Bottleneck.Cure = fmt.Sprintf("%s gives %s %s/s, %s", a.said(wanted, got.cut, got.clocks),
				humanize.Commaf(got.fps), goal.CountedUnitForSamplesPerFrame(samples), every(samples, got.clocks))
			if a.target.IO != q.Target.IO {
				d.Bottleneck.Cure += ", fed from inside the FPGA"
			}
			return nil
		case !got.cut:
			d.Bottleneck.Tried = append(d.Bottleneck.Tried, a.said(wanted, false, 0))
		}
	}
	return nil
}

// every returns a text that says how often frames of the given samples come: "one every 6 clocks", "4 every 100
// clocks".
func every(samples int, clocks float64) string {
	number := "one"
	if samples > 1 {
		number = strconv.Itoa(samples)
	}
	if clocks == 1 {
		return number + " every clock"
	}
	return number + " every " + goal.FormatClocks(clocks)
}

// tightened returns the attempt with the smallest budget that holds its design, and the new trial. If that trial gives
// another interval, it returns the attempt and its trial unchanged.
func (l *Space) tightened(ctx context.Context, q report, a attempt, got *trial, steps *int) (attempt, *trial, error) {
	short := q.shortage(got.total)
	text, ok := short.use(q.Goal.MaxUse)
	if !ok || *steps <= 0 {
		return a, got, nil
	}
	use, err := goal.ParseMaxUseFractions(text)
	if err != nil {
		return a, got, err
	}
	less := a
	less.flags = slices.Clone(a.flags)
	less.flags[len(less.flags)-1] = "--max-use " + text
	less.goal.MaxUse, less.below = use, false
	if again, err := l.attempt(ctx, &less, nil, steps); err != nil {
		return a, got, err
	} else if again != nil && again.clocks == got.clocks {
		return less, again, nil
	}
	return a, got, nil
}

// said returns the attempt's flags, as a change of the goal's. If these alone may give another interval, it adds a flag
// for the interval that the attempt found.
func (a *attempt) said(wanted Goal, cut bool, clocks float64) string {
	flags := slices.Clone(a.flags)
	switch {
	case a.goal.Interval > 0:
		flags = append(flags, "--interval "+goal.FormatAllDecimals(a.goal.Interval))
	case cut:
		flags = append(flags, "--interval "+goal.FormatAllDecimals(clocks))
	}
	if wanted.FPS > 0 {
		flags = append(flags, "instead of --fps")
	}
	if wanted.Latency && !a.goal.Latency {
		flags = append(flags, "without --latency")
	}
	return strings.Join(flags, " ")
}

// attempts returns the changes to try for a design, the most promising first.
func (q report) attempts(d *Design) (list []attempt) {
	base := q.asked()
	g := &base.goal
	base.below = q.MaxIntervalClocks() != nil
	if g.Latency = false; base.below || q.Goal.Latency {
		list = append(list, base)
	}
	if float64(d.HostPortClocksPerFrame()) == d.Clocks.Interval {
		base = base.anewWith("--io stream", func(a *attempt) { a.target.IO = dataflow.HostIOStream })
		if q.widest(d, d.Bottleneck.Layers) == "" {
			list = append(list, base)
		}
	}
	if g.FIFO != (FIFODepthPolicy{}) || slices.ContainsFunc(d.Given, func(words int) bool { return words > 0 }) {
		base = base.anewWith("--fifo throughput", func(a *attempt) {
			if a.goal.FIFO = (FIFODepthPolicy{}); a.goal.Fixed != nil {
				a.goal.Fixed = a.goal.Fixed.WithoutFIFOs()
			}
		})
		list = append(list, base)
	}
	if named := q.heldBack(d); len(named) > 0 {
		base = base.anewWith("a folding file without "+strings.Join(named, " and "), func(a *attempt) {
			a.goal.Fixed = a.goal.Fixed.WithoutLayers(named...)
		})
		list = append(list, base)
	} else if e, ok := space.FindRaisedUnrollLimits(q.FoldingSpace, int(math.Ceil(d.Clocks.Interval))-1); ok {
		base = base.anewWith("--max-unroll "+e.String(), func(a *attempt) { a.target.Unroll = e })
		list = append(list, base)
	}
	if whole := goal.NewUniformMaxUse(1); g.MaxUse != whole && !d.Over {
		list = append(list, base.with("--max-use "+whole.String(), func(a *attempt) {
			a.goal.MaxUse, a.below = whole, true
		}))
	}
	clock := q.Target.ClockMHz * fasterClock
	return append(list, base.anewWith("--clock "+goal.FormatUpToSixDecimals(clock), func(a *attempt) {
		if a.target.ClockMHz = clock; a.below {
			a.below = false
			a.asks(d.Clocks.Interval)
		}
	}))
}

// asked returns the attempt with the user's own goal, which changes nothing.
func (q report) asked() attempt {
	g := q.Goal
	g.Interrupt, g.Tell, g.SearchTime, g.Steps, g.Cure = nil, nil, 0, 0, false
	return attempt{target: q.Target, goal: g}
}

// would reports whether the attempt finds a design as fast as it asks for, within the steps that cured would have.
func (q *inquiry) would(ctx context.Context, a attempt) (bool, error) {
	steps := max(cureWork, q.steps/curePart)
	got, err := (&Space{FoldingSpace: q.FoldingSpace}).attempt(ctx, &a, nil, &steps)
	return got != nil && got.clocks > 0 && goal.IntervalMeetsLimit(got.clocks,
		a.goal.MaxIntervalClocks(a.target.ClockMHz,
			q.Model.Turns.SamplesPerFrame())), err
}

// heldBack returns the layers that the folding file keeps as slow as the design.
func (q report) heldBack(d *Design) (names []string) {
	for i := range q.Layers {
		l := &q.Layers[i]
		if least, _ := l.ClocksRange(); q.Goal.Fixed != nil && l.Fixed && float64(least) >= d.Clocks.Interval {
			names = append(names, l.Node.Name)
		}
	}
	return names
}

// attempt looks for the fastest design of the attempt a, to improve on d, and subtracts the steps that it took from
// *steps. It returns nil if there is nothing to try.
func (l *Space) attempt(ctx context.Context, a *attempt, d *Design, steps *int) (*trial, error) {
	var told diag.List
	if a.anew {
		if *steps -= listSteps * l.options(); *steps <= 0 {
			return nil, nil
		}
		var err error
		if l, err = NewSpace(l.Model, a.target, a.goal.Fixed, a.goal.FIFO, &told); l == nil || err != nil {
			return nil, err
		}
	}
	if a.below {
		list := l.IntervalsToTry()
		at := sort.SearchInts(list, int(math.Ceil(d.Clocks.Interval)))
		if at == 0 {
			return nil, nil // some layer is as slow in its fastest fold
		}
		a.asks(float64(list[at-1]))
	}
	q := &inquiry{report: report{fit.NewDesignSearch(l.FoldingSpace, a.goal)}, made: &memory{}, told: &told}
	return q.trial(ctx, steps)
}

// options returns the total number of folds of all layers.
func (l *Space) options() (n int) {
	for i := range l.Layers {
		n += len(l.Layers[i].Folds)
	}
	return n
}

// trial looks for the fastest design within *steps of work, and subtracts those that it took. It returns a trial
// without a design if it finds none, and nil if the kernels might not reach the clock.
func (q *inquiry) trial(ctx context.Context, steps *int) (*trial, error) {
	list := q.IntervalsToTry()
	if !space.HasAnyFolding(q.FoldingSpace, list[len(list)-1], &q.Effort) {
		return &trial{}, nil
	}
	q.LimitFIFOSizingSteps(*steps)
	s := q.sequence(ctx, list)
	defer s.close()
	s.tried, s.whole.Limit, s.Effort.Whole = true, *steps, &s.whole
	look := s.fastest
	if limit := q.MaxIntervalClocks(); limit != nil {
		look = func() (*found, error) { return s.asked(goal.CappedFloorOfRational(limit)) }
	}
	f, err := look()
	cut := s.over()
	*steps -= s.whole.Done
	if dead := new(rtlsim.Deadlock); errors.As(err, &dead) || f == nil && err == nil {
		return &trial{cut: cut}, nil
	} else if err != nil {
		return nil, err
	}
	b := q.BuildDesign(f.Folding)
	clocks, err := s.clocks(f.Folding, f.Limit)
	if err != nil {
		return nil, err
	}
	made := &Design{Design: b.Design}
	made.Clocks.Interval = clocks
	if asked := q.Target.ClockMHz; min(made.ReachedClockMHz(), carriedBy(made).clock) < asked {
		return nil, nil // a build would warn about it
	}
	return &trial{clocks, made.SamplesPerSecond(), estimate.EstimateDesignResources(b.Design).Total, cut}, nil
}

package folding

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dustin/go-humanize"

	"hlsgen/folding/goal"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// tell adds warnings about a design to the diagnostics. The design exceeds the budget because the user allowed that, or
// the rate is lower because some layer cannot reach the clock.
func (q *inquiry) tell(d *Design) {
	if d.Over && q.Goal.MaxCycles == 0 {
		short := q.shortage(d.Estimate.Total)
		hint := "a lower rate or a larger board"
		if use, ok := short.use(q.Goal.MaxUse); ok {
			hint = "--max-use " + use + ", a larger board or a lower rate"
		}
		q.told.Add(diag.Diag{Severity: diag.SeverityWarning, Code: diag.BudgetExceeded,
			Msg: "over the budget, as --over-budget allows: it takes " + short.String(), Hint: hint})
	}
	tellLarge(d, q.told)
	carried := carriedBy(d)
	asked, most := d.Target.ClockMHz, d.ReachedClockMHz()
	hint := fmt.Sprintf("ask for --clock %s or less", goal.FormatUpToSixDecimals(min(most, carried.clock)))
	if most < asked {
		i, ns := d.LongestDelayNS()
		q.told.Add(diag.Diag{Severity: diag.SeverityWarning, Code: diag.LayerTooSlowForClock,
			Node: d.Model.Graph.Nodes[i].LayerName(),
			Msg: fmt.Sprintf("%.2f ns is the estimate of its longest path from clock to clock; %s MHz leave %.2f ns; "+
				"rates are given for %s MHz", ns, goal.FormatUpToSixDecimals(asked), 1000/asked,
				goal.FormatUpToSixDecimals(most)),
			Hint: hint})
	}
	if carried.clock < asked {
		q.told.Add(diag.Diag{Severity: diag.SeverityWarning, Code: diag.LayerTooSlowForClock, Node: carried.layer,
			Msg: fmt.Sprintf("%.2f ns is its path from one state to the next, by the table of delays (%s): a stage at "+
				"%s MHz has %.2f ns, so synthesis may give a slower clock or a longer interval", carried.NS,
				carried.Steps, goal.FormatUpToSixDecimals(asked), d.Target.OperationDelays().StageBudgetNS()),
			Hint: hint})
	}
}

// A carried is the longest path of a design from a kernel's state to its next state.
type carried struct {
	dataflow.TimingPath
	layer string
	// in whole MHz: the fastest clock whose stage has room for the path; infinite if there is no such path
	clock float64
}

func carriedBy(d *Design) carried {
	c := carried{clock: math.Inf(1)}
	if d.Target.Backend.Rate == dataflow.RateFromCircuit {
		return c
	}
	for i, n := range d.Model.Graph.Nodes {
		if path := n.Op.Describe().CarriedStatePath; path != nil {
			if p := path(d.Folds[i], d.Target); p.NS > c.NS {
				c.TimingPath, c.layer = p, n.LayerName()
			}
		}
	}
	if stage := d.Target.OperationDelays().StageBudgetNS(); c.NS > stage {
		// The clock's uncertainty is a share of the period, so the time for a stage is a share, too.
		c.clock = float64(int(d.Target.ClockMHz * stage / c.NS))
	}
	return c
}

// tellLarge warns about large tables in LUTs: how many levels of logic read a row, and at which clock these fit a
// stage.
func tellLarge(d *Design, told *diag.List) {
	clock, last := d.Target.OperationDelays(), ""
	for i, n := range d.Model.Graph.Nodes {
		for _, s := range dataflow.LargeLUTTablesOf(n.Op, d.Folds[i]) {
			if n.LayerName() == last { // another part of the same layer
				continue
			}
			last = n.LayerName()
			ns := clock.LUTTableDelayNS(s.LUTLevels())
			told.Add(diag.Diag{Severity: diag.SeverityWarning, Code: diag.LargeTableInLUTs, Node: n.LayerName(),
				Msg: fmt.Sprintf("its table of %s rows of %d bits lies in LUTs, %d levels of logic: by estimate "+
					"%.2f ns, a stage at %d MHz or less", humanize.Comma(int64(s.Rows)), s.Width, s.LUTLevels(), ns,
					int(d.Target.ClockMHz*clock.StageBudgetNS()/ns)),
				Hint: "more block RAM (--max-use, a larger board), a wider fold of the layer, or ram_style block in " +
					"a folding file"})
		}
	}
}

// slowFIFOs is the ratio of two intervals, with the FIFO depths of a file and with hlsgen's own, above which
// the user is warned.
const slowFIFOs = 1.05

// tellSlowFIFOs warns about depths in a folding file without which the same goal gives a faster design. It makes that
// design if no rate is given and the present design is slower than its layers.
func (q *inquiry) tellSlowFIFOs(ctx context.Context, d *Design) error {
	given := slices.ContainsFunc(d.Given, func(words int) bool { return words > 0 })
	if !given || q.Goal.FIFO != (FIFODepthPolicy{}) || q.MaxIntervalClocks() != nil ||
		d.Clocks.Interval <= slowFIFOs*float64(q.IntervalsToTry()[0]) {
		return nil
	}
	wanted := q.Goal
	wanted.Fixed = wanted.Fixed.WithoutFIFOs()
	var quiet diag.List
	free, err := FindBestDesign(ctx, q.Model, q.Target, wanted, &quiet)
	if err != nil || free == nil {
		return err
	}
	if d.Clocks.Interval > slowFIFOs*free.Clocks.Interval {
		q.told.Add(diag.Diag{Severity: diag.SeverityWarning, Code: diag.GivenFIFODepthsSlow, Where: "folding file",
			Msg: fmt.Sprintf("its FIFO depths give a frame every %s clocks; hlsgen's depths give one every %s",
				goal.FormatUpToSixDecimals(d.Clocks.Interval), goal.FormatUpToSixDecimals(free.Clocks.Interval)),
			Hint: "leave the depths out of the file, or override them: --fifo throughput"})
	}
	return nil
}

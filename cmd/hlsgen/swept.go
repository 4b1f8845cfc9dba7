package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hlsgen/folding"
	"hlsgen/folding/sweep"
	"hlsgen/internal/dataflow"
)

// shown is the most rows of a table of points on the screen. sweep.csv has all rows.
const shown = 24

// fates lists the ways in which a point may end, in the order of the screen.
var fates = []struct{ status, words string }{
	{sweep.PointStatusFits, "made and within the budget"},
	{sweep.PointStatusBoundsOnly, "bounded, not made"},
	{sweep.PointStatusUnreachable, "unreachable"},
	{sweep.PointStatusRefused, "refused"},
}

// swept shows a sweep. o has the options of the sweep; it is nil if only reports were collected.
func (s *screen) swept(r *sweep.SweepReport, o *sweep.Options) {
	n := map[string]int{}
	for i := range r.Points {
		n[r.Points[i].Status]++
	}
	var parts []string
	for _, f := range fates {
		if n[f.status] > 0 {
			parts = append(parts, whole(n[f.status])+" "+f.words)
		}
	}
	s.title("%s, %s: %s", label(r.Model), count(len(r.Points), "point"), strings.Join(parts, ", "))
	s.example(r.Source, "")
	if old := r.Kept - r.Fresh; old > 0 {
		s.field("journal", "%s of %d stood in it from before", count(old, "search"), r.Total)
	}
	if n[sweep.PointStatusFits] > 0 {
		s.sweepDesigns(r)
	}
	sweepAccuracy(s, r)
	sweepLeast(s, r)
	if n[sweep.PointStatusBoundsOnly] > 0 {
		s.sweepBounds(r)
		s.field("bounds", "no design within the budget goes beyond these; whether one comes near shows without --bound")
	}
	for _, fate := range []string{sweep.PointStatusUnreachable, sweep.PointStatusRefused} {
		if i := slices.IndexFunc(r.Points, func(p sweep.PointResult) bool { return p.Status == fate }); i >= 0 {
			s.field(fate, "%s; the first: %s", count(n[fate], "point"), printable(r.Points[i].Reason))
		}
	}
	if c := r.ChosenPoint(); c != nil {
		s.field("chosen", "%s at %s MHz, the fastest%s: %s %s/s, %s, latency %s; %s LUT, %s %s, %s DSP",
			label(c.Board), megahertz(c.ClockMHz), precise(c), rate(c.FPS), r.CountedUnit(),
			pace(c.Samples, c.Interval),
			count(c.Latency, "clock"),
			whole(c.Resources.LUT), whole(c.Resources.BRAM), sweep.BlockRAMNameOfPoints([]sweep.PointResult{*c}),
			whole(c.Resources.DSP))
		s.sequences(c.Sequences)
		s.field("bottleneck", "%s", label(c.Bottleneck))
		proof := "no design is better for what was asked"
		if !c.Proved {
			proof = "open whether a design is better for what was asked: hlsgen build says how much"
		}
		s.field("proof", "%s", proof)
	}
	if r.Collected > 0 {
		s.field("collected", "the reports of %s", count(r.Collected, "design"))
	}
	s.exact("written", printable(r.Out))
	s.field("", "%s", strings.Join(r.Files, ", "))
	s.sweepNext(r, o)
}

// sweepLeast shows the fewest bits that were found.
func sweepLeast(s *screen, r *sweep.SweepReport) {
	if r.Precision != nil && r.Precision.Least != nil {
		s.field("least", "%v", r.Precision.Least)
	}
}

// sweepAccuracy shows the accuracy of the swept model, and of the float model if it was quantised again.
func sweepAccuracy(s *screen, r *sweep.SweepReport) {
	switch p := r.Precision; {
	case p != nil && p.Labelled && p.Bare:
		s.field("accuracy", "float %v", p.Float)
	case p != nil && p.Bare:
		s.field("accuracy", "there are no labels: what counts as right is what the float model says")
	case p != nil && p.Labelled:
		s.field("accuracy", "float %v; with the model's own quantisers %v", p.Float, p.AsIs)
	case p != nil:
		s.field("accuracy", "there are no labels: what counts as right is what the float model says; with the model's "+
			"own quantisers %v", p.AsIs)
	case r.Accuracy != nil:
		s.field("accuracy", "%v", r.Accuracy)
	}
}

// sweepNext shows the next command to type: a build of the chosen design, or the jobs for a cluster.
func (s *screen) sweepNext(r *sweep.SweepReport, o *sweep.Options) {
	if r.Array > 0 {
		command(s, "next", fmt.Sprintf("cd %s && sbatch %s", quoted(r.Out), quoted(r.Script)))
		command(s, "", fmt.Sprintf("hlsgen sweep --collect %s   (once the %s are done)", quoted(r.Out),
			count(r.Array, "job")))
		return
	}
	c := r.ChosenPoint()
	if c == nil || o == nil {
		return
	}
	build := "hlsgen build"
	given := o.ModelFlags()
	switch {
	case c.Precision != "":
		build += " " + quoted(r.PathInOutputFolder(c.Precision+".onnx"))
		given = given[:2] // only the sizes of axes: the written model has the rest
	case o.Model != "":
		build += " " + quoted(o.Model)
	}
	lines := []string{build + " --board " + quoted(c.BoardArgument(o.Boards)),
		"--folding " + quoted(r.PathInOutputFolder(sweep.ChosenFoldingFileName))}
	for _, f := range []struct {
		given      bool
		flag, text string
	}{
		{len(o.Clocks) > 0, "--clock", fmt.Sprint(c.ClockMHz)},
		{c.MaxUse != folding.DefaultMaxUseName, "--max-use", c.MaxUse},
		{o.Least != folding.ResourceMeasureLoad, "--least", o.Least.FlagValue()},
		{o.IO != dataflow.HostIOMemory, "--io", o.IO.String()},
		{o.MaxUnroll != dataflow.UnrollLimits{}, "--max-unroll", o.MaxUnroll.String()},
		{o.Formula != dataflow.FittedCostFormula, "--cost", o.Formula.String()},
		{c.Samples > 1, "--interleave", fmt.Sprint(c.Samples)},
	} {
		if f.given {
			lines = append(lines, f.flag+" "+quoted(f.text))
		}
	}
	for _, f := range given {
		for _, text := range f.Texts {
			lines = append(lines, "--"+f.Name+" "+quoted(text))
		}
	}
	if o.Stateful {
		lines = append(lines, "--stateful")
	}
	command(s, "next", lines...)
}

// axes lists the columns of a point's settings. A column that is the same in all rows is shown once, below the table.
var axes = []string{"board", ">MHz", "memory", "compute", "max-use", ">interleave", "precision", ">accuracy"}

// precise returns text about the selection of the chosen design's precision. It is empty if the model was not quantised
// again.
func precise(c *sweep.PointResult) string {
	if c.Precision == "" {
		return ""
	}
	return " as accurate as the float model, as far as the samples tell, or else the most accurate, " + c.Precision
}

// accuracyOf returns the accuracy of a point in per cent, or an empty text.
func accuracyOf(p *sweep.PointResult) string {
	if p.Accuracy == nil {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*p.Accuracy.ShareRight())
}

// asked returns the settings of a point, by the columns in axes.
func asked(p *sweep.PointResult) []string {
	return []string{label(p.Board), megahertz(p.ClockMHz), p.Memory, p.Compute, p.MaxUse, whole(p.Samples), p.Precision,
		accuracyOf(p)}
}

// sweepRows prints a table of points, and below it the settings that all rows have in common.
func (s *screen) sweepRows(t *table, left int, what string) {
	var names []string
	for _, axis := range axes {
		names = append(names, strings.TrimPrefix(axis, ">"))
	}
	same := t.hide(names...)
	if same["interleave"] == "1" { // most models have no recurrence
		delete(same, "interleave")
	}
	s.line("")
	s.table(t)
	s.line("")
	var parts []string
	for _, axis := range names {
		if v := same[axis]; v != "" {
			parts = append(parts, axis+" "+v)
		}
	}
	if len(parts) > 0 {
		s.field("all rows", "%s", strings.Join(parts, ", "))
	}
	if left > 0 {
		s.field("more", "%s %s stand in sweep.csv", whole(left), what)
	}
}

// sweepDesigns shows the chosen design and the designs on a front.
func (s *screen) sweepDesigns(r *sweep.SweepReport) {
	t := newTable(append(axes[:len(axes):len(axes)], ">"+r.CountedUnit()+"/s", ">clocks", ">latency", ">LUT",
		">"+sweep.BlockRAMNameOfPoints(r.Points), ">DSP", "best in", "")...)
	t.keys = len(axes)
	left := 0
	for i := range r.Points {
		p := &r.Points[i]
		if p.Status != sweep.PointStatusFits || len(p.Front) == 0 && !p.Chosen {
			continue
		}
		if len(t.rows) >= shown && !p.Chosen {
			left++
			continue
		}
		mark := ""
		if p.Chosen {
			mark = "chosen"
		}
		t.row(append(asked(p), rate(p.FPS), rate(p.Interval), whole(p.Latency), whole(p.Resources.LUT),
			whole(p.Resources.BRAM), whole(p.Resources.DSP), p.FrontResourceNames(), mark)...)
	}
	s.sweepRows(t, left, "others on a front")
}

// sweepBounds shows, for each point, the bounds that no design can beat. At least one point must have bounds.
func (s *screen) sweepBounds(r *sweep.SweepReport) {
	measure, most := "", ">"+r.CountedUnit()+"/s at most"
	var t *table
	left := 0
	for i := range r.Points {
		p := &r.Points[i]
		b := p.Bounds
		if b == nil {
			continue
		}
		if t == nil {
			measure = b.Measure
			t = newTable(append(axes[:len(axes):len(axes)], ">asked", most, ">clocks at least",
				">"+measure+" at least")...)
			t.keys = len(axes)
		}
		if len(t.rows) == shown {
			left++
			continue
		}
		wanted, fps, clocks, least := "", "", "", whole(int(math.Ceil(b.Least)))
		switch {
		case p.FPSAsked > 0:
			wanted = rate(p.FPSAsked) + " " + r.CountedUnit() + "/s"
		case p.Asked > 0:
			if wanted = rate(p.Asked) + " clocks"; p.Asked == 1 {
				wanted = "1 clock"
			}
		default:
			fps, clocks = rate(b.FPS), whole(b.Interval)
		}
		if measure == folding.ResourceMeasureLoad.String() {
			least = fmt.Sprintf("%.1f %%", 100*b.Least)
		}
		t.row(append(asked(p), wanted, fps, clocks, least)...)
	}
	if t.rows[0][len(axes)] == "" {
		t.hide("asked")
	} else {
		t.hide(strings.TrimPrefix(most, ">"), "clocks at least")
	}
	s.sweepRows(t, left, "others")
}

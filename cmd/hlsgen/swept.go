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

// shown is how many points a table on the screen has; sweep.csv has all.
const shown = 24

// fates is how points may end, in the order of the screen.
var fates = []struct{ status, words string }{
	{sweep.Fits, "made and within the budget"},
	{sweep.Bound, "bounded, not made"},
	{sweep.Unreachable, "unreachable"},
	{sweep.Refused, "refused"},
}

// printSwept shows a sweep. o is what it was asked for; nil where only reports were collected.
func (a *app) printSwept(r *sweep.Result, o *sweep.Options) {
	ink := a.ink(a.stdout)
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
	fmt.Fprintln(&a.out, ink.bold(fmt.Sprintf("%s, %s: %s", label(r.Model), count(len(r.Points), "point"), strings.Join(parts, ", "))))
	if r.Source != nil && r.Source.Example {
		a.field("example", exampleDoc(r.Source.Name))
	}
	if old := r.Kept - r.Fresh; old > 0 {
		a.field("journal", fmt.Sprintf("%s of %d stood in it from before", count(old, "search"), r.Total))
	}
	if n[sweep.Fits] > 0 {
		a.sweepTable(r)
	}
	if n[sweep.Bound] > 0 {
		a.boundTable(r)
		a.field("bounds", "no design within the budget goes beyond these; whether one comes near shows without --bound")
	}
	for _, fate := range []string{sweep.Unreachable, sweep.Refused} {
		if i := slices.IndexFunc(r.Points, func(p sweep.Point) bool { return p.Status == fate }); i >= 0 {
			a.field(fate, fmt.Sprintf("%s; the first: %s", count(n[fate], "point"), printable(r.Points[i].Reason)))
		}
	}
	if c := r.Chosen(); c != nil {
		a.field("chosen", fmt.Sprintf("%s at %s MHz, the fastest: %s frames/s, one every %s, latency %s; %s LUT, %s RAMB18, %s DSP", label(c.Board),
			figure(c.ClockMHz), rate(c.FPS), clocksText(c.Interval), count(c.Latency, "clock"), whole(c.Resources.LUT), whole(c.Resources.BRAM), whole(c.Resources.DSP)))
		a.field("bottleneck", label(c.Bottleneck))
		proof := "no design is better for what was asked"
		if !c.Proved {
			proof = "open whether a design is better for what was asked: hlsgen build says how much"
		}
		a.field("proof", proof)
	}
	if r.Collected > 0 {
		a.field("collected", "the reports of "+count(r.Collected, "design"))
	}
	fmt.Fprintf(&a.out, "%-13s%s\n", "written", printable(r.Out))
	a.field("", strings.Join(r.Files, ", "))
	a.sweepNext(r, o)
}

// sweepNext says what to type next: for the chosen design, or for all of them on a cluster.
func (a *app) sweepNext(r *sweep.Result, o *sweep.Options) {
	next := func(name, command string) { fmt.Fprintf(&a.out, "%-13s%s\n", name, command) }
	if r.Array > 0 {
		next("next", fmt.Sprintf("cd %s && sbatch %s", quoted(r.Out), quoted(r.Script)))
		next("", fmt.Sprintf("hlsgen sweep --collect %s   (once the %s are done)", quoted(r.Out), count(r.Array, "job")))
		return
	}
	c := r.Chosen()
	if c == nil || o == nil {
		return
	}
	build := "hlsgen build"
	if o.Model != "" {
		build += " " + quoted(o.Model)
	}
	lines := []string{build + " --board " + quoted(c.BoardGiven(o.Boards)), "--folding " + quoted(r.Path(sweep.ChosenFile))}
	for _, f := range []struct {
		given      bool
		flag, text string
	}{
		{len(o.Clocks) > 0, "--clock", fmt.Sprint(c.ClockMHz)},
		{c.MaxUse != folding.Guideline, "--max-use", c.MaxUse},
		{o.Least != folding.LeastLoad, "--least", o.Least.Flag()},
		{o.IO != dataflow.FromMemory, "--io", o.IO.String()},
		{o.Cost != dataflow.Fitted, "--cost", o.Cost.String()},
	} {
		if f.given {
			lines = append(lines, f.flag+" "+quoted(f.text))
		}
	}
	next("next", strings.Join(lines, " \\\n"+strings.Repeat(" ", 13)))
	if len(o.Dims) > 0 || o.Arrives != nil || o.Quantise != nil || o.LSTM != "" {
		next("", "and what was said here of axes and inputs (--dim, --input-type ...)")
	}
}

// axes are the columns of what was asked for. Those in which all points are the same are said once, below the table.
var axes = []string{"board", "MHz", "memory", "compute", "max-use"}

func place(p *sweep.Point) []string {
	return []string{label(p.Board), figure(p.ClockMHz), p.Memory, p.Compute, p.MaxUse}
}

// printAxes prints a table of points below, and says what its rows have in common.
func (a *app) printAxes(t *table, left int, what string) {
	same := t.hide(axes...)
	fmt.Fprintln(&a.out)
	t.print(&a.out, a.ink(a.stdout))
	fmt.Fprintln(&a.out)
	var parts []string
	for _, axis := range axes {
		if v, ok := same[axis]; ok {
			parts = append(parts, axis+" "+v)
		}
	}
	if len(parts) > 0 {
		a.field("all rows", strings.Join(parts, ", "))
	}
	if left > 0 {
		a.field("more", fmt.Sprintf("%s %s stand in sweep.csv", whole(left), what))
	}
}

// sweepTable shows the designs on a front, and the chosen one.
func (a *app) sweepTable(r *sweep.Result) {
	t := newTable("board", ">MHz", "memory", "compute", "max-use", ">frames/s", ">clocks", ">latency", ">LUT", ">RAMB18", ">DSP", "best in", "")
	left := 0
	for i := range r.Points {
		p := &r.Points[i]
		if p.Status != sweep.Fits || len(p.Front) == 0 && !p.Chosen {
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
		t.row(append(place(p), rate(p.FPS), rate(p.Interval), whole(p.Latency), whole(p.Resources.LUT), whole(p.Resources.BRAM), whole(p.Resources.DSP),
			strings.Join(p.Front, " "), mark)...)
	}
	a.printAxes(t, left, "others on a front")
}

// boundTable shows what no design goes below.
func (a *app) boundTable(r *sweep.Result) {
	measure := ""
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
			t = newTable("board", ">MHz", "memory", "compute", "max-use", ">asked", ">frames/s at most", ">clocks at least", ">"+measure+" at least")
		}
		if len(t.rows) == shown {
			left++
			continue
		}
		asked, fps, clocks, least := "", "", "", whole(int(math.Ceil(b.Least)))
		switch {
		case p.FPSAsked > 0:
			asked = rate(p.FPSAsked) + " frames/s"
		case p.Asked > 0:
			asked = count(p.Asked, "clock")
		default:
			fps, clocks = rate(b.FPS), whole(b.Interval)
		}
		if measure == folding.LeastLoad.String() {
			least = fmt.Sprintf("%.1f %%", 100*b.Least)
		}
		t.row(append(place(p), asked, fps, clocks, least)...)
	}
	if t.rows[0][5] == "" {
		t.hide("asked")
	} else {
		t.hide("frames/s at most", "clocks at least")
	}
	a.printAxes(t, left, "others")
}

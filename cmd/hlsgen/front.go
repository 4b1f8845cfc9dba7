package main

import (
	"context"
	"fmt"
	"slices"

	"hlsgen/folding"
	"hlsgen/internal/compiler"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// front shows what can be had for how much.
func (a *app) front(ctx context.Context, o compiler.Options, points int, asJSON bool, d *diag.List) error {
	p := a.progress()
	o.Progress = p.step
	f, err := compiler.Pareto(ctx, o, points, d)
	p.close()
	switch {
	case f == nil || err != nil:
		return a.without(asJSON, d, err)
	case asJSON:
		return a.json(frontOf(f, o.Least, d))
	}
	a.diagnostics(d)
	a.printFront(f, o)
	return nil
}

func (a *app) printFront(f *compiler.Front, o compiler.Options) {
	ink := a.ink(a.stdout)
	t := f.Target
	fmt.Fprintln(&a.out, ink.bold(fmt.Sprintf("%s on %s (%s) at %s MHz: %s worth choosing from", label(f.Source.Name), label(t.Board.Name), label(t.Board.Part),
		figure(t.ClockMHz), count(len(f.Points), "design"))))
	if f.Source.Example {
		a.field("example", exampleDoc(f.Source.Name))
	}
	fmt.Fprintln(&a.out)
	tab := newTable(">frames/s", ">clocks", ">latency", ">LUT", ">FF", ">RAMB18", ">URAM", ">DSP", ">load", "proved")
	for _, p := range f.Points {
		e, load := p.Estimate.Total, "" // what is counted has a column anyway
		if b := p.Certificate.Bounds[0]; b.Measure == folding.LeastLoad {
			load = fmt.Sprintf("%.1f %%", 100*b.Value)
		}
		tab.row(rate(p.FPS()), rate(p.Clocks.Interval), whole(p.Clocks.Latency), whole(e.LUT), whole(e.FF), whole(e.BRAM), whole(e.URAM), whole(e.DSP), load,
			frontProof(&p.Certificate))
	}
	if o.Least != folding.LeastLoad {
		tab.hide("load")
	}
	if t.Board.URAM == 0 {
		tab.hide("URAM")
	}
	tab.print(&a.out, ink)
	fmt.Fprintln(&a.out)
	what := "fewer " + o.Least.String()
	if o.Least == folding.LeastLoad {
		what = "a smaller load (the largest share of the budget that any kind of resource takes)"
	}
	proof := fmt.Sprintf("no design within the budget has both a shorter interval and %s", what)
	if slices.ContainsFunc(f.Points, func(d *folding.Design) bool { return d.Certificate.Bounds[0].Open() > 0 }) {
		proof += "; or, where a per cent is given, one may take so much less"
	}
	a.field("proved", proof)
	if c := f.Points[0].Certificate; c.Floor > 0 && float64(c.Floor) != c.Interval {
		a.field("", fmt.Sprintf("of the fastest: no interval below %s is possible", count(c.Floor, "clock")))
	}
	if !f.Whole {
		a.field("more", "there are more designs between these: --points shows more of them")
	}
	a.field("next", "the same command without --pareto, with --interval of a row's clocks or --fps of its frames/s, builds that design")
}

// frontProof says how far a design is proved to be the best at its interval.
func frontProof(c *folding.Certificate) string {
	if b := c.Bounds[0]; b.Open() > 0 {
		return fmt.Sprintf("to %.2f %%", 100*b.Open())
	}
	return "yes"
}

// A frontJSON is the JSON of a front.
type frontJSON struct {
	compiler.Head
	Model    string      `json:"model"`
	Example  bool        `json:"example"`
	Board    string      `json:"board"`
	Part     string      `json:"part"`
	ClockMHz float64     `json:"clock_mhz"`
	Measure  string      `json:"measure"`
	Whole    bool        `json:"whole"`
	Points   []frontItem `json:"points"`
	outcome
}

type frontItem struct {
	FPS      float64              `json:"fps"`
	Interval float64              `json:"interval_clocks"`
	Latency  int                  `json:"latency_clocks"`
	Total    dataflow.Resources   `json:"cost"`
	Folding  compiler.Certificate `json:"certificate"`
}

func frontOf(f *compiler.Front, least folding.Measure, d *diag.List) frontJSON {
	j := frontJSON{Head: compiler.Versioned, Points: []frontItem{}, Model: f.Source.Name, Example: f.Source.Example, Board: f.Target.Board.Name, Part: f.Target.Board.Part, ClockMHz: f.Target.ClockMHz,
		Measure: least.String(), Whole: f.Whole, outcome: outcomeOf(d, nil)}
	for _, p := range f.Points {
		j.Points = append(j.Points, frontItem{p.FPS(), p.Clocks.Interval, p.Clocks.Latency, p.Estimate.Total, compiler.CertificateOf(&p.Certificate)})
	}
	return j
}

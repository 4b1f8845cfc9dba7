package main

import (
	"context"
	"fmt"
	"slices"

	"hlsgen/folding"
	"hlsgen/internal/build"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// front shows what can be had for how much.
func (a *app) front(ctx context.Context, o build.Options, points int, asJSON bool, d *diag.List) error {
	p := a.progress()
	o.Progress = p.step
	f, err := build.Pareto(ctx, o, points, d)
	p.close()
	switch {
	case f == nil || err != nil:
		return a.without(asJSON, d, err)
	case asJSON:
		return a.json(frontOf(f, o.Least, d))
	}
	a.diagnostics(d)
	a.printFront(f, o.Least)
	return nil
}

func (a *app) printFront(f *build.Front, least folding.Measure) {
	line := func(format string, args ...any) { fmt.Fprintf(&a.out, format+"\n", args...) }
	ink := a.ink(a.stdout)
	line("%s", ink.bold(fmt.Sprintf("%s on %s (%s) at %s MHz: %s worth choosing from", label(f.Source.Name), label(f.Target.Board.Name), label(f.Target.Board.Part),
		figure(f.Target.ClockMHz), count(len(f.Points), "design"))))
	if f.Source.Example {
		line("the embedded example, %s", exampleDoc(f.Source.Name))
	}
	line("")
	column, what := "", "fewer "+least.String()
	if least == folding.LeastLoad {
		column, what = ">load", "a smaller load, which is the largest share of the budget that any kind of resource takes"
	}
	head := []string{">frames/s", ">clocks", ">latency", ">LUT", ">FF", ">RAMB18", ">URAM", ">DSP", column, "proved"}
	t := newTable(slices.DeleteFunc(head, func(s string) bool { return s == "" })...)
	for _, p := range f.Points {
		e := p.Estimate.Total
		row := []string{rate(p.FPS()), rate(p.Clocks.Interval), whole(p.Clocks.Latency), whole(e.LUT), whole(e.FF), whole(e.BRAM), whole(e.URAM), whole(e.DSP)}
		if b := p.Certificate.Bounds[0]; b.Measure == folding.LeastLoad {
			row = append(row, fmt.Sprintf("%.1f %%", 100*b.Value))
		}
		t.row(append(row, frontProof(&p.Certificate))...)
	}
	t.print(&a.out, ink)
	line("")
	fmt.Fprint(&a.out, wrap(fmt.Sprintf("No design within the budget has both a shorter interval and %s, as far as is proved. "+
		"Every one was made whole, its FIFOs sized and its clocks simulated.", what), "", lineWidth))
	if !f.Whole {
		line("there are more between these: --points shows more of them")
	}
	line("next: the same command without --pareto, with --fps of a rate of the table, or --interval of its clocks")
}

// frontProof says how far a design is proved to be the best.
func frontProof(c *folding.Certificate) string {
	text := "yes"
	if b := c.Bounds[0]; b.Open() > 0 {
		text = fmt.Sprintf("within %.2f %%", 100*b.Open())
	}
	if c.Floor > 0 && float64(c.Floor) != c.Interval {
		text += fmt.Sprintf(", none below %s clocks", whole(c.Floor))
	}
	return text
}

// A frontJSON is the JSON of a front.
type frontJSON struct {
	build.Head
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
	FPS      float64            `json:"fps"`
	Interval float64            `json:"interval_clocks"`
	Latency  int                `json:"latency_clocks"`
	Total    dataflow.Resources `json:"cost"`
	Folding  build.Certificate  `json:"certificate"`
}

func frontOf(f *build.Front, least folding.Measure, d *diag.List) frontJSON {
	j := frontJSON{Head: build.Versioned, Points: []frontItem{}, Model: f.Source.Name, Example: f.Source.Example, Board: f.Target.Board.Name, Part: f.Target.Board.Part, ClockMHz: f.Target.ClockMHz,
		Measure: least.String(), Whole: f.Whole, outcome: outcomeOf(d, nil)}
	for _, p := range f.Points {
		j.Points = append(j.Points, frontItem{p.FPS(), p.Clocks.Interval, p.Clocks.Latency, p.Estimate.Total, build.CertificateOf(&p.Certificate)})
	}
	return j
}

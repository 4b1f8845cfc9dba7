package main

import (
	"context"
	"fmt"
	"strings"

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
	line("%s", ink.bold(fmt.Sprintf("%s on %s (%s) at %s MHz: %s worth choosing from", label(f.Source.Name), f.Target.Board.Name, f.Target.Board.Part,
		figure(f.Target.ClockMHz), count(len(f.Points), "folding"))))
	if f.Source.Example {
		line("the embedded example, %s", exampleDoc(f.Source.Name))
	}
	line("")
	column, what := "layers' "+least.String(), "fewer "+least.String()+" in its layers"
	if least == folding.LeastLoad {
		column, what = "load", "a smaller load, the largest share of the budget that any kind of resource takes"
	}
	t := newTable(">frames/s", ">interval", ">latency", ">LUT", ">FF", ">RAMB18", ">URAM", ">DSP", ">"+column, "proved")
	for i := range f.Points {
		p := &f.Points[i]
		e := p.Estimate.Total
		value, proved := frontValue(p.Folding)
		t.row(figure(p.FPS()), whole(p.Folding.Interval), whole(p.Folding.Latency), whole(e.LUT), whole(e.FF), whole(e.BRAM), whole(e.URAM), whole(e.DSP), value, proved)
	}
	t.print(&a.out, ink)
	line("")
	fmt.Fprint(&a.out, wrap(fmt.Sprintf("No folding within the budget has both a shorter interval and %s, as far as is proved. "+
		"Resources and latencies are estimates with FIFOs of %s; a build makes FIFOs as deep as they need to be.", what, count(folding.DefaultFIFO, "word")), "", 100))
	if !f.Whole {
		line("there are more between these: --points shows more of them")
	}
	line("next: add --fps with a rate of the table, without --pareto")
}

// frontValue is the measure of a design, of the layers alone, and how far it is proved to be the least.
func frontValue(r *folding.Result) (value, proved string) {
	p := &r.Proof
	proved = "yes"
	if len(p.Bounds) > 0 {
		b := p.Bounds[0]
		if value = whole(int(b.Value)); b.Measure == folding.LeastLoad {
			value = fmt.Sprintf("%.1f %%", 100*b.Value)
		}
		if b.Value > b.Least {
			proved = fmt.Sprintf("within %.2f %%", 100*(b.Value-b.Least)/max(b.Least, 1e-9))
		}
	}
	if p.Floor < p.Interval {
		proved += fmt.Sprintf(", no interval below %s", whole(p.Floor))
	}
	return value, proved
}

// certificate shows what is proved of a folding and what is left open.
func (a *app) certificate(r *folding.Result) {
	lines := append([]string{r.Effort()}, strings.FieldsFunc(r.Proof.String(), func(r rune) bool { return r == '\n' })...)
	for i, text := range lines {
		indent := "folding:    "
		if i > 0 {
			indent = strings.Repeat(" ", len(indent))
		}
		fmt.Fprintf(&a.out, "%s%s", indent, strings.TrimLeft(wrap(text, strings.Repeat(" ", len(indent)), 132), " "))
	}
}

// A frontJSON is the JSON of a front.
type frontJSON struct {
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
	Interval int                `json:"interval_cycles"`
	Latency  int                `json:"latency_cycles"`
	Total    dataflow.Resources `json:"resources"`
	Folding  build.Certificate  `json:"folding"`
}

func frontOf(f *build.Front, least folding.Measure, d *diag.List) frontJSON {
	j := frontJSON{Model: f.Source.Name, Example: f.Source.Example, Board: f.Target.Board.Name, Part: f.Target.Board.Part, ClockMHz: f.Target.ClockMHz,
		Measure: least.String(), Whole: f.Whole, Points: []frontItem{}, outcome: outcomeOf(d, nil)}
	for i := range f.Points {
		p := &f.Points[i]
		j.Points = append(j.Points, frontItem{p.FPS(), p.Folding.Interval, p.Folding.Latency, p.Estimate.Total, build.CertificateOf(&p.Folding.Proof)})
	}
	return j
}

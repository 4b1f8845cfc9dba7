package main

import (
	"context"
	"fmt"
	"slices"

	"hlsgen/folding"
	"hlsgen/internal/build"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/report"
)

// front finds the designs that are worth choosing from, by interval and cost.
func front(ctx context.Context, o build.Options, points int, d *diag.List) (*answer, error) {
	f, err := build.FindParetoFront(ctx, o, points, d)
	if f == nil || err != nil {
		return nil, err
	}
	return &answer{object: frontOf(f, o.Least, d), show: func(s *screen) { s.front(f, o.Least) }}, nil
}

// front shows the designs of a front. least is the measure of their cost.
func (s *screen) front(f *build.ParetoFrontResult, least folding.ResourceMeasure) {
	t := f.Target
	s.title("%s on %s (%s) at %s MHz: %s worth choosing from", label(f.Source.Name), label(t.Board.Name),
		label(t.Board.Part), megahertz(t.ClockMHz), count(len(f.Points), "design"))
	s.example(f.Source, "")
	s.line("")
	unit := folding.CountedUnitForSamplesPerFrame(f.Points[0].Model.Turns.SamplesPerFrame()) + "/s"
	tab := newTable(">"+unit, ">clocks", ">latency", ">LUT", ">FF", ">"+t.Board.BlockRAMUnitName(),
		">URAM", ">DSP", ">load", "proved")
	for _, p := range f.Points {
		e, load := p.Estimate.Total, "" // a counted resource has a column of its own
		if b := p.Certificate.Bounds[0]; b.Measure == folding.ResourceMeasureLoad {
			load = fmt.Sprintf("%.1f %%", 100*b.Value)
		}
		fps, every := p.SamplesPerSecondAndInterval()
		tab.row(rate(fps), rate(every), whole(p.Clocks.Latency), whole(e.LUT), whole(e.FF),
			whole(e.BRAM), whole(e.URAM), whole(e.DSP), load, frontProof(&p.Certificate))
	}
	if least != folding.ResourceMeasureLoad {
		tab.hide("load")
	}
	if t.Board.URAM == 0 {
		tab.hide("URAM")
	}
	s.table(tab)
	s.line("")
	what := "fewer " + least.String()
	if least == folding.ResourceMeasureLoad {
		what = "a smaller load"
	}
	gap := ""
	if slices.ContainsFunc(f.Points,
		func(d *folding.Design) bool { return d.Certificate.Bounds[0].RelativeGap() > 0 }) {
		gap = "; or, where a per cent is given, one may take so much less"
	}
	s.field("proved", "no design within the budget has both a shorter interval and %s%s%s", what, gap,
		folding.CoveredDesignsSentence(given(f.Points)))
	if least == folding.ResourceMeasureLoad {
		s.field("load", "the largest share of the budget that any kind of resource takes")
	}
	if c := f.Points[0].Certificate; c.Floor > 0 && float64(c.Floor) != c.Interval {
		s.field("", "of the fastest: no interval below %s is possible%s", count(c.Floor, "clock"),
			c.FloorExcludedDesignsText())
	}
	if l := f.Points[0].Certificate.Lengths; l != nil {
		s.field("sequences", "%d to %d steps (axis %s), a frame each: figures are those of the longest", l.Min, l.Max,
			label(l.Axis))
	}
	if !f.Complete {
		s.field("more", "there are more designs between these: --points shows more of them")
	}
	s.field("next", "the same command without --pareto, with --interval of a row's clocks or --fps of its %s, "+
		"builds that design", unit)
}

// given returns the restriction under which the designs of a front are proved to be the best. The proofs of a front
// may cover only designs that spare DSP slices. It is empty if the proofs cover all designs.
func given(points []*folding.Design) string {
	spares := func(d *folding.Design) bool { return d.Certificate.Spares }
	var all folding.OptimalityCertificate
	for _, d := range points {
		all.Spares, all.Dear = all.Spares || spares(d), max(all.Dear, d.Certificate.Dear)
		all.Large = max(all.Large, d.Certificate.Large)
		all.InLUTs = all.InLUTs || d.Certificate.InLUTs
	}
	if all.Spares && slices.ContainsFunc(points, func(d *folding.Design) bool { return !spares(d) }) {
		return all.BoundsConditionText() + ", where there is one"
	}
	return all.BoundsConditionText()
}

// frontProof returns "yes" if a design is proved to be the cheapest at its interval. Otherwise it returns the gap that
// is open.
func frontProof(c *folding.OptimalityCertificate) string {
	if b := c.Bounds[0]; b.RelativeGap() > 0 {
		return fmt.Sprintf("to %.2f %%", 100*b.RelativeGap())
	}
	return "yes"
}

// A frontJSON is the JSON of a front.
type frontJSON struct {
	about
	Board    string      `json:"board"`
	Part     string      `json:"part"`
	ClockMHz float64     `json:"clock_mhz"`
	Measure  string      `json:"measure"`
	Whole    bool        `json:"whole"`
	Points   []frontItem `json:"points"`
	outcome
}

// A frontItem is the JSON of one design of a front.
type frontItem struct {
	FPS      float64                  `json:"fps"`
	Interval float64                  `json:"interval_clocks"`
	Latency  int                      `json:"latency_clocks"`
	Total    dataflow.Resources       `json:"cost"`
	Folding  report.CertificateReport `json:"certificate"`
}

// frontOf returns the JSON of a front.
func frontOf(f *build.ParetoFrontResult, least folding.ResourceMeasure, d *diag.List) frontJSON {
	j := frontJSON{about: aboutOf(f.Source), Points: []frontItem{}, Board: f.Target.Board.Name,
		Part: f.Target.Board.Part, ClockMHz: f.Target.ClockMHz,
		Measure: least.String(), Whole: f.Complete, outcome: outcomeOf(d, nil)}
	for _, p := range f.Points {
		fps, every := p.SamplesPerSecondAndInterval()
		j.Points = append(j.Points, frontItem{fps, every, p.Clocks.Latency, p.Estimate.Total,
			report.NewCertificateReport(&p.Certificate)})
	}
	return j
}

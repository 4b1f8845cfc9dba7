package report

import (
	"maps"
	"slices"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/templates/report"
)

// whatIf returns the folds that the layers could have instead.
func (r *Build) whatIf() *report.WhatIf {
	d := r.Design
	o := d.Offers()
	w := &report.WhatIf{Budget: six(d.Budget.Resources), Device: six(d.Budget.Capacity),
		Host:  six(d.Estimate.Host.Total()),
		FIFOs: six(d.Estimate.FIFOs.Total()), Interval: d.Clocks.Interval, HostClocks: d.HostPortClocksPerFrame(),
		Partial: d.SearchPricedInPart()}
	for _, name := range []string{"LUT", "LUTRAM", "FF", "RAMB18", "URAM", "DSP"} {
		w.Resources = append(w.Resources, folding.ReplaceRAMB18ByBoardName(name, d.Target.Board))
	}
	for _, s := range d.Shares {
		if s.IsMeanHardBlockShare() {
			w.Mean = s.Budget
		}
	}
	for m := dataflow.NoMemory; m <= dataflow.MemoryURAM; m++ {
		w.Memories = append(w.Memories, nameUnless(m == dataflow.NoMemory, m.String))
	}
	for c := dataflow.NoMultiplier; c <= dataflow.SharedAdders; c++ {
		w.Computes = append(w.Computes, nameUnless(c == dataflow.NoMultiplier, c.String))
	}
	for s := dataflow.NoStepEvaluation; s <= dataflow.SerialStepEvaluation; s++ {
		w.Steps = append(w.Steps, nameUnless(s == dataflow.NoStepEvaluation, s.String))
	}
	for _, f := range o.Forms {
		w.Forms = append(w.Forms, [2]int{f.PerWord, f.Tile})
	}
	for i, n := range r.Imported.Model.Graph.Nodes {
		l := report.WhatIfLayer{Name: n.Name, Chosen: o.Chosen[i], In: n.In, Out: n.Out}
		for _, f := range o.Layers[i] {
			row := append([]int{f.Fold.PE, f.Fold.SIMD, int(f.Fold.Memory), int(f.Fold.Compute), int(f.Fold.Steps),
				f.Clocks}, six(f.Cost)...)
			l.Folds = append(l.Folds, slices.Concat(row, f.In, f.Out))
		}
		w.Layers = append(w.Layers, l)
	}
	for _, s := range o.Streams {
		stream := report.WhatIfStream{Class: s.Class, From: s.From, To: s.To}
		for _, f := range slices.Sorted(maps.Keys(s.Host)) {
			stream.Host = append(stream.Host, [2]int{f, s.Host[f]})
		}
		w.Streams = append(w.Streams, stream)
	}
	w.Converters = [][10]int{}
	for _, c := range o.Converters {
		w.Converters = append(w.Converters, [10]int(append([]int{c.Class, c.In, c.Out, c.Clocks}, six(c.Cost)...)))
	}
	return w
}

// six returns amounts by kind.
func six(r dataflow.Resources) []int { return []int{r.LUT, r.LUTRAM, r.FF, r.BRAM, r.URAM, r.DSP} }

// nameUnless returns a name, or "" for nothing.
func nameUnless(nothing bool, name func() string) string {
	if nothing {
		return ""
	}
	return name()
}

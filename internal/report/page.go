package report

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"hlsgen/folding"
	"hlsgen/internal/chart"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/templates/report"
)

// Page returns the content of report/page.json, which also has the diagnostics in d. It may simulate frames for the
// timeline, which ctx can stop.
func (r *Build) Page(ctx context.Context, d *diag.List) (*report.Page, error) {
	t := r.Design.Target
	p := &report.Page{Version: JSONVersion, Model: r.Source.Name, Board: t.Board.Name,
		Part: fmt.Sprintf("%s at %s MHz", t.Board.Part, FormatDecimal(t.ClockMHz)), Tool: "hlsgen " + r.Version,
		Clock: r.Design.ReachedClockMHz(), Interval: r.Design.Clocks.Interval,
		Block: t.Board.BlockRAMUnitName(),
		Facts: r.facts(d), Parts: r.parts(), Layers: r.pageLayers(), Checks: r.checks(), Given: r.inputs(),
		Series: r.Design.Series.DescribeInLines(),
		Before: r.Design.Model.Prefix.Nodes, After: r.Design.Model.Suffix.Nodes}
	for _, x := range d.Diags {
		text := x.Msg
		if x.Node != "" {
			text = fmt.Sprintf("%s %q: %s", x.Op, x.Node, text)
		}
		p.Warnings = append(p.Warnings, report.DiagnosticNotice{Severity: x.Severity.String(), Code: string(x.Code),
			Text: strings.TrimSpace(text), Hint: x.Hint, Notes: x.Notes})
	}
	for _, l := range r.LayerReports() {
		for _, text := range l.Steps {
			p.Series = append(p.Series, l.Name+", from step to step: "+text)
		}
	}
	for _, s := range r.Design.Shares {
		if s.IsMeanHardBlockShare() {
			p.Mean = fmt.Sprintf("Mean share of block RAM, UltraRAM and DSP slices: %.1f %%, of %.1f %% in the budget.",
				100*s.UsedFractionOfBoard(), 100*float64(s.Budget)/float64(s.Board))
			continue
		}
		s.Name = folding.ReplaceRAMB18ByBoardName(s.Name, t.Board)
		p.Resources = append(p.Resources, report.ResourceUse(s))
	}
	p.Certificate = append(r.Design.Certificate.DescribeInLines(), r.Design.Certificate.DescribeOptionCounts(),
		"synthesis: "+r.SynthesisTimeText())
	p.Certificate = append(p.Certificate, "bottleneck: "+r.Design.Bottleneck.DescribeInOneLine())
	if port := r.HostPortReport(); port != nil {
		p.Certificate = append(p.Certificate,
			fmt.Sprintf("host's port: %d bytes a frame, %s GB/s of %s through %d bits at %s MHz%s: at most %s %s/s",
				port.Bytes, FormatDecimal(port.Moved), FormatDecimal(port.PortGB), port.Bits,
				FormatDecimal(r.Design.ReachedClockMHz()),
				memoryText(port), FormatDecimal(port.Bound), r.unit()))
	}
	if l := r.WeightLoadReport(); l != nil {
		p.Certificate = append(p.Certificate, "weights: "+l.String())
	}
	for _, f := range r.CycleSimulationReport().FIFOs {
		p.FIFOs = append(p.FIFOs, report.FIFORow{Stream: strings.TrimSuffix(f.Stream, ` ("")`),
			From: f.From, To: f.To, Memory: f.Memory,
			Reason: f.Reason, Width: f.Width, Depth: f.Depth, Most: f.Used, Empty: f.Empty, Full: f.Full})
	}
	for _, e := range r.CycleSimulationReport().Ends {
		p.Ends = append(p.Ends, report.FIFORow{Stream: strings.TrimSuffix(e.Input, ` ("")`), From: "input",
			To: e.To, Memory: e.Memory,
			Width: r.Design.Model.Lengths.SequenceEndPort().Width(), Depth: e.Depth,
			Reason: "1 for the last step of a sequence"})
	}
	p.WhatIf = r.whatIf()
	p.Bars = r.bars()
	var err error
	if p.Timeline, p.TimelineNote, err = r.timeline(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// unit returns the word for the unit of rates: frames or samples.
func (r *Build) unit() string {
	return folding.CountedUnitForSamplesPerFrame(r.Design.Model.Turns.SamplesPerFrame())
}

// frame returns words for one frame of the accelerator: "a frame", "a frame of 4 samples" or "a sequence of 8 steps".
func (r *Build) frame() string {
	if n := r.Design.Model.Turns.SamplesPerFrame(); n > 1 {
		return fmt.Sprintf("a frame of %d samples", n)
	}
	if l := r.Design.Model.Lengths; l != nil {
		return fmt.Sprintf("a sequence of %d steps", l.Max)
	}
	return "a frame"
}

// samplesText returns a number of samples with its noun.
func samplesText(n int) string {
	if n == 1 {
		return "1 sample"
	}
	return fmt.Sprintf("%d samples", n)
}

// facts returns the main figures of the design, for the top of the page.
func (r *Build) facts(d *diag.List) (f report.Facts) {
	f = append(f, fits(r.Design))
	c := r.Design.Clocks
	clock := r.Design.ReachedClockMHz()
	fps, interval := r.Design.SamplesPerSecondAndInterval()
	f.AddFact("throughput", chart.FormatAmount(fps)+" "+r.unit()+"/s",
		fmt.Sprintf("%s every %s clocks, simulated", r.frame(), FormatDecimal(interval)))
	clocks := fmt.Sprintf("%d clocks, simulated", c.Latency)
	if c.Most != nil && c.Least.Latency != c.Most.Latency {
		clocks += fmt.Sprintf("; %d to %d until synthesised", c.Least.Latency, c.Most.Latency)
	}
	clocks += fmt.Sprintf("; %v", c.Ends)
	f.AddFact("latency", chart.FormatAmount(float64(c.Latency)/clock)+" µs", clocks)
	if s := NewSequenceRatesReport(r.Design); s != nil {
		f.AddFact("sequences", s.LengthRangeText(), fmt.Sprintf("axis %s, a frame each, ended by TLAST; %v; %v",
			s.Axis, s.Longest,
			s.Shortest))
	}
	f.AddFact("bottleneck", bottleneckName(r.Design.Bottleneck), r.Design.Bottleneck.DescribeInOneLine())
	if clock != r.Design.Target.ClockMHz {
		f.AddFact("clock", FormatDecimal(clock)+" MHz", "what the slowest path allows, by estimate")
	}
	if mhz, fps := r.BoardMHzAndFPS(); mhz != 0 {
		f.AddFact("clock on the board", r.System.Clock.String()+" MHz",
			fmt.Sprintf("what the processor's dividers make: %s %s/s", chart.FormatAmount(fps), r.unit()))
	}
	if pll := r.AssumedPLLMHz(); pll > 0 {
		f.AddFact("PLL of the processor", fmt.Sprintf("%d MHz, assumed", pll),
			"as on most boards: no source states that of "+r.Design.Target.Board.Name)
	}
	f = append(f, r.onHost(d))
	if a := r.Accuracy; a != nil && a.Samples > 0 {
		f.AddFact("accuracy", fmt.Sprintf("%.1f %%", 100*a.ShareRight()),
			fmt.Sprintf("%d of %d labelled samples; 95 %% "+
				"interval (Wilson) %.1f to %.1f %%", a.Right, a.Samples, 100*a.Low, 100*a.High))
	}
	if v := r.Verified; v.Samples > 0 {
		f.AddFact("verified", "bit-exact", fmt.Sprintf("%s, engines %s", samplesText(v.Samples),
			strings.Join(v.Engines, ", ")))
	} else {
		f.AddFact("verified", "no", "no samples were asked for")
	}
	cert := &r.Design.Certificate
	proved := "in part"
	if cert.IsProvedBest() {
		proved = "the best there is"
	}
	f.AddFact("proved", proved, cert.DescribeInOneSentence())
	return f
}

// fits says whether the design is within the budget, and which resource takes the largest share of it.
func fits(d *folding.Design) report.Fact {
	f := report.Fact{Name: "fits", Value: "yes"}
	if d.Over {
		f.Value = "no"
	}
	most := -1.0
	for _, s := range d.Shares {
		share := float64(s.Used) / float64(max(1, s.Budget))
		if s.IsMeanHardBlockShare() || share <= most {
			continue
		}
		most = share
		f.Note = fmt.Sprintf("most is taken of %s: %s of %s in the budget, %.1f %%",
			folding.ReplaceRAMB18ByBoardName(s.Name, d.Target.Board), humanize.Comma(int64(s.Used)),
			humanize.Comma(int64(s.Budget)), 100*share)
	}
	return f
}

// onHost says how much of the model stays on the host. The diagnostics in d know of products there.
func (r *Build) onHost(d *diag.List) report.Fact {
	m := r.Design.Model
	nodes := len(m.Prefix.Nodes) + len(m.Suffix.Nodes)
	for _, x := range d.Diags {
		if x.Code == diag.ProductsOnHost {
			return report.Fact{Name: "on the host", Value: "products", Note: x.Msg + "; " + x.Hint}
		}
	}
	f := report.Fact{Name: "on the host", Value: "no products", Note: "all MACs are in the layers"}
	if nodes > 0 {
		f.Note += fmt.Sprintf("; %d nodes without products stay there", nodes)
	}
	return f
}

// amounts returns the resources r of a named part as a row of the page.
func amounts(name string, r dataflow.Resources) report.ResourceAmounts {
	return report.ResourceAmounts{Name: name, LUT: r.LUT, FF: r.FF, BRAM: r.BRAM, URAM: r.URAM, DSP: r.DSP}
}

// parts returns four rows of resources: the sums over all layers, over all FIFOs, and over the host's port, and the
// total.
func (r *Build) parts() []report.ResourceAmounts {
	e := r.Design.Estimate
	return []report.ResourceAmounts{amounts("layers", r.ResourceReport().Layers), amounts("FIFOs", e.FIFOs.Total()),
		amounts("host's port", e.Host.Total()), amounts("in all", e.Total)}
}

// pageLayers returns the rows of the page's table of layers.
func (r *Build) pageLayers() (list []report.LayerRow) {
	slowest, _ := r.Design.BottleneckInterval()
	for i, l := range r.LayerReports() {
		n := r.Design.Clocks.Trace.Nodes[i]
		if s := r.Design.Clocks.Trace.Steady; s != nil {
			n = s[i]
		}
		all := float64(max(1, n.Busy+n.Starved+n.Blocked))
		share := func(clocks int) float64 { return 100 * float64(clocks) / all }
		row := report.LayerRow{ResourceAmounts: amounts(l.Name, *l.Total), Kind: l.Kind, Nodes: l.Nodes,
			Modules: l.Modules,
			PE:      l.Fold.PE, SIMD: l.Fold.SIMD, Memory: l.Fold.RAMStyle, Compute: l.Fold.ResType,
			Steps:  l.Fold.Steps,
			Cycles: l.Clocks, Path: l.Path, Bottleneck: l.Clocks == slowest,
			Accumulator: (*report.AccumulatorWidths)(l.Acc), Busy: share(n.Busy), Starved: share(n.Starved),
			Blocked: share(n.Blocked), In: streamTypes(l.In), Out: streamTypes(l.Out),
			Latency: l.Delay, Into: r.Design.Model.Graph.Nodes[i].In, From: r.Design.Model.Graph.Nodes[i].Out}
		for _, part := range l.Parts {
			row.Costs = append(row.Costs, amounts(part.Name, part.Resources))
		}
		row.Memories = memories(r.Design, i)
		list = append(list, row)
	}
	return list
}

// memories returns the tables and arrays of a node.
func memories(d *folding.Design, node int) (list []report.LayerMemory) {
	storage := d.Model.Graph.Nodes[node].Op.Describe().Storage
	if storage == nil {
		return nil
	}
	for _, s := range storage(d.Folds[node]) {
		if s.Rows > 0 {
			m := report.LayerMemory{Name: s.Name, Rows: s.Rows, Bits: s.Width, Banks: max(1, s.Banks)}
			if s.In != dataflow.NoMemory {
				m.In = s.In.String()
			}
			list = append(list, m)
		}
	}
	return list
}

// streamTypes returns the element type and the shape of each stream as text: "UINT2 [1×64]".
func streamTypes(streams []StreamReport) (list []string) {
	for _, s := range streams {
		shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(s.Shape), "[]"), " ", "×")
		list = append(list, fmt.Sprintf("%s [%s]", s.Type, shape))
	}
	return list
}

// checks returns the checks that the design passed, with remarks.
func (r *Build) checks() (f report.Facts) {
	v := r.Verified
	how := "compared bit for bit with the model's own execution, and stream by stream between the engines"
	if !r.RealSamples && v.Samples > 0 {
		how += "; random ones in range"
	}
	if len(v.Steps) > 0 {
		how += "; sequences of " + FormatNumberList(v.Steps) + " steps"
	}
	f.AddFact("samples", strconv.Itoa(v.Samples), how)
	if v.Samples > 0 {
		f.AddFact("engines", strings.Join(v.Engines, ", "), "")
	}
	if v.Left != "" {
		f.AddFact("left out", v.Left, "")
	}
	f.AddFact("deadlock", r.Design.Clocks.Proof.String(), "")
	return f
}

// inputs returns the inputs of the build: the model, its hash, the cost formulas and the flags.
func (r *Build) inputs() (f report.Facts) {
	f.AddFact("model", r.Source.File, "")
	f.AddFact("SHA-256", r.Source.SHA256(), "")
	f.AddFact("cost formulas", r.Design.Target.Formula.String(), "")
	options := r.Given
	for _, name := range slices.Sorted(maps.Keys(options)) {
		f.AddFact("--"+name, options[name], "")
	}
	return f
}

// bars returns a bar per layer, for its clocks per frame. The host's port or a state also has one if it is a
// bottleneck.
func (r *Build) bars() (list []report.ClockBar) {
	for i, n := range r.Design.Model.Graph.Nodes {
		clocks := r.Design.LoopOfNode(i).IterationsPerFrame()
		list = append(list, report.ClockBar{Name: n.Name, Clocks: float64(clocks), Text: strconv.Itoa(clocks)})
	}
	if names := r.Design.Bottleneck.LimitingPartNames(); len(r.Design.Bottleneck.Layers) < len(names) {
		_, clocks := r.Design.SamplesPerSecondAndInterval()
		list = append(list, report.ClockBar{Name: names[len(names)-1], Clocks: clocks, Text: FormatDecimal(clocks)})
	}
	return list
}

// memoryText returns the end of a sentence about the memory's bandwidth, or "" if the bandwidth is unknown.
func memoryText(p *HostPortReport) string {
	if p.MemoryGB == 0 {
		return ""
	}
	return fmt.Sprintf(" and of %s of the memory", FormatDecimal(p.MemoryGB))
}

// bottleneckName returns the name of the part that determines the interval. If there are several, it returns the first
// and the number of the others.
func bottleneckName(b folding.Bottleneck) string {
	names := b.LimitingPartNames()
	if len(names) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}

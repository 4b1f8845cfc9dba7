package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/internal/build"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/folder"
	"hlsgen/internal/options"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/report"
	"hlsgen/internal/samples"
	"hlsgen/internal/verify"
	"hlsgen/templates"
	"hlsgen/templates/vivado"
)

// buildCommand returns the command build.
func (a *app) buildCommand() *cobra.Command {
	o := build.Options{Verification: options.Verification{Verify: verify.SampleCountAuto},
		OutputFolder: options.OutputFolder{Version: version()}}
	var pareto, explain, withModel bool
	var action string
	t := a.task(&cobra.Command{
		Use:   "build [MODEL.onnx] --board BOARD",
		Short: "Generate the accelerator, check it bit for bit, write it to a folder",
		Long: `Build turns a quantised ONNX model into a Vitis HLS project for a board.

The network is folded to the highest throughput within the budget (--max-use),
to the least resources that reach --fps or --interval, or to the shortest
--latency. --explain shows every layer, where resources go and what is proved of
the folding. --pareto shows the designs worth choosing from and builds none. A
printed rate, interval or budget can be asked for, and gives the same design.
Before anything is written, the design is run on samples and compared with the
model's own execution, bit for bit: layer by layer (eval), clock by clock
(cycle), and as compiled C++ (csim). The folder appears whole or not at all.

Without a model, the embedded example is built. Options may also stand in
hlsgen.yaml (fps: 1000) or in the environment (HLSGEN_FPS=1000).`,
		Example: `  hlsgen build --board zcu104                      # the embedded example
  hlsgen build net.onnx --board pynq-z1 --fps 1000
  hlsgen build net.onnx --board zcu104 --pareto --least dsp
  hlsgen build net.onnx --board ./mine.json --max-use lut=0.7,bram=0.9
  hlsgen build net.onnx --board zcu104 --folding folding.json --out design`,
	}, parts{&o.Source, &o.Hardware, &o.Goal, &o.OutputFolder, &o.AccBits})
	t.design()
	t.BoolVar(&explain, "explain", false, "show every layer, where resources go, and what is proved of the design")
	t.BoolVar(&pareto, "pareto", false,
		"show the designs that are worth choosing from, by interval and --least, and build none")
	points := t.points("with --pareto: so many designs at most, spread over the rates")
	option(t.FlagSet, &action, "on-interrupt", "", "ACTION", oneOf[string]("actions", onInterrupt),
		"what the first Ctrl-C does once there is a design: best, end the search and build that; stop, end all and "+
			"write nothing, as the second one does. Default: best where stderr is a terminal, else stop")
	t.completes("on-interrupt", onInterrupt)
	t.labelled(&o.Data, &o.LabelsFile, "samples to check the design on, .npy or .npz; without it, made-up ones")
	option(t.FlagSet, &o.Verify, "verify", "16", "N", integer(0, maxSamples),
		"samples to check the design on; left out, fewer of a large network")
	t.backend("what to generate")
	t.BoolVar(&o.Counters, "counters", false, "with SystemVerilog: registers that count frames, clocks, "+
		"and the clocks in which streams are stalled and starved")
	listOption(t.FlagSet, &o.ILA, "ila", "STREAM,...", func(s string) (string, error) { return s, nil },
		"a logic analyser (ILA) in the bitstream that watches streams of the accelerator, such as m_axis_0")
	t.BoolVar(&o.SAIF, "saif", false, "write the switching activity of streams, as simulated, for make -C vivado power")
	option(t.FlagSet, &o.Weights, "weights", string(options.WeightSourceConstant), "FROM",
		options.ParseWeightSource, "where hardware has its weights "+
			"from: constant, part of the circuit; or, with --backend rtl, loaded: runtime, through registers, or "+
			"stream, from memory by a mover of their own; or external: large layers, or external=LAYER,..., read them "+
			"from memory with every frame; hlsgen weights then writes those of retrained models")
	t.completes("weights", options.WeightSourceNames)
	t.BoolVar(&o.NoCSim, "no-csim", false, "do not compile and run what is generated")
	t.path(&o.Out, "out", "DIR", "folder to write (default hlsgen-out/MODEL-BOARD)", nil)
	t.force()
	t.BoolVar(&withModel, "with-model", false, "write the model and what --json prints to the folder, too: "+
		"model.onnx and report/build.json, from which Python opens the design again")
	t.json()
	t.accumulators("report every accumulator that needs more bits as an error")
	t.strict()
	t.passes()
	return t.does(func(ctx context.Context) (*answer, error) {
		if o.Board == "" {
			return nil, usagef("a board is needed: --board zcu104, or another that hlsgen boards lists, " +
				"or a file of your own, --board ./mine.json")
		}
		if err := t.excluding(); err != nil {
			return nil, err
		}
		if pareto && (o.Latency || o.MaxLatency > 0) {
			return nil, usagef("--pareto excludes --latency and --max-latency: " +
				"the designs of a front differ in their interval")
		}
		if pareto {
			return front(ctx, o, *points, &t.d)
		}
		if o.Out == "" {
			o.Out = under(a.dir, folder.DefaultBuildFolder(o.Model, o.Board))
		}
		if withModel {
			o.Summary = func(r *build.Result) any { return builtOf(r, &t.d) }
		}
		o.Interrupt = a.ending.by(action, isTerminal(a.stderr))
		r, err := build.Run(ctx, o, &t.d)
		if r == nil || err != nil {
			return nil, err
		}
		return &answer{object: builtOf(r, &t.d), show: func(s *screen) { s.built(r, explain) }}, nil
	})
}

// built shows the result of a build: whether the design fits, its speed and bottleneck, how it was verified, and the
// next command. With explain it shows everything that is known of the design.
func (s *screen) built(r *build.Result, explain bool) {
	d := r.Design
	t := d.Target
	s.title("%s on %s (%s) at %s MHz",
		label(r.Source.Name), label(t.Board.Name), label(t.Board.Part), megahertz(t.ClockMHz))
	s.example(r.Source, "; your own: hlsgen build MODEL.onnx --board "+quoted(t.Board.Name))
	if explain {
		s.line("")
		s.layers(r)
		s.line("")
		s.shares(d.Shares, t.Board)
		s.line("")
	}
	verdict := "yes"
	if d.Over {
		verdict = "NO"
	}
	s.field("fits", "%s: %s", verdict, takes(d))
	if r.System != nil {
		ila(s, r.System)
	}
	samples := d.Model.Turns.SamplesPerFrame()
	fps, interval := d.SamplesPerSecondAndInterval()
	s.field("throughput", "%s %s/s, %s", rate(fps), folding.CountedUnitForSamplesPerFrame(samples), pace(samples,
		interval))
	feedback(s, d)
	if r.AskedMHz != 0 && r.AskedMHz != t.ClockMHz {
		known := "" // where the fastest clock is one that designs reach
		if t.Board.Family != boards.FamilyAMD {
			known = " and designs are known to reach"
		}
		s.field("clock", "%s MHz, the nearest to %s MHz that the board's PLL makes%s", figure(t.ClockMHz),
			figure(r.AskedMHz), known)
	}
	if mhz, fps := r.BoardMHzAndFPS(); mhz != 0 {
		s.field("on board", "%s MHz, what the processor's dividers make: %s %s/s", r.System.Clock, rate(fps),
			folding.CountedUnitForSamplesPerFrame(samples))
	}
	if pll := r.AssumedPLLMHz(); pll > 0 {
		s.field("clock", "of a PLL with %d MHz in the processor, as on most boards: no source states that of %s", pll,
			d.Target.Board.Name)
	}
	s.latency(d)
	s.sequences(report.NewSequenceRatesReport(d))
	if l := r.WeightLoadReport(); l != nil {
		s.field("weights", "%v", l)
	}
	s.field("bottleneck", "%s", d.Bottleneck.DescribeInOneLine())
	if acc := r.Accuracy; acc != nil {
		what := "labelled samples"
		if r.Source.Example {
			what = "real digits"
		}
		s.field("accuracy", "%v, of %s", acc, what)
	}
	if explain {
		s.explain(r)
	} else {
		s.field("proof", "%s", proof(&d.Certificate))
	}
	s.field("verified", "%s", verified(r))
	s.field("written", "%s (%s)", printable(r.Out), count(r.FileCount, "file"))
	if len(r.Kept) > 0 {
		s.field("kept", "%s", outputdir.QuoteFirstPaths(r.Kept))
	}
	if run := r.Backend.Rows()[0].Run; run.Folder != "" {
		command(s, "next", "make -C "+quoted(filepath.Join(r.Out, run.Folder))+" "+run.Target)
	}
	if d.Model.HasUARTTop(d.Target) {
		command(s, "bitstream", "make -C "+quoted(filepath.Join(r.Out, "rtl"))+" bitstream")
	}
}

// ila says what the logic analyser of a system takes, if it has one. No estimate counts it.
func ila(s *screen, of *vivado.System) {
	bits, clocks := of.ILAStorage()
	switch {
	case bits == 0:
	case clocks == 0:
		s.field("ila", "%d bits in a clock; what it takes is in no figure here", bits)
	default:
		const block = 18 << 10
		s.field("ila", "%d bits in each of %s clocks: %d RAMB18 at least, and its logic, which are in no figure here",
			bits, whole(clocks), (bits*clocks+block-1)/block)
	}
}

// feedback explains the frame rate of a model whose states the host carries: one frame a latency.
func feedback(s *screen, d *folding.Design) {
	for _, f := range d.Model.Feedback {
		s.field("state", "%q comes back as %q with the next frame: one frame a latency (every %s clocks where it is "+
			"known before)", d.Model.Out[f.Out].Name, d.Model.In[f.In].Name, rate(d.Clocks.Interval))
	}
}

// latency shows the latency of a design.
func (s *screen) latency(d *folding.Design) {
	c := &d.Clocks
	text := fmt.Sprintf("%s (%s)", count(c.Latency, "clock"), duration(c.Latency, d.ReachedClockMHz()))
	if c.Most != nil && c.Least.Latency != c.Most.Latency {
		text += fmt.Sprintf("; %s to %s until synthesised", whole(c.Least.Latency), whole(c.Most.Latency))
		if c.Least.Interval != c.Most.Interval {
			text += fmt.Sprintf(", a frame every %s to %s", rate(c.Least.Interval), rate(c.Most.Interval))
		}
	}
	s.field("latency", "%s", text)
}

// sequences shows the range of the sequences' lengths, if they differ. The figures on the screen apply to the longest.
func (s *screen) sequences(q *report.SequenceRatesReport) {
	if q == nil {
		return
	}
	s.field("sequences", "%s (axis %s), a frame each, ended by TLAST; figures are those of %s, %s clocks a step; %v",
		q.LengthRangeText(), label(q.Axis), count(q.Longest.Steps, "step"), rate(q.Longest.PerStep), q.Shortest)
}

// takes returns the resources that a design takes and the budget. It leaves out kinds that the design does not use.
func takes(d *folding.Design) string {
	var parts []string
	e := d.Estimate.Total
	for _, s := range d.Shares {
		switch {
		case s.Name == "LUT":
			text := fmt.Sprintf("%s of %s LUT", whole(s.Used), whole(s.Budget))
			if e.LUTRAM > 0 {
				text += fmt.Sprintf(" (%s of them as memory)", whole(e.LUTRAM))
			}
			parts = append(parts, text)
		case s.Used > 0 && s.Name != "LUTRAM" && !s.IsMeanHardBlockShare():
			parts = append(parts, fmt.Sprintf("%s of %s %s", whole(s.Used), whole(s.Budget),
				folding.ReplaceRAMB18ByBoardName(s.Name, d.Target.Board)))
		}
	}
	return strings.Join(parts, ", ") + " in the budget"
}

// proof returns one line for the screen on how far a design is proved to be the best.
func proof(c *folding.OptimalityCertificate) string {
	if c.IsProvedBest() {
		return c.DescribeInOneSentence()
	}
	return c.DescribeInOneSentence() + " (--explain says why that is open)"
}

// layers shows a table of the design's layers.
func (s *screen) layers(r *build.Result) {
	t := newTable("layer", ">PE", ">SIMD", "memory", "compute", ">clocks", ">LUT", ">FF",
		">"+r.Design.Target.Board.BlockRAMUnitName(), ">URAM", ">DSP", ">acc bits")
	for _, l := range r.LayerReports() {
		acc := "-"
		if l.Acc != nil {
			acc = fmt.Sprint(l.Acc.Used)
		}
		t.row(l.Name, fmt.Sprint(l.Fold.PE), fmt.Sprint(l.Fold.SIMD), label(l.Fold.RAMStyle), label(l.Fold.ResType),
			whole(l.Clocks), whole(l.Total.LUT), whole(l.Total.FF), whole(l.Total.BRAM), whole(l.Total.URAM),
			whole(l.Total.DSP), acc)
	}
	e := r.Design.Estimate
	for _, beside := range []struct {
		name string
		cost dataflow.Cost
	}{{"FIFOs", e.FIFOs}, {"host port", e.Host}} {
		if c := beside.cost.Total(); c != (dataflow.Resources{}) {
			t.row(beside.name, "", "", "", "", "", whole(c.LUT), whole(c.FF), whole(c.BRAM), whole(c.URAM),
				whole(c.DSP), "")
		}
	}
	if e.Total.URAM == 0 {
		t.hide("URAM")
	}
	s.table(t)
}

// shares shows the shares of the board's resources that a design takes.
func (s *screen) shares(shares []folding.ResourceShare, on boards.Board) {
	t := newTable("resource", ">used", ">budget", ">board", ">of board")
	for _, x := range shares {
		used, budget, board := whole(x.Used), whole(x.Budget), whole(x.Board)
		of := percent(x.Used, x.Board)
		if x.IsMeanHardBlockShare() {
			used, budget, board = "", percent(x.Budget, x.Board), ""
		}
		if x.Name == "FF" && x.Used == 0 {
			used, of = "-", "not estimated" // FINN's formulas leave flip-flops out, but every design has some
		}
		t.row(folding.ReplaceRAMB18ByBoardName(x.Name, on), used, budget, board, of)
	}
	s.table(t)
}

// explain shows the details of a design: FIFOs, the host's port, the proof against deadlock, and the proof of the
// folding.
func (s *screen) explain(r *build.Result) {
	d := r.Design
	deepest, bits := 0, 0
	for k, f := range d.FIFO {
		if f.Depth > dataflow.MaxRegisterFIFOWords {
			deepest, bits = max(deepest, f.Depth),
				bits+(f.Depth-dataflow.MaxRegisterFIFOWords)*d.PortOfStream(k).Width()
		}
	}
	for _, e := range d.SequenceEndFIFOs() {
		deepest, bits = max(deepest, e.FIFO.Depth), bits+e.FIFO.Depth-dataflow.MaxRegisterFIFOWords
	}
	if bits > 0 {
		s.field("FIFOs", "up to %s, %s bits in all beyond two words each", count(deepest, "word"), whole(bits))
	}
	if p := r.HostPortReport(); p != nil {
		memory := ""
		if p.MemoryGB > 0 {
			memory = fmt.Sprintf(" from a memory of %s GB/s", figure(p.MemoryGB))
		}
		s.field("host", "%s bytes a frame, %s GB/s at this rate, through ports of %s GB/s for each stream%s: "+
			"at most %s %s/s",
			whole(p.Bytes), figure(p.Moved), figure(p.PortGB), memory, whole(int(p.Bound)),
			folding.CountedUnitForSamplesPerFrame(d.Model.Turns.SamplesPerFrame()))
	}
	s.field("ends", "%v", d.Clocks.Ends)
	if d.Clocks.Proof.Frames > 0 {
		s.field("deadlock", "%s", d.Clocks.Proof.Statement())
	}
	s.field("synthesis", "%s", r.SynthesisTimeText())
	name := "series"
	for _, line := range d.Series.DescribeInLines() {
		s.field(name, "%s", line)
		name = ""
	}
	name = "folding"
	for _, line := range append([]string{d.Certificate.DescribeOptionCounts()}, d.Certificate.DescribeInLines()...) {
		s.field(name, "%s", line)
		name = ""
	}
	name = "recurrences"
	for _, l := range r.LayerReports() {
		for _, text := range l.Steps {
			s.field(name, "%s: %s", l.Name, text)
			name = ""
		}
	}
	s.hostParts(d.Model)
}

// hostParts shows the nodes that stay on the host. A node behind the accelerator may also be part of a layer: a Gemm's
// product is computed in a layer, its bias on the host.
func (s *screen) hostParts(m *dataflow.Model) {
	layer := map[string]string{}
	for _, n := range m.Graph.Nodes {
		for _, node := range n.Origin {
			layer[node] = n.LayerName()
		}
	}
	for _, part := range []struct {
		where string
		nodes []string
	}{{"before", m.Prefix.Nodes}, {"after", m.Suffix.Nodes}} {
		if len(part.nodes) == 0 {
			continue
		}
		var names []string
		for _, n := range part.nodes {
			name := label(n)
			if l := layer[n]; l != "" && part.where == "after" {
				name += fmt.Sprintf(" (what %s leaves of it)", l)
			}
			names = append(names, name)
		}
		const most = 12
		if more := len(names) - most; more > 0 {
			names = append(names[:most], fmt.Sprintf("and %d more (hlsgen check lists them)", more))
		}
		s.field("on the host", "%s the accelerator: %s", part.where, strings.Join(names, ", "))
	}
}

// verified returns the sentence that says what was compared, and on how many samples.
func verified(r *build.Result) string {
	v := r.Verified
	if v.Samples == 0 {
		return "not verified: no samples were asked for (--verify 0)"
	}
	s := fmt.Sprintf("bit-exact: %s, %s engines (%s)", count(v.Samples, "sample"), inWords(len(v.Engines)),
		strings.Join(v.Engines, ", "))
	if len(v.Steps) > 0 {
		s += fmt.Sprintf(", sequences of %s steps", report.FormatNumberList(v.Steps))
	}
	if 0 < v.Recorded && v.Recorded < v.Samples && slices.Contains(v.Engines, string(engines.EngineCSim)) {
		s += fmt.Sprintf(", csim with %d of them", v.Recorded)
	}
	if !r.RealSamples {
		s += ", random inputs in range"
	}
	if v.Large {
		s += "; no more of a network this large, unless --verify asks for them"
	}
	if v.Left != "" {
		s += "; left out: " + v.Left
	}
	return s
}

// quoted returns a path as a word that a shell reads as this path.
func quoted(s string) string { return templates.QuoteShellWord(s) }

// A built is the JSON of a build.
type built struct {
	about
	Board    string  `json:"board"`
	Part     string  `json:"part"`
	ClockMHz float64 `json:"clock_mhz"`         // the clock that was asked for
	Reached  float64 `json:"clock_reached_mhz"` // the clock that rates are computed with

	OnBoard float64 `json:"clock_on_board_mhz,omitempty"` // the clock that the processor's dividers make, if it differs

	// the frequency of the processor's PLL, if no source states it and that of most boards is taken
	AssumedPLL int `json:"assumed_pll_mhz,omitempty"`

	Fits     bool    `json:"fits"`
	FPS      float64 `json:"fps"`
	Interval float64 `json:"interval_clocks"`
	Latency  int     `json:"latency_clocks"`

	Ends folding.IOLatencyClocks `json:"latency_at_ends_clocks"` // the part of the latency at the ends of the network

	// the least interval and latency that are possible until latencies are calibrated
	Least *folding.IntervalAndLatency `json:"least,omitempty"`
	Most  *folding.IntervalAndLatency `json:"most,omitempty"` // the largest interval and latency until then

	Sequences *report.SequenceRatesReport `json:"sequences,omitempty"` // if lengths of sequences differ

	Series     report.FrameSeriesReport `json:"series"`
	Slowest    int                      `json:"slowest_layer_clocks"`
	Bottleneck report.BottleneckReport  `json:"bottleneck"`
	Port       *report.HostPortReport   `json:"host_port,omitempty"`
	Weights    *report.WeightLoadReport `json:"weights,omitempty"` // if weights are loaded at run time
	Layers     []report.LayerReport     `json:"layers"`
	FIFOs      dataflow.Resources       `json:"fifo_cost"`
	Host       dataflow.Resources       `json:"host_cost"`
	Total      dataflow.Resources       `json:"cost"`
	Resources  []share                  `json:"resources"`
	Folding    report.CertificateReport `json:"certificate"`
	// the user ended the search, and the best design so far was built
	Stopped  bool                      `json:"interrupted"`
	Prefix   []string                  `json:"host_prefix"`
	Suffix   []string                  `json:"host_suffix"`
	Verified verify.VerificationReport `json:"verified"`
	Accuracy *samples.Accuracy         `json:"accuracy,omitempty"`
	Out      string                    `json:"out"`
	Files    int                       `json:"files"`
	// paths below out that hlsgen did not write, or that were changed since
	Kept []string `json:"kept,omitempty"`
	outcome
}

// A share is the JSON of one resource: the use of a design, the budget, and the amount on the board.
type share struct {
	Name   string  `json:"resource"`
	Used   float64 `json:"used"` // an amount; for the mean, a share
	Budget float64 `json:"budget"`
	Board  float64 `json:"board"`
}

// builtOf returns the JSON of a build.
func builtOf(r *build.Result, d *diag.List) built {
	f := r.Design
	t, m, e := f.Target, f.Model, f.Estimate
	fps, interval := f.SamplesPerSecondAndInterval()
	b := built{about: aboutOf(r.Source), Board: t.Board.Name, Part: t.Board.Part, ClockMHz: t.ClockMHz,
		Reached: f.ReachedClockMHz(), Fits: !f.Over, FPS: fps, Interval: interval, Latency: f.Clocks.Latency,
		Ends: f.Clocks.Ends, Least: f.Clocks.Least, Most: f.Clocks.Most, Sequences: report.NewSequenceRatesReport(f),
		Slowest: f.Clocks.Slowest, Series: report.NewFrameSeriesReport(f),
		Bottleneck: r.BottleneckReport(), Port: r.HostPortReport(), Weights: r.WeightLoadReport(),
		Layers: r.LayerReports(), FIFOs: e.FIFOs.Total(), Host: e.Host.Total(), Total: e.Total,
		Folding: report.NewCertificateReport(&f.Certificate), Stopped: f.Certificate.Interrupted,
		Prefix: append([]string{}, m.Prefix.Nodes...),
		Suffix: append([]string{}, m.Suffix.Nodes...), Verified: r.Verified, Accuracy: r.Accuracy, Out: r.Out,
		Files: r.FileCount, Kept: r.Kept, outcome: outcomeOf(d, nil)}
	b.OnBoard, _ = r.BoardMHzAndFPS()
	b.AssumedPLL = r.AssumedPLLMHz()
	for _, s := range f.Shares {
		unit := 1.0
		if s.IsMeanHardBlockShare() {
			unit = float64(s.Board)
		}
		b.Resources = append(b.Resources, share{s.Name, float64(s.Used) / unit, float64(s.Budget) / unit,
			float64(s.Board) / unit})
	}
	return b
}

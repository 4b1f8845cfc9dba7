package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hlsgen/folding"
	"hlsgen/internal/compiler"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/templates"
)

func (a *app) buildCommand() *cobra.Command {
	o := compiler.Options{Version: version(), Verify: compiler.AutoVerify}
	var asJSON, pareto, explain bool
	var d diag.List
	points := 24
	cmd := &cobra.Command{
		Use:   "build [MODEL.onnx] --board BOARD",
		Short: "Generate the accelerator, check it bit for bit, write it to a folder",
		Long: `Build turns a quantised ONNX model into a Vitis HLS project for a board.

The network is folded to the highest throughput within the budget (--max-use),
to the least resources that reach --fps or --interval, or to the shortest
--latency. --explain shows every layer, where resources go and what is proved of
the folding; --pareto shows what can be had for how much and builds nothing.
What is printed can be asked for: a rate, an interval or a budget gives the
design that it was printed of. Before anything is written, the design is run
on samples and compared with the model's own execution, bit for bit: layer by
layer (eval), clock by clock (cycle), and as compiled C++ (csim). The folder
appears whole or not at all.

Without a model, the embedded example is built. Options may also stand in
hlsgen.yaml (fps: 1000) or in the environment (HLSGEN_FPS=1000).`,
		Example: `  hlsgen build --board zcu104                      # the embedded example
  hlsgen build net.onnx --board pynq-z1 --fps 1000
  hlsgen build net.onnx --board zcu104 --pareto --least dsp
  hlsgen build net.onnx --board ./mine.json --max-use lut=0.7,bram=0.9
  hlsgen build net.onnx --board zcu104 --folding folding.json --out design`,
	}
	a.designFlags(cmd, &o)
	fs := cmd.Flags()
	fs.BoolVar(&explain, "explain", false, "show every layer, where resources go, and what is proved of the design")
	fs.BoolVar(&pareto, "pareto", false, "show the designs that are worth choosing from, by interval and --least, and build none")
	fs.Var(&value[int]{to: &points, text: fmt.Sprint(points), kind: "N", parse: integer(2, maxFront)}, "points", "with --pareto: so many designs at most, spread over the rates")
	fs.Var(&value[int]{to: &o.Verify, text: "16", kind: "N", parse: integer(0, maxSamples)}, "verify", "samples to check the design on; left out, fewer of a large network")
	fs.BoolVar(&o.NoCSim, "no-csim", false, "do not compile and run the generated C++")
	a.path(fs, &o.Out, "out", "DIR", "folder to write (default hlsgen-out/MODEL-BOARD)")
	fs.BoolVar(&o.Force, "force", false, "replace the folder if it exists")
	fs.BoolVar(&asJSON, "json", false, "print one JSON object")
	accFlag(cmd, &o)
	strictFlag(cmd, &d)
	a.passFlags(cmd, &o)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if o.Model, err = a.configure(cmd, args); err != nil {
			return err
		}
		if o.Board == "" {
			return usagef("a board is needed: --board zcu104, or another that hlsgen boards lists, or a file of your own, --board ./mine.json")
		}
		if err := excluding(&o); err != nil {
			return err
		}
		if pareto && o.Latency {
			return usagef("--pareto and --latency exclude each other: the designs of a front differ in their interval")
		}
		a.running = true
		if pareto {
			return a.front(cmd.Context(), o, points, asJSON, &d)
		}
		if o.Out == "" {
			o.Out = under(a.dir, compiler.DefaultOut(o.Model, o.Board))
		}
		p := a.progress()
		o.Progress = p.step
		r, err := compiler.Run(cmd.Context(), o, &d)
		p.close()
		switch {
		case r == nil || err != nil:
			return a.without(asJSON, &d, err)
		case asJSON:
			return a.json(builtOf(r, &d))
		}
		a.diagnostics(&d)
		a.printBuilt(r, explain)
		return nil
	}
	return cmd
}

// lineWidth is how wide lines of a screen are at most.
const lineWidth = 100

// field prints a line of a screen: what it is about, and what is to say, wrapped behind it.
func (a *app) field(name, text string) {
	const indent = "             "
	wrapped := wrap(text, indent, lineWidth)
	fmt.Fprintf(&a.out, "%-13s%s", name, wrapped[len(indent):])
}

// printBuilt shows what was built: whether it fits, how fast it is, what holds it up, how it was verified, and what to type
// next. With explain, everything that is known of the design comes in between.
func (a *app) printBuilt(r *compiler.Result, explain bool) {
	d := r.Design
	t := d.Target
	ink := a.ink(a.stdout)
	fmt.Fprintln(&a.out, ink.bold(fmt.Sprintf("%s on %s (%s) at %s MHz", label(r.Source.Name), label(t.Board.Name), label(t.Board.Part), figure(t.ClockMHz))))
	if r.Source.Example {
		a.field("example", exampleDoc(r.Source.Name)+"; your own: hlsgen build MODEL.onnx --board "+quoted(t.Board.Name))
	}
	if explain {
		fmt.Fprintln(&a.out)
		a.layerTable(r)
		fmt.Fprintln(&a.out)
		a.shareTable(d.Shares)
		fmt.Fprintln(&a.out)
	}
	verdict := "yes: "
	if d.Over {
		verdict = "NO: "
	}
	a.field("fits", verdict+takes(d))
	a.field("throughput", fmt.Sprintf("%s frames/s, one every %s", rate(d.FPS()), clocksText(d.Clocks.Interval)))
	a.field("latency", fmt.Sprintf("%s (%s)", count(d.Clocks.Latency, "clock"), duration(d.Clocks.Latency, d.ClockMHz())))
	a.field("bottleneck", d.Bottleneck.Reason+"; to change it: "+d.Bottleneck.Cure)
	if acc := r.Accuracy; acc != nil {
		what := "labelled samples"
		if r.Source.Example {
			what = "real digits"
		}
		a.field("accuracy", fmt.Sprintf("%s (%d/%d) of %s", percent(acc.Right, acc.Samples), acc.Right, acc.Samples, what))
	}
	if explain {
		a.explain(r)
	} else {
		a.field("proof", proof(&d.Certificate))
	}
	a.field("verified", verified(r))
	a.field("written", fmt.Sprintf("%s (%s)", printable(r.Out), count(r.FileCount, "file")))
	fmt.Fprintf(&a.out, "%-13smake -C %s csim\n", "next", quoted(filepath.Join(r.Out, "hls")))
}

// takes is what a design takes of its budget: the kinds of which it takes any.
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
		case s.Used > 0 && s.Name != "LUTRAM" && !s.Mean():
			parts = append(parts, fmt.Sprintf("%s of %s %s", whole(s.Used), whole(s.Budget), s.Name))
		}
	}
	return strings.Join(parts, ", ") + " in the budget"
}

// proof says in a line how good a design is known to be.
func proof(c *folding.Certificate) string {
	if c.Proved() {
		return "no design within the budget is better, whatever its FIFOs hold"
	}
	var parts []string
	if c.Floor > 0 && float64(c.Floor) != c.Interval {
		parts = append(parts, fmt.Sprintf("no interval below %s is possible", count(c.Floor, "clock")))
	}
	if l := c.Latency; l != nil && l.Open() > 0 {
		parts = append(parts, fmt.Sprintf("no latency below %s is possible", count(l.Least, "clock")))
	}
	for _, b := range c.Bounds {
		if b.Open() > 0 {
			parts = append(parts, fmt.Sprintf("at most %.2f %% above the least %s there is", 100*b.Open(), b.Measure))
			break
		}
	}
	return strings.Join(parts, "; ") + " (--explain says why that is open)"
}

func (a *app) layerTable(r *compiler.Result) {
	t := newTable("layer", ">PE", ">SIMD", "memory", "compute", ">clocks", ">LUT", ">FF", ">BRAM18", ">DSP", ">acc bits")
	for _, l := range r.Layers() {
		acc := "-"
		if l.Acc != nil {
			acc = fmt.Sprint(l.Acc.Used)
		}
		t.row(l.Name, fmt.Sprint(l.Fold.PE), fmt.Sprint(l.Fold.SIMD), label(l.Fold.RAMStyle), label(l.Fold.ResType), whole(l.Clocks),
			whole(l.Total.LUT), whole(l.Total.FF), whole(l.Total.BRAM), whole(l.Total.DSP), acc)
	}
	e := r.Design.Estimate
	for _, beside := range []struct {
		name string
		cost dataflow.Cost
	}{{"FIFOs", e.FIFOs}, {"host port", e.Host}} {
		if c := beside.cost.Total(); c != (dataflow.Resources{}) {
			t.row(beside.name, "", "", "", "", "", whole(c.LUT), whole(c.FF), whole(c.BRAM), whole(c.DSP), "")
		}
	}
	t.print(&a.out, a.ink(a.stdout))
}

func (a *app) shareTable(shares []folding.Share) {
	t := newTable("resource", ">used", ">budget", ">board", ">of board")
	for _, s := range shares {
		used, budget, board := whole(s.Used), whole(s.Budget), whole(s.Board)
		of := percent(s.Used, s.Board)
		if s.Mean() {
			used, budget, board = "", percent(s.Budget, s.Board), ""
		}
		if s.Name == "FF" && s.Used == 0 {
			used, of = "-", "not estimated" // FINN's formulas leave flip-flops out, and no design has none
		}
		t.row(s.Name, used, budget, board, of)
	}
	t.print(&a.out, a.ink(a.stdout))
}

// explain shows what is known of a design beyond its figures: FIFOs, the host's port, deadlock, and what is proved.
func (a *app) explain(r *compiler.Result) {
	d := r.Design
	deepest, bits := 0, 0
	for s, f := range d.FIFO {
		if f.Depth > dataflow.Shallow {
			deepest, bits = max(deepest, f.Depth), bits+(f.Depth-dataflow.Shallow)*d.Port(s).Width()
		}
	}
	if bits > 0 {
		a.field("FIFOs", fmt.Sprintf("up to %s, %s bits in all beyond two words each", count(deepest, "word"), whole(bits)))
	}
	if p := r.Port(); p != nil {
		text := fmt.Sprintf("%s bytes a frame, %s GB/s at this rate, through ports of %s GB/s for each stream", whole(p.Bytes), figure(p.Moved), figure(p.PortGB))
		if p.MemoryGB > 0 {
			text += fmt.Sprintf(" from a memory of %s GB/s", figure(p.MemoryGB))
		}
		a.field("host", text+fmt.Sprintf(": at most %s frames/s", whole(int(p.Bound))))
	}
	if d.Clocks.Proof.Frames > 0 {
		a.field("deadlock", d.Clocks.Proof.Short())
	}
	name := "folding"
	for _, line := range append([]string{d.Certificate.Effort()}, d.Certificate.Lines()...) {
		a.field(name, line)
		name = ""
	}
	a.hostParts(d.Model)
}

// hostParts names the nodes that stay on the host. A node of the suffix may be in a layer as well: a Gemm's product is,
// its bias is not.
func (a *app) hostParts(m *dataflow.Model) {
	layer := map[string]string{}
	for _, n := range m.Graph.Nodes {
		for _, node := range n.Origin {
			layer[node] = n.Name
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
		a.field("on the host", part.where+" the accelerator: "+strings.Join(names, ", "))
	}
}

// verified is the sentence on what was compared.
func verified(r *compiler.Result) string {
	v := r.Verified
	if v.Samples == 0 {
		return "not verified: no samples were asked for (--verify 0)"
	}
	s := fmt.Sprintf("bit-exact: %s, %s engines (%s)", count(v.Samples, "sample"), inWords(len(v.Engines)), strings.Join(v.Engines, ", "))
	if 0 < v.Recorded && v.Recorded < v.Samples && slices.Contains(v.Engines, string(compiler.CSim)) {
		s += fmt.Sprintf(", csim with %d of them", v.Recorded)
	}
	if r.Source.Inputs == nil {
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

// quoted is a path as a shell reads it.
func quoted(s string) string { return templates.ShellWord(s) }

// A built is the JSON of a build.
type built struct {
	compiler.Head
	Model      string                 `json:"model"`
	Example    bool                   `json:"example"`
	Board      string                 `json:"board"`
	Part       string                 `json:"part"`
	ClockMHz   float64                `json:"clock_mhz"`         // asked for
	Reached    float64                `json:"clock_reached_mhz"` // that rates are given for
	Fits       bool                   `json:"fits"`
	FPS        float64                `json:"fps"`
	Interval   float64                `json:"interval_clocks"`
	Latency    int                    `json:"latency_clocks"`
	Slowest    int                    `json:"slowest_layer_clocks"`
	Bottleneck compiler.Bottleneck    `json:"bottleneck"`
	Port       *compiler.PortReport   `json:"host_port,omitempty"`
	Layers     []compiler.LayerReport `json:"layers"`
	FIFOs      dataflow.Resources     `json:"fifo_cost"`
	Host       dataflow.Resources     `json:"host_cost"`
	Total      dataflow.Resources     `json:"cost"`
	Resources  []share                `json:"resources"`
	Folding    compiler.Certificate   `json:"certificate"`
	Prefix     []string               `json:"host_prefix"`
	Suffix     []string               `json:"host_suffix"`
	Verified   compiler.Verified      `json:"verified"`
	Accuracy   *compiler.Accuracy     `json:"accuracy,omitempty"`
	Out        string                 `json:"out"`
	Files      int                    `json:"files"`
	outcome
}

type share struct {
	Name   string  `json:"resource"`
	Used   float64 `json:"used"` // an amount; of the mean, a share
	Budget float64 `json:"budget"`
	Board  float64 `json:"board"`
}

func builtOf(r *compiler.Result, d *diag.List) built {
	f := r.Design
	t, m, e := f.Target, f.Model, f.Estimate
	b := built{Head: compiler.Versioned, Model: r.Source.Name, Example: r.Source.Example, Board: t.Board.Name, Part: t.Board.Part, ClockMHz: t.ClockMHz, Reached: f.ClockMHz(),
		Fits: !f.Over, FPS: f.FPS(), Interval: f.Clocks.Interval, Latency: f.Clocks.Latency, Slowest: f.Clocks.Slowest, Bottleneck: r.Bottleneck(), Port: r.Port(),
		Layers: r.Layers(), FIFOs: e.FIFOs.Total(), Host: e.Host.Total(), Total: e.Total, Folding: compiler.CertificateOf(&f.Certificate),
		Prefix: append([]string{}, m.Prefix.Nodes...),
		Suffix: append([]string{}, m.Suffix.Nodes...), Verified: r.Verified, Accuracy: r.Accuracy, Out: r.Out, Files: r.FileCount, outcome: outcomeOf(d, nil)}
	for _, s := range f.Shares {
		unit := 1.0
		if s.Mean() {
			unit = float64(s.Board)
		}
		b.Resources = append(b.Resources, share{s.Name, float64(s.Used) / unit, float64(s.Budget) / unit, float64(s.Board) / unit})
	}
	return b
}

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hlsgen/folding"
	"hlsgen/internal/build"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

func (a *app) buildCommand() *cobra.Command {
	o := build.Options{Version: version(), Verify: build.AutoVerify}
	var asJSON, pareto bool
	var d diag.List
	points := 24
	cmd := &cobra.Command{
		Use:   "build [MODEL.onnx] --board BOARD",
		Short: "Generate the accelerator, check it bit for bit, write it to a folder",
		Long: `Build turns a quantised ONNX model into a Vitis HLS project for a board.

The network is folded to the highest throughput that fits the board, to the
least resources that reach --fps, or to the shortest --latency; what the search
has proved of the folding is shown. --pareto shows what can be had for how much
and builds nothing. Before anything is written, the design is run
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
		if pareto && o.Latency {
			return usagef("--pareto and --latency exclude each other: the designs of a front differ in their interval")
		}
		a.running = true
		if pareto {
			return a.front(cmd.Context(), o, points, asJSON, &d)
		}
		if o.Out == "" {
			o.Out = under(a.dir, build.DefaultOut(o.Model, o.Board))
		}
		p := a.progress()
		o.Progress = p.step
		r, err := build.Run(cmd.Context(), o, &d)
		p.close()
		switch {
		case r == nil || err != nil:
			return a.without(asJSON, &d, err)
		case asJSON:
			return a.json(builtOf(r, &d))
		}
		a.diagnostics(&d)
		a.printBuilt(r)
		return nil
	}
	return cmd
}

// printBuilt shows what was built, what it does and takes, and what to type next.
func (a *app) printBuilt(r *build.Result) {
	t := r.Design.Target
	line := func(format string, args ...any) { fmt.Fprintf(&a.out, format+"\n", args...) }
	ink := a.ink(a.stdout)

	line("%s", ink.bold(fmt.Sprintf("%s on %s (%s) at %s MHz", label(r.Source.Name), t.Board.Name, t.Board.Part, figure(t.ClockMHz))))
	if r.Source.Example {
		line("the embedded example, %s", exampleDoc(r.Source.Name))
		line("your own model: hlsgen build MODEL.onnx --board %s", t.Board.Name)
	}
	if acc := r.Accuracy; acc != nil {
		what := "labelled samples"
		if r.Source.Example {
			what = "real digits"
		}
		line("\naccuracy on %s: %s (%d/%d)", what, percent(acc.Right, acc.Samples), acc.Right, acc.Samples)
	}
	line("")
	a.layerTable(r)
	line("")
	a.speed(r)
	line("")
	a.shareTable(r.Folding.Shares)
	line("")
	a.certificate(r.Folding)
	a.hostParts(r.Design.Model)
	line("%s", ink.bold(verified(r)))
	line("\nwritten: %s (%s)", printable(r.Out), count(r.FileCount, "file"))
	line("next:    make -C %s csim", quoted(filepath.Join(r.Out, "hls")))
}

func (a *app) layerTable(r *build.Result) {
	t := newTable("layer", ">PE", ">SIMD", "memory", "compute", ">cycles", ">LUT", ">FF", ">BRAM18", ">DSP", ">acc bits")
	for _, l := range r.Layers() {
		acc := "-"
		if l.Acc != nil {
			acc = fmt.Sprint(l.Acc.Used)
		}
		t.row(l.Name, fmt.Sprint(l.Fold.PE), fmt.Sprint(l.Fold.SIMD), label(l.Fold.RAMStyle), label(l.Fold.ResType), whole(l.Cycles),
			whole(l.Total.LUT), whole(l.Total.FF), whole(l.Total.BRAM), whole(l.Total.DSP), acc)
	}
	for _, beside := range []struct {
		name string
		cost dataflow.Cost
	}{{"FIFOs", r.Estimate.FIFOs}, {"host port", r.Estimate.Host}} {
		if c := beside.cost.Total(); c != (dataflow.Resources{}) {
			t.row(beside.name, "", "", "", "", "", whole(c.LUT), whole(c.FF), whole(c.BRAM), whole(c.DSP), "")
		}
	}
	t.print(&a.out, a.ink(a.stdout))
}

func (a *app) shareTable(shares []folding.Share) {
	t := newTable("resource", ">used", ">budget", ">board", ">of board")
	for _, s := range shares {
		used, of := whole(s.Used), percent(s.Used, s.Board)
		if s.Name == "FF" && s.Used == 0 {
			used, of = "-", "not estimated" // FINN's formulas leave flip-flops out, and no design has none
		}
		t.row(s.Name, used, whole(s.Budget), whole(s.Board), of)
	}
	t.print(&a.out, a.ink(a.stdout))
}

func (a *app) speed(r *build.Result) {
	line := func(format string, args ...any) { fmt.Fprintf(&a.out, format+"\n", args...) }
	f, clock := r.Folding, r.ClockMHz()
	c := r.Cycles
	line("throughput: %s frames/s, a frame every %s clocks, simulated", figure(r.FPS()), figure(c.Interval))
	if c.Interval > float64(f.Interval) {
		line("            the slowest layer alone takes %s: %s", count(f.Interval, "clock"), c.Trace.Bottleneck.Reason)
	}
	if c.Bits > 0 {
		line("fifos:      up to %s, %s bits in all beyond two words each", count(c.Deepest, "word"), whole(c.Bits))
	}
	if c.Proof.Frames > 0 {
		line("deadlock:   %s", c.Proof.Short())
	}
	if n := r.Cycles.Latency; n > 0 {
		line("latency:    %s (%s), simulated", count(n, "clock"), duration(n, clock))
	}
	if strings.HasPrefix(f.Why, f.Bottleneck+" ") {
		line("bottleneck: %s", f.Why)
	} else {
		line("bottleneck: %s; %s", f.Bottleneck, f.Why)
	}
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
		fmt.Fprintf(&a.out, "on the host, %s the accelerator: %s\n", part.where, strings.Join(names, ", "))
	}
}

// verified is the sentence on what was compared.
func verified(r *build.Result) string {
	v := r.Verified
	if v.Samples == 0 {
		return "not verified: no samples were asked for (--verify 0)"
	}
	s := fmt.Sprintf("verified bit-exact: %s, %s engines (%s)", count(v.Samples, "sample"), inWords(len(v.Engines)), strings.Join(v.Engines, ", "))
	if 0 < v.Recorded && v.Recorded < v.Samples && slices.Contains(v.Engines, string(build.CSim)) {
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
func quoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,:=@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// A built is the JSON of a build.
type built struct {
	Model      string              `json:"model"`
	Example    bool                `json:"example"`
	Board      string              `json:"board"`
	Part       string              `json:"part"`
	ClockMHz   float64             `json:"clock_mhz"`
	FPS        float64             `json:"fps"` // at the simulated interval
	Interval   int                 `json:"interval_cycles"`
	Simulated  *clocks             `json:"simulated,omitempty"`
	Bottleneck string              `json:"bottleneck"`
	Why        string              `json:"bottleneck_reason"`
	Layers     []build.LayerReport `json:"layers"`
	FIFOs      dataflow.Resources  `json:"fifo_cost"`
	Host       dataflow.Resources  `json:"host_cost"`
	Resources  []share             `json:"resources"`
	Folding    build.Certificate   `json:"folding"`
	Prefix     []string            `json:"host_prefix"`
	Suffix     []string            `json:"host_suffix"`
	Verified   build.Verified      `json:"verified"`
	Accuracy   *build.Accuracy     `json:"accuracy,omitempty"`
	Out        string              `json:"out"`
	Files      int                 `json:"files"`
	outcome
}

// A clocks is what the simulation showed; the interval is 0 where it saw one frame only.
type clocks struct {
	Latency  int     `json:"latency_cycles"`
	Interval float64 `json:"interval_cycles"`
}

type share struct {
	Name   string `json:"resource"`
	Used   int    `json:"used"`
	Budget int    `json:"budget"`
	Board  int    `json:"board"`
}

func builtOf(r *build.Result, d *diag.List) built {
	t, f, m := r.Design.Target, r.Folding, r.Design.Model
	b := built{Model: r.Source.Name, Example: r.Source.Example, Board: t.Board.Name, Part: t.Board.Part, ClockMHz: t.ClockMHz,
		FPS: r.FPS(), Interval: f.Interval, Bottleneck: f.Bottleneck, Why: f.Why, Layers: r.Layers(), FIFOs: r.Estimate.FIFOs.Total(), Host: r.Estimate.Host.Total(), Folding: build.CertificateOf(&f.Proof),
		Prefix: m.Prefix.Nodes, Suffix: m.Suffix.Nodes, Verified: r.Verified, Accuracy: r.Accuracy, Out: r.Out, Files: r.FileCount, outcome: outcomeOf(d, nil)}
	for _, s := range f.Shares {
		b.Resources = append(b.Resources, share{s.Name, s.Used, s.Budget, s.Board})
	}
	if r.Cycles.Latency > 0 {
		b.Simulated = &clocks{r.Cycles.Latency, r.Cycles.Interval}
	}
	return b
}

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/internal/ctc"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/report"
	"hlsgen/internal/samples"
	"hlsgen/internal/simulate"
)

// simulateCommand returns the command simulate.
func (a *app) simulateCommand() *cobra.Command {
	o := simulate.Options{Engine: engines.EngineFast, OutputFileOptions: simulate.OutputFileOptions{MaxShown: elements}}
	var names, methods []string
	long := `Simulate runs a model on your data and gives what the model gives: .npy or .npz
in, .npy or .npz out, in the model's own shapes and types. Data are one sample,
or N samples of the model's shape with or without its leading 1. An .npz file
holds one array per input name.

Engines:
`
	for _, e := range engines.DocumentedEngines {
		long += fmt.Sprintf("  %-10s %s\n", e.Name, e.Doc)
		names = append(names, string(e.Name))
	}
	long += `
A model whose metadata name an alphabet gives text, decoded by a method:
`
	for _, m := range ctc.DocumentedMethods {
		long += fmt.Sprintf("  %-10s %s\n", m.Name, m.Doc)
		methods = append(methods, string(m.Name))
	}
	long += `
Recurrent networks: with --dim T=1..520, samples are sequences of up to 520
steps, of which --lengths says how many count; data behind them are ignored, and
outputs that have axis T are zero there. With --stateful, samples are pieces of
one stream, in order.
`
	t := a.task(&cobra.Command{
		Use:   "simulate [MODEL.onnx] --input FILE",
		Short: "Run a model on your data, as written, as integers, clock by clock, or as C++",
		Long:  strings.TrimSpace(long),
		Example: `  hlsgen simulate net.onnx --input x.npy --output y.npy
  hlsgen simulate net.onnx --input x.npy --compare torch.npy
  hlsgen simulate net.onnx --input x.npy --labels n.npy          # how many are right?
  hlsgen simulate net.onnx --input x.npy --labels n.npy --acc-overflow wrap --acc-bits hidden=10
  hlsgen simulate net.onnx --input x.npy --engine cycle --board zcu104 --fps 1000
  make-samples | hlsgen simulate net.onnx --input - --output - | judge
  hlsgen simulate rnn.onnx --dim T=1..520 --input x.npy --lengths n.npy
  hlsgen simulate                                  # the embedded example`,
	}, parts{Source: &o.Source, Hardware: &o.Hardware, Goal: &o.Goal, accBits: &o.AccBits})
	t.labelled(&o.Data, &o.LabelsFile, "data, .npy or .npz; - for .npy on standard input")
	t.path(&o.LengthsFile, "lengths", "FILE",
		"how many steps of each sample count, .npy with one integer per sample; with "+
			"--dim AXIS=MIN..MAX", nil)
	t.path(&o.Output, "output", "FILE", "where results go: .npz for every output, .npy for the first; - for the "+
		"first as .npy on standard output", noStandard)
	option(t.FlagSet, &o.Engine, "engine", string(engines.EngineFast), "ENGINE", oneOf[engines.EngineName]("engines",
		names),
		"one of "+strings.Join(names, ", "))
	t.path(&o.Compare, "compare", "FILE", "outputs to compare with; a difference ends with exit code 3", nil)
	option(t.FlagSet, &o.Overflow, "acc-overflow", "", "OVERFLOW", oneOf[frontend.OverflowMode]("overflows",
		[]string{string(frontend.OverflowModeWrap), string(frontend.OverflowModeSaturate)}),
		"what narrower accumulators would do: wrap, the "+
			"sum modulo 2^BITS; saturate, clip after every product; with --acc-bits; this changes the model")
	t.accumulators("the bits of accumulators with --acc-overflow")
	option(t.FlagSet, &o.RandomOrders, "acc-order", "", "ORDERS", integer(1, maxOrders),
		"with --acc-overflow saturate: so many random orders of products, and their spread")
	t.path(&o.Trace, "trace", "DIR", "write every tensor to this folder as .npy; or to FILE.npz, a single file with "+
		"values, integers and scales by the names of tensors", nil)
	t.path(&o.Codes, "codes", "FILE", "write the integers that leave the accelerator, as .npz in the form of --trace",
		nil)
	t.path(&o.VCD, "trace-vcd", "FILE",
		"with engine cycle: write every stream with its words, clock by clock, as a value change dump for GTKWave; "+
			".fst is compressed, by vcd2fst", nil)
	t.path(&o.Timeline, "timeline", "FILE", "with engine cycle: draw when layers worked and waited, as SVG, or as "+
		".json for Perfetto", nil)
	option(t.FlagSet, &o.Decode, "decode", "", "METHOD", oneOf[ctc.DecodingMethod]("methods", methods),
		"how scores become text: "+strings.Join(methods, ", ")+" (default as the model's metadata say)")
	t.strict()
	t.json()
	t.design()
	t.completes("engine", names)
	t.completes("decode", methods)
	return t.does(func(ctx context.Context) (*answer, error) {
		if o.Model != "" && o.Data == "" {
			return nil, usagef("data are needed: --input x.npy, one sample in the model's shape or N of them " +
				"(only the embedded example brings its own)")
		}
		ext, toStdout := strings.ToLower(filepath.Ext(o.Output)), o.Output == samples.StandardStreamPath
		if o.Output != "" && !toStdout && ext != ".npy" && ext != ".npz" {
			return nil, usagef("--output %s: results are written as .npy or .npz", o.Output)
		}
		if toStdout && t.asJSON {
			return nil, usagef("--output - and --json exclude each other: both are for standard output")
		}
		if toStdout {
			// otherwise a reader that closes the pipe would kill the process
			signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
			o.Stdout = a.stdout
		}
		if o.Codes != "" && (!simulate.IsTraceFile(o.Codes) || o.Engine == engines.EngineReference ||
			o.Engine == engines.EngineFloat) {
			return nil, usagef("--codes writes the integers of layers to an .npz file: engines reference and float " +
				"have none")
		}
		if (o.VCD != "" || o.Timeline != "") && o.Engine != engines.EngineCycle {
			return nil, usagef("--trace-vcd and --timeline show clocks: add --engine cycle")
		}
		if o.MaxLatency > 0 && o.Board == "" {
			return nil, usagef("--max-latency limits a design for a board: add --board")
		}
		if err := o.CheckWaves(); err != nil {
			return nil, usagef("--trace-vcd: %v: install gtkwave, or write a .vcd", err)
		}
		if err := t.excluding(); err != nil {
			return nil, err
		}
		if err := overflowing(o, t.Changed("engine")); err != nil {
			return nil, err
		}
		if !t.Changed("engine") {
			o.Engine = ""
		}
		if a.options != nil {
			a.options(o)
			return nil, nil
		}
		o.Take, o.Warm = a.take, a.warm
		r, err := simulate.Run(ctx, o, &t.d)
		if r == nil || err != nil {
			return nil, err
		}
		got := &answer{object: simulatedOf(o, r, &t.d), show: func(s *screen) { s.simulated(o, r) }, aside: toStdout}
		if r.Compare != nil && r.Compare.Differ > 0 {
			got.end = errDiffer
			got.wrong = fmt.Sprintf("%d of %s differ from %s; the first: %s", r.Compare.Differ,
				count(r.Compare.Samples, "sample"), o.Compare, r.Compare.First)
		}
		return got, nil
	})
}

// simulated shows the result of a simulation.
func (s *screen) simulated(o simulate.Options, r *simulate.Result) {
	s.title("%s, engine %s: %s%s", label(r.Source.Name), r.Engine, count(r.Samples, "sample"), stepsOf(r.Steps))
	s.example(r.Source, "; your own: hlsgen simulate MODEL.onnx --input x.npy")
	if r.Design != nil {
		s.design(o, r)
	}
	switch r.Engine {
	case engines.EngineCycle, engines.EngineCSim, engines.EngineCircuit:
		s.field("verified", "every layer's stream equals the one of engine eval")
	case engines.EngineRTL, engines.EngineNetlist:
		s.field("verified", "every layer's stream equals the one of engine eval, every clock that of engine cycle")
	}
	for k, out := range r.Outputs {
		s.field("output", "%q: %s %v", label(r.Out[k].Name), out.DType, out.Shape)
		if o.Output == "" {
			s.field("", "%s", first(out))
		}
	}
	accuracy(s, r)
	overflowed(s, o, r)
	for _, text := range r.Texts {
		s.exact("text", printable(text))
	}
	for _, w := range []struct{ name, path string }{
		{"written", o.Output}, {"traced", o.Trace}, {"written", o.Codes}, {"drawn", o.VCD}, {"drawn", o.Timeline},
	} {
		if w.path != "" {
			s.exact(w.name, printable(w.path))
		}
	}
	if c := r.Compare; c != nil {
		s.comparison(o.Compare, c)
	}
}

// accuracy shows how many samples are classified right, and the accuracy that info.json beside the model states.
func accuracy(s *screen, r *simulate.Result) {
	if r.Accuracy == nil {
		return
	}
	s.field("accuracy", "%v", r.Accuracy)
	if r.StatedAccuracy != nil {
		s.field("", "%.4g %% by the info.json beside the model", 100**r.StatedAccuracy)
	}
}

// stepsOf returns the range of the samples' lengths in steps. It is empty if all samples have the model's own length.
func stepsOf(steps []int) string {
	if len(steps) == 0 {
		return ""
	}
	shortest, longest := slices.Min(steps), slices.Max(steps)
	if shortest == longest {
		return " of " + count(longest, "step")
	}
	return fmt.Sprintf(" of %s to %s", whole(shortest), count(longest, "step"))
}

// design shows the simulated design in the words that build uses.
func (s *screen) design(o simulate.Options, r *simulate.Result) {
	d := r.Design
	if o.Board == "" {
		s.field("folding", "no --board is given: per layer the cheapest of at most %s per frame, no budget, "+
			"no host port",
			count(r.MaxCycles, "clock"))
	}
	samples := d.Model.Turns.SamplesPerFrame()
	fps, interval := d.SamplesPerSecondAndInterval()
	s.field("throughput", "%s %s/s at %s MHz, %s", rate(fps), folding.CountedUnitForSamplesPerFrame(samples),
		megahertz(d.ReachedClockMHz()),
		pace(samples, interval))
	feedback(s, d)
	s.latency(d)
	s.sequences(report.NewSequenceRatesReport(d))
	s.field("bottleneck", "%s", d.Bottleneck.Reason)
	if t := r.Trace; t != nil {
		s.field("simulated", "%s for %s", count(t.Cycles, "clock"), count(r.Samples, "sample"))
	}
}

// comparison shows how the outputs compare with those in a file.
func (s *screen) comparison(file string, c *simulate.OutputComparison) {
	verdict := fmt.Sprintf("%d of %s equal", c.Equal, count(c.Samples, "sample"))
	if c.NearTies > 0 {
		verdict += ", " + count(c.NearTies, "near tie")
	}
	if c.Differ > 0 {
		verdict = s.ink.red(fmt.Sprintf("%s, %d differ", verdict, c.Differ))
	}
	s.exact("compared", verdict+", with "+printable(file))
	s.field("", "%d to the last bit of float32, %d in every code", c.Bits, c.Equal)
	if c.NearTies > 0 {
		s.field("", "near ties: float32 rounds another way there, within its error")
	}
	if c.Differ > 0 {
		s.field("", "first: %s", c.First)
	}
}

// elements is the most numbers of an output that the screen shows.
const elements = 40

// first returns the first numbers of an array as text on one line: as many as fit into 2*elements characters. Three
// dots stand for the others.
func first(a *npy.Array) string {
	const most = 2 * elements
	bits := 64
	if a.DType == "float32" {
		bits = 32
	}
	var b strings.Builder
	for _, v := range a.Data {
		text := strconv.FormatFloat(v, 'g', -1, bits)
		if b.Len()+len(text) > most {
			b.WriteString("...")
			break
		}
		b.WriteString(text + " ")
	}
	return b.String()
}

// A simulated is the JSON of a simulation. The outputs themselves are in the file that --output names.
type simulated struct {
	about
	Engine  engines.EngineName `json:"engine"`
	Samples int                `json:"samples"`
	// the length of each sample in steps, if lengths differ
	Steps    []int                    `json:"steps,omitempty"`
	Outputs  []tensor                 `json:"outputs"`
	Accuracy *samples.Accuracy        `json:"accuracy,omitempty"` // with labels
	Overflow *simulate.OverflowReport `json:"overflow,omitempty"` // with --acc-overflow
	// with labels: the accuracy that info.json beside the model gives, from 0 to 1
	Stated   *float64           `json:"stated_accuracy,omitempty"`
	Decode   ctc.DecodingMethod `json:"decode,omitempty"`
	Texts    []string           `json:"texts,omitempty"`
	FPS      float64            `json:"fps,omitempty"`
	Interval float64            `json:"interval_clocks,omitempty"`
	Latency  int                `json:"latency_clocks,omitempty"`
	Clocks   int                `json:"simulated_clocks,omitempty"` // of all samples

	Sequences *report.SequenceRatesReport `json:"sequences,omitempty"` // if lengths of sequences differ

	Folds   map[string]folded          `json:"folding,omitempty"`
	Compare *simulate.OutputComparison `json:"compare,omitempty"`
	outcome
}

// A tensor is the JSON of an output, without its elements.
type tensor struct {
	Name  string `json:"name"`
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
}

// A folded is the JSON of a layer's fold.
type folded struct {
	PE   int `json:"PE"`
	SIMD int `json:"SIMD"`
}

// simulatedOf returns the JSON of a simulation.
func simulatedOf(o simulate.Options, r *simulate.Result, d *diag.List) simulated {
	s := simulated{about: aboutOf(r.Source), Outputs: []tensor{}, Engine: r.Engine, Samples: r.Samples, Steps: r.Steps,
		Compare: r.Compare, Accuracy: r.Accuracy, Stated: r.StatedAccuracy, Overflow: r.Overflow, outcome: outcomeOf(d,
			nil)}
	if r.Decoder != nil {
		s.Decode, s.Texts = r.Decoder.Method, r.Texts
	}
	for k, out := range r.Outputs {
		s.Outputs = append(s.Outputs, tensor{r.Out[k].Name, out.DType, append([]int{}, out.Shape...)})
	}
	if f := r.Design; f != nil {
		s.FPS, s.Interval = f.SamplesPerSecondAndInterval()
		s.Latency, s.Folds = f.Clocks.Latency, map[string]folded{}
		s.Sequences = report.NewSequenceRatesReport(f)
		for i, n := range f.Model.Graph.Nodes {
			s.Folds[n.Name] = foldedOf(f.Folds[i])
		}
	}
	if t := r.Trace; t != nil {
		s.Clocks = t.Cycles
	}
	return s
}

// foldedOf returns the JSON of a fold.
func foldedOf(f dataflow.Fold) folded { return folded{f.PE, f.SIMD} }

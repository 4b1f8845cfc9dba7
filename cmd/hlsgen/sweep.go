package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/folding/sweep"
	"hlsgen/frontend"
	"hlsgen/frontend/quantise"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/folder"
	"hlsgen/internal/options"
	"hlsgen/internal/report"
	"hlsgen/internal/samples"
	"hlsgen/internal/suggest"
)

// maxFront is the most designs of a front that a user may ask for.
const maxFront = 10_000

// budgets adds a flag for shares of a board: "0.5,0.8" means two budgets, "lut=0.7,bram=0.9" means one.
func budgets(fs *pflag.FlagSet, to *[]folding.MaxUseFractions, name, usage string) {
	fs.Var(&value{kind: "SHARE,...", set: func(v *value, s string) (string, error) {
		parts := []string{s}
		if !strings.Contains(s, "=") {
			parts = strings.Split(s, ",")
		}
		for _, part := range parts {
			x, err := folding.ParseMaxUseFractions(part)
			if err != nil {
				return "", err
			}
			*to = append(*to, x)
		}
		return strings.TrimSpace(v.text + " " + s), nil
	}}, name, usage)
}

// styles returns the names of values; the name of the first is auto, which leaves the choice open.
func styles[T fmt.Stringer](values []T) []string {
	names := []string{"auto"}
	for _, v := range values[1:] {
		names = append(names, v.String())
	}
	return names
}

// styled returns a parser that finds a value by its name.
func styled[T fmt.Stringer](values []T) func(string) (T, error) {
	return func(s string) (T, error) {
		names := styles(values)
		if i := slices.Index(names, s); i >= 0 {
			return values[i], nil
		}
		return values[0], fmt.Errorf("want %s%s", strings.Join(names, ", "), suggest.DidYouMeanSuffix(s, names))
	}
}

// A jobs is the value of --jobs: a number of processors, or a cluster with Slurm.
type jobs struct {
	workers int
	slurm   bool
}

// parseJobs parses a value of --jobs.
func parseJobs(s string) (jobs, error) {
	if s == "slurm" {
		return jobs{slurm: true}, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 4096 {
		return jobs{}, errors.New("want a number from 1 to 4096, or slurm")
	}
	return jobs{workers: n}, nil
}

// parseShare parses a share above 0, up to 1.
func parseShare(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(0 < v && v <= 1) {
		return 0, errors.New("want a share above 0, up to 1, such as 0.99")
	}
	return v, nil
}

// parsePrecisions parses a value of --requantize and returns every combination of formats. w=2..8,a=4,8,e4m3,p=12,16
// lists formats of weights, activations and accumulators; least asks for the fewest bits of each layer.
func parsePrecisions(s string) (list []frontend.QuantisationRecipe, err error) {
	if s == quantise.LeastBitsRecipeName {
		return []frontend.QuantisationRecipe{{Least: true}}, nil
	}
	formats := map[string][]string{}
	key := ""
	for _, part := range strings.Split(s, ",") {
		if k, v, has := strings.Cut(part, "="); has {
			if key, part = k, v; !slices.Contains([]string{"w", "a", "wa", "p"}, k) || formats[k] != nil {
				return nil, fmt.Errorf("%.20q: want w=, a=, wa= and p=, each once", k)
			}
		}
		lo, hi, isRange := strings.Cut(part, "..")
		from, err1 := strconv.Atoi(lo)
		to, err2 := strconv.Atoi(hi)
		switch {
		case key == "":
			return nil, fmt.Errorf("%.40q: want lists of formats, such as w=2..8,a=4,8", s)
		case !isRange:
			formats[key] = append(formats[key], part)
		case err1 != nil || err2 != nil || from > to || to-from > maxFormats:
			return nil, fmt.Errorf("%.20q is no range, such as 2..8", part)
		}
		for n := from; isRange && n <= to; n++ {
			formats[key] = append(formats[key], strconv.Itoa(n))
		}
	}
	both := formats["wa"]
	if (both == nil) == (formats["w"] == nil || formats["a"] == nil) || both != nil && (formats["w"] != nil ||
		formats["a"] != nil) {
		return nil, errors.New("want w= and a=, or wa=")
	}
	accumulators := []string{""}
	for i, p := range formats["p"] {
		if accumulators = append(accumulators, "p"+p); i == 0 {
			accumulators = accumulators[1:]
		}
	}
	add := func(w, a string) error {
		for _, p := range accumulators {
			r, err := frontend.ParseQuantisationRecipe("w" + w + "a" + a + p)
			if err != nil {
				return err
			}
			if list = append(list, r); len(list) > maxFormats {
				return fmt.Errorf("more than %d combinations", maxFormats)
			}
		}
		return nil
	}
	for _, f := range both {
		err = errors.Join(err, add(f, f))
	}
	for _, w := range formats["w"] {
		for _, a := range formats["a"] {
			if err == nil {
				err = add(w, a)
			}
		}
	}
	return list, err
}

// maxFormats is the most combinations of formats that a value of --requantize may stand for.
const maxFormats = 1000

// sweepCommand returns the command sweep.
func (a *app) sweepCommand() *cobra.Command {
	o := sweep.Options{OutputFolder: options.OutputFolder{Version: version()}}
	var (
		pareto  bool
		by      jobs
		collect string
	)
	t := a.task(&cobra.Command{
		Use:   "sweep [MODEL.onnx] --board BOARD,...",
		Short: "Fold for many boards, clocks and rates; show what can be had for how much",
		Long: `Sweep makes the design of a model for every combination of the values given, on
all processors: each as a build makes it, its FIFOs sized and its clocks
simulated, but not generated or checked. --bound makes none, and prints bounds
that no design goes below. That is some hundred times as fast, and shows where
to look. Sweep writes tables (CSV, JSON), pictures (SVG, PNG) of frames per
second against LUT, block RAM and DSP and of the clocks of every layer, and the
folding file of the fastest design (chosen.json).

An interrupted sweep goes on where it was when it is started again, and a larger
one makes only what is new: what was found stands in a journal in the folder.

With --jobs slurm it also writes the HLS project of every design and a Slurm job
array that synthesises them; --collect gathers the reports into the tables.`,
		Example: `  hlsgen sweep --board zcu104 --pareto               # the embedded example
  hlsgen sweep net.onnx --board pynq-z1,zcu104 --clock 100,200 --fps 1000,10000
  hlsgen sweep net.onnx --board zcu104 --memory block,distributed --max-use 0.5,0.8
  hlsgen sweep net.onnx --board zcu104 --pareto --jobs slurm --out sweep
  hlsgen sweep --collect sweep`,
	}, parts{Source: &o.Source, Hardware: &o.Hardware, Goal: &o.Goal, OutputFolder: &o.OutputFolder})
	fs := t.FlagSet
	memories := []dataflow.Memory{dataflow.NoMemory, dataflow.MemoryLUTRAM, dataflow.MemoryBRAM, dataflow.MemoryURAM}
	computes := []dataflow.MultiplierKind{dataflow.NoMultiplier, dataflow.MultiplierInLUTs, dataflow.MultiplierInDSPs}
	var board *value
	board = listOption(fs, &o.Boards, "board", "BOARD,...", func(s string) (string, error) {
		switch {
		case s == "":
			return "", errors.New("want a board")
		case boards.IsBoardFilePath(s):
			return under(board.base, s), nil
		}
		return s, nil
	}, "boards' names (see hlsgen boards) or paths of board files")
	board.base = a.dir
	listOption(fs, &o.Clocks, "clock", "MHZ,...", clockRate, "clocks; without it, each board's default")
	listOption(fs, &o.FPS, "fps", "N,...", positive,
		"samples per second to reach with the least resources; without it, as many as fit")
	listOption(fs, &o.Intervals, "interval", "CLOCKS,...", interval,
		"clocks from frame to frame to reach, instead of --fps")
	fs.BoolVar(&o.Latency, "latency", false, "look for the shortest latency instead, at the asked rates or at any")
	option(fs, &o.MaxLatency, "max-latency", "", "CLOCKS", integer(1, maxClocks),
		"clocks from a frame's first word to its last result, to keep in every design")
	t.least()
	fs.BoolVar(&o.Bound, "bound", false, "make no design: print bounds that no design within the budget goes below")
	fs.BoolVar(&pareto, "pareto", false,
		"of every combination all designs worth choosing from, the slowest as fast as the least --fps")
	points := t.points("with --pareto: so many designs of each front at most, spread over the rates")
	listOption(fs, &o.Memories, "memory", "STYLE,...", styled(memories),
		"where tables lie, in all layers that have the choice: auto (the best for each), distributed, block, ultra")
	listOption(fs, &o.Computes, "compute", "STYLE,...", styled(computes),
		"what multiplies, in all layers that have the choice: auto (the best for each), lut, dsp")
	budgets(fs, &o.MaxUses, "max-use", "budgets: guideline (the default); shares of the board, 0.5,0.8; "+
		"or lut=0.7,bram=0.9, which is one (may be repeated)")
	t.ends("where frames come from: memory, through the processor's ports; or stream, from inside the FPGA")
	t.accPerPE()
	t.unroll()
	t.fifo("depth of FIFOs: throughput, minimal, or a number of words for all")
	t.cost()
	t.latencies()
	t.inputs()
	t.quantising()
	t.labelled(&o.Data, &o.LabelsFile, "samples that accuracy is measured on, .npy or .npz; without it, "+
		"those of --calibrate")
	fs.Var(&value{kind: "FORMATS", set: func(_ *value, s string) (_ string, err error) {
		o.Precisions, err = parsePrecisions(s)
		o.Requantise = s
		return s, err
	}}, "requantize", "quantise the model again on the samples of --calibrate, to every combination, and show what it "+
		"costs: w=2..8,a=4,8,e4m3 for weights and activations; wa=2..8 for both alike; p=12,16 for the bits of "+
		"accumulators (A2Q+); or least: the fewest bits, layer by layer, with which --keep's share of samples keeps "+
		"the float model's class")
	option(fs, &o.KeepShare, "keep", "0.99", "SHARE", parseShare, "with --requantize least: the share of samples that "+
		"keep the class that the float model gives them")
	t.backend("what the designs are for")
	listOption(fs, &o.Samples, "interleave", "SAMPLES,...", turns, "so many samples take turns in recurrences, "+
		"which hides the latency of a step; a frame is then so many samples, and rates count samples")
	t.path(&o.Out, "out", "DIR", "folder to write, or to go on with (default hlsgen-out/MODEL-sweep)", nil)
	fs.BoolVar(&o.Force, "force", false, "begin anew in a folder that holds a sweep")
	option(fs, &by, "jobs", "", "N|slurm", parseJobs, "searches at a time (default: one per processor); "+
		"slurm: also write a job array that synthesises every design")
	t.path(&collect, "collect", "DIR", "gather the reports of synthesis in the folder of a sweep into its tables", nil)
	t.strict()
	t.json()
	t.completesBoard()
	t.completes("memory", styles(memories))
	t.completes("compute", styles(computes))
	return t.does(func(ctx context.Context) (*answer, error) {
		if collect != "" {
			r, err := sweep.CollectToolReports(collect, &t.d)
			return sweptAnswer(r, err, nil, &t.d)
		}
		switch {
		case len(o.Boards) == 0:
			return nil, usagef("boards are needed: --board zcu104,pynq-z1, or others that hlsgen boards lists, " +
				"or files of your own")
		case len(o.FPS) > 0 && len(o.Intervals) > 0:
			return nil, usagef("--fps and --interval exclude each other")
		case pareto && (o.Latency || o.MaxLatency > 0 || o.Bound):
			return nil, usagef("--pareto excludes --latency, --max-latency and --bound: " +
				"the designs of a front differ in their interval")
		case len(o.Precisions) > 0 && o.Model != "" && o.Calibrate == "":
			return nil, usagef("--requantize chooses scales on samples: --calibrate FILE")
		case t.Changed("keep") && o.Requantise != quantise.LeastBitsRecipeName:
			return nil, usagef("--keep says how good the fewest bits have to be: --requantize least")
		case len(o.Precisions) > 0 && (o.Recipe != nil || o.SaveModel != ""):
			return nil, usagef("--requantize says what the model becomes, and writes it: it excludes --quantize and " +
				"--save-model")
		case len(o.Precisions) > 0 && (len(o.Samples) > 1 || len(o.Samples) == 1 && o.Samples[0] > 1):
			return nil, usagef("--requantize excludes --interleave")
		case o.Data != "" && o.LabelsFile == "" && len(o.Precisions) == 0:
			return nil, usagef("--input has the samples that accuracy is measured on: --labels FILE")
		case o.Bound && (o.Latency || o.MaxLatency > 0 || by.slurm):
			return nil, usagef("--bound makes no designs: it excludes --latency, --max-latency and --jobs slurm")
		}
		o.Synthesise = by.slurm
		if o.Workers = by.workers; pareto {
			o.Front = *points
		}
		if o.Out == "" {
			o.Out = under(a.dir, folder.DefaultBuildFolder(o.Model, "sweep"))
		}
		r, err := sweep.RunSweep(ctx, o, &t.d)
		if err == nil && r != nil && by.slurm {
			err = r.WriteSlurmJobs(ctx, o, &t.d)
		}
		if r != nil && err != nil && ctx.Err() != nil && !t.asJSON {
			a.notes().remark("%d of %d searches are kept in %s: the same command goes on from there", r.Kept,
				r.Total, printable(r.Out))
		}
		if t.d.HasErrors() {
			return nil, err
		}
		return sweptAnswer(r, err, &o, &t.d)
	})
}

// sweptAnswer returns the answer that shows a sweep, or nil without one. o has the options of the sweep; it is nil if
// only reports were collected.
func sweptAnswer(r *sweep.SweepReport, err error, o *sweep.Options, d *diag.List) (*answer, error) {
	if r == nil || err != nil {
		return nil, err
	}
	return &answer{object: sweptOf(r, d), show: func(s *screen) { s.swept(r, o) }}, nil
}

// A swept is the JSON of a sweep. sweep.json has the points.
type swept struct {
	report.ReportHead
	Model    string         `json:"model"`
	Points   int            `json:"points"`
	Fates    map[string]int `json:"fates"`
	Searches int            `json:"searches"`
	Fresh    int            `json:"searches_made_now"`
	// accuracies of the float model and of the model, if it was quantised again
	Precision *sweep.PrecisionAccuracies `json:"precision,omitempty"`
	Accuracy  *samples.Accuracy          `json:"accuracy,omitempty"` // of the unchanged model, with labels
	Chosen    *sweep.PointResult         `json:"chosen,omitempty"`
	Out       string                     `json:"out"`
	Files     []string                   `json:"files"`
	Array     int                        `json:"slurm_jobs,omitempty"`
	Collected int                        `json:"reports_collected,omitempty"`
	outcome
}

// sweptOf returns the JSON of a sweep.
func sweptOf(r *sweep.SweepReport, d *diag.List) swept {
	s := swept{ReportHead: report.CurrentReportHead, Model: r.Model, Points: len(r.Points), Fates: map[string]int{},
		Searches: r.Total, Fresh: r.Fresh, Chosen: r.ChosenPoint(), Out: r.Out,
		Files: append([]string{}, r.Files...), Array: r.Array, Collected: r.Collected,
		Precision: r.Precision, Accuracy: r.Accuracy, outcome: outcomeOf(d, nil)}
	for i := range r.Points {
		s.Fates[r.Points[i].Status]++
	}
	return s
}

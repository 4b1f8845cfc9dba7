package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/frontend/canon"
	"hlsgen/frontend/quantise"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/samples"
)

// A task is a command on a model while it is being set up: the command, its flags, and the options that they set.
type task struct {
	*pflag.FlagSet
	app    *app
	cmd    *cobra.Command
	o      parts
	d      diag.List
	asJSON bool

	quiet, verbose bool    // how much is said on stderr
	format         *string // the form of stderr: a value of --log-format
}

// An answer is the result of a task, in a form for --json and in a form for the screen.
type answer struct {
	object any           // for --json
	show   func(*screen) // for the screen
	early  bool          // the screen comes before the diagnostics, because they are its point
	aside  bool          // stdout has something else: the screen goes to stderr
	end    error         // the error to return after everything is shown: errShown or errDiffer
	wrong  string        // the text of errDiffer for --quiet, which shows no screen
}

// The parts are the options that the flags of a command set. What a command does not have is nil.
type parts struct {
	*options.Source
	*options.Hardware
	*options.Goal
	*options.OutputFolder
	accBits *options.AskedAccBits
}

// task returns a task for a command with the given options. It has no flags yet.
func (a *app) task(cmd *cobra.Command, o parts) *task {
	return &task{FlagSet: cmd.Flags(), app: a, cmd: cmd, o: o}
}

// does returns the command that runs work and shows its answer. If work returns neither an answer nor an error, the
// diagnostics say why.
func (t *task) does(work func(context.Context) (*answer, error)) *cobra.Command {
	a := t.app
	t.cmd.GroupID = onModel
	t.String("config", "", "configuration `FILE` (default hlsgen.yaml, if there is one)")
	speech(t)
	t.SortFlags = false
	t.cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if t.o.Model, err = a.configure(cmd, args); err != nil {
			return err
		}
		if err = calibrating(t); err != nil {
			return err
		}
		if t.quiet && t.verbose {
			return usagef("--quiet and --verbose exclude each other")
		}
		a.quiet = t.quiet
		a.objects.Store(*t.format == logJSON)
		a.running = true
		p := newProgress(a.notes(), func() int { return columnsFor(a.world, a.stderr) }, t.verbose, logger(a))
		t.o.Progress = p.step
		if a.watch != nil {
			t.o.Progress = a.watch
		}
		if t.o.Goal != nil {
			t.o.SearchProgress = p.stand
		}
		if a.lean != nil {
			t.o.Progress = func(stage string, done, total int) {
				if stage == simulates && total > 1 {
					a.lean()
				}
				p.step(stage, done, total)
			}
		}
		t.o.Stdin = &samples.StdinArray{From: untilDone(cmd.Context(), a.stdin)}
		a.ending.tells(p.say)
		got, err := work(cmd.Context())
		p.close(got != nil && err == nil)
		if got == nil || err != nil {
			return a.without(t.asJSON, &t.d, err)
		}
		return deliver(t, got)
	}
	return t.cmd
}

// speech adds the flags for how much is said on stderr, and in what form.
func speech(t *task) {
	t.BoolVarP(&t.quiet, "quiet", "q", false, "print nothing but errors, and what --json or --output - ask for")
	t.BoolVarP(&t.verbose, "verbose", "v", false, "print a line for every phase to stderr, with the time so far")
	text := logFormats[0] // not a field of t: cobra keeps completed flags, and with them everything they point to
	t.format = &text
	option(t.FlagSet, t.format, "log-format", text, "FORMAT", oneOf[string]("formats", logFormats), "what stderr "+
		"has: text, or json, one object a line for every diagnostic and phase")
	t.completes("log-format", logFormats)
}

// logFormats are the values of --log-format.
var logFormats = []string{"text", logJSON}

// deliver shows an answer and the diagnostics beside it.
func deliver(t *task, got *answer) error {
	a := t.app
	if t.asJSON {
		if err := a.json(got.object); err != nil {
			return err
		}
		if a.objects.Load() {
			a.notes().diagnostics(&t.d)
		}
		return got.end
	}
	if !got.early {
		a.notes().diagnostics(&t.d)
	}
	if !t.quiet {
		got.show(&a.screen)
	} else if got.wrong != "" {
		a.notes().complain(got.wrong)
	}
	switch {
	case got.aside && a.objects.Load():
		for line := range strings.Lines(a.screen.String()) {
			a.notes().line("%s", strings.TrimSuffix(line, "\n"))
		}
		a.screen.Reset()
	case got.aside:
		if _, err := a.screen.WriteTo(a.stderr); err != nil {
			return err
		}
	}
	if got.early {
		if err := a.flush(); err != nil {
			return err
		}
		a.notes().diagnostics(&t.d)
	}
	return got.end
}

// path adds a flag that names a file or a folder. is tells a path from a name, for flags that take both; nil: every
// value is a path.
func (t *task) path(to *string, name, kind, usage string, is func(string) bool) {
	t.Var(&value{kind: kind, base: t.app.dir, set: func(v *value, s string) (string, error) {
		if s == "" {
			return "", fmt.Errorf("want a %s", kind)
		}
		if is == nil || is(s) {
			s = under(v.base, s)
		}
		*to = s
		return s, nil
	}}, name, usage)
}

// noStandard reports whether the path of samples names a file. The name of standard input is none.
func noStandard(path string) bool { return path != samples.StandardStreamPath }

// completes gives shells all values of a flag, for completion.
func (t *task) completes(flag string, values []string) {
	t.completesBy(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completesBoard gives shells the names of boards, and of files. It reads the boards only when a shell asks.
func (t *task) completesBoard() {
	t.completesBy("board", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return boardNames(), cobra.ShellCompDirectiveDefault
	})
}

// completesBy gives shells the values of a flag, for completion, by a function.
func (t *task) completesBy(flag string, values cobra.CompletionFunc) {
	if err := t.cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err) // there is no such flag
	}
}

// design adds the flags that shape a design.
func (t *task) design() {
	fs, o := t.FlagSet, t.o
	t.path(&o.Board, "board", "BOARD", "a board's name (see hlsgen boards) or the path of a board file",
		boards.IsBoardFilePath)
	option(fs, &o.FPS, "fps", "", "N", positive,
		"samples per second to reach with the least resources; without it, as many as fit")
	option(fs, &o.Interval, "interval", "", "CLOCKS", interval,
		"clocks from frame to frame to reach with the least resources, instead of --fps")
	fs.BoolVar(&o.Latency, "latency", false, "look for the shortest latency of a frame that the budget allows, "+
		"at the asked rate or at any, whatever it takes")
	option(fs, &o.MaxLatency, "max-latency", "", "CLOCKS", integer(1, maxClocks),
		"clocks from a frame's first word to its last result, to keep with the least resources")
	t.least()
	option(fs, &o.SearchTime, "search-time", "", "TIME", searchTime, "let the search for the folding take this long, "+
		"such as 30s; without it, a fixed amount of work, the same on every machine")
	t.ends("where frames come from: memory, through the processor's ports and its bandwidth; " +
		"or stream, from inside the FPGA, a word in every clock")
	option(fs, &o.ClockMHz, "clock", "", "MHZ", clockRate, "clock; without it, the board's default")
	option(fs, &o.MaxUse, "max-use", "", "SHARE", folding.ParseMaxUseFractions,
		"budget: guideline (the default), with which "+
			"designs are known to meet their clock: LUT 0.7, FF 0.5, LUT RAM 0.25, block RAM, UltraRAM and DSP 0.8, "+
			"their mean 0.7. Or 0.8, a share of everything; or single ones, lut=0.7,bram=0.9")
	fs.BoolVar(&o.OverBudget, "over-budget", false,
		"where no design is within the budget, take the one that exceeds it least")
	t.path(&o.Folding, "folding", "FILE", "folding file to honour, in the form of folding.json", nil)
	t.accPerPE()
	t.unroll()
	t.latencies()
	t.fifo("depth of FIFOs: throughput, the smallest that cost no speed; minimal, the smallest without deadlock; " +
		"or a number of words for all")
	t.cost()
	t.inputs()
	t.quantising()
	t.interleave()
	t.completesBoard()
}

// latencies adds the flag for a file of delays that were read from reports.
func (t *task) latencies() {
	t.path(&t.o.Latencies, "latencies", "FILE", "what hlsgen latencies made from your reports of synthesis: "+
		"latencies follow from it instead of from hlsgen's tables", nil)
}

// backend adds the flag that selects C++ or SystemVerilog.
func (t *task) backend(usage string) {
	option(t.FlagSet, &t.o.Backend, "backend", "", "BACKEND", oneOf[options.Backend]("back ends", options.BackendNames),
		usage+": hls (C++), rtl (SystemVerilog), or both; SystemVerilog decides latencies and FIFOs "+
			"where it is generated (default hls, and rtl for devices that are not AMD's)")
	t.completes("backend", options.BackendNames)
}

// least adds the flag for the measure that the search minimises.
func (t *task) least() {
	option(t.FlagSet, &t.o.Least, "least", "load", "KIND", folding.ParseResourceMeasure,
		"what the least resources are: load, "+
			"the largest share of the budget that any kind takes; or one kind: lut, ff, bram, uram, dsp")
}

// ends adds the flag --io, which says how the accelerator is fed.
func (t *task) ends(usage string) {
	option(t.FlagSet, &t.o.IO, "io", dataflow.HostIOMemory.String(), "ENDS",
		either(dataflow.HostIOMemory, dataflow.HostIOStream), usage)
}

// accPerPE adds the flag for accumulators with a width for each PE.
func (t *task) accPerPE() {
	t.BoolVar(&t.o.AccPerPE, "acc-per-pe", false, "give every PE an accumulator as wide as its own channels need, not "+
		"all the width of the layer's widest")
}

// unroll adds the flag for the largest size of one process.
func (t *task) unroll() {
	option(t.FlagSet, &t.o.MaxUnroll, "max-unroll", dataflow.DefaultUnrollLimits.String(), "PRODUCTS",
		folding.ParseUnrollLimits,
		"the most products that one process computes in a clock: of factors of more than 4 bits, of 2 to 4, and of 1 "+
			"bit; or one number for all. Wider layers become several processes (SystemVerilog alone: as many as add "+
			"131072 bits, unless this is given)")
}

// fifo adds the flag about the depths of FIFOs.
func (t *task) fifo(usage string) {
	option(t.FlagSet, &t.o.FIFO, "fifo", "throughput", "DEPTH", func(s string) (folding.FIFODepthPolicy, error) {
		t.o.FIFOAsked = true
		return fifo(s)
	}, usage)
}

// cost adds the flag for the cost formulas.
func (t *task) cost() {
	option(t.FlagSet, &t.o.Formula, "cost", dataflow.FittedCostFormula.String(), "MODEL",
		either(dataflow.FittedCostFormula,
			dataflow.FINNCostFormula),
		"how resources are estimated: hlsgen, fitted on synthesis, or finn, by FINN's formulas")
}

// excluding returns an error if two goals exclude each other.
func (t *task) excluding() error {
	if t.o.FPS > 0 && t.o.Interval > 0 {
		return usagef("--fps and --interval exclude each other: both say how fast the design has to be")
	}
	return nil
}

// inputs adds the flags that describe the model's inputs.
func (t *task) inputs() {
	o := t.o
	t.Var(sizes{&o.Dims, &o.Lengths}, "dim", "size of a dynamic axis, such as T=520 (may be repeated); or "+
		"the lengths of sequences, such as T=1..520")
	t.Var(shapes{&o.Shapes}, "shape", "sizes of all axes of an input, such as x=1,3,48,192 (may be repeated; the only "+
		"input needs no name): binds axes without a name, and axes of one name that differ")
	t.Var(&value{kind: "TYPE[:SCALE[:OFFSET]]", set: ofInput(o.Source, inputType)}, "input-type",
		"inputs arrive as integers of this type whose value is SCALE times the integer, plus OFFSET: UINT8, "+
			"UINT8:1/255, UINT8:1/255:-0.5 (default scale 1, offset 0); at most 16 bits")
	t.Var(&value{kind: "[INPUT=]MEAN,...", set: ofInput(o.Source, inputMean)}, "input-mean",
		"with --input-type: subtract this from the values, of all channels or of each: 0.485,0.456,0.406; of one "+
			"input, image=0.485,0.456,0.406 (may be repeated)")
	t.Var(&value{kind: "[INPUT=]STD,...", set: ofInput(o.Source, inputDeviation)}, "input-std",
		"with --input-type: divide the values by this, after the mean is subtracted: 0.229,0.224,0.225; of one "+
			"input as with --input-mean")
	option[*frontend.AddedInputQuantiser](t.FlagSet, &o.InputQuant, "input-quant", "", "TYPE:SCALE", inputQuant,
		"put a quantiser behind real inputs that have none: INT8:0.0625; this changes the model")
	t.Var(initials{&o.Initial}, "initial-state", "what recurrences begin with where that arrives on an input as real "+
		"numbers: zero, a constant, or quant, the loop's own quantiser behind the input; of all, or of some, "+
		"h0=zero,c0=quant (may be repeated); this changes the model")
	t.Var(feedbacks{&o.States}, "state", "an input and an output that are one state, such as state=stateN (may be "+
		"repeated): samples follow each other, and what goes out comes in with the next one; with --stateful, the "+
		"device keeps it")
	listOption(t.FlagSet, &o.Outputs, "outputs", "TENSOR,...", output,
		"cut the model: these tensors of the file are its "+
			"outputs, in this order, and what only others need is left out")
	t.path(&o.LSTM, "lstm-config", "FILE", "JSON file with the formats of the gates of ONNX LSTM nodes, "+
		"whose gates are real numbers; this changes the model", nil)
	t.path(&o.Cells, "cell-config", "FILE", "the same for ONNX GRU, RNN and LSTM nodes, by the names of nodes or of "+
		"operators; this changes the model", nil)
	t.BoolVar(&o.Stateful, "stateful", false, "samples are pieces of one stream, in order: recurrences go on with the "+
		"state that they ended with in the sample before")
}

// ofInput returns the setter of a flag that describes the integers arriving at the inputs.
func ofInput(o *options.Source, say func(*frontend.IntegerInputType, string) error) func(*value, string) (string,
	error) {
	return func(_ *value, s string) (string, error) {
		if o.InputType == nil {
			o.InputType = &frontend.IntegerInputType{}
		}
		return s, say(o.InputType, s)
	}
}

// quantising adds the flags that quantise a model before anything else is done with it.
func (t *task) quantising() {
	o := t.o
	t.path(&o.Calibrate, "calibrate", "FILE", "samples, .npy or .npz: the model is quantised on them first, "+
		"where it is not, or where its scales come from the data of each run. This changes the model", noStandard)
	option[*frontend.QuantisationRecipe](t.FlagSet, &o.Recipe, "quantize", "", "RECIPE", recipe,
		"with --calibrate: formats of weights and activations, w8a8 (default), w4a8, we4m3ae4m3, "+
			"w8a8p16 for accumulators of 16 bits")
	option(t.FlagSet, &o.Scales, "scales", "", "RULE", quantise.ParseScaleRule,
		"with --calibrate: how scales are chosen: "+
			"mse (default), the least square error; max, the largest value; percentile, what 99.9 % do not exceed")
	t.BoolVar(&o.Equalise, "equalize", false, "with --calibrate: channels of activations have scales of their own "+
		"where weights alone multiply them, which take these up, and where the samples say that it helps")
	t.BoolVar(&o.CorrectBias, "correct-bias", false, "with --calibrate: biases make up for what the rounding of "+
		"weights takes off the mean of each output channel")
	option(t.FlagSet, &o.Lookup, "lookup", "", "PLACE", quantise.ParseLookupPlace, "with --calibrate: where integers "+
		"look rows of tables up: device, a table or a product of ones and zeros there; host, which sends rows. "+
		"Without it, products on the device, choices of rows (Gather) on the host")
	t.path(&o.SaveModel, "save-model", "FILE", "with --calibrate: write the quantised model, ONNX (QONNX)", nil)
	t.completes("scales", quantise.ScaleRuleNames)
	t.completes("lookup", quantise.LookupPlaceNames)
}

// calibrating returns an error if a flag says how to quantise a model, but --calibrate is missing.
func calibrating(t *task) error {
	scales := t.o.Scales != "" && !t.Changed("requantize") // --requantize has samples of its own in the example
	if t.o.Calibrate == "" && (t.o.Recipe != nil || t.o.SaveModel != "" || scales || t.o.Equalise || t.o.CorrectBias ||
		t.o.Lookup != "") {
		return usagef("--quantize, --scales, --equalize, --correct-bias, --lookup and --save-model say what becomes " +
			"of a model that is quantised on samples: --calibrate FILE")
	}
	return nil
}

// recipe parses a value of --quantize, the name of a recipe such as w4a8. The recipe of the fewest bits, least, is an
// error.
func recipe(s string) (*frontend.QuantisationRecipe, error) {
	r, err := quantise.ParseRecipe(s)
	if r.Least {
		return nil, errors.New("the fewest bits are searched by sweep --requantize least")
	}
	return &r, err
}

// labelled adds the flags for samples and their labels.
func (t *task) labelled(data, labels *string, usage string) {
	t.path(data, "input", "FILE", usage, noStandard)
	t.path(labels, "labels", "FILE", "the right class of each sample, .npy with integers, -1 for none: gives the "+
		"accuracy, with the 95 % interval", nil)
}

// interleave adds the flag for the number of samples that take turns in recurrences.
func (t *task) interleave() {
	option(t.FlagSet, &t.o.Interleave, "interleave", "1", "SAMPLES", turns,
		"so many samples take turns in recurrences, which hides the latency of a step; a frame is then so many samples")
}

// force adds --force to a command that replaces its output folder as a whole.
func (t *task) force() {
	f := t.VarPF(&value{text: "false", kind: "bool", set: func(_ *value, s string) (string, error) {
		replace, err := strconv.ParseBool(s)
		if t.o.KeepForeign = s == keep; t.o.KeepForeign {
			replace, err = true, nil
		}
		if err != nil {
			return "", fmt.Errorf("want true, false or %s", keep)
		}
		t.o.Force = replace
		return s, nil
	}}, "force", "", "replace the folder if hlsgen wrote all that is in it; --force=keep keeps the rest, and files "+
		"that were changed, as they are")
	f.NoOptDefVal = "true"
	f.Annotations = map[string][]string{bareValue: {keep}}
}

// keep is the value of --force that keeps the files which hlsgen did not write.
const keep = "keep"

// strict adds the flag that makes warnings count as errors.
func (t *task) strict() {
	t.BoolVar(&t.d.Strict, "strict", false, "take every warning for an error: nothing is written then")
}

// json adds the flag --json.
func (t *task) json() { t.BoolVar(&t.asJSON, "json", false, "print one JSON object") }

// accumulators adds the flag for the widths of accumulators.
func (t *task) accumulators(usage string) {
	option(t.FlagSet, t.o.accBits, "acc-bits", "", "BITS", options.ParseAccBits,
		usage+": 16, by layer, LAYER=12,LAYER=10, or of the matrix "+
			"layers but the first and the last, hidden=10")
}

// passes adds the flags about the front end's passes.
func (t *task) passes() {
	t.path(&t.o.Dump, "dump-passes", "DIR", "write the graph after every pass to this folder", nil)
	option(t.FlagSet, &t.o.Passes, "passes-until", "", "N", integer(1, len(canon.Passes)),
		"run only the first N passes (see hlsgen passes)")
}

// points adds the flag for the largest number of designs of a front, and returns a pointer to its value.
func (t *task) points(usage string) *int {
	n := 24
	option(t.FlagSet, &n, "points", fmt.Sprint(n), "N", integer(2, maxFront), usage)
	return &n
}

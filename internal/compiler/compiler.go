// Package compiler is the life of a model: read, import, fold, simulate, generate, check, write. Everything that the
// commands do is here; the command line only parses, calls and prints. In come Options and files; out come a Result, a
// Checked, a Simulated or a Front, and a folder, or diagnostics. It may import all rooms below it; what is asked of a
// terminal, and how, is the command line's.
//
//	compiler.go     Run: the whole story; boards and folding files
//	import.go       Check; the front end with its options; ways.go and onhost.go name flags with which more maps
//	accbits.go      how wide accumulators are asked to be, and whether they are; audit.go, what samples put into them
//	calibration.go  what hlsgen calibrate has written
//	interrupted.go  what is said of a search that the user ended
//	front.go        Pareto: many designs, none written; convert.go: Convert, a model in another dialect
//	simulate.go     Simulate: data in, data out; text.go, trace.go and compare.go are its options. simulation.go takes
//	                samples through an engine, lanes.go parts of them beside each other; data.go opens their files,
//	                feedback.go computes states that come back, outputs.go writes what comes out, predicting.go is
//	                engine fast
//	stats.go        Stats: what a model computes and stores, counted
//	labels.go       the right classes of samples, and what a model's trainer has found
//	quantise.go     a model that is given other quantisers, on samples, before anything else happens; quantised.go,
//	                what that has changed; least.go, with how few bits
//	overflow.go     what narrower accumulators make of samples
//	source.go       a model as bytes, and the embedded one; samples/ makes runs of arrays
//	engines.go      the ways to execute a model; fast.go, compiled; rtl.go, as SystemVerilog; verify.go compares them,
//	                and says what was compared; ends.go, the tables of drivers
//	report.go       layers and FINN's estimates, as JSON; cycles.go, estimate.go, certificate.go, sequences.go: the
//	                other reports
//	form.go         the version of all JSON
//	load.go         hardware whose weights are loaded; external.go, or come with every frame; loadtime.go, how long that
//	                takes; weights.go: Weights, those of another model for it
//	page.go         report.html; readme.go: the folder's page, and the command that makes it again; vivado.go: the
//	                way to the board
//	write.go        the folder, whole or not at all; examples.go writes those of the examples
package compiler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/frontend/quantise"
	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/owned"
	"hlsgen/internal/regular"
	"hlsgen/templates"
	"hlsgen/templates/deploy"
	"hlsgen/templates/vivado"
)

// Options are what a build is asked for.
type Options struct {
	Model    string // path; empty means the embedded example
	Board    string // name or path of a board file
	ClockMHz float64
	// path of what hlsgen calibrate has made of a user's reports; empty: delays are those of hlsgen's tables
	Calibration string
	transforms  int              // products of fixed transforms, which calibration left to the host
	lookups     int              // products of ones and zeros, which calibration left there, as it was asked to
	shapes      map[string][]int // of the samples that the model was quantised on: they bind axes that it leaves open
	IO          dataflow.IO
	Backend     Backend
	Counters    bool              // of frames, clocks and waits, in RTL
	Weights     WeightsFrom       // where hardware has them from
	Unroll      dataflow.Envelope // of every process
	FPS         float64
	Interval    float64 // clocks per frame to reach; 0: not asked
	MaxUse      folding.Use
	Over        bool            // a design over the budget where none is within
	Folding     string          // path of a folding file
	Fixed       *folding.File   // what a folding file says, instead of its path; nil: nothing
	Latency     bool            // the shortest latency, at the asked rate or at any
	Least       folding.Measure // what "least resources" means
	Search      time.Duration   // allowed for the folding's search; 0: an effort that does not depend on the machine
	FIFO        folding.FIFO
	FIFOAsked   bool // FIFO was asked for: what a folding file says of FIFOs gives way
	Cost        dataflow.Formula
	Dims        map[string]int
	Shapes      frontend.Shapes        // --shape
	Lengths     *frontend.Lengths      // of an axis that is time; nil: it has one length
	Arrives     *frontend.InputType    // --input-type
	Quantise    *frontend.InputQuant   // --input-quant
	Initial     frontend.InitialStates // --initial-state
	Outputs     []string               // --outputs; nil: the model's own
	LSTM        string                 // path of --lstm-config; may be empty
	Cells       string                 // path of --cell-config; may be empty
	States      []frontend.Feedback    // --state
	Stateful    bool                   // samples are pieces of one stream
	Samples     int                    // that take turns in recurrences: --interleave; 0 or 1: a frame is a sample
	Calibrate   string                 // samples on which the model is quantised first; may be empty
	Recipe      *frontend.Recipe       // what it becomes; nil: DefaultRecipe
	Scales      quantise.Rule          // how; "" is the default
	Equalise    bool                   // channels have scales of their own where that is free
	Lookup      quantise.LookupAt      // where rows of tables are looked up; empty: products on the device alone
	CorrectBias bool                   // sums get back what the rounding of weights takes off their means
	Keeps       float64                // of a recipe whose formats are searched: samples with float's class, as a share
	SaveModel   string                 // where the file goes that is made of it; may be empty
	Data        string                 // samples, .npy or .npz; may be empty
	Classes     string                 // their labels, .npy; may be empty
	AccBits     AccBits                // the zero value: no audit
	AccPerPE    bool                   // accumulators are as wide as each PE's channels need
	Verify      int                    // samples; AutoVerify: as many as the network's size allows
	NoCSim      bool
	Out         string // folder; empty means the default name
	Force       bool
	Keep        bool   // with Force: what hlsgen did not write, or not so, stays
	Dump        string // folder for the graph after each pass
	Passes      int    // only the first so many run; 0: all
	Version     string // of the tool, for the manifest

	Progress func(stage string, done, total int) // may be nil
	Stdin    *Arriving                           // where samples come from whose file is Standard; may be nil
	Standing func(folding.Standing)              // is told how far the folding's search is; may be nil
	// ends the folding's search with the best design that it has, which is then built; nil: nothing does
	Interrupt *folding.Interrupt
}

// A Result is a build's story.
type Result struct {
	Source    *Source
	Imported  *frontend.Imported
	Design    *folding.Design
	Verified  Verified
	Accuracy  *samples.Accuracy // nil without labels
	Backend   Backend
	NoDriver  string         // why nothing in deploy drives the accelerator; empty where something does
	System    *vivado.System // what joins it to a board's processor; nil where nothing does
	Out       string         // the folder written
	FileCount int
	Kept      []string // below Out: what hlsgen did not write, or not so; with Options.Keep

	Real bool // the samples are given, or the source's own

	rooms []*dataflow.Room // by layer of the model, what may be loaded; nil where weights are constants
	sum   string           // Source.Sum
}

// Run builds: the story in a few straight lines. What the user has to change is in d, and then the result is nil; an
// error is the world's, a *Mismatch or a *rtlsim.Deadlock.
func Run(ctx context.Context, o Options, d *diag.List) (res *Result, err error) {
	defer Catch(&err)
	r := &Result{Verified: Verified{Engines: []string{}}}
	o.Step("reading", 0, 0)
	var place *owned.Folder
	if place, r.Out = claim(o, d); place == nil {
		return nil, nil
	}
	defer func() {
		if e := place.Release(); e != nil && err == nil {
			err = fmt.Errorf("%s: %w", r.Out, e)
		}
	}()
	src, made, err := o.opened(ctx, d)
	if r.Source = src; src == nil || err != nil {
		return nil, err
	}
	r.sum = src.Sum()
	board, found := FindBoard(o.Board, d)
	if found {
		o.Backend = o.Backend.For(board, d)
		r.Backend = o.Backend
		o.counted(d)
		o.loadable(d)
	}
	fixed := o.fixed(d)
	o.Step("importing", 0, 0)
	if r.Imported, err = importModel(made, r.Source, d); err != nil || d.Failed() {
		return nil, err
	}
	model := r.Imported.Model
	if o.Weights.Loaded() {
		rooms := model.Graph.Rooms()
		if o.Weights.external() && !o.Weights.outside(model, board, rooms, d) {
			return nil, nil
		}
		if r.rooms = loading(model, rooms, d); r.rooms == nil {
			return nil, nil
		}
	}
	data := o.data(ctx, model, r.Source, d)
	defer data.close()
	if r.Real = data != nil; d.Failed() {
		return nil, nil
	}
	if !auditBuilt(model.Graph, o.AccBits, d) {
		return nil, nil
	}
	o.Step("folding", 0, 0)
	target := o.target(board, d)
	goal := o.goal(fixed)
	goal.Cure = true
	if r.Design, err = folding.Make(ctx, model, target, goal, d); err != nil || r.Design == nil || d.Failed() {
		return nil, err
	}
	if interrupted(r.Design, d); d.Failed() {
		return nil, nil
	}
	if err := r.Design.Range(ctx); err != nil {
		return nil, err
	}
	runs, err := verification(model, data, r.Design.Model.Graph, o.Verify)
	if err != nil {
		return nil, err
	}
	o.Step("simulating", 0, 0)
	streams, err := r.simulate(ctx, runs, data, o.Backend.RTL())
	if err = modelError(err, r.Source, d); err != nil || d.Failed() {
		return nil, err
	}
	r.Verified.Large = o.Verify == AutoVerify && autoSamples(r.Design.Model.Graph) < usualSamples
	o.Step("generating", 0, 0)
	files, err := r.generate(ctx, o, streams, d)
	if err != nil || d.Failed() {
		return nil, err
	}
	r.Accuracy, err = accuracy(ctx, model, data)
	if err = modelError(err, r.Source, d); err != nil || d.Failed() {
		return nil, err
	}
	page, err := r.page(ctx, o, d)
	if err != nil {
		return nil, err
	}
	files = append(files, templates.File{Path: "report/report.html", Data: page})
	o.Step("writing", 0, 0)
	if err := r.write(o, target, files, place, d); err != nil || d.Failed() {
		return nil, err
	}
	return r, nil
}

// generate makes the files of the back ends, and runs what they are.
func (r *Result) generate(ctx context.Context, o Options, streams templates.Vectors,
	d *diag.List) (files templates.Files, err error) {
	if o.Backend.HLS() {
		files, err = templates.Project(r.Design.Design, streams, templates.Options{})
		if err != nil {
			return nil, fmt.Errorf("generate: %w", err)
		}
		if !o.NoCSim {
			o.Step("compiling", 0, 0)
			if err := r.compile(ctx, files, streams, d); err != nil || d.Failed() {
				return nil, err
			}
		}
	}
	if o.Backend.RTL() {
		more, err := generateRTL(ctx, r, o, streams.Frames, d)
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	var more templates.Files
	if o.Weights.Loaded() {
		more, err = loadFiles(r, o)
	} else {
		more, err = deploy.Files(r.Design.Design, templates.Options{}, o.Backend.HLS())
	}
	none := new(deploy.None)
	switch {
	case errors.As(err, &none) && o.Weights.Loaded():
		d.Fail(diag.WeightsUnfit, "", "there is no driver that would load weights: "+none.Reason,
			"leave --weights out, or have the model end with what the accelerator computes")
		return nil, nil
	case errors.As(err, &none):
		r.NoDriver = none.Reason
	case err != nil:
		return nil, fmt.Errorf("generate: %w", err)
	}
	files = append(files, more...)
	if o.Counters && r.NoDriver == "" {
		if more, err = counterFiles(ctx, r); err != nil {
			return nil, fmt.Errorf("generate: %w", err)
		}
		files = append(files, more...)
	}
	more, err = onBoard(r, o)
	return append(files, more...), err
}

// target is the board at the asked clock, or at its own, with delays as calibrated.
func (o Options) target(b boards.Board, d *diag.List) dataflow.Target {
	t := dataflow.Target{Board: b, ClockMHz: cmp.Or(o.ClockMHz, b.ClockMHz), Formula: o.Cost, IO: o.IO,
		Unroll: o.Unroll, Calibration: o.Delays(d), AccPerPE: o.AccPerPE}
	if backend := o.Backend.On(b); backend.RTL() {
		if backend.HLS() { // what is within its envelope is within the other one
			t.Unroll = t.Unroll.Of()
		}
		t.Stalls, t.Counters, t.Loader = dataflow.Credit, o.Counters, o.Weights.streams()
	}
	return t
}

// goal is what the design is made for.
func (o Options) goal(fixed *folding.File) folding.Goal {
	return folding.Goal{FPS: o.FPS, Interval: o.Interval, Latency: o.Latency, Least: o.Least, SearchTime: o.Search,
		MaxUse: o.MaxUse, OverBudget: o.Over, Fixed: fixed, FIFO: o.FIFO, Interrupt: o.Interrupt, Tell: o.Standing}
}

// Step tells of a stage, and how far it is: 0 of 0 where nobody knows.
func (o Options) Step(stage string, done, total int) {
	if o.Progress != nil {
		o.Progress(stage, done, total)
	}
}

// Catch, deferred, turns a panic, which is always a defect of ours, into an *Internal error.
func Catch(err *error) {
	if p := recover(); p != nil {
		*err = &Internal{fmt.Sprint(p), string(debug.Stack())}
	}
}

// An Internal error is a defect of hlsgen.
type Internal struct{ Msg, Stack string }

func (e *Internal) Error() string { return "internal error: " + e.Msg }

// FindBoard is the board of a name or a path; ok is false where d says why there is none.
func FindBoard(nameOrPath string, d *diag.List) (b boards.Board, ok bool) {
	b, err := boards.Find(nameOrPath)
	unknown, ambiguous := new(boards.UnknownError), new(boards.AmbiguousError)
	switch {
	case errors.As(err, &ambiguous):
		d.Fail(diag.BoardUnknown, "", "the board "+err.Error(), "--board "+ambiguous.Boards[0].Name+
			", or another of these")
	case errors.As(err, &unknown):
		d.Fail(diag.BoardUnknown, "", err.Error(), "`hlsgen boards` lists the boards; "+
			"a board of your own is a JSON file: --board ./mine.json")
	case err != nil:
		d.Fail(diag.BoardInvalid, "", err.Error(), "docs/boards.md shows the form of a board file")
	case b.Unverified:
		d.Add(diag.Diag{Severity: diag.Note, Code: diag.BoardUnverified,
			Msg: fmt.Sprintf("the resources of %s (%s) were not compared with a data sheet", b.Name, b.Part),
			Hint: "compare `hlsgen boards` with the data sheet; where it differs, " +
				"give a board file of your own: --board ./mine.json"})
	}
	return b, err == nil
}

// MaxSettings bounds what is read of a file with settings of layers: a folding file, formats of cells.
const MaxSettings = 64 << 20

// fixed is what the folding file says; nil where there is none, or d says why it cannot be read.
func (o Options) fixed(d *diag.List) *folding.File {
	if o.Folding == "" {
		return o.depths(o.Fixed)
	}
	b, err := regular.ReadFile(o.Folding, MaxSettings)
	if err != nil {
		d.Fail(diag.FileUnreadable, "", err.Error(), "give the path of a folding file (JSON)")
		return nil
	}
	return o.depths(folding.ReadFile(b, d))
}

// depths returns a file without what it says of FIFOs, where that is asked for.
func (o Options) depths(f *folding.File) *folding.File {
	if f == nil || !o.FIFOAsked {
		return f
	}
	return f.WithoutFIFOs()
}

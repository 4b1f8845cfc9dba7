// Package compiler implements the commands of hlsgen: it reads, imports, folds, simulates, generates, checks and writes
// a model's accelerator. The command line only parses flags, calls this package and prints. In come Options and files;
// out come a BuildResult, a CheckResult, a SimResult or a ParetoFront, and a folder, or diagnostics. It may import all
// rooms below it. The command line handles the terminal.
//
//	compiler.go     Run builds an accelerator; boards and folding files
//	import.go       Check; calls the front end. ways.go and onhost.go name flags that map more of a model
//	accbits.go      checks accumulator widths against --acc-bits; audit.go records the sums of samples
//	calibration.go  reads the file of --calibration
//	interrupted.go  reports on a search that the user ended
//	front.go        Pareto makes several designs and writes none; convert.go: Convert, a model in another dialect
//	simulate.go     Simulate runs a model on data; text.go, trace.go and compare.go implement its options.
//	                simulation.go passes samples through an engine, and lanes.go computes parts of them in parallel.
//	                data.go opens files of samples, feedback.go computes states in advance, outputs.go writes
//	                outputs, and predicting.go runs engine fast
//	stats.go        Stats counts operations and storage of a model
//	labels.go       reads labels, and the accuracy that a model's trainer measured
//	quantise.go     quantises a model on samples; quantised.go compares the outputs before and after; least.go
//	                searches for the fewest bits
//	overflow.go     runs samples with narrower accumulators
//	source.go       a model as bytes, and the embedded example; samples/ splits arrays into samples
//	engines.go      the engines; fast.go runs compiled layers, rtl.go the SystemVerilog; verify.go compares the
//	                engines, and ends.go the tables of drivers
//	report.go       layers and FINN's estimates, as JSON; cycles.go, estimate.go, certificate.go and sequences.go:
//	                the other reports
//	form.go         the version of all JSON
//	load.go         hardware with loaded weights; external.go: weights read from memory with every frame;
//	                loadtime.go: the time to load; weights.go: Weights writes another model's weights for a build
//	page.go         report.html; readme.go: the folder's README; vivado.go: the files that lead to a bitstream
//	write.go        writes the folder, whole or not at all; examples.go writes the folders of the examples
package compiler

import (
	"context"
	"fmt"

	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/outputdir"
	"hlsgen/templates"
	"hlsgen/templates/vivado"
)

// Options says what to build: of which model, for which hardware, with which goal.
type Options struct {
	Source
	Hardware
	Goal
	AccBits AccBits // the zero value: no audit
	Verification
	OutputFolder
}

// A BuildResult describes a finished build.
type BuildResult struct {
	Source    *ModelSource
	Imported  *frontend.Imported
	Design    *folding.Design
	Verified  VerificationReport
	Accuracy  *samples.Accuracy // nil without labels
	Backend   Backend
	NoDriver  string         // why the build has no driver; empty if it has
	System    *vivado.System // the system around the accelerator on the board; nil if there is none
	Out       string         // the folder written
	FileCount int
	Kept      []string // paths below Out of files that Options.KeepForeign preserved

	RealSamples bool // the samples are the user's or the example's, not random

	rooms []*dataflow.WeightRoom // by layer of the model, the room for loaded weights; nil where weights are constants
	sum   string                 // the model's hash, from ModelSource.SHA256
}

// Build builds an accelerator. If the user has to change something, the reasons are in d and the result is nil. An
// error means a failure of the environment, a *Mismatch or a *rtlsim.Deadlock.
func Build(ctx context.Context, o Options, d *diag.List) (res *BuildResult, err error) {
	defer CatchPanic(&err)
	r := &BuildResult{Verified: VerificationReport{Engines: []string{}}}
	o.ReportProgress("reading", 0, 0)
	var place *outputdir.ClaimedFolder
	if place, r.Out = claim(o, d); place == nil {
		return nil, nil
	}
	defer func() {
		if e := place.Release(); e != nil && err == nil {
			err = fmt.Errorf("%s: %w", r.Out, e)
		}
	}()
	src, made, err := opened(ctx, o.Source, d)
	if r.Source = src; src == nil || err != nil {
		return nil, err
	}
	r.sum = src.SHA256()
	board, found := FindBoard(o.Board, d)
	if found {
		o.Backend = o.Backend.CheckedForBoard(board, d)
		r.Backend = o.Backend
		o.counted(d)
		checkLoadable(o.Hardware, o.Source, d)
	}
	fixed := o.fixed(d)
	o.ReportProgress("importing", 0, 0)
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
	data := openSamples(ctx, o.Source, model, r.Source, d)
	defer data.close()
	if r.RealSamples = data != nil; d.Failed() {
		return nil, nil
	}
	if !auditBuilt(model.Graph, o.AccBits, d) {
		return nil, nil
	}
	o.ReportProgress("folding", 0, 0)
	target := o.target(board, d)
	wanted := o.goal(fixed)
	wanted.Cure = true
	if r.Design, err = folding.FindBestDesign(ctx, model, target, wanted, d); err != nil || r.Design == nil ||
		d.Failed() {
		return nil, err
	}
	if interrupted(r.Design, d); d.Failed() {
		return nil, nil
	}
	if err := r.Design.SimulateRange(ctx); err != nil {
		return nil, err
	}
	runs, err := verification(model, data, r.Design.Model.Graph, o.Verify)
	if err != nil {
		return nil, err
	}
	o.ReportProgress("simulating", 0, 0)
	streams, err := r.simulate(ctx, runs, data, o.Backend.IncludesRTL())
	if err = modelError(err, r.Source.File, d); err != nil || d.Failed() {
		return nil, err
	}
	r.Verified.Large = o.Verify == AutoVerify && autoSamples(r.Design.Model.Graph) < usualSamples
	o.ReportProgress("generating", 0, 0)
	files, err := r.generate(ctx, o, streams, d)
	if err != nil || d.Failed() {
		return nil, err
	}
	r.Accuracy, err = accuracy(ctx, model, data)
	if err = modelError(err, r.Source.File, d); err != nil || d.Failed() {
		return nil, err
	}
	page, err := r.page(ctx, o, d)
	if err != nil {
		return nil, err
	}
	files = append(files, templates.GeneratedFile{Path: "report/report.html", Data: page})
	o.ReportProgress("writing", 0, 0)
	if err := r.write(o, target, files, place, d); err != nil || d.Failed() {
		return nil, err
	}
	return r, nil
}

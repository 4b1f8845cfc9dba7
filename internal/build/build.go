// Package build builds accelerators: it folds a model, verifies the design, generates its files and writes them to a
// folder. Run does all of this, step by step.
//
//	result.go       Options and Result
//	flags.go        the flags that shape a design, for manifests and commands
//	exclusions.go   options that do not go together
//	interrupted.go  reports on a search that the user ended
//	counters.go     the files for counters in the hardware
//	vivado.go       the files that lead to a bitstream
//	generate.go     the files of the back ends and of the driver
//	page.go         the data of the page
//	write.go        the reports, the README and the manifest; the whole folder, or nothing
//	build.go        Run
//	pareto.go       FindParetoFront makes several designs and writes none
package build

import (
	"context"
	"fmt"

	"hlsgen/folding"
	"hlsgen/internal/audit"
	"hlsgen/internal/crash"
	"hlsgen/internal/datafile"
	"hlsgen/internal/diag"
	"hlsgen/internal/folder"
	"hlsgen/internal/options"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/report"
	"hlsgen/internal/source"
	"hlsgen/internal/verify"
	"hlsgen/internal/weights"
	"hlsgen/templates"
	pages "hlsgen/templates/report"
)

// wholeFrames reports whether the back end's test vectors have the frames of all streams.
func wholeFrames(b *templates.Backend) bool { return b.WholeFrames }

// Run builds an accelerator and writes its folder. If the user has to change something, it adds the reasons to d and
// returns nil without an error. An error is a failure of the environment, the error of ctx, an *engines.MismatchError,
// a *rtlsim.Deadlock, or a *crash.InternalError. With it the result is nil, unless only releasing the claim on the
// folder failed.
func Run(ctx context.Context, o Options, d *diag.List) (res *Result, err error) {
	defer crash.RecoverPanicIntoError(&err)
	r := &Result{Build: report.Build{Verified: verify.VerificationReport{Engines: []string{}}, Version: o.Version,
		Board: o.Board}}
	o.ReportProgress("reading", 0, 0)
	var place *outputdir.ClaimedFolder
	if place, r.Out = folder.ClaimOutputFolder(o.OutputFolder, folder.DefaultBuildFolder(o.Model, o.Board),
		d); place == nil {
		return nil, nil
	}
	defer func() {
		if e := place.ReleaseClaim(); e != nil && err == nil {
			err = fmt.Errorf("%s: %w", r.Out, e)
		}
	}()
	src, made, err := source.ReadAndQuantiseModel(ctx, o.Source, d)
	if r.Source = src; src == nil || err != nil {
		return nil, err
	}
	board, found := options.FindBoardOrAddDiag(o.Board, d)
	if found {
		o.Backend = o.Backend.CheckForBoard(board, d)
		r.Backend = o.Backend
		checkCounters(o.Hardware, d)
		checkLoadable(o.Hardware, o.Source, d)
	}
	fixed := o.ReadFoldingFile(d)
	o.ReportProgress("importing", 0, 0)
	if o.Summary != nil {
		r.onnx = r.Source.ONNX
	}
	if r.Imported, err = source.ImportModel(made, r.Source, d); err != nil || d.HasErrors() {
		return nil, err
	}
	r.AskedMHz = o.ClockMHz
	r.Given, r.Flags = o.given(), o.DesignFlags() // whose values the import has found to be sound
	model := r.Imported.Model
	if o.Weights.LoadsWeights() {
		rooms := model.Graph.LoadableWeightLimitsByNode()
		if o.Weights.IsExternal() && !weights.MarkLayersWithExternalWeights(o.Weights, model, board, rooms, d) {
			return nil, nil
		}
		if r.rooms = weights.MakeWeightsLoadable(model, rooms, d); r.rooms == nil {
			return nil, nil
		}
		r.Loaded = true
	}
	samples := verify.OpenSamplesAndLabels(ctx, o.Source, model, r.Source, d)
	defer samples.Close()
	if r.RealSamples = samples != nil; d.HasErrors() {
		return nil, nil
	}
	if !audit.CheckBuiltAccumulators(model.Graph, o.AccBits, d) {
		return nil, nil
	}
	o.ReportProgress("folding", 0, 0)
	target := o.MakeTarget(board, d)
	wanted := o.ToSearchGoal(fixed)
	wanted.Cure = true
	if r.Design, err = folding.FindBestDesign(ctx, model, target, wanted, d); err != nil || r.Design == nil ||
		d.HasErrors() {
		return nil, err
	}
	checkFlow(r.Design.Design, o, d)
	if interrupted(r.Design, d); d.HasErrors() {
		return nil, nil
	}
	if err := r.Design.SimulateAndStoreLatencyRange(ctx); err != nil {
		return nil, err
	}
	runs, err := verify.SelectSamples(model, samples, r.Design.Model.Graph, o.Verify)
	if err != nil {
		return nil, err
	}
	o.ReportProgress("simulating", 0, 0)
	var streams templates.TestVectors
	r.Verified, streams, err = verify.Run(ctx, model, r.Design.Design, runs, samples, o.Backend.Some(wholeFrames))
	if err = datafile.AddModelFaultDiag(err, r.Source.File, d); err != nil || d.HasErrors() {
		return nil, err
	}
	r.Verified.Large = o.Verify == verify.SampleCountAuto &&
		verify.ChooseSampleCount(r.Design.Model.Graph) < verify.UsualSampleCount
	o.ReportProgress("generating", 0, 0)
	files, err := r.generate(ctx, o, streams, d)
	if err != nil || d.HasErrors() {
		return nil, err
	}
	r.Accuracy, err = verify.MeasureAccuracy(ctx, model, samples)
	if err = datafile.AddModelFaultDiag(err, r.Source.File, d); err != nil || d.HasErrors() {
		return nil, err
	}
	page, err := r.page(ctx, files, runs, d)
	if err != nil {
		return nil, err
	}
	data, shown, err := page.Encode()
	if err != nil {
		return nil, err
	}
	files = append(files, templates.GeneratedFile{Path: pages.DataFile, Data: data},
		templates.GeneratedFile{Path: pages.HTMLFile, Data: shown})
	o.ReportProgress("writing", 0, 0)
	if err := r.write(o, target, files, place, d); err != nil || d.HasErrors() {
		return nil, err
	}
	return r, nil
}

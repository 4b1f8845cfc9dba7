// Package simulate runs a model on data from files, on any engine.
//
//	options.go     Options and Result, with the reports in it
//	warm.go        imports the model, or takes what an earlier run has imported
//	lanes.go       computes parts in parallel, and reads and writes them in order
//	outputs.go     writes outputs
//	text.go        decodes scores to text
//	tracefile.go   the index of a file with every tensor
//	trace.go       collects every tensor, and writes them
//	compare.go     compares outputs with a file
//	overflow.go    runs samples with narrower accumulators
//	waves.go       draws waveforms and timelines of runs
//	design.go      folds the model where the engine needs a design, and runs all samples at once
//	frames.go      runs the layers on frames of a driver
//	simulation.go  passes samples through the engine, part by part
//	simulate.go    Run; chooses the engine
package simulate

import (
	"context"
	"fmt"

	"hlsgen/internal/crash"
	"hlsgen/internal/datafile"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/samples"
)

// Run runs the model on samples from files. If the user has to change something, it adds the reasons to d and returns
// nil without an error.
func Run(ctx context.Context, o Options, d *diag.List) (res *Result, err error) {
	defer crash.RecoverPanicIntoError(&err)
	r := &Result{}
	o.ReportProgress("reading", 0, 0)
	src, made, err := o.Warm.read(ctx, o.Source, d)
	if r.Source = src; src == nil || err != nil {
		return nil, err
	}
	o.Source = made
	open := datafile.OpenForSinglePass
	if len(o.States) > 0 { // samples are read twice
		open = datafile.OpenForRereading
	}
	data := open(o.Stdin, o.Data, r.Source.Inputs, d)
	if data == nil {
		return nil, ctx.Err()
	}
	defer data.Close()
	o.ReportProgress("importing", 0, 0)
	warm, err := o.Warm.imported(o, r.Source, data.ArrayShapes(), d)
	im := warm.im
	if im == nil || im.Model == nil || d.HasErrors() || err != nil {
		return nil, err
	}
	o.Engine, r.Engine = warm.engine, warm.engine
	model := im.Model
	steps, ok := o.steps(d)
	if !ok {
		return nil, nil
	}
	if ok, err := data.ComputeMissingStates(ctx, model, o.Engine == engines.EngineReference, d); !ok {
		return nil, datafile.AddModelFaultDiag(err, r.Source.File, d)
	}
	s := data.OpenSamples(model, steps, o.LengthsFile, d)
	if s == nil {
		return nil, nil
	}
	r.Samples, r.Steps, r.Out = s.Count, s.Lengths, model.Out
	x := &simulation{o: o, r: r, im: im, warm: warm, model: model, source: s, data: data, d: d}
	x.decoder = decoderOf(model, o.Decode, r.Source.File, d)
	r.Decoder = x.decoder
	if d.HasErrors() {
		return nil, nil
	}
	if x.labels = r.labelled(o, s.Count, d); d.HasErrors() {
		return nil, nil
	}
	if s.Lengths != nil { // the shapes of the longest sequence
		if model, err = model.Lengths.Of(s.Stored); err != nil {
			return nil, err
		}
	}
	r.Out = model.Out
	return x.simulated(ctx)
}

// simulated runs the samples and returns the results. The result is nil after it adds an error to d.
func (x *simulation) simulated(ctx context.Context) (*Result, error) {
	o, r := x.o, x.r
	if o.Compare != "" {
		file := datafile.OpenArrayFile(o.Compare, datafile.OutputsFileHint, x.d)
		if file == nil {
			return nil, nil
		}
		defer file.Close()
		if x.compare = comparingWith(file, x.im, x.source, r.Out, x.d); x.compare == nil {
			return nil, nil
		}
	}
	var err error
	if x.out, err = openOutputs(o.OutputFileOptions, x.source, r.Out); err != nil {
		return nil, err
	}
	defer x.out.release()
	if err := x.told(x.run(ctx)); err != nil || x.d.HasErrors() {
		return nil, x.out.unwritten(err)
	}
	if err := x.out.finish(); err != nil {
		return nil, x.out.unwritten(err)
	}
	if x.labels != nil {
		a := samples.NewAccuracy(x.right, x.seen)
		r.Accuracy, r.StatedAccuracy = &a, datafile.ReadStatedAccuracy(o.Model)
	}
	if x.compare != nil {
		r.Compare = &x.compare.total
	}
	r.Outputs = x.out.arrays()
	return r, nil
}

// labelled returns the labels of the samples: those in the user's file, or else those of the model's source. It returns
// nil if there are none, or after adding an error to d.
func (r *Result) labelled(o Options, runs int, d *diag.List) *samples.ClassLabels {
	if o.LabelsFile != "" {
		return datafile.ReadLabels(o.LabelsFile, runs, r.Out, d)
	}
	if o.Data != "" || r.Source.Labels == nil {
		return nil
	}
	l, err := samples.NewClassLabelsFromArray(r.Source.Labels, runs, r.Out)
	if err != nil {
		panic(err) // they are the example's
	} // they belong to the example
	return l
}

// steps reads the lengths of the samples' sequences from a file. The array is nil if the user gives none. ok is false
// after it adds an error to d.
func (o Options) steps(d *diag.List) (a *npy.Array, ok bool) {
	if o.LengthsFile == "" {
		return nil, true
	}
	arrays, err := npy.ReadArrays(o.LengthsFile)
	if a = arrays[""]; err == nil && a == nil {
		err = fmt.Errorf("it holds %d arrays with names", len(arrays))
	}
	if err != nil {
		datafile.AddUnreadableFileDiag(o.LengthsFile, err, "give a .npy file with an integer per sample", d)
	}
	return a, err == nil
}

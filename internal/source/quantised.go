package source

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"hlsgen/frontend"
	"hlsgen/internal/datafile"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/options"
	"hlsgen/internal/samples"
)

// A comparison compares a model's outputs before and after quantisation.
type comparison struct {
	labels        *samples.ClassLabels // nil if there are none
	right         [2]int               // number of right classes before and after
	labelled      int
	runs, same    int // samples compared, and those with the same largest output
	classes       bool
	sum           float64 // of the absolute differences of all elements
	elements      int
	apart, extent float64 // largest difference, and largest magnitude before quantisation
}

// before compares a model with made, its quantised form, and returns text about the result. It uses the first samples
// of --input, or else those of --calibrate, also where --input is standard input. It compares outputs, and classes if
// there are labels. The text is empty after it adds an error to d.
func before(ctx context.Context, o options.Source, n *noted, made *ModelSource, d *diag.List) (string, error) {
	from, was, where := n.samples, n.was, fmt.Sprintf("on %s (--calibrate)", filepath.Base(o.Calibrate))
	if o.Data != "" && o.Data != samples.StandardStreamPath {
		data := datafile.OpenForRereading(o.Stdin, o.Data, made.Inputs, d)
		if data == nil {
			return "", nil
		}
		defer data.Close()
		n.fed = data.MissingStates(n.Model)
		if ok, err := data.ComputeMissingStatesBy(ctx, n.Model, datafile.WrapRunIgnoringSampleNumber(n.RunFloatModel),
			d); !ok {
			return "", datafile.AddSampleOrModelDiag(err, data, made.File, d)
		}
		if from = data.OpenCheckedSamples(n.Model, d); from == nil {
			return "", nil
		}
		was, where = nil, fmt.Sprintf("on %s (--input)", filepath.Base(o.Data))
	}
	c := &comparison{classes: classified(n.Model.Out[0])}
	if o.LabelsFile != "" {
		if c.labels = datafile.ReadLabels(o.LabelsFile, from.Count, n.Model.Out, d); c.labels == nil {
			return "", nil
		}
	}
	o.ReportProgress("comparing", 0, min(from.Count, datafile.MaxComparedSamples))
	run, err := now(ctx, o, made, n.fed, d)
	if run == nil || err != nil {
		return "", datafile.AddModelFaultDiag(err, made.File, d)
	}
	size := from.RunsPerPart(datafile.TargetPartBytes, 1)
	for first := 0; first < min(from.Count, datafile.MaxComparedSamples); first += size {
		part, err := from.ReadRange(first, min(first+size, datafile.MaxComparedSamples))
		if err != nil {
			return "", datafile.AddSampleOrModelDiag(datafile.UnusableSamplesError{Err: err}, n.file, made.File, d)
		}
		before, err := n.asIs(ctx, part, was[min(first, len(was)):])
		if err != nil {
			return "", datafile.AddModelFaultDiag(err, made.File, d)
		}
		after, err := run(part)
		if err != nil {
			return "", datafile.AddModelFaultDiag(err, made.File, d)
		}
		c.add(first, before, after)
		o.ReportProgress("comparing", c.runs, min(from.Count, datafile.MaxComparedSamples))
	}
	return where + ": " + c.String(), nil
}

// asIs returns the outputs of a part of the samples before quantisation. was holds the outputs that are already known,
// from the part's first sample on.
func (n *noted) asIs(ctx context.Context, part *samples.RunInputs, was []engines.ModelTensors) ([]engines.ModelTensors,
	error) {
	run := func(i int) (engines.ModelTensors, error) {
		if n.IsRecordingSameAsOriginal() && i < len(was) && was[i] != nil {
			return was[i], nil
		}
		return n.RunOriginalModel(part.In[i])
	}
	if n.IsRecordingSameAsOriginal() {
		return engines.MapSamplesInParallel(ctx, part.First, len(part.In), run)
	}
	return engines.MapSamplesInOrder(ctx, part.First, len(part.In), run)
}

// now returns a function that runs samples through the quantised model. It runs engine fast and compares the first
// sample with engine reference. If the model does not map completely, it runs engine reference. It returns nil after
// adding an error to d. It keeps the imported model in made for ImportModel.
func now(ctx context.Context, o options.Source, made *ModelSource, fed []dataflow.FedBackState, d *diag.List) (
	func(*samples.RunInputs) ([]engines.ModelTensors, error), error) {
	opt := frontend.Options{Dims: o.Dims, Shapes: o.Shapes, Data: made.shapes, Outputs: o.Outputs}
	var quiet, told diag.List
	im, err := frontend.Import(made.File, made.ONNX, opt, &quiet)
	if err != nil {
		return nil, err
	}
	if len(o.States) == 0 {
		made.read = &read{im, quiet}
	}
	if im.Model == nil || quiet.HasErrors() {
		if im = frontend.ImportForReference(made.File, made.ONNX, opt, &told); im.Model == nil {
			d.AddMissing(told.Diags)
			return nil, nil
		}
		return datafile.WrapRunWithCarriedStates(ctx, im.Model, fed,
			func(runs *samples.RunInputs) ([]engines.ModelTensors,
				error) {
				return engines.RunReference(ctx, im.Model, runs)
			}), nil
	}
	program := engines.CompileLayers(im.Model)
	return datafile.WrapRunWithCarriedStates(ctx, im.Model, fed, func(runs *samples.RunInputs) ([]engines.ModelTensors,
		error) {
		out, err := engines.RunFast(ctx, program, im.Model, runs)
		if err != nil || runs.First > 0 {
			return out, err
		}
		first, err := im.Model.Reference(runs.In[0])
		if err != nil {
			return nil, err
		}
		return out, engines.CompareModelOutputs(im.Model, "engine fast against reference", out[0], first)
	}), nil
}

// classified reports whether an output is a vector, so that the index of its largest element can stand for a class.
func classified(out dataflow.RealTensorInfo) bool {
	size := dataflow.Shape(out.Shape).ElementCount()
	return size > 1 && slices.Contains(out.Shape, size)
}

// add compares the outputs was and is, from before and after quantisation. first is the number of their first sample.
func (c *comparison) add(first int, was, is []engines.ModelTensors) {
	if c.labels != nil {
		before, n := c.labels.CountRightAndLabelled(first, was)
		after, _ := c.labels.CountRightAndLabelled(first, is)
		c.right[0], c.right[1], c.labelled = c.right[0]+before, c.right[1]+after, c.labelled+n
	}
	for i := range was {
		a, b := was[i][0].Data, is[i][0].Data
		if c.runs++; largest(a) == largest(b) {
			c.same++
		}
		for k := range a {
			apart := math.Abs(a[k] - b[k])
			c.sum += apart
			c.apart, c.extent = max(c.apart, apart), max(c.extent, math.Abs(a[k]))
		}
		c.elements += len(a)
	}
}

// String returns text about the result of the comparison.
func (c *comparison) String() (s string) {
	if c.labels != nil {
		s = fmt.Sprintf("accuracy before %v, after %v; ", samples.NewAccuracy(c.right[0], c.labelled),
			samples.NewAccuracy(c.right[1], c.labelled))
	}
	if c.classes {
		s += fmt.Sprintf("same class as the float network in %d of %d samples; ", c.same, c.runs)
	}
	return s + fmt.Sprintf("its output differs by %.3g (mean), %.3g at most, of magnitudes up to %.3g",
		c.sum/float64(max(1, c.elements)), c.apart, c.extent)
}

package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"hlsgen/frontend"
	"hlsgen/internal/crash"
	"hlsgen/internal/datafile"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/samples"
)

// A MeasuredVariant is a model quantised by one recipe, with its accuracy. If the variant was refused, Model and
// Accuracy are nil, and Source may be.
type MeasuredVariant struct {
	Recipe   frontend.QuantisationRecipe
	Source   *ModelSource // the quantised model file
	Model    *dataflow.Model
	Refused  string // why the variant cannot be built; empty if Model is set
	Accuracy *samples.Accuracy
	Least    *MinimalNodeBits // only for recipes that search bit widths
}

// A VariantMaker makes quantised variants of one model by different recipes.
type VariantMaker struct {
	Source   *ModelSource
	Labelled bool              // accuracies refer to labels; otherwise to the classes of the float model
	Float    samples.Accuracy  // accuracy of the model without rounding of activations
	AsIs     *samples.Accuracy // accuracy of the unchanged model
	Bare     bool              // the model has no quantisers
	q        *frontend.QuantisationSession
	runs     *samples.RunInputs
	labels   *samples.ClassLabels
	float    []engines.ModelTensors // outputs of the float model
	o        options.Source
}

// NewVariantMaker reads a model, records the values that samples produce in it, and measures its accuracy. It returns
// nil after adding an error to d.
func NewVariantMaker(ctx context.Context, o options.Source, d *diag.List) (v *VariantMaker, err error) {
	defer crash.RecoverPanicIntoError(&err)
	src := ReadModelFile(o.Model, d)
	if src == nil {
		return nil, nil
	}
	v = &VariantMaker{Source: src, o: o}
	n, err := quantising(ctx, o, src, true, d)
	if n == nil || err != nil {
		return nil, err
	}
	defer n.close()
	v.q, v.Bare = n.QuantisationSession, n.HasNoQuantisers()
	if src.shapes, err = n.shapes(); err != nil {
		return nil, datafile.AddSampleOrModelDiag(datafile.UnusableSamplesError{Err: err}, n.file, src.File, d)
	}
	if o.Data == "" {
		if v.runs, err = datafile.ReadSamplesToCompare(n.samples); err != nil {
			return nil, datafile.AddSampleOrModelDiag(datafile.UnusableSamplesError{Err: err}, n.file, src.File, d)
		}
	} else {
		data := datafile.OpenForRereading(o.Stdin, o.Data, src.Inputs, d)
		if data == nil {
			return nil, nil
		}
		defer data.Close()
		given := data.OpenCheckedSamples(v.q.Model, d)
		if given == nil {
			return nil, nil
		}
		if v.runs, err = datafile.ReadSamplesToCompare(given); err != nil {
			return nil, datafile.AddSampleOrModelDiag(datafile.UnusableSamplesError{Err: err}, data, src.File, d)
		}
	}
	float, err := v.each(ctx, v.q.RunFloatModel)
	if err != nil {
		return nil, datafile.AddModelFaultDiag(err, src.File, d)
	}
	switch {
	case o.LabelsFile != "":
		v.labels, v.Labelled = datafile.ReadLabels(o.LabelsFile, len(v.runs.In), v.q.Model.Out, d), true
	case o.Calibrate == "" && o.Data == "" && src.Labels != nil:
		v.labels, err = samples.NewClassLabelsFromArray(src.Labels, len(v.runs.In), v.q.Model.Out)
		v.Labelled = true
	default:
		v.labels, err = samples.NewClassLabelsFromArray(classes(float), len(v.runs.In), v.q.Model.Out)
	}
	if err != nil {
		datafile.AddUnfitDataDiag(o.Data, err, d)
	}
	if v.labels == nil || d.HasErrors() {
		return nil, nil
	}
	v.Float, v.float = v.labels.MeasureAccuracy(float), float
	as, err := v.each(ctx, v.q.RunOriginalModel)
	if err != nil {
		return nil, datafile.AddModelFaultDiag(err, src.File, d)
	}
	a := v.labels.MeasureAccuracy(as)
	v.AsIs = &a
	return v, nil
}

// each calls run for one sample after the other and returns the outputs.
func (v *VariantMaker) each(ctx context.Context, run func([]dataflow.RealTensor) ([]dataflow.RealTensor, error)) (
	out []engines.ModelTensors, err error) {
	for _, in := range v.runs.In {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r, err := run(in)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// classes returns the class of each sample, the index of its largest output, in the form of labels.
func classes(out []engines.ModelTensors) *npy.Array {
	a := &npy.Array{DType: "int64", Shape: []int{len(out)}}
	for _, r := range out {
		a.Data = append(a.Data, float64(largest(r[0].Data)))
	}
	return a
}

// MakeVariant quantises the model by a recipe. If the variant can be built, MakeVariant also measures its accuracy with
// engine eval. Otherwise Refused gives the reason. Without an error, x is nil only if a model has no value for a sample
// in the search for the fewest bits.
func (v *VariantMaker) MakeVariant(ctx context.Context, r frontend.QuantisationRecipe) (x *MeasuredVariant,
	err error) {
	defer crash.RecoverPanicIntoError(&err)
	var d diag.List
	r = v.recipe(r)
	x = &MeasuredVariant{Recipe: r}
	if r.Least {
		if x.Least, x.Recipe, err = v.least(ctx, cmp.Or(v.o.KeepShare, DefaultSameClassShare)); err != nil {
			return nil, datafile.AddModelFaultDiag(err, v.Source.File, &d)
		}
		r = x.Recipe
	}
	onnx, _ := v.q.QuantisedONNXFile(r, &d)
	if onnx == nil {
		x.Refused = reason(&d)
		return x, nil
	}
	made := *v.Source
	made.ONNX, made.Example = onnx, false
	x.Source = &made
	o := v.o
	o.LSTM, o.Cells, o.Dump = "", "", ""
	read := made // ImportModel clears the bytes of its source, and the variant keeps them
	im, err := ImportModel(o, &read, &d)
	if err != nil {
		return nil, err
	}
	if im.Model == nil || d.HasErrors() {
		x.Refused = reason(&d)
		return x, nil
	}
	x.Model = im.Model
	out, err := engines.NewSession(x.Model).RunHostAndEval(ctx, v.runs)
	if err != nil {
		if e := datafile.AddModelFaultDiag(err, made.File, &d); e != nil {
			return nil, e
		}
		x.Model, x.Refused = nil, reason(&d)
		return x, nil
	}
	a := v.labels.MeasureAccuracy(out)
	x.Accuracy = &a
	return x, nil
}

// recipe returns r with the user's options about scales and biases set.
func (v *VariantMaker) recipe(r frontend.QuantisationRecipe) frontend.QuantisationRecipe {
	r.Scales, r.Equalise, r.CorrectBias = v.o.Scales, v.o.Equalise, v.o.CorrectBias
	return r
}

// reason returns the first error in d as a line of text.
func reason(d *diag.List) string {
	for _, x := range d.Diags {
		if x.Severity != diag.SeverityError {
			continue
		}
		if x.Node == "" {
			return x.Msg
		}
		return fmt.Sprintf("%s %q: %s", x.Op, x.Node, x.Msg)
	}
	return errors.New("it was refused").Error()
}

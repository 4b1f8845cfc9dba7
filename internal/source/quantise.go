package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"hlsgen/frontend"
	"hlsgen/frontend/quantise"
	"hlsgen/internal/crash"
	"hlsgen/internal/datafile"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/samples"
)

// OpenQuantised opens the model. With --calibrate it also quantises the model, and returns the options for the
// quantised model. The source is nil after it adds an error to d.
func OpenQuantised(ctx context.Context, o options.Source, d *diag.List) (*ModelSource, options.Source, error) {
	src := Open(o.Model, d)
	if src == nil || o.Calibrate == "" {
		return src, o, nil
	}
	return calibrated(ctx, o, src, d)
}

// calibrated quantises a model on the samples of --calibrate, compares it with the original and adds a note to d.
func calibrated(ctx context.Context, o options.Source, src *ModelSource, d *diag.List) (*ModelSource, options.Source,
	error) {
	if sameFile(o.Model, o.SaveModel) {
		d.Fail(diag.OutputForeign, src.File, "--save-model would replace the model that is quantised",
			"give the quantised model another name")
		return nil, o, nil
	}
	o.ReportProgress("calibrating", 0, 0)
	n, err := quantising(ctx, o, src, false, d)
	if n == nil || err != nil {
		return nil, o, err
	}
	defer n.close()
	q, recipe := n.QuantisationSession, o.FullRecipe()
	onnx, story := q.QuantisedONNX(recipe, d)
	if onnx == nil {
		return nil, o, nil
	}
	made := *src
	made.ONNX, made.Example = onnx, false
	o.LSTM, o.Cells, o.Initial = "", "", nil // the quantised file contains the formats of cells and the initial states
	made.transforms = n.Fixed
	if made.shapes, err = n.shapes(); err != nil {
		return nil, o, datafile.AddError(datafile.UnfitSamplesError{Err: err}, n.file, src.File, d)
	}
	compared, err := before(ctx, o, n, &made, d)
	if err != nil || d.Failed() {
		return nil, o, err
	}
	if n.far > 0 {
		story += fmt.Sprintf(" (%d more are far larger than the others, and were left out)", n.far)
	}
	for _, x := range q.Lookups(recipe) {
		if story += "; " + lookupText(x); x.OneHot && x.OnHost {
			made.lookups++
		}
	}
	if q.Dynamic > 0 {
		story = fmt.Sprintf("%d quantisers had scales from the data of each run; %s", q.Dynamic, story)
	}
	d.Add(diag.Diag{Severity: diag.Note, Code: diag.ModelQuantised, Where: src.File,
		Msg: fmt.Sprintf("the model was quantised to %s, which changes it: %s; %s", recipe.Describe(), story,
			strings.Join(append([]string{compared}, q.HardLayers()...), "; ")),
		Hint: "what the engines agree on is the changed model; --save-model FILE writes it"})
	if o.SaveModel != "" {
		if err := outputdir.WriteFile(o.SaveModel, onnx); err != nil {
			return nil, o, err
		}
	}
	return &made, o, nil
}

// lookupText describes where the rows of a table are looked up, with the costs of both places.
func lookupText(x quantise.TableLookup) string {
	count := func(n int) string { return humanize.Comma(int64(n)) }
	what := fmt.Sprintf("%s %q looks rows of a table up, on the ", x.Node.FullOp(), x.Node.Label())
	rows, ones, least := count(x.Rows), count(x.Ones), count((x.Ones+7)/8)
	switch {
	case x.OneHot && x.OnHost:
		return what + fmt.Sprintf("host: %s bytes a sample; --lookup device sends %s ones and zeros, %s bytes or "+
			"more, and takes %s MACs", rows, ones, least, count(x.MACs))
	case x.OneHot:
		return what + fmt.Sprintf("device: of %s ones and zeros that the host makes of integers, %s MACs a sample, "+
			"and %s bytes or more; --lookup host sends %s", ones, count(x.MACs), least, rows)
	case x.OnHost:
		return what + fmt.Sprintf("host: %s bytes a sample; --lookup device sends %s and keeps a table of %s bits",
			rows, count(x.Indices), count(x.Table))
	}
	return what + fmt.Sprintf("device: %s bytes a sample, and a table of %s bits; --lookup host sends %s",
		count(x.Indices), count(x.Table), rows)
}

// sameFile reports whether two paths name the same file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// noted holds a model to be quantised, and the values that samples produced in it.
type noted struct {
	*frontend.QuantisationSession
	samples *samples.SampleSource
	file    *datafile.Arrays    // feedback of the states that the file does not give
	fed     []dataflow.Feedback // states that the file does not have
	far     int                 // number of outliers left out
	was     []engines.Reals     // outputs of the first samples; nil for outliers
}

func (n *noted) close() { n.file.Close() }

// shapes returns the shapes of a sample's inputs, by name.
func (n *noted) shapes() (map[string][]int, error) {
	first, err := n.samples.ReadRange(0, 1)
	if err != nil {
		return nil, err
	}
	shapes := map[string][]int{}
	for k, in := range n.Model.In {
		shapes[in.Name] = first.In[0][k].Shape
	}
	return shapes, nil
}

// quantising reads a model and records the values that all samples produce in it. replace has existing quantisers
// replaced. It returns nil after adding an error to d.
func quantising(ctx context.Context, o options.Source, src *ModelSource, replace bool, d *diag.List) (*noted, error) {
	data := datafile.OpenForRereading(o.Stdin, o.Calibrate, src.Inputs, d)
	if data == nil {
		return nil, nil
	}
	n, err := noting(ctx, o, src, data, replace, d)
	if n == nil {
		data.Close()
	}
	return n, err
}

func noting(ctx context.Context, o options.Source, src *ModelSource, data *datafile.Arrays, replace bool,
	d *diag.List) (*noted,
	error) {
	opt, ok := o.ForImport(d)
	if !ok {
		return nil, nil
	}
	opt.Data, opt.Stateful = data.Shapes(), opt.Stateful && len(opt.States) == 0 // samples carry their states
	n := &noted{QuantisationSession: frontend.BeginQuantisation(src.File, src.ONNX, opt, replace, d), file: data}
	if n.QuantisationSession == nil {
		return nil, nil
	}
	if !o.Equalise {
		n.DisableChannelScales()
	}
	n.fed = data.MissingStates(n.Model)
	if ok, err := data.FeedStatesBy(ctx, n.Model, datafile.PerSample(n.Float), d); !ok {
		return nil, datafile.AddError(err, data, src.File, d)
	}
	if n.samples = data.OpenSamples(n.Model, nil, "", d); n.samples == nil {
		return nil, nil
	}
	size := n.samples.PartSize(datafile.PartBytes, 1)
	var largest []float64 // largest magnitude of each sample
	err := datafile.ForEachPart(n.samples, size, func(part *samples.Runs) error {
		largest = append(largest, largestOf(part.In)...)
		return ctx.Err()
	})
	far, done := farOff(largest), 0
	if err == nil {
		err = datafile.ForEachPart(n.samples, size, func(part *samples.Runs) error {
			for _, in := range part.In {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				var out engines.Reals
				if !far[done] {
					var err error
					if out, err = n.RunAndRecord(in); err != nil {
						return datafile.ModelFaultError{Err: err}
					}
				} else {
					n.far++
				}
				if done < datafile.MaxCompared {
					n.was = append(n.was, out)
				}
				done++
				o.ReportProgress("calibrating", done, n.samples.Count)
			}
			return nil
		})
	}
	if err != nil {
		return nil, datafile.AddError(err, data, src.File, d)
	}
	return n, nil
}

// farAway bounds outliers: a sample is left out if its largest magnitude is more than farAway times the median one. A
// single outlier would coarsen the scales of all other samples.
const farAway = 8

// largestOf returns the largest magnitude of each sample.
func largestOf(runs []engines.Reals) (largest []float64) {
	for _, in := range runs {
		most := 0.0
		for _, t := range in {
			for _, v := range t.Data {
				most = max(most, math.Abs(v))
			}
		}
		largest = append(largest, most)
	}
	return largest
}

// farOff reports for each sample whether it is an outlier. largest gives the largest magnitude of each sample.
func farOff(largest []float64) []bool {
	far, sorted := make([]bool, len(largest)), slices.Sorted(slices.Values(largest))
	for i, v := range largest {
		far[i] = v > farAway*sorted[len(sorted)/2]
	}
	return far
}

// largest returns the index of the largest value, or the first such index.
func largest(v []float64) int {
	k := 0
	for i := range v {
		if v[i] > v[k] {
			k = i
		}
	}
	return k
}

// A RecipeVariant is a model quantised by one recipe.
type RecipeVariant struct {
	Recipe   frontend.Recipe
	Source   *ModelSource // the quantised model file
	Model    *dataflow.Model
	Refused  string // why the variant cannot be built; empty if Model is set
	Accuracy *samples.Accuracy
	Least    *MinimalBits // only for recipes that search bit widths
}

// A VariantMaker makes variants of one model by different recipes.
type VariantMaker struct {
	Source   *ModelSource
	Labelled bool              // accuracies refer to labels; otherwise to the classes of the float model
	Float    samples.Accuracy  // accuracy of the model without rounding of activations
	AsIs     *samples.Accuracy // accuracy of the unchanged model
	Bare     bool              // the model has no quantisers
	q        *frontend.QuantisationSession
	runs     *samples.Runs
	labels   *samples.Labels
	float    []engines.Reals // outputs of the float model
	o        options.Source
}

// NewVariantMaker reads a model, records the values that samples produce in it, and measures its accuracy. The result
// makes variants with other quantisers. Vary returns nil after adding an error to d.
func NewVariantMaker(ctx context.Context, o options.Source, d *diag.List) (v *VariantMaker, err error) {
	defer crash.Catch(&err)
	src := Open(o.Model, d)
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
		return nil, datafile.AddError(datafile.UnfitSamplesError{Err: err}, n.file, src.File, d)
	}
	if o.Data == "" {
		if v.runs, err = datafile.ReadCompared(n.samples); err != nil {
			return nil, datafile.AddError(datafile.UnfitSamplesError{Err: err}, n.file, src.File, d)
		}
	} else {
		data := datafile.OpenForRereading(o.Stdin, o.Data, src.Inputs, d)
		if data == nil {
			return nil, nil
		}
		defer data.Close()
		given := data.OpenChecked(v.q.Model, d)
		if given == nil {
			return nil, nil
		}
		if v.runs, err = datafile.ReadCompared(given); err != nil {
			return nil, datafile.AddError(datafile.UnfitSamplesError{Err: err}, data, src.File, d)
		}
	}
	float, err := v.each(ctx, v.q.Float)
	if err != nil {
		return nil, datafile.AddModelFault(err, src.File, d)
	}
	switch {
	case o.LabelsFile != "":
		v.labels, v.Labelled = datafile.ReadLabels(o.LabelsFile, len(v.runs.In), v.q.Model.Out, d), true
	case o.Calibrate == "" && o.Data == "" && src.Labels != nil:
		v.labels, err = samples.LabelsOf(src.Labels, len(v.runs.In), v.q.Model.Out)
		v.Labelled = true
	default:
		v.labels, err = samples.LabelsOf(classes(float), len(v.runs.In), v.q.Model.Out)
	}
	if err != nil {
		datafile.AddUnfit(o.Data, err, d)
	}
	if v.labels == nil || d.Failed() {
		return nil, nil
	}
	v.Float, v.float = v.labels.Accuracy(float), float
	as, err := v.each(ctx, v.q.RunOriginal)
	if err != nil {
		return nil, datafile.AddModelFault(err, src.File, d)
	}
	a := v.labels.Accuracy(as)
	v.AsIs = &a
	return v, nil
}

// each runs all samples with run.
func (v *VariantMaker) each(ctx context.Context, run func([]dataflow.RealTensor) ([]dataflow.RealTensor, error)) (
	out []engines.Reals, err error) {
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

// classes returns the index of the largest output of each sample, as labels.
func classes(out []engines.Reals) *npy.Array {
	a := &npy.Array{DType: "int64", Shape: []int{len(out)}}
	for _, r := range out {
		a.Data = append(a.Data, float64(largest(r[0].Data)))
	}
	return a
}

// Make quantises the model by a recipe. If the variant can be built, Make also measures its accuracy with engine eval.
func (v *VariantMaker) Make(ctx context.Context, r frontend.Recipe) (x *RecipeVariant, err error) {
	defer crash.Catch(&err)
	var d diag.List
	r = v.recipe(r)
	x = &RecipeVariant{Recipe: r}
	if r.Least {
		if x.Least, x.Recipe, err = v.least(ctx, cmp.Or(v.o.KeepShare, DefaultKeep)); err != nil {
			return nil, datafile.AddModelFault(err, v.Source.File, &d)
		}
		r = x.Recipe
	}
	onnx, _ := v.q.QuantisedONNX(r, &d)
	if onnx == nil {
		x.Refused = reason(&d)
		return x, nil
	}
	made := *v.Source
	made.ONNX, made.Example = onnx, false
	x.Source = &made
	o := v.o
	o.LSTM, o.Cells, o.Dump = "", "", ""
	read := made // Import clears the bytes of its source, and the variant keeps them
	im, err := Import(o, &read, &d)
	if err != nil {
		return nil, err
	}
	if im.Model == nil || d.Failed() {
		x.Refused = reason(&d)
		return x, nil
	}
	x.Model = im.Model
	out, err := engines.NewSession(x.Model).RunIntegers(ctx, v.runs)
	if err != nil {
		if e := datafile.AddModelFault(err, made.File, &d); e != nil {
			return nil, e
		}
		x.Model, x.Refused = nil, reason(&d)
		return x, nil
	}
	a := v.labels.Accuracy(out)
	x.Accuracy = &a
	return x, nil
}

// recipe returns r with the options for scales and biases.
func (v *VariantMaker) recipe(r frontend.Recipe) frontend.Recipe {
	r.Scales, r.Equalise, r.CorrectBias = v.o.Scales, v.o.Equalise, v.o.CorrectBias
	return r
}

// reason returns the first error in d as a line.
func reason(d *diag.List) string {
	for _, x := range d.Diags {
		if x.Severity != diag.Error {
			continue
		}
		if x.Node == "" {
			return x.Msg
		}
		return fmt.Sprintf("%s %q: %s", x.Op, x.Node, x.Msg)
	}
	return errors.New("it was refused").Error()
}

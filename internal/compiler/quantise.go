package compiler

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/dustin/go-humanize"

	"hlsgen/frontend"
	"hlsgen/frontend/quantise"
	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/owned"
)

// Samples that a calibration takes at most, and those that a model is compared on before and after.
const (
	maxCalibrated = 256
	maxCompared   = 1024
)

// DefaultRecipe is what a model becomes that is calibrated.
var DefaultRecipe = frontend.Recipe{Weights: quantise.Format{Bits: 8}, Activations: quantise.Format{Bits: 8}}

// opened is Open, and, with --calibrate, what is made of the model on samples. The options are those of what it is
// then. The source is nil where d says why.
func (o Options) opened(ctx context.Context, d *diag.List) (*Source, Options, error) {
	src := Open(o.Model, d)
	if src == nil || o.Calibrate == "" {
		return src, o, nil
	}
	return o.calibrated(ctx, src, d)
}

// calibrated quantises a model for samples.
func (o Options) calibrated(ctx context.Context, src *Source, d *diag.List) (*Source, Options, error) {
	if sameFile(o.Model, o.SaveModel) {
		d.Fail(diag.OutputForeign, src.File, "--save-model would replace the model that is quantised",
			"give the quantised model another name")
		return nil, o, nil
	}
	o.Step("calibrating", 0, 0)
	q, runs, was, err := o.quantising(ctx, src, false, d)
	if q == nil || err != nil {
		return nil, o, err
	}
	recipe := o.recipe()
	onnx, story := q.Write(recipe, d)
	if onnx == nil {
		return nil, o, nil
	}
	made := *src
	made.ONNX, made.Example = onnx, false
	o.LSTM, o.Cells, o.Initial = "", "", nil // the formats of cells, and what loops begin with, stand in the file now
	o.shapes, o.transforms = map[string][]int{}, q.Fixed
	for k, in := range q.Model.In {
		o.shapes[in.Name] = runs.In[0][k].Shape
	}
	compared, err := o.before(ctx, q, &made, runs, was, d)
	if err != nil || d.Failed() {
		return nil, o, err
	}
	if n := min(len(runs.In), maxCalibrated) - q.Noted; n > 0 {
		story += fmt.Sprintf(" (%d more are far larger than the others, and were left out)", n)
	}
	for _, x := range q.OneHots {
		story += fmt.Sprintf("; %s %q looks rows of a table up, on the device: of %s ones and zeros that the host "+
			"makes of integers, %s MACs a sample", x.Node.FullOp(), x.Node.Label(), humanize.Comma(int64(x.Bits)),
			humanize.Comma(int64(x.MACs)))
	}
	if q.Dynamic > 0 {
		story = fmt.Sprintf("%d quantisers had scales from the data of each run; %s", q.Dynamic, story)
	}
	d.Add(diag.Diag{Severity: diag.Note, Code: diag.ModelQuantised, Where: src.File,
		Msg:  fmt.Sprintf("the model was quantised to %s, which changes it: %s; %s", recipe, story, compared),
		Hint: "what the engines agree on is the changed model; --save-model FILE writes it"})
	if o.SaveModel != "" {
		if err := owned.WriteFile(o.SaveModel, onnx); err != nil {
			return nil, o, err
		}
	}
	return &made, o, nil
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// recipe is what a calibrated model becomes.
func (o Options) recipe() frontend.Recipe {
	r := DefaultRecipe
	if o.Recipe != nil {
		r = *o.Recipe
	}
	r.Scales = o.Scales
	return r
}

// quantising reads a model and notes the values that samples have in it. It gives the first of the samples, and how
// many there are, and what the float model gives for those that were noted.
func (o Options) quantising(ctx context.Context, src *Source, replace bool, d *diag.List) (*frontend.Quantising,
	*few, []reals, error) {
	data := o.Stdin.openData(o.Calibrate, src, d)
	if data == nil {
		return nil, nil, nil, nil
	}
	defer data.close()
	opt, ok := o.imports(d)
	if !ok {
		return nil, nil, nil, nil
	}
	opt.Data, opt.Stateful = data.shapes(), opt.Stateful && len(opt.States) == 0 // samples carry their states
	q := frontend.Quantise(src.File, src.ONNX, opt, replace, d)
	if q == nil {
		return nil, nil, nil, nil
	}
	runs := data.few(q.Model, d)
	if runs == nil {
		return nil, nil, nil, nil
	}
	noted := runs.In[:min(len(runs.In), maxCalibrated)]
	far, was := farOff(noted), make([]reals, len(noted))
	if _, err := inTurn(ctx, runs.fed, noted, func(i int, in reals) (out reals, err error) {
		o.Step("calibrating", i, len(noted))
		switch {
		case !far[i]:
			was[i], err = q.Note(in)
		case runs.fed != nil:
			was[i], err = q.Float(in)
		}
		return was[i], err
	}); err != nil {
		return nil, nil, nil, modelError(err, src, d)
	}
	return q, runs, was, nil
}

// farAway is how many times as large as usual a sample's largest magnitude is that scales are not chosen for: one such
// sample would take all resolution from the others.
const farAway = 8

// farOff tells of each sample whether it is far larger than the others.
func farOff(runs []reals) []bool {
	largest, far := make([]float64, len(runs)), make([]bool, len(runs))
	for i, in := range runs {
		for _, t := range in {
			for _, v := range t.Data {
				largest[i] = max(largest[i], math.Abs(v))
			}
		}
	}
	sorted := slices.Sorted(slices.Values(largest))
	for i, v := range largest {
		far[i] = v > farAway*sorted[len(sorted)/2]
	}
	return far
}

// before compares a model with what was made of it: by labels, where there are any, else by what the two give. noted is
// what the float model has given for the first samples.
func (o Options) before(ctx context.Context, q *frontend.Quantising, made *Source, runs *few, noted []reals,
	d *diag.List) (string, error) {
	file := o.Calibrate
	if o.Classes != "" && o.Data != "" {
		data := o.Stdin.openData(o.Data, made, d)
		if data == nil {
			return "", nil
		}
		defer data.close()
		if runs = data.few(q.Model, d); runs == nil {
			return "", nil
		}
		file, noted = o.Data, nil
	}
	var labels *samples.Labels
	if o.Classes != "" {
		if labels = readLabels(o.Classes, runs.count, q.Model.Out, d); labels == nil {
			return "", nil
		}
	}
	n := min(len(runs.In), maxCompared)
	some := *runs.Runs
	some.In = some.In[:n]
	was, err := inTurn(ctx, runs.fed, some.In, func(i int, in reals) (reals, error) {
		if q.NotesAsIs() && i < len(noted) && noted[i] != nil {
			return noted[i], nil
		}
		o.Step("comparing", i, n)
		return q.AsIs(in)
	})
	if err != nil {
		return "", modelError(err, made, d)
	}
	is, err := o.after(ctx, q, made, &some, runs.fed, d)
	if err != nil || d.Failed() {
		return "", modelError(err, made, d)
	}
	if labels != nil {
		return fmt.Sprintf("accuracy on %s before %v, after %v", filepath.Base(file), labels.Accuracy(was),
			labels.Accuracy(is)), nil
	}
	return differences(was, is), nil
}

// after runs samples through the model that was made: by engine fast, where it has layers for all of it, the first
// sample held against engine reference; else by that.
func (o Options) after(ctx context.Context, q *frontend.Quantising, made *Source, runs *samples.Runs,
	fed []dataflow.Feedback, d *diag.List) ([]reals, error) {
	opt := frontend.Options{Dims: o.Dims, Shapes: o.Shapes, Data: o.shapes}
	o.Step("comparing", 0, len(runs.In))
	var quiet, told diag.List
	im, err := frontend.Import(made.File, made.ONNX, opt, &quiet)
	if err != nil {
		return nil, err
	}
	if im.Model == nil || quiet.Failed() {
		if im = frontend.ImportReference(made.File, made.ONNX, opt, &told); im.Model == nil {
			d.Merge(told.Diags)
			return nil, nil
		}
		if fed != nil {
			return inTurn(ctx, fed, runs.In, oneByOne(ctx, im.Model, true))
		}
		return reference(ctx, im.Model, runs)
	}
	if fed != nil {
		if _, err := inTurn(ctx, fed, runs.In, oneByOne(ctx, im.Model, true)); err != nil {
			return nil, err
		}
	}
	out, err := compiledAs(ctx, programOf(im.Model), im.Model, runs)
	if err != nil {
		return nil, err
	}
	first, err := im.Model.Reference(runs.In[0])
	if err != nil {
		return nil, err
	}
	return out, sameOutputs(im.Model, "engine fast against reference", out[0], first)
}

// differences says how far apart the first outputs of runs are.
func differences(was, is []reals) string {
	most, range_, same := 0.0, 0.0, 0
	for i := range was {
		a, b := was[i][0].Data, is[i][0].Data
		if largest(a) == largest(b) {
			same++
		}
		for k := range a {
			most, range_ = max(most, math.Abs(a[k]-b[k])), max(range_, math.Abs(a[k]))
		}
	}
	return fmt.Sprintf("outputs differ by %.3g at most, of magnitudes up to %.3g; the largest output is the same for "+
		"%d of %d samples", most, range_, same, len(was))
}

// largest is the index of the largest value, the first of equals.
func largest(v []float64) int {
	k := 0
	for i := range v {
		if v[i] > v[k] {
			k = i
		}
	}
	return k
}

// A Variant is a model by a recipe.
type Variant struct {
	Recipe   frontend.Recipe
	Source   *Source // the file
	Model    *dataflow.Model
	Refused  string // why there is no Model
	Accuracy *samples.Accuracy
}

// A Variety is a model by many recipes.
type Variety struct {
	Source   *Source
	Labelled bool              // accuracies are by labels; else by what the float model says
	Float    samples.Accuracy  // of the model without the rounding of activations
	AsIs     *samples.Accuracy // of the model as it is
	q        *frontend.Quantising
	runs     *few
	labels   *samples.Labels
	o        Options
}

// Vary reads a model whose quantisers are to be others, notes the values of samples, and finds its accuracy as it is.
// Nil where d says why.
func Vary(ctx context.Context, o Options, d *diag.List) (v *Variety, err error) {
	defer Catch(&err)
	src := Open(o.Model, d)
	if src == nil {
		return nil, nil
	}
	v = &Variety{Source: src, o: o}
	if v.q, v.runs, _, err = o.quantising(ctx, src, true, d); v.q == nil || err != nil {
		return nil, err
	}
	if o.Data != "" {
		data := o.Stdin.openData(o.Data, src, d)
		if data == nil {
			return nil, nil
		}
		defer data.close()
		if v.runs = data.few(v.q.Model, d); v.runs == nil {
			return nil, nil
		}
	}
	v.runs.In = v.runs.In[:min(len(v.runs.In), maxCompared)]
	float, err := v.each(ctx, v.q.Float)
	if err != nil {
		return nil, modelError(err, src, d)
	}
	switch {
	case o.Classes != "":
		v.labels, v.Labelled = readLabels(o.Classes, len(v.runs.In), v.q.Model.Out, d), true
	case o.Calibrate == "" && o.Data == "" && src.Labels != nil:
		v.labels, err = samples.LabelsOf(src.Labels, len(v.runs.In), v.q.Model.Out)
		v.Labelled = true
	default:
		v.labels, err = samples.LabelsOf(classes(float), len(v.runs.In), v.q.Model.Out)
	}
	if err != nil {
		unfitting(o.Data, err, d)
	}
	if v.labels == nil || d.Failed() {
		return nil, nil
	}
	v.Float = v.labels.Accuracy(float)
	as, err := v.each(ctx, v.q.AsIs)
	if err != nil {
		return nil, modelError(err, src, d)
	}
	a := v.labels.Accuracy(as)
	v.AsIs = &a
	return v, nil
}

// each runs all samples.
func (v *Variety) each(ctx context.Context, run func([]dataflow.RealTensor) ([]dataflow.RealTensor, error)) (
	out []reals, err error) {
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

// classes are the labels that runs give.
func classes(out []reals) *npy.Array {
	a := &npy.Array{DType: "int64", Shape: []int{len(out)}}
	for _, r := range out {
		a.Data = append(a.Data, float64(largest(r[0].Data)))
	}
	return a
}

// Make is the model by a recipe: its file, and, where it can be built, its layers and its accuracy, by engine eval.
func (v *Variety) Make(ctx context.Context, r frontend.Recipe) (x *Variant, err error) {
	defer Catch(&err)
	var d diag.List
	r.Scales = v.o.Scales
	x = &Variant{Recipe: r}
	onnx, _ := v.q.Write(r, &d)
	if onnx == nil {
		x.Refused = reason(&d)
		return x, nil
	}
	made := *v.Source
	made.ONNX, made.Example = onnx, false
	x.Source = &made
	o := v.o
	o.LSTM, o.Cells, o.Dump = "", "", ""
	read := made // which the variant keeps
	im, err := importModel(o, &read, &d)
	if err != nil {
		return nil, err
	}
	if im.Model == nil || d.Failed() {
		x.Refused = reason(&d)
		return x, nil
	}
	x.Model = im.Model
	out, err := courseOf(x.Model).integers(ctx, v.runs.Runs)
	if err != nil {
		if e := modelError(err, &made, &d); e != nil {
			return nil, e
		}
		x.Model, x.Refused = nil, reason(&d)
		return x, nil
	}
	a := v.labels.Accuracy(out)
	x.Accuracy = &a
	return x, nil
}

// reason is the first error, in a line.
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

// AccuracyOf is the accuracy of an imported model on the samples that the options name; nil without labels.
func AccuracyOf(ctx context.Context, o Options, c *Checked, d *diag.List) (a *samples.Accuracy, err error) {
	defer Catch(&err)
	if o.Data == "" && o.Classes == "" || c.Imported.Model == nil {
		return nil, nil
	}
	s := o.data(ctx, c.Imported.Model, c.Source, d)
	defer s.close()
	if d.Failed() {
		return nil, nil
	}
	a, err = accuracy(ctx, c.Imported.Model, s)
	return a, modelError(err, c.Source, d)
}

package compiler

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
	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/owned"
)

// maxCompared bounds the samples on which a model is compared before and after.
const maxCompared = 1024

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
	n, err := o.quantising(ctx, src, false, d)
	if n == nil || err != nil {
		return nil, o, err
	}
	defer n.close()
	q, recipe := n.Quantising, o.recipe()
	onnx, story := q.Write(recipe, d)
	if onnx == nil {
		return nil, o, nil
	}
	made := *src
	made.ONNX, made.Example = onnx, false
	o.LSTM, o.Cells, o.Initial = "", "", nil // the formats of cells, and what loops begin with, stand in the file now
	o.transforms = n.Fixed
	if o.shapes, err = n.shapes(); err != nil {
		return nil, o, toldOf(unfit{err}, n.file, src, d)
	}
	compared, err := o.before(ctx, n, &made, d)
	if err != nil || d.Failed() {
		return nil, o, err
	}
	if n.far > 0 {
		story += fmt.Sprintf(" (%d more are far larger than the others, and were left out)", n.far)
	}
	for _, x := range q.Lookups(recipe) {
		if story += "; " + lookupText(x); x.OneHot && x.OnHost {
			o.lookups++
		}
	}
	if q.Dynamic > 0 {
		story = fmt.Sprintf("%d quantisers had scales from the data of each run; %s", q.Dynamic, story)
	}
	d.Add(diag.Diag{Severity: diag.Note, Code: diag.ModelQuantised, Where: src.File,
		Msg: fmt.Sprintf("the model was quantised to %s, which changes it: %s; %s", recipe.Whole(), story,
			strings.Join(append([]string{compared}, q.Hard()...), "; ")),
		Hint: "what the engines agree on is the changed model; --save-model FILE writes it"})
	if o.SaveModel != "" {
		if err := owned.WriteFile(o.SaveModel, onnx); err != nil {
			return nil, o, err
		}
	}
	return &made, o, nil
}

// lookupText says where rows of a table are looked up, what that costs, and what the other place does.
func lookupText(x quantise.Lookup) string {
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
	r.Scales, r.Equalise, r.CorrectBias = o.Scales, o.Equalise, o.CorrectBias
	return r
}

// A noted model is one on its way to other quantisers, which has been run on samples.
type noted struct {
	*frontend.Quantising
	samples *samples.Source
	file    *dataFile
	fed     []dataflow.Feedback // states that the file does not have
	far     int                 // samples that were left out
	was     []reals             // what it gives for the first of them; nil of those that were left out
}

func (n *noted) close() { n.file.close() }

// shapes returns the shapes of a sample's inputs.
func (n *noted) shapes() (map[string][]int, error) {
	first, err := n.samples.Some(0, 1)
	if err != nil {
		return nil, err
	}
	shapes := map[string][]int{}
	for k, in := range n.Model.In {
		shapes[in.Name] = first.In[0][k].Shape
	}
	return shapes, nil
}

// quantising reads a model and notes the values that samples have in it, all of them, some at a time. Nil where d says
// why not.
func (o Options) quantising(ctx context.Context, src *Source, replace bool, d *diag.List) (*noted, error) {
	data := o.Stdin.openData(o.Calibrate, src, d)
	if data == nil {
		return nil, nil
	}
	n, err := o.noting(ctx, src, data, replace, d)
	if n == nil {
		data.close()
	}
	return n, err
}

func (o Options) noting(ctx context.Context, src *Source, data *dataFile, replace bool, d *diag.List) (*noted, error) {
	opt, ok := o.imports(d)
	if !ok {
		return nil, nil
	}
	opt.Data, opt.Stateful = data.shapes(), opt.Stateful && len(opt.States) == 0 // samples carry their states
	n := &noted{Quantising: frontend.Quantise(src.File, src.ONNX, opt, replace, d), file: data}
	if n.Quantising == nil {
		return nil, nil
	}
	if !o.Equalise {
		n.OneScale()
	}
	n.fed = data.lacks(n.Model)
	if ok, err := data.feedBy(ctx, n.Model, bySample(n.Float), d); !ok {
		return nil, toldOf(err, data, src, d)
	}
	if n.samples = data.samples(n.Model, nil, "", d); n.samples == nil {
		return nil, nil
	}
	size := n.samples.Size(partBytes, 1)
	var largest []float64 // magnitudes of each sample
	err := partByPart(n.samples, size, func(part *samples.Runs) error {
		largest = append(largest, largestOf(part.In)...)
		return ctx.Err()
	})
	far, done := farOff(largest), 0
	if err == nil {
		err = partByPart(n.samples, size, func(part *samples.Runs) error {
			for _, in := range part.In {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				var out reals
				if !far[done] {
					var err error
					if out, err = n.Note(in); err != nil {
						return faulty{err}
					}
				} else {
					n.far++
				}
				if done < maxCompared {
					n.was = append(n.was, out)
				}
				done++
				o.Step("calibrating", done, n.samples.Count)
			}
			return nil
		})
	}
	if err != nil {
		return nil, toldOf(err, data, src, d)
	}
	return n, nil
}

// farAway is how many times as large as usual a sample's largest magnitude is that scales are not chosen for: one such
// sample would take all resolution from the others.
const farAway = 8

// largestOf is the largest magnitude of each sample.
func largestOf(runs []reals) (largest []float64) {
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

// farOff tells of each sample, by the largest magnitudes of all, whether it is far larger than the others.
func farOff(largest []float64) []bool {
	far, sorted := make([]bool, len(largest)), slices.Sorted(slices.Values(largest))
	for i, v := range largest {
		far[i] = v > farAway*sorted[len(sorted)/2]
	}
	return far
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
	Least    *Least // of the recipe whose formats are searched
}

// A Variety is a model by many recipes.
type Variety struct {
	Source   *Source
	Labelled bool              // accuracies are by labels; else by what the float model says
	Float    samples.Accuracy  // of the model without the rounding of activations
	AsIs     *samples.Accuracy // of the model as it is
	Bare     bool              // it has no quantisers
	q        *frontend.Quantising
	runs     *samples.Runs
	labels   *samples.Labels
	float    []reals // what the float model gives
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
	n, err := o.quantising(ctx, src, true, d)
	if n == nil || err != nil {
		return nil, err
	}
	defer n.close()
	v.q, v.Bare = n.Quantising, n.Bare()
	if v.o.shapes, err = n.shapes(); err != nil {
		return nil, toldOf(unfit{err}, n.file, src, d)
	}
	if o.Data == "" {
		if v.runs, err = few(n.samples); err != nil {
			return nil, toldOf(unfit{err}, n.file, src, d)
		}
	} else {
		data := o.Stdin.openData(o.Data, src, d)
		if data == nil {
			return nil, nil
		}
		defer data.close()
		given := data.checked(v.q.Model, d)
		if given == nil {
			return nil, nil
		}
		if v.runs, err = few(given); err != nil {
			return nil, toldOf(unfit{err}, data, src, d)
		}
	}
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
	v.Float, v.float = v.labels.Accuracy(float), float
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
	r = v.recipe(r)
	x = &Variant{Recipe: r}
	if r.Least {
		if x.Least, x.Recipe, err = v.least(ctx, cmp.Or(v.o.Keeps, DefaultKeep)); err != nil {
			return nil, modelError(err, v.Source, &d)
		}
		r = x.Recipe
	}
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
	out, err := courseOf(x.Model).integers(ctx, v.runs)
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

// recipe is one with how the options say that it comes to its numbers.
func (v *Variety) recipe(r frontend.Recipe) frontend.Recipe {
	r.Scales, r.Equalise, r.CorrectBias = v.o.Scales, v.o.Equalise, v.o.CorrectBias
	return r
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

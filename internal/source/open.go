package source

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/dustin/go-humanize"

	"hlsgen/frontend/quantise"
	"hlsgen/internal/datafile"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/outputdir"
)

// ReadAndQuantiseModel reads the model that the options name. With --calibrate it also quantises the model, writes it
// to the file of --save-model, and returns the options for the quantised model. The source is nil after it adds an
// error to d, or with an error.
func ReadAndQuantiseModel(ctx context.Context, o options.Source, d *diag.List) (*ModelSource, options.Source, error) {
	src := ReadModelFile(o.Model, d)
	if src == nil || o.Calibrate == "" {
		return src, o, nil
	}
	return calibrated(ctx, o, src, d)
}

// calibrated quantises a model on the samples of --calibrate, compares it with the original and adds a note to d. It
// writes the quantised model to the file of --save-model, and returns it with the options for it. The source is nil
// after it adds an error to d, or with an error.
func calibrated(ctx context.Context, o options.Source, src *ModelSource, d *diag.List) (*ModelSource, options.Source,
	error) {
	if sameFile(o.Model, o.SaveModel) {
		d.AddError(diag.OutputHasForeignFiles, src.File, "--save-model would replace the model that is quantised",
			"give the quantised model another name")
		return nil, o, nil
	}
	o.ReportProgress("calibrating", 0, 0)
	n, err := quantising(ctx, o, src, false, d)
	if n == nil || err != nil {
		return nil, o, err
	}
	defer n.close()
	q, recipe := n.QuantisationSession, o.CompleteRecipe()
	onnx, story := q.QuantisedONNXFile(recipe, d)
	if onnx == nil {
		return nil, o, nil
	}
	made := *src
	made.ONNX, made.Example = onnx, false
	o.LSTM, o.Cells, o.Initial = "", "", nil // the quantised file contains the formats of cells and the initial states
	made.transforms = n.Fixed
	if made.shapes, err = n.shapes(); err != nil {
		return nil, o, datafile.AddSampleOrModelDiag(datafile.UnusableSamplesError{Err: err}, n.file, src.File, d)
	}
	compared, err := before(ctx, o, n, &made, d)
	if err != nil || d.HasErrors() {
		return nil, o, err
	}
	if n.far > 0 {
		story += fmt.Sprintf(" (%d more are far larger than the others, and were left out)", n.far)
	}
	for _, x := range q.TableLookupsFor(recipe) {
		if story += "; " + lookupText(x); x.OneHot && x.OnHost {
			made.lookups++
		}
	}
	if q.Dynamic > 0 {
		story = fmt.Sprintf("%d quantisers had scales from the data of each run; %s", q.Dynamic, story)
	}
	d.Add(diag.Diag{Severity: diag.SeverityNote, Code: diag.ModelRequantised, Where: src.File,
		Msg: fmt.Sprintf("the model was quantised to %s, which changes it: %s; %s", recipe.DescribeWithOptions(), story,
			strings.Join(append([]string{compared}, q.HardToQuantiseLayers()...), "; ")),
		Hint: "what the engines agree on is the changed model; --save-model FILE writes it"})
	if o.SaveModel != "" {
		if err := outputdir.WriteFileAtomically(o.SaveModel, onnx); err != nil {
			return nil, o, err
		}
	}
	return &made, o, nil
}

// lookupText returns text about the place where the rows of a table are looked up, with the costs of both places.
func lookupText(x quantise.TableLookup) string {
	count := func(n int) string { return humanize.Comma(int64(n)) }
	what := fmt.Sprintf("%s %q looks rows of a table up, on the ", x.Node.QualifiedOpName(), x.Node.Label())
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

// sameFile reports whether two paths name the same existing file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

package simulate

import (
	"testing"

	"hlsgen/internal/datafile"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/options"
	"hlsgen/internal/source"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/samplefiles"
)

// TestImportsOnce holds that a simulation does not import a model again that was compared as soon as it was quantised.
func TestImportsOnce(t *testing.T) {
	t.Parallel()
	mlp := samplefiles.WriteFile(t, "m.onnx", samplefiles.Unquantised(t, models.Find(t,
		"digits-mlp-w4a4-pot").Dir+"/model.onnx"))
	input, _ := samplefiles.Digits(t, false, 64)
	var d diag.List
	o := Options{Source: options.Source{Model: mlp, Quantisation: options.Quantisation{Calibrate: input},
		SampleFiles: options.SampleFiles{Data: input}}}
	made, opt, err := source.ReadAndQuantiseModel(t.Context(), o.Source, &d)
	if err != nil || made == nil {
		t.Fatal(err, d.Diags)
	}
	data := datafile.OpenForRereading(o.Stdin, input, made.Inputs, &d)
	defer data.Close()
	o.Source = opt
	was, _ := made.ReusableImport(data.ArrayShapes())
	engine, im, err := o.importFor(made, data.ArrayShapes(), &d)
	if err != nil || engine != engines.EngineFast || was == nil || im != was {
		t.Errorf("engine %s, %v: the quantised model was imported again", engine, err)
	}
	_, other, err := o.importFor(made, map[string][]int{"": {8, 65}}, &d)
	if err != nil || other == was {
		t.Error("data of another shape are given a model that was imported for these")
	}
}

package compiler

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
)

// TestFloat runs a model without quantisers by default in float64, which is near engine reference, and traces it.
func TestFloat(t *testing.T) {
	t.Parallel()
	mlp := kept(t, "m.onnx", unquantised(t, models.Find(t, "digits-mlp-w4a4-pot").Dir+"/model.onnx"))
	input, _ := digits(t, false, 64)
	trace := filepath.Join(t.TempDir(), "trace")
	o := SimOptions{Source: Source{Model: mlp, SampleFiles: SampleFiles{Data: input}},
		OutputFiles: OutputFiles{Trace: trace}}
	got := ran(t, o)
	if got.Engine != EngineFloat {
		t.Fatalf("engine %s", got.Engine)
	}
	o.Engine, o.Trace = EngineReference, ""
	want := ran(t, o)
	for i, v := range want.Outputs[0].Data {
		if off := math.Abs(got.Outputs[0].Data[i] - v); off > math.Abs(v)*0x1p-22 {
			t.Fatalf("output %d is %v, want %v", i, got.Outputs[0].Data[i], v)
		}
	}
	y, err := npy.ReadFile(filepath.Join(trace, traceName(got.Out[0].Name)+".npy"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Outputs[0].Data[3] != y[""].Data[3] {
		t.Errorf("traced %v, want %v", y[""].Data[3], got.Outputs[0].Data[3])
	}
	var d diag.List
	s, err := Stats(t.Context(), StatsOptions{Source: Source{Model: mlp, SampleFiles: SampleFiles{Data: input}}}, &d)
	if err != nil || s == nil || s.Samples != got.Samples {
		t.Errorf("%+v %v %v, want %d samples", s, err, d.Diags, got.Samples)
	}
	o.Engine = EngineFast
	if r, err := Simulate(t.Context(), o, &d); r != nil || err != nil || !d.Failed() {
		t.Error("engine fast, which is asked for, has no layers")
	}
}

// TestImportsOnce holds that a simulation does not import a model again that was compared as soon as it was quantised.
func TestImportsOnce(t *testing.T) {
	t.Parallel()
	mlp := kept(t, "m.onnx", unquantised(t, models.Find(t, "digits-mlp-w4a4-pot").Dir+"/model.onnx"))
	input, _ := digits(t, false, 64)
	var d diag.List
	o := SimOptions{Source: Source{Model: mlp, Quantisation: Quantisation{Calibrate: input},
		SampleFiles: SampleFiles{Data: input}}}
	made, opt, err := opened(t.Context(), o.Source, &d)
	if err != nil || made == nil {
		t.Fatal(err, d.Diags)
	}
	data := openData(o.Stdin, input, made.Inputs, &d)
	defer data.close()
	o.Source = opt
	engine, im, err := o.importFor(made, data.shapes(), &d)
	if err != nil || engine != EngineFast || made.read == nil || im != made.read.Imported {
		t.Errorf("engine %s, %v: the quantised model was imported again", engine, err)
	}
	_, other, err := o.importFor(made, map[string][]int{"": {8, 65}}, &d)
	if err != nil || other == made.read.Imported {
		t.Error("data of another shape are given a model that was imported for these")
	}
}

// TestFloatGivesWhatPackagesGive holds engine float against what onnxruntime gives for networks that packages ship.
func TestFloatGivesWhatPackagesGive(t *testing.T) {
	t.Parallel()
	tier.NeedsLong(t)
	shelf := filepath.Join(tier.NeedsShared(t), "models", "shelf")
	for name, kind := range map[string]string{"direction_classifier": ".npy", "text_detector": ".npy",
		"file_types": ".npy", "voice_activity": ".npz"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(shelf, name)
			want, err := npy.ReadFile(filepath.Join(folder, "outputs_float"+kind))
			if err != nil {
				t.Fatal(err)
			}
			got := simulated(t, SimOptions{Source: Source{Model: filepath.Join(folder, "float.onnx"),
				SampleFiles: SampleFiles{Data: filepath.Join(folder, "inputs"+kind)}}, Engine: EngineFloat})
			for k, out := range got.Outputs {
				is := want[got.Out[k].Name]
				// The file gives an outgoing state the name of the incoming state.
				for _, other := range want {
					if is == nil && slices.Equal(other.Shape, out.Shape) || len(want) == 1 {
						is = other
					}
				}
				if is == nil || len(is.Data) != len(out.Data) {
					t.Fatalf("output %q has %d elements, of another number", got.Out[k].Name, len(out.Data))
				}
				most := 0.0
				for i, v := range is.Data {
					most = max(most, math.Abs(out.Data[i]-v))
				}
				if t.Logf("output %q: %g apart at most", got.Out[k].Name, most); most > 1e-4 {
					t.Errorf("output %q is %g apart from onnxruntime's", got.Out[k].Name, most)
				}
			}
		})
	}
}

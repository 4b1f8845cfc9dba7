package simulate_test

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/internal/check"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

// TestFloat runs a model without quantisers by default in float64, which is near engine reference, and traces it.
func TestFloat(t *testing.T) {
	t.Parallel()
	mlp := samplefiles.WriteFile(t, "m.onnx", samplefiles.Unquantised(t, models.Find(t,
		"digits-mlp-w4a4-pot").Dir+"/model.onnx"))
	input, _ := samplefiles.Digits(t, false, 64)
	trace := filepath.Join(t.TempDir(), "trace")
	o := simulate.Options{Source: options.Source{Model: mlp, SampleFiles: options.SampleFiles{Data: input}},
		OutputFileOptions: simulate.OutputFileOptions{Trace: trace}}
	got := simtest.RunClean(t, o)
	if got.Engine != engines.EngineFloat {
		t.Fatalf("engine %s", got.Engine)
	}
	o.Engine, o.Trace = engines.EngineReference, ""
	want := simtest.RunClean(t, o)
	for i, v := range want.Outputs[0].Data {
		if off := math.Abs(got.Outputs[0].Data[i] - v); off > math.Abs(v)*0x1p-22 {
			t.Fatalf("output %d is %v, want %v", i, got.Outputs[0].Data[i], v)
		}
	}
	y, err := npy.ReadArrays(filepath.Join(trace, simulate.TraceName(got.Out[0].Name)+".npy"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Outputs[0].Data[3] != y[""].Data[3] {
		t.Errorf("traced %v, want %v", y[""].Data[3], got.Outputs[0].Data[3])
	}
	var d diag.List
	s, err := check.RunStats(t.Context(), check.StatsOptions{Source: options.Source{Model: mlp,
		SampleFiles: options.SampleFiles{Data: input}}}, &d)
	if err != nil || s == nil || s.Samples != got.Samples {
		t.Errorf("%+v %v %v, want %d samples", s, err, d.Diags, got.Samples)
	}
	o.Engine = engines.EngineFast
	if r, err := simulate.Run(t.Context(), o, &d); r != nil || err != nil || !d.HasErrors() {
		t.Error("engine fast, which is asked for, has no layers")
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
			want, err := npy.ReadArrays(filepath.Join(folder, "outputs_float"+kind))
			if err != nil {
				t.Fatal(err)
			}
			got := simtest.RunOK(t, simulate.Options{Source: options.Source{Model: filepath.Join(folder, "float.onnx"),
				SampleFiles: options.SampleFiles{Data: filepath.Join(folder, "inputs"+kind)}},
				Engine: engines.EngineFloat})
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

package compiler

import (
	"math"
	"path/filepath"
	"testing"

	"hlsgen/internal/diag"
	"hlsgen/internal/models"
	"hlsgen/internal/npy"
)

// TestFloat runs a model without quantisers by default in float64, which is near engine reference, and traces it.
func TestFloat(t *testing.T) {
	t.Parallel()
	mlp := kept(t, "m.onnx", unquantised(t, models.Find(t, "digits-mlp-w4a4-pot").Dir+"/model.onnx"))
	input, _ := digits(t, false, 64)
	trace := filepath.Join(t.TempDir(), "trace")
	o := SimOptions{Options: Options{Model: mlp}, Engine: Fast, Either: true, Input: input, Trace: trace}
	got := ran(t, o)
	if got.Engine != Float {
		t.Fatalf("engine %s", got.Engine)
	}
	o.Engine, o.Either, o.Trace = Reference, false, ""
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
	s, err := Stats(t.Context(), StatsOptions{Options: Options{Model: mlp}, Data: input}, &d)
	if err != nil || s == nil || s.Samples != got.Samples {
		t.Errorf("%+v %v %v, want %d samples", s, err, d.Diags, got.Samples)
	}
	o.Engine = Fast
	if r, err := Simulate(t.Context(), o, &d); r != nil || err != nil || !d.Failed() {
		t.Error("engine fast, which is asked for, has no layers")
	}
}

package build

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
)

// ONNX' own LSTM has real-valued gates. Without formats for them the integer engines refuse it and say what is missing; with
// formats all engines agree. Those of the test data give h another scale than the input has.
func TestLSTMFormats(t *testing.T) {
	t.Parallel()
	shared := os.Getenv("HLSGEN_SHARED")
	if shared == "" {
		t.Skip("HLSGEN_SHARED is not set")
	}
	for _, model := range []string{"lstm-onnxop-h32-w8", "bilstm-onnxop-h16-w4", "bilstm-onnxnode-h16-w4"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(shared, "models", "brevitas", model)
			arrays, err := npy.ReadFile(filepath.Join(dir, "inputs.npy"))
			if err != nil {
				t.Fatal(err)
			}
			const runs, steps, features = 3, 8, 8
			var input string
			for _, a := range arrays {
				input = save(t, filepath.Join(t.TempDir(), "x.npy"), &npy.Array{DType: a.DType, Shape: []int{runs, steps, 1, features}, Data: a.Data[:runs*steps*features]})
			}
			run := func(e Engine, formats string) (*Simulated, *diag.List) {
				var d diag.List
				r, err := Simulate(context.Background(), SimOptions{Options: Options{Model: filepath.Join(dir, "model.onnx"), LSTM: formats}, Engine: e, Input: input}, &d)
				if err != nil {
					t.Fatalf("%s: %v", e, err)
				}
				return r, &d
			}
			for _, e := range []Engine{Eval, Cycle} {
				if _, d := run(e, ""); !d.Failed() || d.Diags[0].Code != diag.LSTMFormats || d.Diags[0].Text == "" {
					t.Fatalf("%s without formats: %v", e, d.Diags)
				}
			}
			want, d := run(Reference, filepath.Join("testdata", "lstm", "formats.json"))
			if d.Failed() {
				t.Fatal(d.Diags)
			}
			for _, e := range []Engine{Eval, Cycle, CSim} {
				got, d := run(e, filepath.Join("testdata", "lstm", "formats.json"))
				if d.Failed() {
					t.Fatalf("%s: %v", e, d.Diags)
				}
				for k, out := range want.Outputs {
					if !slices.Equal(got.Outputs[k].Data, out.Data) {
						t.Errorf("%s: output %d is %v, of the model with these formats %v", e, k, got.Outputs[k].Data, out.Data)
					}
				}
			}
		})
	}
}

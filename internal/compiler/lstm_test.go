package compiler

import (
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/tier"
)

// ONNX' own LSTM has real-valued gates. Without formats for them the integer engines refuse it and say what is missing; with
// formats all engines agree. Those of the test data give h another scale than the input has.
func TestLSTMFormats(t *testing.T) {
	t.Parallel()
	shared := tier.NeedsShared(t)
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
			run := func(t *testing.T, e Engine, formats string) (*Simulated, *diag.List) {
				o := Options{Model: filepath.Join(dir, "model.onnx"), LSTM: formats}
				return asked(t, SimOptions{Options: o, Engine: e, Input: input})
			}
			for _, e := range []Engine{Eval, Cycle} {
				if _, d := run(t, e, ""); !d.Failed() || d.Diags[0].Code != diag.LSTMFormats || d.Diags[0].Text == "" {
					t.Fatalf("%s without formats: %v", e, d.Diags)
				}
			}
			want, d := run(t, Reference, filepath.Join("testdata", "lstm", "formats.json"))
			if d.Failed() {
				t.Fatal(d.Diags)
			}
			for _, e := range []Engine{Eval, Cycle, CSim} {
				t.Run(string(e), func(t *testing.T) {
					if e == CSim {
						tier.Needs(t, "g++")
					}
					got, d := run(t, e, filepath.Join("testdata", "lstm", "formats.json"))
					if d.Failed() {
						t.Fatal(d.Diags)
					}
					for k, out := range want.Outputs {
						if !slices.Equal(got.Outputs[k].Data, out.Data) {
							t.Errorf("output %d is %v, of the model with these formats %v", k, got.Outputs[k].Data, out.Data)
						}
					}
				})
			}
		})
	}
}

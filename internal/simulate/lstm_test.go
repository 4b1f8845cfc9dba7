package simulate_test

import (
	"path/filepath"
	"slices"
	"testing"

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

// ONNX' own LSTM has real-valued gates. Without formats for them the integer engines refuse it and say what is missing;
// with formats all engines agree. Those of the test data give h another scale than the input has.
func TestLSTMFormats(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, m := range models.InRepository(t) {
		if m.Info.LSTM == "" {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			x := m.Recorded(t).X
			const runs = 3
			steps, features := x.Shape[1], x.Shape[2]
			input := samplefiles.Save(t, filepath.Join(t.TempDir(), "x.npy"),
				&npy.Array{DType: x.DType, Shape: []int{runs, steps, 1, features}, Data: x.Data[:runs*steps*features]})
			run := func(t *testing.T, e engines.EngineName, formats string) (*simulate.Result, *diag.List) {
				return simtest.Run(t, simulate.Options{Source: options.Source{Model: m.Path(m.Files[0]),
					ModelInputs: options.ModelInputs{LSTM: formats},
					SampleFiles: options.SampleFiles{Data: input}}, Engine: e})
			}
			for _, e := range []engines.EngineName{engines.EngineEval, engines.EngineCycle} {
				if _, d := run(t, e, ""); !d.HasErrors() || d.Diags[0].Code != diag.LSTMGateFormatsMissing ||
					d.Diags[0].Text == "" {
					t.Fatalf("%s without formats: %v", e, d.Diags)
				}
			}
			want, d := run(t, engines.EngineReference, m.Path(m.Info.LSTM))
			if d.HasErrors() {
				t.Fatal(d.Diags)
			}
			for _, e := range []engines.EngineName{engines.EngineEval, engines.EngineCycle, engines.EngineCSim} {
				t.Run(string(e), func(t *testing.T) {
					if e == engines.EngineCSim {
						tier.Needs(t, "g++")
					}
					got, d := run(t, e, m.Path(m.Info.LSTM))
					if d.HasErrors() {
						t.Fatal(d.Diags)
					}
					for k, out := range want.Outputs {
						if !slices.Equal(got.Outputs[k].Data, out.Data) {
							t.Errorf("output %d is %v, of the model with these formats %v", k, got.Outputs[k].Data,
								out.Data)
						}
					}
				})
			}
		})
	}
}

package build

import (
	"path"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/engines"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
)

// TestOneClock builds perceptrons that are unrolled whole, a frame in every clock: their SystemVerilog gives in
// Verilator what engine eval gives, on every stream in the clocks of engine cycle.
func TestOneClock(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"digits-mlp-w2a2", "digits-mlp-w4a4-pot", "digits-mlp-asym-u8",
		"a2qplus-mlp-signed-w4a4-p9", "jets-qap-w6a6-s80"} {
		t.Run(model, func(t *testing.T) {
			tier.NeedsLong(t)
			tier.Needs(t, "verilator", "g++")
			tier.NeedsShared(t)
			list := models.All(t)
			m := list[slices.IndexFunc(list, func(m models.Model) bool { return path.Base(m.Name) == model })]
			r := built(t, Options{Source: options.Source{Model: filepath.Join(m.Dir, "model.onnx")},
				Hardware: options.Hardware{Board: "alveo-u250", IO: dataflow.HostIOStream,
					Backend: options.BackendRTL},
				Verification: options.Verification{Verify: 16},
				OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(),
					"out")}})
			if r.Design.Clocks.Interval != 1 || !slices.Contains(r.Verified.Engines, string(engines.EngineRTL)) {
				t.Errorf("a frame every %v clocks, verified by %v", r.Design.Clocks.Interval, r.Verified.Engines)
			}
		})
	}
}

package build_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/build"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/examples"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/tier"
)

// TestEngineRTL runs trained networks as SystemVerilog: every word of every stream is held against eval, every clock
// against cycle.
func TestEngineRTL(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "verilator", "g++")
	names := []string{"digits-mlp-w2a2"}
	if tier.Full() {
		names = append(names, "digits-conv1d-w4a4")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := models.Find(t, name)
			var d diag.List
			r, err := simulate.Run(context.Background(),
				simulate.Options{Source: options.Source{Model: m.Path("model.onnx"),
					SampleFiles: options.SampleFiles{Data: m.Path("inputs.npy")}},
					Hardware: options.Hardware{Board: "zcu104"}, Goal: options.Goal{FPS: 1000},
					Engine: engines.EngineRTL}, &d)
			if err != nil || r == nil {
				t.Fatalf("%v\n%v", err, d.WithStrictApplied())
			}
			if r.Samples == 0 || len(r.Outputs) == 0 {
				t.Errorf("%d samples, %d outputs", r.Samples, len(r.Outputs))
			}
		})
	}
}

// TestBackends has what each back end is asked to write, and nothing of the other.
func TestBackends(t *testing.T) {
	t.Parallel()
	iris := filepath.Join(samplefiles.Examples(t), examples.IrisName, "model.onnx")
	for _, c := range []struct {
		backend  options.Backend
		hls, rtl bool
	}{
		{"", true, false},
		{options.BackendHLS, true, false},
		{options.BackendRTL, false, true},
		{options.BackendBoth, true, true},
	} {
		out := filepath.Join(t.TempDir(), "out")
		var d diag.List
		r, err := build.Run(context.Background(), build.Options{Source: options.Source{Model: iris},
			Hardware: options.Hardware{Board: "pynq-z1", Backend: c.backend}, Goal: options.Goal{FPS: 100},
			Verification: options.Verification{NoCSim: true, Verify: 1},
			OutputFolder: options.OutputFolder{Out: out}}, &d)
		if err != nil || r == nil {
			t.Fatalf("%q: %v\n%v", c.backend, err, d.WithStrictApplied())
		}
		for folder, want := range map[string]bool{"hls": c.hls, "rtl": c.rtl} {
			files, err := filepath.Glob(filepath.Join(out, folder, "*"))
			if err != nil || (len(files) > 0) != want {
				t.Errorf("%q: %s has %d files: %v", c.backend, folder, len(files), err)
			}
		}
		if c.rtl && strings.Contains(strings.Join(r.Verified.Engines, " "), "rtl") {
			t.Errorf("%q: engine rtl has run, which --no-csim leaves out", c.backend)
		}
	}
}

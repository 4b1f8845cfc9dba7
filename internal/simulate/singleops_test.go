package simulate_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/tier"
)

// Every single-operator case that qonnx executes gives what qonnx gives, but those which a float32 executor of ours
// proves to be near ties.
func TestSingleOperators(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(tier.NeedsShared(t), "models", "qonnx_ops", "*.npz"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	near := 0
	for _, path := range paths {
		arrays, err := npy.ReadArrays(path)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		o := simulate.Options{Source: options.Source{Model: strings.TrimSuffix(path, "npz") + "onnx"},
			Engine: engines.EngineReference}
		for name, a := range arrays {
			b, err := npy.EncodeNPY(a)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, name+".npy")
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			switch {
			case strings.HasPrefix(name, "x") || strings.HasPrefix(name, "in"):
				o.Data = file
			case strings.HasPrefix(name, "y") || strings.HasPrefix(name, "out"):
				o.Compare = file
			}
		}
		var d diag.List
		r, err := simulate.Run(context.Background(), o, &d)
		switch {
		case err != nil || r == nil || r.Compare == nil:
			t.Errorf("%s: %v %v", path, err, d.Diags)
		case r.Compare.Differ > 0 || r.Compare.Equal+r.Compare.NearTies != r.Compare.Samples:
			t.Errorf("%s: %+v", path, r.Compare)
		case r.Compare.NearTies > 0:
			near++
		}
	}
	if near*4 > len(paths) {
		t.Errorf("%d of %d cases are near ties", near, len(paths))
	}
}

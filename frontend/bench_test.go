package frontend_test

import (
	"os"
	"path/filepath"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/diag"
	"hlsgen/internal/tier"
)

// BenchmarkImport reads and lowers a network of each family that takes the front end longest.
func BenchmarkImport(b *testing.B) {
	dir := tier.NeedsShared(b)
	for _, name := range []string{"bilstm-h32-w4a4", "mobilenetv1-025-w4a4"} {
		files, err := filepath.Glob(filepath.Join(dir, "models", "brevitas", name, "*.onnx"))
		if err != nil || len(files) == 0 {
			b.Fatalf("no model %s: %v", name, err)
		}
		onnx, err := os.ReadFile(files[0])
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var d diag.List
				im, err := frontend.Import(filepath.Base(files[0]), onnx, frontend.Options{}, &d)
				if err != nil || im.Model == nil {
					b.Fatal(err, d.Diags)
				}
			}
		})
	}
}

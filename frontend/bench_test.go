package frontend_test

import (
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/models"
)

// BenchmarkImport reads and lowers a network of each family that takes the front end longest.
func BenchmarkImport(b *testing.B) {
	for _, name := range []string{"bilstm-h32-w4a4", "digits-mobilenet-w4a4"} {
		onnx := models.Find(b, name).Read(b, "model.onnx")
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var d diag.List
				im, err := frontend.Import("model.onnx", onnx, frontend.Options{}, &d)
				if err != nil || im.Model == nil {
					b.Fatal(err, d.Diags)
				}
			}
		})
	}
}

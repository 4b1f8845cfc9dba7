package sweep

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"hlsgen/internal/build"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// imported reads a model; the test is skipped where it is one of the shared models and these are not there.
func imported(t testing.TB, name string) *dataflow.Model {
	t.Helper()
	path := ""
	if name != "" {
		shared := os.Getenv("HLSGEN_SHARED")
		if shared == "" {
			t.Skip("HLSGEN_SHARED is not set")
		}
		path = filepath.Join(shared, "models", filepath.FromSlash(name), "model.onnx")
	}
	var d diag.List
	c, err := build.Check(context.Background(), build.Options{Model: path}, &d)
	if err != nil || d.Failed() || c.Imported.Model == nil {
		t.Fatal(err, d.Diags)
	}
	return c.Imported.Model
}

// BenchmarkPoints is complete design points per second and processor: folded, certified, estimated, with their folding
// files. One is a rate on a board at a clock; a front's points are found together.
func BenchmarkPoints(b *testing.B) {
	for _, c := range []struct {
		name, model string
		rates       []float64
	}{
		{"TFC", "zoo/TFC_1W1A", []float64{1e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6}},
		{"MobileNet-v1", "brevitas/mobilenetv1-025-w4a4", []float64{10, 20, 50, 100, 200, 400}},
	} {
		for _, front := range []int{0, 64} {
			name := c.name + "/rates"
			if front > 0 {
				name = c.name + "/front"
			}
			b.Run(name, func(b *testing.B) {
				m := imported(b, c.model)
				o := Options{Boards: []string{"zcu104"}, Clocks: []float64{100, 200}, FPS: c.rates, Front: front}
				specs := o.plan(&diag.List{})
				points := 0
				b.ResetTimer()
				for b.Loop() {
					all := &spaces{model: m, made: map[string]*space{}}
					for _, s := range specs {
						found, err := s.search(context.Background(), all)
						if err != nil {
							b.Fatal(err)
						}
						points += len(found)
					}
				}
				b.ReportMetric(float64(points)/b.Elapsed().Seconds(), "points/s")
			})
		}
	}
}

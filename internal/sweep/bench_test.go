//go:build unix

package sweep

import (
	"context"
	"math"
	"path/filepath"
	"syscall"
	"testing"

	"hlsgen/folding"
	"hlsgen/internal/build"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/tier"
)

// imported reads a model; the test is skipped where it is one of the shared models and these are not there.
func imported(t testing.TB, name string) *dataflow.Model {
	t.Helper()
	shared := tier.NeedsShared(t)
	var d diag.List
	c, err := build.Check(context.Background(), build.Options{Model: filepath.Join(shared, "models", filepath.FromSlash(name), "model.onnx")}, &d)
	if err != nil || d.Failed() || c.Imported.Model == nil {
		t.Fatal(err, d.Diags)
	}
	return c.Imported.Model
}

// rates is n rates, each the same factor above the one before.
func rates(from, to float64, n int) (list []float64) {
	for i := range n {
		list = append(list, round(from*math.Pow(to/from, float64(i)/float64(n-1))))
	}
	return list
}

// used is the seconds that the process has computed.
func used(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkPoints is complete design points per second of one processor: folded, with their certificates, estimated, with
// their folding files. A point of rates is a search of its own; those of a front are found together. Layers are listed
// once per board and clock, and that is counted.
func BenchmarkPoints(b *testing.B) {
	for _, c := range []struct {
		name, model string
		rates       []float64
		front       int
	}{
		{"TFC/rates", "zoo/TFC_1W1A", rates(1e3, 1e6, 64), 0},
		{"TFC/front", "zoo/TFC_1W1A", []float64{1e3}, 64},
		{"MobileNet-v1/rates", "brevitas/mobilenetv1-025-w4a4", rates(5, 500, 24), 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := imported(b, c.model)
			o := Options{Boards: []string{"zcu104"}, Clocks: []float64{100, 200}, FPS: c.rates, Front: c.front, MaxUses: []folding.Use{{}, {LUT: 0.5, FF: 0.5, BRAM: 0.5, URAM: 0.5, DSP: 0.5}}}
			specs := o.plan(&diag.List{})
			points := 0
			b.ResetTimer()
			from := used(b)
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
			b.ReportMetric(float64(points)/(used(b)-from), "points/core-s")
		})
	}
}

//go:build unix

package sweep

import (
	"context"
	"math"
	"syscall"
	"testing"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// rates returns n rates, each the same factor above the one before.
func rates(from, to float64, n int) (list []float64) {
	for i := range n {
		list = append(list, round(from*math.Pow(to/from, float64(i)/float64(n-1))))
	}
	return list
}

// used returns the seconds of processor time of the process.
func used(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkPoints measures points per second of one processor: bounds without designs (--bound), and finished designs
// with sized FIFOs, certificates and folding files. A point of a list of rates is a search of its own; the points of a
// front are found together. Layers are listed once per board and clock, which counts, too.
func BenchmarkPoints(b *testing.B) {
	for _, c := range []struct {
		name, model string
		rates       []float64
		front       int
		bound       bool
	}{
		{"TFC/bounds", "zoo/TFC_1W1A", rates(1e3, 1e6, 256), 0, true},
		{"TFC/rates", "zoo/TFC_1W1A", rates(1e3, 1e6, 64), 0, false},
		{"TFC/front", "zoo/TFC_1W1A", []float64{1e3}, 64, false},
		{"MobileNet-v1/bounds", "brevitas/mobilenetv1-025-w4a4", rates(5, 500, 48), 0, true},
		{"MobileNet-v1/rates", "brevitas/mobilenetv1-025-w4a4", rates(5, 500, 4), 0, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := imported(b, c.model)
			o := Options{Boards: []string{"zcu104"}, Clocks: []float64{100, 200}, FPS: c.rates, Front: c.front,
				Bound: c.bound, MaxUses: []folding.MaxUseFractions{{}, half}}
			specs := o.plan(&diag.List{})
			var points, proved int
			b.ResetTimer()
			from := used(b)
			for b.Loop() {
				all := &spaces{models: map[made]*dataflow.Model{{samples: 1}: m}, made: map[string]*space{}}
				for _, s := range specs {
					found, err := s.search(context.Background(), all)
					if err != nil {
						b.Fatal(err)
					}
					for _, p := range found {
						if points++; (p.Status == PointStatusBoundsOnly) != c.bound {
							b.Fatalf("%+v", p)
						}
						if p.Proved {
							proved++
						}
					}
				}
			}
			b.ReportMetric(float64(points)/(used(b)-from), "points/core-s")
			if !c.bound {
				b.ReportMetric(100*float64(proved)/float64(points), "%proved")
			}
		})
	}
}

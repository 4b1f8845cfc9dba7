package float_test

import (
	"syscall"
	"testing"

	"hlsgen/frontend/float"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/onnxio/onnxtest"
	"hlsgen/internal/diag"
)

// BenchmarkConvolutions runs convolutions as networks have them, on one processor, and says how many products a second
// of it makes.
func BenchmarkConvolutions(b *testing.B) {
	for _, bench := range []struct {
		name                          string
		in, out, side, kernel, groups int
	}{
		{"3x3", 64, 64, 56, 3, 1}, {"1x1", 128, 256, 28, 1, 1}, {"depthwise", 128, 128, 56, 3, 128},
		{"deep", 512, 512, 7, 3, 1}, {"dense", 2048, 1000, 1, 1, 1},
	} {
		b.Run(bench.name, func(b *testing.B) {
			m := onnxtest.New(17).Input("x", graph.Float32, 1, bench.in, bench.side, bench.side)
			m.Output("y", graph.Float32)
			shape := []int{bench.out, bench.in / bench.groups, bench.kernel, bench.kernel}
			m.Init("w", graph.Float32, shape, make([]float64, graph.Size(shape))...)
			edge := int64(bench.kernel / 2)
			m.Node("Conv", "x", "w").Int("group", int64(bench.groups)).Ints("pads", edge, edge, edge, edge).Out("y")
			var d diag.List
			p := graph.Prepare(onnxio.Read("m.onnx", m.Bytes(), &d), "m.onnx", graph.Options{}, &d)
			part, err := float.New(p, []string{"x"}, []string{"y"})
			if err != nil {
				b.Fatal(err)
			}
			in := make([]float64, bench.in*bench.side*bench.side)
			macs := float64(graph.Size(shape) * bench.side * bench.side)
			spent := used()
			for b.Loop() {
				if err := part.Run([][]float64{in}, func(string, []int, []float64) {}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(macs*float64(b.N)/(used()-spent)/1e9, "GMAC/s")
		})
	}
}

// used is the seconds of processors that this process has used, however busy they are.
func used() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

package fast_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/fast"
	"hlsgen/internal/npy"
	"hlsgen/internal/testsupport/tier"
)

// imported returns a shared model and its samples as float32.
func imported(t testing.TB, folder, file, samples string) (*dataflow.Model, []float32) {
	t.Helper()
	dir := filepath.Join(tier.NeedsShared(t), "models", folder)
	onnx, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	var d diag.List
	im, err := frontend.Import(file, onnx, frontend.Options{}, &d)
	if err != nil || im == nil || im.Model == nil {
		t.Fatal(err, d.Diags)
	}
	arrays, err := npy.ReadArrays(filepath.Join(dir, samples))
	if err != nil {
		t.Fatal(err)
	}
	var x []float32
	for _, a := range arrays { // there is only one
		for _, v := range a.Data {
			x = append(x, float32(v))
		}
	}
	return im.Model, x
}

// cpuTime returns the CPU time that this process has used. Other processes do not affect it.
func cpuTime(b testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPredict measures PredictFromFloats, with float32 samples in and real numbers out, on one core. ns/MAC is the
// time per product with a weight.
func BenchmarkPredict(b *testing.B) {
	for _, c := range []struct{ folder, file, samples string }{
		{"zoo/TFC_1W1A", "model.onnx", "x0.npy"},
		{"zoo/TFC_2W2A", "model.onnx", "x0.npy"},
		{"zoo/kwsmlp_w3a3", "model.onnx", "x0.npy"},
		{"zoo/espcn_nn_resize", "model.onnx", "x0.npz"},
		{"brevitas/digits-cnn-w4a4", "model.onnx", "inputs.npy"},
		{"brevitas/cnv-w2a2", "model.onnx", "inputs.npy"},
		{"brevitas/mobilenetv1-025-w4a4", "model.onnx", "inputs.npy"},
	} {
		b.Run(filepath.Base(c.folder), func(b *testing.B) {
			m, x := imported(b, c.folder, c.file, c.samples)
			p, err := fast.CompileGraph(m.Graph)
			if err != nil {
				b.Fatal(err)
			}
			e, ok := p.NewHostTables(m)
			if !ok {
				b.Skip("the ends are no tables of bytes")
			}
			w := p.NewWorker()
			each := dataflow.Shape(m.In[0].Shape).ElementCount()
			n := p.Batch
			for len(x) < n*each {
				x = append(x, x...)
			}
			out := [][]float64{make([]float64, n*dataflow.Shape(m.Out[0].Shape).ElementCount())}
			in := [][]float32{x[:n*each]}
			b.ReportAllocs()
			before := cpuTime(b)
			for b.Loop() {
				w.PredictFromFloats(e, in, out, n)
			}
			frames := float64(b.N) * float64(n)
			ns := float64(cpuTime(b)-before) / frames
			b.ReportMetric(ns, "cpu-ns/frame")
			b.ReportMetric(ns/float64(p.MACs), "ns/MAC")
			b.ReportMetric(float64(p.BufferBytesPerFrame()), "B/frame")
		})
	}
}

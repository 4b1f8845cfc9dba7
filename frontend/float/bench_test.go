package float_test

import (
	"syscall"
	"testing"

	"hlsgen/frontend/float"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/frontend/operators"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/onnxtest"
)

// BenchmarkConvolutions runs convolutions as networks have them, and dense layers as convolutions.
func BenchmarkConvolutions(b *testing.B) {
	for _, bench := range []struct {
		name                                  string
		in, out, side, kernel, stride, groups int
	}{
		{"3x3", 64, 64, 56, 3, 1, 1}, {"1x1", 128, 256, 28, 1, 1, 1}, {"deep", 512, 512, 7, 3, 1, 1},
		{"dense", 2048, 1000, 1, 1, 1, 1}, {"depthwise", 128, 128, 56, 3, 1, 128},
		{"depthwise-small", 512, 512, 14, 3, 1, 512}, {"depthwise-smallest", 960, 960, 7, 5, 1, 960},
		{"depthwise-apart", 96, 96, 112, 3, 2, 96},
	} {
		b.Run(bench.name, func(b *testing.B) {
			shape := []int{bench.out, bench.in / bench.groups, bench.kernel, bench.kernel}
			m := modelOf([]int{1, bench.in, bench.side, bench.side}, shape)
			edge, s := int64(bench.kernel/2), int64(bench.stride)
			m.Node("Conv", "x", "w").Int("group", int64(bench.groups)).Ints("pads", edge, edge, edge, edge).
				Ints("strides", s, s).Out("y")
			side := (bench.side + bench.stride - 1) / bench.stride
			measure(b, m, graph.ElementCount(shape)*side*side)
		})
	}
}

// BenchmarkDense runs products of one vector, and of some, with matrices.
func BenchmarkDense(b *testing.B) {
	for _, bench := range []struct {
		name             string
		vectors, in, out int
		gemm             bool
	}{
		{"matmul", 1, 2048, 1000, false}, {"gemm", 1, 512, 1000, true}, {"gemm-wide", 1, 1280, 1000, true},
		{"two", 2, 1280, 1000, true}, {"sequence", 50, 256, 1024, false},
	} {
		b.Run(bench.name, func(b *testing.B) {
			shape := []int{bench.in, bench.out}
			if bench.gemm {
				shape = []int{bench.out, bench.in}
			}
			m := modelOf([]int{bench.vectors, bench.in}, shape)
			if bench.gemm {
				m.Node("Gemm", "x", "w").Int("transB", 1).Out("y")
			} else {
				m.Node("MatMul", "x", "w").Out("y")
			}
			measure(b, m, bench.vectors*bench.in*bench.out)
		})
	}
}

// BenchmarkLSTM runs an LSTM over a sequence.
func BenchmarkLSTM(b *testing.B) {
	const steps, in, units = 50, 128, 256
	m := modelOf([]int{steps, 1, in}, []int{1, 4 * units, in})
	m.Init("r", graph.DTypeFloat32, []int{1, 4 * units, units}, make([]float64, 4*units*units)...)
	m.Node("LSTM", "x", "w", "r").Int("hidden_size", units).Out("y")
	measure(b, m, steps*4*units*(in+units))
}

// modelOf is a model of an input x, weights w and an output y.
func modelOf(x, w []int) *onnxtest.Model {
	dims := make([]any, len(x))
	for i, n := range x {
		dims[i] = n
	}
	m := onnxtest.New(17).Input("x", graph.DTypeFloat32, dims...)
	m.Output("y", graph.DTypeFloat32)
	return m.Init("w", graph.DTypeFloat32, w, make([]float64, graph.ElementCount(w))...)
}

// measure runs a model on one processor, and says how many of its products a second of it makes.
func measure(b *testing.B, m *onnxtest.Model, macs int) {
	var d diag.List
	g := onnxio.ParseGraph("m.onnx", m.Bytes(), &d)
	operators.DecomposeOperators(g)
	p := operators.Prepare(g, "m.onnx", operators.Options{}, &d)
	if p == nil {
		b.Fatal(d.Diags)
	}
	part, err := float.NewEvaluator(p, []string{"x"}, []string{"y"})
	if err != nil {
		b.Fatal(err)
	}
	in := make([]float64, graph.ElementCount(p.Known["x"].Shape))
	spent := used()
	for b.Loop() {
		if err := part.Run([][]float64{in}, func(string, []int, []float64) {}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(macs)*float64(b.N)/(used()-spent)/1e9, "GMAC/s")
}

// used is the seconds of processors that this process has used, however busy they are.
func used() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

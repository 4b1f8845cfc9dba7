package frontend_test

import (
	"math"
	"slices"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
)

// TestOtherNames reads other spellings of tools: QONNX's quantiser in a domain called qonnx, PULP's in that of
// onnxruntime's extensions, nodes that do nothing, chains of casts, and a list with one number for two axes.
func TestOtherNames(t *testing.T) {
	t.Parallel()
	cast := func(n *net, x, y string, types ...graph.DType) {
		for i, dt := range types {
			out := y
			if i < len(types)-1 {
				out = y + dt.String()
			}
			n.op("Cast", out, x).Int("to", int64(dt))
			x = out
		}
	}
	round := func(x float64) float64 { return clip(math.RoundToEven(x/0.5), -8, 7) * 0.5 }
	for _, tt := range []struct {
		name  string
		write func(n *net) // x, of 3 elements, to q
		value func(x float64) float64
	}{
		{"qonnx", func(n *net) {
			n.Node("Quant", "x", n.s(0.5), n.s(0), n.s(4)).Domain("qonnx").Int("signed", 1).Out("q")
		}, round},
		{"ai.onnx.contrib", func(n *net) {
			n.quant("x", "p", n.s(1), 0, 8, 1).Node("RequantShift", "p", n.s(3), n.s(1)).Domain("ai.onnx.contrib").
				Int("div", 4).Int("signed", 1).Int("n_levels_out", 16).Out("q")
		}, func(x float64) float64 {
			return clip(math.Floor((clip(math.RoundToEven(x), -128, 127)*3+1)/4+0.5), -8, 7)
		}},
		{"nothing done", func(n *net) {
			n.quant("x", "a", n.s(0.5), 0, 4, 1).op("Identity", "b", "a").op("Dropout", "c", "b")
			n.Node("DebugMarker", "c").Domain("qonnx.custom_op.general").Str("export_debug_name", "q").Out("q")
		}, round},
		{"casts", func(n *net) {
			n.Init("z", graph.DTypeInt8, nil, 0).op("QuantizeLinear", "a", "x", n.s(0.5), "z")
			cast(n, "a", "q", graph.DTypeInt64, graph.DTypeInt32, graph.DTypeFloat64, graph.DTypeFloat16,
				graph.DTypeFloat32)
		}, func(x float64) float64 { return clip(math.RoundToEven(x/0.5), -128, 127) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := newNet(13).Input("x", graph.DTypeFloat32, 1, 3)
			tt.write(n)
			n.op("MatMul", "y", "q", n.c([]int{3, 4}, weights...)).output(1, 4)
			im, d := imported(t, n, frontend.Options{})
			if im.Model == nil {
				t.Fatal(d)
			}
			if got := kinds(im); got != "MVAU" && got != "Thresholding MVAU" && got != "Requant MVAU" {
				t.Errorf("layers %s", got)
			}
			x := []float64{1.3, -2.6, 40}
			want := make([]float64, 4)
			for i := range x {
				for c := range want {
					want[c] += tt.value(x[i]) * weights[4*i+c]
				}
			}
			if got := outcome(t, im, x, 1, 3); !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
	n := newNet(13).Input("x", graph.DTypeFloat32, 1, 1, 4, 4).quant("x", "q", "one", 0, 4, 1)
	n.Init("one", graph.DTypeFloat32, nil, 1).op("MaxPool", "m", "q").Ints("kernel_shape", 2, 2).Ints("strides", 2, 2).
		Ints("dilations", 1).op("Conv", "y", "m", n.c([]int{1, 1, 1, 1}, 3)).output(1, 1, 2, 2)
	im, d := imported(t, n, frontend.Options{})
	if im.Model == nil {
		t.Fatal(d)
	}
	x := []float64{1, 2, 3, 4, 5, 6, 7, -1, -2, -3, -4, -5, -6, -7, -8, 0}
	if got := outcome(t, im, x, 1, 1, 4, 4); !slices.Equal(got, []float64{18, 21, -6, 0}) {
		t.Errorf("a pool with one dilation gives %v", got)
	}
}

// outcome is the one output of a model, by its integer network and by its reference, which have to agree.
func outcome(t *testing.T, im *frontend.ImportedModel, x []float64, shape ...int) []float64 {
	t.Helper()
	in := []dataflow.RealTensor{{Shape: shape, Data: x}}
	y, _ := run(t, im.Model, in)
	want, err := im.Model.Reference(in)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(y[0].Data, want[0].Data) {
		t.Errorf("the network gives %v, the model %v", y[0].Data, want[0].Data)
	}
	return want[0].Data
}

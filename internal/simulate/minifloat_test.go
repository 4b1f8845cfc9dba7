package simulate_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/check"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

// A floatFormat is exponent and mantissa bits, the bias and the largest value.
type floatFormat struct{ exponent, mantissa, bias, top float64 }

// floatImages is a network of images in a minifloat format: a padded convolution, a depthwise one, a maximum, a matrix.
func floatImages(f floatFormat, r *rand.Rand) []byte {
	const qonnx = "qonnx.custom_op.general"
	m := onnxtest.New(13).Opset(qonnx, 1).Input("x", graph.DTypeFloat32, 1, 2, 6, 6).Output("y", graph.DTypeFloat32, 1,
		3)
	m.Init("e", graph.DTypeFloat32, nil, f.exponent).Init("m", graph.DTypeFloat32, nil, f.mantissa)
	m.Init("bias", graph.DTypeFloat32, nil, f.bias).Init("top", graph.DTypeFloat32, nil, f.top)
	quant := func(x string, scale float64) string {
		m.Init(x+"s", graph.DTypeFloat32, nil, scale)
		m.Node("FloatQuant", x, x+"s", "e", "m", "bias", "top").Domain(qonnx).Int("saturation", 1).
			Str("rounding_mode", "ROUND").Out(x + "q")
		return x + "q"
	}
	weights := func(name string, shape ...int) string {
		n := 1
		for _, s := range shape {
			n *= s
		}
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(float32(r.NormFloat64() * math.Exp(2*r.NormFloat64())))
		}
		m.Init(name, graph.DTypeFloat32, shape, values...)
		return quant(name, 0.125)
	}
	m.Node("Conv", quant("x", 0.25), weights("w0", 4, 2, 3, 3)).Ints("pads", 1, 1, 1, 1).Out("c0")
	m.Node("Relu", "c0").Out("r0")
	m.Node("Conv", quant("r0", 1), weights("w1", 4, 1, 3, 3)).Int("group", 4).Ints("pads", 1, 1, 1, 1).Out("c1")
	m.Node("MaxPool", quant("c1", 2)).Ints("kernel_shape", 3, 3).Ints("strides", 3, 3).Out("p")
	m.Node("Flatten", "p").Out("f")
	m.Node("MatMul", "f", weights("w2", 16, 3)).Out("y")
	return m.Bytes()
}

// TestFloatImages has convolutions of minifloats in every engine: held as integers, and as codes on the streams.
func TestFloatImages(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]floatFormat{
		"E2M1": {2, 1, 1, 6}, "E3M2": {3, 2, 3, 28}, "E4M3": {4, 3, 7, 448}, "E5M2": {5, 2, 15, 57344},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(7, uint64(f.exponent)))
			o := simulate.Options{Source: options.Source{Model: samplefiles.WriteFile(t, "floats.onnx", floatImages(f,
				r))}, Engine: engines.EngineReference}
			x := make([]float64, 4*2*6*6)
			for i := range x {
				x[i] = float64(float32(r.NormFloat64() * math.Exp(r.NormFloat64())))
			}
			o.Data = samplefiles.Write(t, &npy.Array{DType: "float32", Shape: []int{4, 2, 6, 6}, Data: x})
			list := []engines.EngineName{engines.EngineFast, engines.EngineEval, engines.EngineCycle}
			if !tier.Quick() {
				tier.Needs(t, "g++")
				list = append(list, engines.EngineCSim)
				if name == "E4M3" {
					tier.Needs(t, "verilator")
					list = append(list, engines.EngineRTL)
				}
			}
			simtest.Agree(t, list, o, simtest.RunOK(t, o).Outputs)
		})
	}
}

// floatSums is a sum of n products of minifloats, whose weights are the least of the format and then its largest.
func floatSums(f floatFormat, n int) []byte {
	const qonnx = "qonnx.custom_op.general"
	m := onnxtest.New(13).Opset(qonnx, 1).Input("x", graph.DTypeFloat32, 1, n).Output("y", graph.DTypeFloat32, 1, 1)
	m.Init("e", graph.DTypeFloat32, nil, f.exponent).Init("m", graph.DTypeFloat32, nil, f.mantissa)
	m.Init("bias", graph.DTypeFloat32, nil, f.bias).Init("top", graph.DTypeFloat32, nil, f.top).Init("one",
		graph.DTypeFloat32, nil, 1)
	values := make([]float64, n)
	for i := range values {
		values[i] = f.top
	}
	values[0] = math.Ldexp(1, int(1-f.bias-f.mantissa))
	m.Init("w", graph.DTypeFloat32, []int{n, 1}, values...)
	for _, name := range []string{"x", "w"} {
		m.Node("FloatQuant", name, "one", "e", "m", "bias", "top").Domain(qonnx).Int("saturation", 1).
			Str("rounding_mode", "ROUND").Out(name + "q")
	}
	m.Node("MatMul", "xq", "wq").Out("y")
	return m.Bytes()
}

// TestFloatSums has sums of minifloats that no accumulator holds, and those beside them that one does.
func TestFloatSums(t *testing.T) {
	t.Parallel()
	const wide, fewer = "takes more than 63 bits", "use minifloats of fewer exponent bits"
	for _, c := range []struct {
		name  string
		f     floatFormat
		n     int
		says  string // empty where it is built
		hints string
	}{
		{"E4M3", floatFormat{4, 3, 7, 448}, 4608, "", ""},
		{"E5M0, two products", floatFormat{5, 0, 15, 65536}, 2, "", ""},
		{"E5M0", floatFormat{5, 0, 15, 65536}, 4608, wide, fewer},
		{"E5M2, one power of two", floatFormat{5, 2, 15, 57344}, 1, "", ""},
		{"E5M2, two products", floatFormat{5, 2, 15, 57344}, 2, wide, fewer},
		{"E6M1", floatFormat{6, 1, 31, math.Ldexp(1.5, 32)}, 2, "whole numbers of more than 32 bits",
			"fewer exponent bits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var d diag.List
			_, err := check.Run(t.Context(), check.Options{Source: options.Source{Model: samplefiles.WriteFile(t,
				"floats.onnx", floatSums(c.f,
					c.n))}}, &d)
			switch {
			case err != nil:
				t.Fatal(err)
			case c.says == "":
				if d.HasErrors() {
					t.Error(d.Diags)
				}
			case len(d.Diags) != 1 || !strings.Contains(d.Diags[0].Msg, c.says) ||
				!strings.Contains(d.Diags[0].Hint, c.hints):
				t.Errorf("%v, want one that says %q and hints %q", d.Diags, c.says, c.hints)
			}
		})
	}
}

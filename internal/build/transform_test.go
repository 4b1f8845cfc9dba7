package build

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
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

// spectral is a network behind a Fourier transform that is a convolution, with a softmax written out at its end. With
// rectified, a Relu follows the convolution, as one that was trained.
func spectral(rectified bool) []byte {
	const window, bins, classes = 8, 5, 3
	r := rand.New(rand.NewPCG(2, 3))
	m := onnxtest.New(14).Input("x", graph.DTypeFloat32, 1, 1, 32).Output("y", graph.DTypeFloat32)
	var basis []float64
	for _, shift := range []float64{0, math.Pi / 2} {
		for k := range bins {
			for i := range window {
				basis = append(basis, float64(float32(math.Cos(2*math.Pi*float64(k*i)/window+shift))))
			}
		}
	}
	m.Init("basis", graph.DTypeFloat32, []int{2 * bins, 1, window}, basis...)
	m.Node("Conv", "x", "basis").Ints("strides", 4).Name("transform").Out("waves")
	if rectified {
		m.Node("Relu", "waves").Out("features")
	} else {
		m.Init("two", graph.DTypeFloat32, nil, 2).Init("some", graph.DTypeFloat32, nil, 1e-6)
		m.Node("Pow", "waves", "two").Out("squares")
		m.Node("Add", "squares", "some").Out("power")
		m.Node("Log", "power").Out("features")
	}
	weights := func(name string, shape ...int) string {
		list := make([]float64, graph.ElementCount(shape))
		for i := range list {
			list[i] = float64(float32(0.3 * r.NormFloat64()))
		}
		m.Init(name, graph.DTypeFloat32, shape, list...)
		return name
	}
	m.Node("Conv", "features", weights("w", 6, 2*bins, 3)).Name("trained").Out("sums")
	m.Node("Relu", "sums").Out("hidden")
	m.Node("Flatten", "hidden").Out("flat")
	m.Node("MatMul", "flat", weights("v", 30, classes)).Out("scores")
	m.Init("axis", graph.DTypeInt64, []int{1}, 1)
	m.Node("ReduceMax", "scores").Ints("axes", 1).Out("most")
	m.Node("Sub", "scores", "most").Out("shifted")
	m.Node("Exp", "shifted").Out("terms")
	m.Node("ReduceSum", "terms", "axis").Out("sum")
	m.Node("Div", "terms", "sum").Out("y")
	return m.Bytes()
}

// looked is a network of bytes: a one-hot of each, a dense layer of these, and one of all.
func looked() []byte {
	const bytes, values, width = 6, 9, 4
	r := rand.New(rand.NewPCG(4, 3))
	m := onnxtest.New(14).Input("x", graph.DTypeInt32, 1, bytes).Output("y", graph.DTypeFloat32)
	weights := func(name string, shape ...int) string {
		list := make([]float64, graph.ElementCount(shape))
		for i := range list {
			list[i] = float64(float32(0.5 * r.NormFloat64()))
		}
		m.Init(name, graph.DTypeFloat32, shape, list...)
		return name
	}
	m.Init("axis", graph.DTypeInt64, []int{1}, 2)
	var all []float64
	for i := range values {
		all = append(all, float64(i))
	}
	m.Init("all", graph.DTypeInt32, []int{1, 1, values}, all...)
	m.Node("Unsqueeze", "x", "axis").Out("each")
	m.Node("Equal", "each", "all").Out("is")
	m.Node("Cast", "is").Int("to", int64(graph.DTypeFloat32)).Out("hot")
	m.Node("MatMul", "hot", weights("w", values, width)).Name("table").Out("rows")
	m.Node("Relu", "rows").Out("hidden")
	m.Node("Flatten", "hidden").Out("flat")
	m.Node("MatMul", "flat", weights("v", bytes*width, 3)).Out("y")
	return m.Bytes()
}

// TestCalibrateHost holds what a calibration leaves to the host, and how it is told of.
func TestCalibrateHost(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(5, 6))
	waves, bytes := &npy.Array{DType: "float32", Shape: []int{20, 1, 32}}, &npy.Array{DType: "int32",
		Shape: []int{20, 6}}
	for range 20 * 32 {
		waves.Data = append(waves.Data, float64(float32(r.NormFloat64())))
	}
	for range 20 * 6 {
		bytes.Data = append(bytes.Data, float64(r.IntN(9)))
	}
	for name, c := range map[string]struct {
		model   []byte
		samples *npy.Array
		says    []string
		layers  int // with weights
		outside bool
	}{
		"a transform": {spectral(false), waves, []string{`Conv "transform": 560 MACs a sample`, "a fixed transform",
			"2 of 2 quantisers of activations and 2 of 2 tensors of weights"}, 2, true},
		"a layer": {spectral(true), waves, []string{"3 of 3 quantisers of activations and 3 of 3 tensors of weights"},
			3, false},
		"a one-hot": {looked(), bytes, []string{`MatMul "table" looks rows of a table up, on the device: of 54 ones ` +
			"and zeros that the host makes of integers, 216 MACs a sample"}, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Source: options.Source{Model: samplefiles.WriteFile(t, "m.onnx", c.model),
				Quantisation: options.Quantisation{Calibrate: samplefiles.Write(t, c.samples),
					SaveModel: t.TempDir() + "/q.onnx"},
				SampleFiles: options.SampleFiles{Data: samplefiles.Write(t, c.samples)}},
				Hardware: options.Hardware{Board: "zcu104"},
				Goal:     options.Goal{Interval: 2000}, Verification: options.Verification{NoCSim: true, Verify: 3}}
			res, list := told(t, o)
			text := fmt.Sprint(list)
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("nobody says %q: %s", want, text)
				}
			}
			weighted := 0
			for _, n := range res.Imported.Model.Graph.Nodes {
				if n.Op.Kind() == "MVAU" {
					weighted++
				}
			}
			if weighted != c.layers {
				t.Errorf("%d layers have weights, want %d", weighted, c.layers)
			}
			for _, x := range list {
				if (x.Code == diag.ProductsOnHost) != (c.outside && x.Code == diag.ProductsOnHost) {
					t.Error(x)
				}
			}
			simtest.SameByEngines(t, simulate.Options{Source: options.Source{Model: o.SaveModel,
				SampleFiles: options.SampleFiles{Data: o.Data}}},
				engines.EngineReference,
				engines.EngineFast, engines.EngineEval)
		})
	}
}

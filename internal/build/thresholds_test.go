package build

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/source"
	"hlsgen/internal/testsupport/maketest"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

// firstQuantisers is a network whose channels each have a quantiser of their own in front, behind a function that rises
// or falls, and nothing behind them but a product by a diagonal of small integers.
func firstQuantisers(t *testing.T, r *rand.Rand, of graph.DType, mode string, channels int) string {
	t.Helper()
	m := onnxtest.New(13).Opset("qonnx.custom_op.general", 2)
	m.Input("x", of, 1, channels)
	list := func(name string, draw func() float64) string {
		v := make([]float64, channels)
		for c := range v {
			v[c] = float64(float32(draw()))
		}
		m.Init(name, of, []int{1, channels}, v...)
		return name
	}
	pick := func(of ...float64) func() float64 { return func() float64 { return of[r.IntN(len(of))] } }
	if of == graph.DTypeFloat16 {
		list = func(name string, draw func() float64) string {
			v := make([]float64, channels)
			for c := range v {
				v[c] = of.FloatFormat().RoundToNearest(draw())
			}
			m.Init(name, of, []int{1, channels}, v...)
			return name
		}
	}
	last := "x"
	switch r.IntN(5) {
	case 0:
		m.Node("Mul", last, list("by", func() float64 { return r.NormFloat64() })).Out("front")
		last = "front"
	case 1:
		m.Node("Add", last, list("by", func() float64 { return r.NormFloat64() })).Out("front")
		last = "front"
	case 2:
		m.Node("Tanh", last).Out("front")
		last = "front"
	case 3:
		m.Node("LeakyRelu", last).Float("alpha", 0.25).Out("front")
		last = "front"
	}
	m.Node("Quant", last, list("scale", func() float64 { return math.Exp(r.NormFloat64() - 1) }),
		list("zero", pick(0, 0, 1, 0.5, 1.5, -2, -0.5, 3)), "bits").Domain("qonnx.custom_op.general").
		Int("signed", 1).Int("narrow", 0).Str("rounding_mode", mode).Out("q")
	m.Init("bits", of, nil, 4)
	w := make([]float64, channels*channels)
	for c := range channels {
		w[c*channels+c] = float64(r.IntN(3) + 1)
	}
	m.Init("w", of, []int{channels, channels}, w...)
	m.Node("MatMul", "q", "w").Out("y")
	m.Output("y", of, 1, channels)
	path := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(path, m.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// met are samples that meet all thresholds of a model's input, as an array of a type; where that has more digits than
// the input, some lie beside the input's numbers.
func met(t *testing.T, model, dtype string) *npy.Array {
	t.Helper()
	var d diag.List
	src := source.ReadModelFile(model, &d)
	samplefiles.WantClean(t, &d, nil)
	im, err := source.ImportModel(options.Source{}, src, &d)
	samplefiles.WantClean(t, &d, err)
	of := im.Model.In[0]
	a := &npy.Array{DType: dtype}
	for in := range im.Model.Host().ProbeSamples(im.Model.In) {
		for i, v := range in[0].Data {
			if f := of.NumberFormat(); dtype == "float64" && of.DType != dtype && math.Abs(v) < f.Max {
				v += float64(i%3-1) * 0.49 * (f.NumberAtPosition(f.PositionOf(v)+1) - v)
			}
			a.Data = append(a.Data, v)
		}
	}
	n := dataflow.Shape(of.Shape).ElementCount()
	a.Shape = append([]int{len(a.Data) / n}, of.Shape[1:]...)
	return a
}

// TestFirstQuantisers has every engine, and the drivers in Python and in C++, compute what engine reference does where
// samples lie at thresholds of the first quantiser, at the numbers beside them and at both zeros: for all rounding
// modes, inputs of float32, float64 and float16, and files of float32 and of float64.
func TestFirstQuantisers(t *testing.T) {
	t.Parallel()
	modes := []string{"FLOOR", "ROUND", "CEIL", "HALF_UP", "DOWN", "UP", "HALF_DOWN"}
	types := []graph.DType{graph.DTypeFloat32, graph.DTypeFloat64, graph.DTypeFloat16}
	n, channels := 3, 8
	if tier.Long() {
		n, channels = 21, 64
	}
	for i := range n {
		of, mode := types[i%len(types)], modes[i%len(modes)]
		t.Run(fmt.Sprint(i, of, mode), func(t *testing.T) {
			t.Parallel()
			tools := tier.Needs(t, "make", "g++", "numpy")
			r := rand.New(rand.NewPCG(uint64(i), 7))
			o := Options{Source: options.Source{Model: firstQuantisers(t, r, of, mode, channels)},
				Hardware: options.Hardware{Board: "zcu104"}, Goal: options.Goal{Interval: 1000},
				Verification: options.Verification{NoCSim: true, Verify: 4},
				OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out")}}
			files := []string{of.String(), "float64"}
			for _, file := range slices.Compact(files) {
				if file == "float16" {
					file = "float32" // the values are those of float16
				}
				sim := simulate.Options{Source: options.Source{Model: o.Model,
					SampleFiles: options.SampleFiles{Data: samplefiles.Write(t, met(t, o.Model,
						file))}}, OutputFileOptions: simulate.OutputFileOptions{Output: filepath.Join(t.TempDir(),
					"y.npy")},
					Engine: engines.EngineReference}
				want := simtest.RunOK(t, sim)
				simtest.Agree(t, []engines.EngineName{engines.EngineFast, engines.EngineEval, engines.EngineCycle,
					engines.EngineCSim}, sim,
					want.Outputs)
				o.Data = sim.Data
				var d diag.List
				r, err := Run(context.Background(), o, &d)
				if samplefiles.WantClean(t, &d, err); r.NoDriver != "" {
					t.Fatal(r.NoDriver)
				}
				lib := maketest.Library(t, filepath.Join(o.Out, "hls"), "lib", "CXXFLAGS=-O1")
				said, err := exec.CommandContext(context.Background(), tools[2], "testdata/thresholds.py",
					filepath.Join(o.Out, "deploy"), lib, sim.Data, sim.Output).CombinedOutput()
				if err != nil || !strings.Contains(string(said), "PASS ") {
					t.Errorf("%v\n%.2000s", err, said)
				}
				o.Force = true
			}
		})
	}
}

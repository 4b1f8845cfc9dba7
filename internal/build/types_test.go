package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/maketest"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

// ending is a small network that ends in a Cast to a type, and declares its output as another.
func ending(t *testing.T, to, declared graph.DType) string {
	t.Helper()
	m := onnxtest.New(21).Opset("qonnx.custom_op.general", 2)
	m.Input("x", graph.DTypeFloat32, 1, 4)
	m.Init("scale", graph.DTypeFloat32, nil, float64(float32(0.3))).Init("zero", graph.DTypeFloat32, nil, 0)
	m.Init("bits", graph.DTypeFloat32, nil, 4)
	m.Node("Quant", "x", "scale", "zero", "bits").Domain("qonnx.custom_op.general").
		Int("signed", 1).Int("narrow", 0).Str("rounding_mode", "ROUND").Out("q")
	m.Init("w", graph.DTypeFloat32, []int{4, 4}, 1, 0, 0, 2, 0, 3, 0, 0, 0, 0, 2, 1, 1, 0, 0, 1)
	m.Node("MatMul", "q", "w").Out("sum")
	m.Node("Cast", "sum").Int("to", int64(to)).Out("y")
	m.Output("y", declared, 1, 4)
	path := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(path, m.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOutputTypes has outputs of every type of numbers written, the same by every engine and by the driver, as the type
// that NumPy has for them; what cannot be written, and what the file contradicts, is refused before anything is done.
func TestOutputTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		to, declared graph.DType
		file         string // type of the array
		refused      diag.Code
	}{
		{graph.DTypeFloat32, graph.DTypeFloat32, "float32", ""},
		{graph.DTypeFloat64, graph.DTypeFloat64, "float64", ""},
		{graph.DTypeFloat16, graph.DTypeFloat16, "float16", ""},
		{graph.DTypeBFloat16, graph.DTypeBFloat16, "float32", ""},
		{graph.DTypeInt8, graph.DTypeInt8, "int8", ""},
		{graph.DTypeFloat16, graph.DTypeFloat32, "", diag.ModelMalformed},
		{graph.DTypeFloat32, graph.DTypeInt64, "", diag.ModelMalformed},
		{graph.DTypeFloat8E5M2, graph.DTypeFloat8E5M2, "", diag.OpUnsupported},
	} {
		t.Run(c.to.String()+" as "+c.declared.String(), func(t *testing.T) {
			t.Parallel()
			o := Options{Source: options.Source{Model: ending(t, c.to, c.declared)},
				Hardware: options.Hardware{Board: "zcu104"},
				Goal:     options.Goal{Interval: 100}, Verification: options.Verification{NoCSim: true, Verify: 2},
				OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "out")}}
			if c.refused != "" {
				var d diag.List
				if r, err := Run(t.Context(), o, &d); err != nil || r != nil || d.Diags[0].Code != c.refused {
					t.Fatal(err, d.Diags)
				}
				return
			}
			in := &npy.Array{DType: "float32", Shape: []int{9, 4}}
			for i := range 36 {
				in.Data = append(in.Data, float64(i-18)/4)
			}
			sim := simulate.Options{Source: options.Source{Model: o.Model,
				SampleFiles: options.SampleFiles{Data: samplefiles.Write(t, in)}},
				OutputFileOptions: simulate.OutputFileOptions{Output: filepath.Join(t.TempDir(), "y.npy")},
				Engine:            engines.EngineReference}
			want := simtest.RunOK(t, sim)
			simtest.Agree(t, []engines.EngineName{engines.EngineFast, engines.EngineEval, engines.EngineCycle}, sim,
				want.Outputs)
			if got := samplefiles.Read(t, sim.Output); got.DType != c.file {
				t.Errorf("an array of %s, want %s", got.DType, c.file)
			}
			tools := tier.Needs(t, "make", "g++", "numpy")
			var d diag.List
			_, err := Run(t.Context(), o, &d)
			samplefiles.WantClean(t, &d, err)
			lib := maketest.Library(t, filepath.Join(o.Out, "hls"), "lib", "CXXFLAGS=-O1")
			said, err := exec.Command(tools[2], "testdata/thresholds.py", filepath.Join(o.Out, "deploy"), lib,
				sim.Data, sim.Output).CombinedOutput()
			if err != nil || !strings.Contains(string(said), "PASS ") {
				t.Errorf("%v\n%.2000s", err, said)
			}
		})
	}
}

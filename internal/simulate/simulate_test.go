package simulate_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/examples"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

func TestSimulateShapes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(samplefiles.Examples(t), examples.IrisName)
	x := samplefiles.Read(t, filepath.Join(dir, "inputs.npy"))
	for _, c := range []struct {
		in, out []int
	}{
		{[]int{1, 4}, []int{1, 3}},
		{[]int{3, 1, 4}, []int{3, 1, 3}},
		{[]int{3, 4}, []int{3, 3}},
	} {
		a := &npy.Array{DType: "float32", Shape: c.in}
		a.Data = x.Data[:a.ElementCount()]
		out := filepath.Join(t.TempDir(), "y.npy")
		input := samplefiles.Write(t, a)
		simtest.RunClean(t, simulate.Options{Source: options.Source{Model: filepath.Join(dir, "qcdq.onnx"),
			SampleFiles: options.SampleFiles{Data: input}}, Engine: engines.EngineEval,
			OutputFileOptions: simulate.OutputFileOptions{Output: out}})
		if y := samplefiles.Read(t, out); !slices.Equal(y.Shape, c.out) || y.DType != "float32" {
			t.Errorf("input %v gave %v of %s, want %v", c.in, y.Shape, y.DType, c.out)
		}
	}
}

// onIris asks for the iris network on its own samples.
func onIris(dir string, e engines.EngineName) simulate.Options {
	return simulate.Options{Source: options.Source{Model: filepath.Join(dir, "model.onnx"),
		SampleFiles: options.SampleFiles{
			Data: filepath.Join(dir, "inputs.npy")}}, Engine: e}
}

// TestSimulateEngines runs all engines of quantised models on the iris network; they must give the same bytes, and
// Brevitas' outputs.
func TestSimulateEngines(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(samplefiles.Examples(t), examples.IrisName)
	needs := map[engines.EngineName][]string{engines.EngineCSim: {"g++"}, engines.EngineRTL: {"verilator", "g++"},
		engines.EngineNetlist: {"yosys",
			"verilator", "g++"}}
	var first []float64
	for _, e := range engines.DocumentedEngines {
		if e.Name == engines.EngineFloat {
			continue
		}
		t.Run(string(e.Name), func(t *testing.T) {
			if programs := needs[e.Name]; programs != nil {
				tier.Needs(t, programs...)
			}
			o := onIris(dir, e.Name)
			o.Compare, o.Trace = filepath.Join(dir, "outputs.npy"), filepath.Join(t.TempDir(), "trace")
			r := simtest.RunClean(t, o)
			if first == nil {
				first = r.Outputs[0].Data
			}
			if !slices.Equal(first, r.Outputs[0].Data) {
				t.Errorf("other outputs than those of %s", engines.DocumentedEngines[0].Name)
			}
			if c := r.Compare; c.Differ != 0 || c.Equal+c.NearTies != c.Samples {
				t.Errorf("against Brevitas: %+v", *c)
			}
		})
	}
}

// TestCompareSeesErrors changes given outputs: none of the changes may pass as rounding or near tie.
func TestCompareSeesErrors(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(samplefiles.Examples(t), examples.IrisName)
	y := samplefiles.Read(t, filepath.Join(dir, "outputs.npy"))
	y.Data[4] *= 1.001  // sample 1
	y.Data[9] += 0.0625 // sample 3
	o := onIris(dir, engines.EngineEval)
	o.Compare = samplefiles.Write(t, y)
	if c := simtest.RunClean(t, o).Compare; c.Differ != 2 || c.First == "" {
		t.Errorf("two wrong samples gave %+v", *c)
	}
}

func TestTrace(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(samplefiles.Examples(t), examples.IrisName)
	trace := t.TempDir()
	for _, e := range []engines.EngineName{engines.EngineReference, engines.EngineEval} {
		o := onIris(dir, e)
		o.Trace = filepath.Join(trace, string(e))
		simtest.RunClean(t, o)
	}
	scales, err := filepath.Glob(filepath.Join(trace, "eval", "*.scale.npy"))
	if err != nil || len(scales) == 0 {
		t.Fatal("no stream was traced")
	}
	compared := 0
	for _, s := range scales {
		base := s[:len(s)-len(".scale.npy")]
		codes, scale, bias := samplefiles.Read(t, base+".npy"), samplefiles.Read(t, s), samplefiles.Read(t,
			base+".bias.npy")
		ref := filepath.Join(trace, "reference", filepath.Base(base)+".npy")
		if _, err := os.Stat(ref); err != nil {
			continue // a sum of products inside a Gemm has no tensor of its own
		}
		real := samplefiles.Read(t, ref)
		for i, v := range codes.Data {
			k := i % len(scale.Data)
			if got := scale.Data[k]*v + bias.Data[k]; got != real.Data[i] {
				t.Fatalf("%s element %d: code %v means %v, the model has %v", filepath.Base(base), i, v, got,
					real.Data[i])
			}
		}
		compared++
	}
	if compared < 2 {
		t.Errorf("only %d streams could be compared", compared)
	}
}

func TestSimulateRefuses(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(samplefiles.Examples(t), examples.IrisName)
	nan := func(v float64) float64 { return v / v }
	for name, a := range map[string]*npy.Array{
		"shape":   {DType: "float32", Shape: []int{2, 5}, Data: make([]float64, 10)},
		"nan":     {DType: "float32", Shape: []int{1, 4}, Data: []float64{0, nan(0), 0, 0}},
		"integer": {DType: "int8", Shape: []int{1, 4}, Data: make([]float64, 4)},
	} {
		o := onIris(dir, engines.EngineEval)
		o.Data = samplefiles.Write(t, a)
		if r, d := simtest.Run(t, o); r != nil || len(d.Diags) != 1 || d.Diags[0].Code != diag.InputDataInvalid {
			t.Errorf("%s: %v, want one %s", name, d.Diags, diag.InputDataInvalid)
		}
	}
}

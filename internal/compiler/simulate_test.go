package compiler

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/diag"
	"hlsgen/internal/examples"
	"hlsgen/internal/npy"
	"hlsgen/internal/testsupport/tier"
)

func TestSimulateShapes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(unpack(t), examples.IrisName)
	x := load(t, filepath.Join(dir, "inputs.npy"))
	for _, c := range []struct {
		in, out []int
	}{
		{[]int{1, 4}, []int{1, 3}},
		{[]int{3, 1, 4}, []int{3, 1, 3}},
		{[]int{3, 4}, []int{3, 3}},
	} {
		a := &npy.Array{DType: "float32", Shape: c.in}
		a.Data = x.Data[:a.Size()]
		out := filepath.Join(t.TempDir(), "y.npy")
		input := data(t, a)
		ran(t, SimOptions{Source: Source{Model: filepath.Join(dir, "qcdq.onnx"),
			SampleFiles: SampleFiles{Data: input}}, Engine: EngineEval, OutputFiles: OutputFiles{Output: out}})
		if y := load(t, out); !slices.Equal(y.Shape, c.out) || y.DType != "float32" {
			t.Errorf("input %v gave %v of %s, want %v", c.in, y.Shape, y.DType, c.out)
		}
	}
}

// onIris asks for the iris network on its own samples.
func onIris(dir string, e Engine) SimOptions {
	return simulationOf(Options{Source: Source{Model: filepath.Join(dir, "model.onnx")}}, e, filepath.Join(dir,
		"inputs.npy"))
}

// simulationOf asks for the model and the hardware of a build, on an engine and a file of samples.
func simulationOf(o Options, e Engine, samples string) SimOptions {
	s := SimOptions{Source: o.Source, Hardware: o.Hardware, Goal: o.Goal, Engine: e}
	s.Data = samples
	return s
}

// TestSimulateEngines runs all engines of quantised models on the iris network; they must give the same bytes, and
// Brevitas' outputs.
func TestSimulateEngines(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(unpack(t), examples.IrisName)
	needs := map[Engine][]string{EngineCSim: {"g++"}, EngineRTL: {"verilator", "g++"}, EngineNetlist: {"yosys",
		"verilator", "g++"}}
	var first []float64
	for _, e := range Engines {
		if e.Name == EngineFloat {
			continue
		}
		t.Run(string(e.Name), func(t *testing.T) {
			if programs := needs[e.Name]; programs != nil {
				tier.Needs(t, programs...)
			}
			o := onIris(dir, e.Name)
			o.Compare, o.Trace = filepath.Join(dir, "outputs.npy"), filepath.Join(t.TempDir(), "trace")
			r := ran(t, o)
			if first == nil {
				first = r.Outputs[0].Data
			}
			if !slices.Equal(first, r.Outputs[0].Data) {
				t.Errorf("other outputs than those of %s", Engines[0].Name)
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
	dir := filepath.Join(unpack(t), examples.IrisName)
	y := load(t, filepath.Join(dir, "outputs.npy"))
	y.Data[4] *= 1.001  // sample 1
	y.Data[9] += 0.0625 // sample 3
	o := onIris(dir, EngineEval)
	o.Compare = data(t, y)
	if c := ran(t, o).Compare; c.Differ != 2 || c.First == "" {
		t.Errorf("two wrong samples gave %+v", *c)
	}
}

func TestTrace(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(unpack(t), examples.IrisName)
	trace := t.TempDir()
	for _, e := range []Engine{EngineReference, EngineEval} {
		o := onIris(dir, e)
		o.Trace = filepath.Join(trace, string(e))
		ran(t, o)
	}
	scales, err := filepath.Glob(filepath.Join(trace, "eval", "*.scale.npy"))
	if err != nil || len(scales) == 0 {
		t.Fatal("no stream was traced")
	}
	compared := 0
	for _, s := range scales {
		base := s[:len(s)-len(".scale.npy")]
		codes, scale, bias := load(t, base+".npy"), load(t, s), load(t, base+".bias.npy")
		ref := filepath.Join(trace, "reference", filepath.Base(base)+".npy")
		if _, err := os.Stat(ref); err != nil {
			continue // a sum of products inside a Gemm has no tensor of its own
		}
		real := load(t, ref)
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

// TestTraceImages traces convolutional networks with forks, joins and moved elements: files have the shape and the
// order of the model's tensors.
func TestTraceImages(t *testing.T) {
	t.Parallel()
	dir, compared := t.TempDir(), 0
	for seed := range uint64(12) {
		base := filepath.Join(dir, fmt.Sprint(seed))
		model := kept(t, "m.onnx", randomImages(seed))
		var d diag.List
		im, err := frontend.Import("m", randomImages(seed), frontend.Options{}, &d)
		clean(t, &d, err)
		x := &npy.Array{DType: "float32", Shape: im.Model.In[0].Shape}
		for _, in := range samples.Random(im.Model, 3).In {
			x.Data = append(x.Data, in[0].Data...)
		}
		x.Shape = append([]int{3}, x.Shape[1:]...)
		input := save(t, base+".npy", x)
		for _, e := range []Engine{EngineReference, EngineEval} {
			ran(t, SimOptions{Source: Source{Model: model, SampleFiles: SampleFiles{Data: input}}, Engine: e,
				OutputFiles: OutputFiles{Trace: base + string(e)}})
		}
		for _, c := range im.StreamedTensors() {
			name := traceName(c.Name)
			codes, scale, bias := load(t, filepath.Join(base+"eval", name+".npy")),
				load(t, filepath.Join(base+"eval", name+".scale.npy")),
				load(t, filepath.Join(base+"eval", name+".bias.npy"))
			ref := filepath.Join(base+"reference", name+".npy")
			if _, err := os.Stat(ref); err != nil || c.Name[0] != 'q' { // sums may have scales that no float64 has
				continue
			}
			want := load(t, ref)
			if !slices.Equal(codes.Shape, want.Shape) {
				t.Fatalf("seed %d, %s: traced in shape %v, the model has %v", seed, c.Name, codes.Shape, want.Shape)
			}
			for i, v := range codes.Data {
				if k := i % len(scale.Data); scale.Data[k]*v+bias.Data[k] != want.Data[i] {
					t.Fatalf("seed %d, %s element %d: code %v, the model has %v", seed, c.Name, i, v, want.Data[i])
				}
			}
			compared++
		}
	}
	if compared < 30 {
		t.Errorf("only %d tensors could be compared", compared)
	}
}

func TestSimulateRefuses(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(unpack(t), examples.IrisName)
	nan := func(v float64) float64 { return v / v }
	for name, a := range map[string]*npy.Array{
		"shape":   {DType: "float32", Shape: []int{2, 5}, Data: make([]float64, 10)},
		"nan":     {DType: "float32", Shape: []int{1, 4}, Data: []float64{0, nan(0), 0, 0}},
		"integer": {DType: "int8", Shape: []int{1, 4}, Data: make([]float64, 4)},
	} {
		o := onIris(dir, EngineEval)
		o.Data = data(t, a)
		if r, d := asked(t, o); r != nil || len(d.Diags) != 1 || d.Diags[0].Code != diag.DataInvalid {
			t.Errorf("%s: %v, want one %s", name, d.Diags, diag.DataInvalid)
		}
	}
}

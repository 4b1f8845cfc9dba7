package simulate_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/rnntest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

// TestLengthsOfData simulates padded samples, of which some steps count: all engines give what the reference gives, and
// zeros behind; what stands behind a sequence makes no difference.
func TestLengthsOfData(t *testing.T) {
	t.Parallel()
	var n *rnntest.Network
	for seed := uint64(0); n == nil; seed++ {
		n = rnntest.Draw(rnntest.Seeded(seed), rnntest.Axes{})
		if n.Front != nil || !slices.ContainsFunc(n.Outputs, func(o rnntest.Output) bool {
			return o.Of == "sequence"
		}) {
			n = nil
		}
	}
	n.Lengths, n.Steps = true, 5
	dir := t.TempDir()
	write := func(name string, b []byte, err error) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err != nil || os.WriteFile(path, b, 0o644) != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return path
	}
	lengths := []float64{1, 5, 3, 2, 4}
	b, err := npy.EncodeNPY(&npy.Array{DType: "int64", Shape: []int{len(lengths)}, Data: lengths})
	o := simulate.Options{Source: options.Source{Model: write("m.onnx", n.ONNX(), nil),
		ModelInputs: options.ModelInputs{Lengths: &frontend.AxisLengthRange{Axis: "T", Min: 1, Max: 5}}},
		LengthsFile: write("lengths.npy", b, err)}
	run := func(engine engines.EngineName, behind float64) *simulate.Result {
		choices := rnntest.Seeded(1)
		var data []float64
		for _, steps := range lengths {
			sample := n.Sample(choices)[0]
			each := len(sample) / n.Steps
			for i := int(steps) * each; i < len(sample); i++ {
				sample[i] = behind
			}
			data = append(data, sample...)
		}
		shape := []int{len(lengths), 5, 1, n.Inputs[0].Features}
		switch n.Form {
		case "samples first":
			shape = []int{len(lengths), 1, 5, n.Inputs[0].Features}
		case "flat":
			shape = []int{len(lengths), 5, n.Inputs[0].Features}
		}
		b, err := npy.EncodeNPY(&npy.Array{DType: "float32", Shape: shape, Data: data})
		o.Data, o.Engine = write(string(engine)+".npy", b, err), engine
		var d diag.List
		r, err := simulate.Run(context.Background(), o, &d)
		if err != nil || r == nil {
			t.Fatalf("%s: %v %v", engine, err, d.Diags)
		}
		return r
	}
	want := run(engines.EngineReference, 0)
	tier.Needs(t, "verilator", "g++")
	for _, engine := range []engines.EngineName{engines.EngineReference, engines.EngineEval, engines.EngineCycle,
		engines.EngineCSim, engines.EngineRTL} {
		got := run(engine, 1)
		for k, a := range got.Outputs {
			if !slices.Equal(a.Shape, want.Outputs[k].Shape) || !slices.Equal(a.Data, want.Outputs[k].Data) {
				t.Errorf("%s: output %d is %v, want %v", engine, k, a, want.Outputs[k])
			}
		}
	}
	tracesAgree(t, o, want)
	for k, out := range n.Outputs {
		if a := want.Outputs[k]; out.Of == "sequence" {
			each := len(a.Data) / len(lengths)
			for i, steps := range lengths {
				rest := a.Data[i*each+each/5*int(steps) : (i+1)*each]
				if slices.ContainsFunc(rest, func(v float64) bool { return v != 0 }) {
					t.Errorf("sample %d has %v behind its %v steps", i, rest, steps)
				}
			}
		}
	}
}

// tracesAgree traces samples of different lengths: the model's outputs are among the tensors, and what streams carry
// has the values of the model's own tensors.
func tracesAgree(t *testing.T, o simulate.Options, want *simulate.Result) {
	t.Helper()
	dirs := map[engines.EngineName]string{engines.EngineReference: t.TempDir(), engines.EngineCycle: t.TempDir()}
	for o.Engine, o.Trace = range dirs {
		simtest.RunClean(t, o)
	}
	for k, out := range want.Out {
		a := samplefiles.Read(t, filepath.Join(dirs[engines.EngineReference], simulate.TraceName(out.Name)+".npy"))
		if !slices.EqualFunc(a.Data, want.Outputs[k].Data, func(traced, output float64) bool {
			return float64(float32(traced)) == output // a trace is of float64, an output of what the file says
		}) {
			t.Errorf("%s is traced as %v, want %v", out.Name, a, want.Outputs[k])
		}
	}
	scales, err := filepath.Glob(filepath.Join(dirs[engines.EngineCycle], "*.scale.npy"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, file := range scales {
		name := strings.TrimSuffix(filepath.Base(file), ".scale.npy")
		codes, scale := samplefiles.Read(t, filepath.Join(dirs[engines.EngineCycle], name+".npy")), samplefiles.Read(t,
			file)
		bias := samplefiles.Read(t, filepath.Join(dirs[engines.EngineCycle], name+".bias.npy"))
		ref := filepath.Join(dirs[engines.EngineReference], name+".npy")
		if _, err := os.Stat(ref); err != nil {
			continue // a sum of products has no tensor of its own
		}
		real := samplefiles.Read(t, ref)
		if !slices.Equal(real.Shape, codes.Shape) {
			t.Fatalf("%s is of shape %v on a stream, and %v in the model", name, codes.Shape, real.Shape)
		}
		for i, v := range codes.Data {
			k := i % len(scale.Data)
			if behind := v == 0 && real.Data[i] == 0; !behind && scale.Data[k]*v+bias.Data[k] != real.Data[i] {
				t.Fatalf("%s, element %d: code %v means %v, the model has %v", name, i, v,
					scale.Data[k]*v+bias.Data[k], real.Data[i])
			}
		}
		compared++
	}
	if compared < 1 {
		t.Errorf("none of %d streams could be compared", len(scales))
	}
}

// TestLengthsRefused gives lengths that the data do not have: what is said is of the file of lengths.
func TestLengthsRefused(t *testing.T) {
	t.Parallel()
	n := rnntest.Echoing(t, 5, false)
	model := samplefiles.WriteFile(t, "m.onnx", n.ONNX())
	for name, c := range map[string]struct {
		lengths []float64
		says    string
		hint    string
	}{
		"beyond the data":   {[]float64{4, 5, 1}, "sample 1 has the length 5, want 1 to 4", "4 steps of each"},
		"none":              {[]float64{4, 0, 1}, "sample 1 has the length 0", "one at least"},
		"a fraction":        {[]float64{4, 1.5, 1}, "sample 1 has the length 1.5", "whole number"},
		"too few":           {[]float64{4, 2}, "2 lengths for 3 samples", "for each sample"},
		"below the minimum": {[]float64{4, 2, 1}, "sample 2 has the length 1, want 2 to 4", "--dim T=1..5"},
	} {
		o := simulate.Options{Source: options.Source{Model: model,
			ModelInputs: options.ModelInputs{Lengths: &frontend.AxisLengthRange{Axis: "T",
				Min: 1, Max: 5}}, SampleFiles: options.SampleFiles{Data: samplefiles.Write(t, samplefiles.Noise(1,
				rnntest.StoredShape(n, 3, 4)...))}},
			Engine: engines.EngineEval, LengthsFile: samplefiles.Save(t, filepath.Join(t.TempDir(), "lengths.npy"),
				&npy.Array{DType: "float64", Shape: []int{len(c.lengths)}, Data: c.lengths})}
		if name == "below the minimum" {
			o.Lengths.Min = 2
		}
		r, d := simtest.Run(t, o)
		if r != nil || len(d.Diags) != 1 || d.Diags[0].Where != "lengths.npy" ||
			!strings.Contains(d.Diags[0].Msg, c.says) || !strings.Contains(d.Diags[0].Hint, c.hint) {
			t.Errorf("%s: %v, want %q and %q", name, d.Diags, c.says, c.hint)
		}
	}
}

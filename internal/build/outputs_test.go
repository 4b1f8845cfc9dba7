package build

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/check"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
)

// detector is a network with two heads: scores, and boxes whose bins go through a softmax, a quantiser and a last
// quantised convolution that takes their mean. Behind that is what op makes of it, unless it is empty.
func detector(r *rand.Rand, op string) []byte {
	m := onnxtest.New(13).Opset(operators.QONNXDomain, 2).Input("x", graph.DTypeFloat32, 1, 2, 4, 4)
	m.Input("shift", graph.DTypeFloat32, 1, 1, 4, 4)
	m.Init("zero", graph.DTypeFloat32, nil, 0).Init("bits", graph.DTypeFloat32, nil, 6).Init("scale",
		graph.DTypeFloat32, nil, 0.125)
	quant := func(x, y string) {
		m.Node("Quant", x, "scale", "zero", "bits").Domain(operators.QONNXDomain).Int("signed", 1).Name("node " +
			y).Out(y)
	}
	conv := func(x, y string, in, out, k int) {
		w := make([]float64, out*in*k*k)
		for i := range w {
			w[i] = float64(r.IntN(7) - 3)
		}
		m.Init(y+".w", graph.DTypeFloat32, []int{out, in, k, k}, w...)
		pad := int64(k / 2)
		m.Node("Conv", x, y+".w").Ints("pads", pad, pad, pad, pad).Out(y)
	}
	quant("x", "xq")
	conv("xq", "a", 2, 4, 3)
	m.Node("Relu", "a").Out("ar")
	quant("ar", "aq")
	conv("aq", "b", 4, 4, 3)
	quant("b", "bq")
	conv("bq", "score", 4, 3, 1)
	m.Node("Sigmoid", "score").Out("scores")
	conv("bq", "bins", 4, 8, 1)
	quant("bins", "binsq")
	m.Node("Softmax", "binsq").Int("axis", 1).Out("shares")
	quant("shares", "sharesq")
	m.Init("mean", graph.DTypeFloat32, []int{1, 8, 1, 1}, 0, 1, 2, 3, 4, 5, 6, 7)
	m.Node("Conv", "sharesq", "mean").Out("boxes")
	m.Node("Add", "boxes", "shift").Name("moved").Out("last")
	if op != "" {
		m.Node(op, "last").Out("end")
		return m.Output("scores", graph.DTypeFloat32, 1, 3, 4, 4).Output("end", graph.DTypeFloat32).Bytes()
	}
	return m.Output("scores", graph.DTypeFloat32, 1, 3, 4, 4).Output("last", graph.DTypeFloat32, 1, 1, 4, 4).Bytes()
}

// called are the names of inputs or outputs.
func called(list []dataflow.RealTensorInfo) (names []string) {
	for _, r := range list {
		names = append(names, r.Name)
	}
	return names
}

// pictures are samples of the detector.
func pictures(r *rand.Rand, channels int) *npy.Array {
	a := &npy.Array{DType: "float32", Shape: []int{3, channels, 4, 4}}
	for range 3 * channels * 16 {
		a.Data = append(a.Data, float64(float32(r.NormFloat64())))
	}
	return a
}

// The hint of a tail that does not map names the tensors at which the model maps; with unknown operators, too.
func TestCutNamed(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"", "Relu", "NonMaxSuppression"} {
		path := samplefiles.WriteFile(t, "detector.onnx", detector(rand.New(rand.NewPCG(1, 37)), op))
		for name, try := range map[string]func(d *diag.List) error{
			"check": func(d *diag.List) error {
				_, err := check.Run(t.Context(), check.Options{Source: options.Source{Model: path}}, d)
				return err
			},
			"build": func(d *diag.List) error {
				o := Options{Source: options.Source{Model: path}, Hardware: options.Hardware{Board: "zcu104"},
					OutputFolder: options.OutputFolder{Out: filepath.Join(t.TempDir(), "o")}}
				_, err := Run(t.Context(), o, d)
				return err
			},
			"simulate": func(d *diag.List) error {
				r := rand.New(rand.NewPCG(2, 37))
				in := samplefiles.WriteZip(t, map[string]*npy.Array{"x": pictures(r, 2), "shift": pictures(r, 1)})
				_, err := simulate.Run(t.Context(), simulate.Options{Source: options.Source{Model: path,
					SampleFiles: options.SampleFiles{Data: in}}, Engine: engines.EngineFast}, d)
				return err
			},
		} {
			d := new(diag.List)
			if err := try(d); err != nil {
				t.Fatal(err)
			}
			const want = "the model maps with --outputs scores,shares, which leaves "
			at := slices.IndexFunc(d.Diags, func(x diag.Diag) bool { return x.Severity == diag.SeverityError })
			if at < 0 || !strings.Contains(d.Diags[at].Hint, want) {
				t.Errorf("%s, %q: %v, want the hint %q", name, op, d.Diags, want)
			}
		}
		d := new(diag.List)
		c, err := check.Run(t.Context(), check.Options{Source: options.Source{Model: path,
			ModelInputs: options.ModelInputs{Outputs: []string{"scores", "shares"}}}}, d)
		if err != nil || d.HasErrors() || c.Imported.Model == nil {
			t.Errorf("%q: cut there, it does not map: %v %v", op, err, d.Diags)
		}
	}
}

// No cut is named where most of a model would be left out, or nothing be left that maps.
func TestCutNotNamed(t *testing.T) {
	t.Parallel()
	attention := onnxtest.New(13).Input("x", graph.DTypeFloat32, 1, 4, 4).Output("y", graph.DTypeFloat32)
	attention.Init("s", graph.DTypeFloat32, nil, 1).Init("z", graph.DTypeFloat32, nil, 0).Init("b", graph.DTypeFloat32,
		nil, 4)
	attention.Opset(operators.QONNXDomain, 2).Init("w", graph.DTypeFloat32, []int{4, 4}, slices.Repeat([]float64{1, 2,
		-1,
		0},
		4)...)
	quant := func(x, y string) {
		attention.Node("Quant", x, "s", "z", "b").Domain(operators.QONNXDomain).Int("signed", 1).Out(y)
	}
	quant("x", "q")
	attention.Node("MatMul", "q", "w").Out("k") // without it, all up to pq is the host's
	attention.Node("Softmax", "k").Int("axis", 2).Out("p")
	quant("p", "pq")
	attention.Node("MatMul", "pq", "w").Out("m")
	quant("m", "mq")
	attention.Node("MatMul", "mq", "w").Out("y")
	d := new(diag.List)
	if _, err := check.Run(t.Context(), check.Options{Source: options.Source{Model: samplefiles.WriteFile(t, "m.onnx",
		attention.Bytes())}},
		d); err != nil {
		t.Fatal(err)
	}
	if !d.HasErrors() || strings.Contains(fmt.Sprint(d.Diags), "--outputs") {
		t.Errorf("%v", d.Diags)
	}
}

// A model that is cut is simulated, compared, built and verified with the outputs that it has then, and gives what the
// file gives at these tensors; its folder says how it was cut.
func TestOutputs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 37))
	path := samplefiles.WriteFile(t, "detector.onnx", detector(r, "NonMaxSuppression"))
	x := pictures(r, 2)
	o := simulate.Options{Source: options.Source{Model: path,
		ModelInputs: options.ModelInputs{Outputs: []string{"binsq", "score",
			"shares"}}, SampleFiles: options.SampleFiles{Data: samplefiles.WriteZip(t, map[string]*npy.Array{"x": x})}},
		Hardware: options.Hardware{Board: "zcu104"}, Engine: engines.EngineReference}
	exact, d := simtest.Run(t, o)
	if exact == nil || len(d.Diags) != 1 || d.Diags[0].Code != diag.ModelCutAtOutputs ||
		!strings.Contains(d.Diags[0].Msg, `are "binsq", "score", "shares" in the place of "scores", "end"`) ||
		!strings.Contains(d.Diags[0].Msg, "with 1 of 2 inputs") {
		t.Fatalf("%v", d.Diags)
	}
	if got := called(exact.Out); !slices.Equal(got, o.Outputs) {
		t.Errorf("outputs %v, want %v", got, o.Outputs)
	}
	arrays := map[string]*npy.Array{}
	for k, name := range o.Outputs {
		if exact.Out[k].DType != graph.DTypeFloat32.String() {
			t.Errorf("output %s is %s", name, exact.Out[k].DType)
		}
		arrays[name] = exact.Outputs[k]
	}
	o.Compare = samplefiles.WriteZip(t, arrays)
	for _, got := range simtest.Agree(t, []engines.EngineName{engines.EngineReference, engines.EngineEval,
		engines.EngineFast,
		engines.EngineCycle}, o, exact.Outputs) {
		if got.Compare == nil || got.Compare.Differ > 0 {
			t.Errorf("%s: compared: %+v", got.Engine, got.Compare)
		}
	}
	b, list := told(t, Options{Source: options.Source{Model: path,
		ModelInputs: options.ModelInputs{Outputs: o.Outputs}},
		Hardware: options.Hardware{Board: "zcu104"}, Verification: options.Verification{Verify: 2, NoCSim: true}})
	if list[0].Code != diag.ModelCutAtOutputs || b.Verified.Samples != 2 {
		t.Errorf("%v, verified %+v", list, b.Verified)
	}
	var m manifest
	if err := json.Unmarshal(readReport(t, b, "manifest.json"), &m); err != nil {
		t.Fatal(err)
	}
	if got := m.Options["outputs"]; got != "binsq,score,shares" {
		t.Errorf("the manifest has --outputs %q", got)
	}
	page, err := os.ReadFile(filepath.Join(b.Out, "README.md"))
	if err != nil || !strings.Contains(string(page), "--outputs binsq,score,shares") {
		t.Errorf("the README has no command with --outputs: %v", err)
	}
}

// A model that is quantised on samples is cut before.
func TestOutputsCalibrated(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 37))
	path := samplefiles.WriteFile(t, "detector.onnx", detector(r, "NonMaxSuppression"))
	d := new(diag.List)
	c, err := check.Run(t.Context(), check.Options{Source: options.Source{Model: path,
		ModelInputs: options.ModelInputs{Outputs: []string{"bins", "scores"}},
		Quantisation: options.Quantisation{Calibrate: samplefiles.WriteZip(t,
			map[string]*npy.Array{"x": pictures(r, 2)})}}}, d)
	if err != nil || d.HasErrors() {
		t.Fatal(err, d.Diags)
	}
	cuts := 0
	for _, x := range d.Diags {
		if x.Code == diag.ModelCutAtOutputs {
			cuts++
		}
	}
	if got := called(c.Imported.Model.Out); cuts != 1 || !slices.Equal(got, []string{"bins", "scores"}) {
		t.Errorf("%d notes, outputs %v", cuts, got)
	}
}

// Names that are no tensors are told, with what may be meant; so are names that stand twice.
func TestOutputsUnknown(t *testing.T) {
	t.Parallel()
	path := samplefiles.WriteFile(t, "detector.onnx", detector(rand.New(rand.NewPCG(5, 37)), ""))
	for name, want := range map[string]string{
		"share":      `did you mean "shares"`,
		"scoers":     `did you mean "scores"`,
		"node binsq": `a node has this name; what it makes is "binsq"`,
		"elsewhere":  `such as the model's outputs: "scores", "last"`,
		"mean":       "no tensor of this name", // which is a constant
		"a":          "named twice",
	} {
		d := new(diag.List)
		c, err := check.Run(t.Context(), check.Options{Source: options.Source{Model: path,
			ModelInputs: options.ModelInputs{Outputs: []string{"a", name}}}}, d)
		if err != nil || len(d.Diags) != 1 || d.Diags[0].Code != diag.AskedOutputUnknown ||
			!strings.Contains(d.Diags[0].Msg+"; "+d.Diags[0].Hint, want) || c.Imported.Model != nil {
			t.Errorf("%s: %v %v, want %q", name, err, d.Diags, want)
		}
	}
}

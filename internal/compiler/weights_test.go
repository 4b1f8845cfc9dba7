package compiler

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio/onnxtest"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/models"
	"hlsgen/internal/npy"
	"hlsgen/internal/tier"
)

// retrained is a file of the same network with other weights.
func retrained(t *testing.T, model []byte, seed uint64) string {
	t.Helper()
	m := onnxtest.Of(model)
	if m.Retrain(rand.New(rand.NewPCG(seed, 16))) == 0 {
		t.Fatal("nothing was changed")
	}
	path := filepath.Join(t.TempDir(), "retrained.onnx")
	if err := os.WriteFile(path, m.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// loadable is the folder of a build of a model whose weights are loaded.
func loadable(t *testing.T, model string) Options {
	t.Helper()
	o := Options{Model: model, Board: "zcu104", Backend: BackendRTL, Weights: WeightsRuntime, Interval: 10_000,
		NoCSim: true, Verify: 1, Out: filepath.Join(t.TempDir(), "out")}
	var d diag.List
	if r, err := Run(context.Background(), o, &d); err != nil || r == nil {
		t.Fatal(err, d.Diags)
	}
	return o
}

// requantised is a file of a network in which one of the quantisers has so many bits, for finer
// codes, of those of constants or of data.
func requantised(t *testing.T, model []byte, which int, constants bool, bits float64) string {
	t.Helper()
	m := onnxtest.Of(model)
	made := map[string]bool{}
	for _, n := range m.Proto.Graph.Node {
		if n.GetOpType() != "Constant" {
			made[n.Output[0]] = true
		}
	}
	for _, in := range m.Proto.Graph.Input {
		made[in.GetName()] = true
	}
	m.Init("other_bits", graph.Float32, nil, bits).Init("other_scale", graph.Float32, nil, 1.0/4096)
	for _, n := range m.Proto.Graph.Node {
		if n.GetOpType() != "Quant" || made[n.Input[0]] == constants {
			continue
		}
		if which == 0 {
			n.Input[1], n.Input[3] = "other_scale", "other_bits"
		}
		which--
	}
	path := filepath.Join(t.TempDir(), "requantised.onnx")
	if err := os.WriteFile(path, m.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWeightsRefused refuses models that do not fit the hardware, and folders that are none, with the reason.
func TestWeightsRefused(t *testing.T) {
	t.Parallel()
	of := func(name string) string { return models.Find(t, name).Path("model.onnx") }
	o := loadable(t, of("digits-mlp-w4a4-pot"))
	pot := models.Find(t, "digits-mlp-w4a4-pot").Read(t, "model.onnx")
	read := func(name string) []byte { return models.Find(t, name).Read(t, "model.onnx") }
	broken := filepath.Join(t.TempDir(), "broken.onnx")
	if err := os.WriteFile(broken, read("digits-mlp-w4a4-pot")[:1000], 0o644); err != nil {
		t.Fatal(err)
	}
	constant := o
	constant.Weights, constant.Out = WeightsConstant, filepath.Join(t.TempDir(), "constant")
	var list diag.List
	if r, err := Run(context.Background(), constant, &list); err != nil || r == nil {
		t.Fatal(err, list.Diags)
	}
	for _, tt := range []struct{ name, model, dir, want string }{
		{"itself", of("digits-mlp-w4a4-pot"), o.Out, ""},
		{"other kinds", of("digits-cnn-w4a4"), o.Out,
			"layer 0 of this model is ConvolutionInputGenerator_0, that of the hardware MVAU_0"},
		{"other shapes", of("digits-mlp-w1a1"), o.Out, "it makes [1 128] of [1 64], that of the hardware [1 48] of [1 64]"},
		{"wider weights", requantised(t, pot, 1, true, 8), o.Out, "x"},
		{"narrower weights", requantised(t, pot, 1, true, 3), o.Out, ""},
		{"wider codes", requantised(t, pot, 1, false, 6), o.Out, "x"},
		{"narrower codes", requantised(t, pot, 1, false, 3), o.Out, ""},
		{"wider inputs", requantised(t, pot, 0, false, 7), o.Out, "x"},
		{"a truncated file", broken, o.Out, "x"},
		{"constant weights", of("digits-mlp-w4a4-pot"), constant.Out, "x"},
		{"no build", of("digits-mlp-w4a4-pot"), t.TempDir(), "x"},
	} {
		l := LoadOptions{Options: Options{Model: tt.model, Out: filepath.Join(t.TempDir(), "weights")}, For: tt.dir}
		var d diag.List
		r, err := Weights(context.Background(), l, &d)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		said := ""
		for _, x := range d.Diags {
			said += x.Where + ": " + x.Msg + "; " + x.Hint + "\n"
		}
		if (r != nil) != (tt.want == "") || !strings.Contains(said, tt.want) {
			t.Errorf("%s: %v\n%s, want %q", tt.name, r, said, tt.want)
		}
		t.Logf("%s: %s", tt.name, said)
	}
	for seed := range uint64(1) {
		l := LoadOptions{Options: Options{Model: retrained(t, read("digits-mlp-w4a4-pot"), seed),
			Out: filepath.Join(t.TempDir(), "weights")}, For: o.Out}
		var d diag.List
		if r, err := Weights(context.Background(), l, &d); r == nil || err != nil {
			t.Errorf("seed %d: %v %v", seed, err, d.Diags)
		}
	}
}

// TestWeightsAXI drives accelerators behind their movers, in Verilator, with weights that are loaded: those of the model,
// those of others that were trained anew, and those of the model again. Results are, byte for byte, those of engine
// eval of that model.
func TestWeightsAXI(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model string
		long  bool
	}{{"digits-mlp-w2a2", false}, {"digits-mlp-w1a1", true}, {"digits-cnn-w4a4", true}, {"digits-mobilenet-w4a4", true}} {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			if c.long {
				tier.NeedsLong(t)
			}
			tools := tier.Needs(t, "make", "verilator", "g++", "numpy")
			m := models.Find(t, c.model)
			o := loadable(t, m.Path("model.onnx"))
			makes(t, filepath.Join(o.Out, "rtl", "axi"))
			libs, err := filepath.Glob(filepath.Join(o.Out, "rtl", "axi", "build", "lib*.so"))
			if err != nil || len(libs) != 1 {
				t.Fatal(libs, err)
			}
			x := m.Recorded(t).X
			in := &npy.Array{DType: x.DType, Shape: append([]int{12}, x.Shape[1:]...)}
			for i := range dataflow.Shape(in.Shape).Size() {
				in.Data = append(in.Data, x.Data[i%len(x.Data)])
			}
			input := data(t, in)
			expected := func(model string) string {
				s := SimOptions{Options: Options{Model: model}, Engine: Eval, Input: input,
					Output: filepath.Join(t.TempDir(), "y.npy")}
				simulated(t, s)
				return s.Output
			}
			own := []string{filepath.Join(o.Out, "deploy", "host", "host.json"), expected(o.Model)}
			args := append([]string{"testdata/weights.py", filepath.Join(o.Out, "deploy"), libs[0], input}, own...)
			for seed := range uint64(2) {
				l := LoadOptions{Options: Options{Model: retrained(t, m.Read(t, "model.onnx"), seed),
					Out: filepath.Join(t.TempDir(), "weights")}, For: o.Out}
				var d diag.List
				if r, err := Weights(context.Background(), l, &d); r == nil || err != nil {
					t.Fatal(err, d.Diags)
				}
				args = append(args, filepath.Join(l.Out, "host.json"), expected(l.Model))
			}
			said, err := exec.Command(tools[3], append(args, own...)...).CombinedOutput()
			if err != nil || !strings.Contains(string(said), "PASS ") {
				t.Errorf("%v\n%s", err, said)
			}
		})
	}
}

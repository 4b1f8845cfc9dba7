package compiler

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
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
	"hlsgen/internal/schema"
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
func loadable(t *testing.T, model string, from WeightsFrom) Options {
	t.Helper()
	o := Options{Model: model, Board: "zcu104", Backend: BackendRTL, Weights: from, Interval: 10_000,
		NoCSim: true, Verify: 1, Out: filepath.Join(t.TempDir(), "out")}
	var d diag.List
	if r, err := Run(context.Background(), o, &d); err != nil || r == nil {
		t.Fatal(err, d.Diags)
	}
	return o
}

// grow makes the first of some float32 numbers three times as large as the greatest.
func grow(raw []byte) {
	most := float32(0)
	for at := 0; at < len(raw); at += 4 {
		v := math.Float32frombits(binary.LittleEndian.Uint32(raw[at:]))
		most = max(most, v, -v)
	}
	binary.LittleEndian.PutUint32(raw, math.Float32bits(3*most))
}

// requantised is a file of a network in which one of the quantisers has so many bits, of those
// of constants, one of which is three times as large then, or of data, whose codes are finer.
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
	m.Init("other_bits", graph.Float32, nil, bits).Init("other_scale", graph.Float32, nil, 1.0/64)
	for _, n := range m.Proto.Graph.Node {
		if n.GetOpType() != "Quant" || made[n.Input[0]] == constants {
			continue
		}
		if which--; which >= 0 {
			continue
		}
		n.Input[3] = "other_bits"
		if !constants {
			n.Input[1] = "other_scale"
		}
		for _, c := range m.Proto.Graph.Initializer {
			if c.GetName() == n.Input[0] {
				grow(c.RawData)
			}
		}
		break
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
	o := loadable(t, of("digits-mlp-w2a2"), WeightsRuntime)
	own := models.Find(t, "digits-mlp-w2a2").Read(t, "model.onnx")
	read := func(name string) []byte { return models.Find(t, name).Read(t, "model.onnx") }
	broken := filepath.Join(t.TempDir(), "broken.onnx")
	if err := os.WriteFile(broken, read("digits-mlp-w2a2")[:1000], 0o644); err != nil {
		t.Fatal(err)
	}
	plan, err := os.ReadFile(filepath.Join(o.Out, "weights.json"))
	if err != nil {
		t.Fatal(err)
	}
	schema.Of(t, "weights-plan", "weights.json of a build with --weights runtime or stream", LoadPlan{}).Check(t, plan)
	constant := o
	constant.Weights, constant.Out = WeightsConstant, filepath.Join(t.TempDir(), "constant")
	var list diag.List
	if r, err := Run(context.Background(), constant, &list); err != nil || r == nil {
		t.Fatal(err, list.Diags)
	}
	for _, tt := range []struct{ name, model, dir, want string }{
		{"itself", of("digits-mlp-w2a2"), o.Out, ""},
		{"other kinds", of("digits-cnn-w4a4"), o.Out,
			"layer 0 of this model is ConvolutionInputGenerator_0, that of the hardware MVAU_0"},
		{"other shapes", of("digits-mlp-w1a1"), o.Out, "it makes [1 128] of [1 64], that of the hardware"},
		{"wider weights", requantised(t, own, 1, true, 8), o.Out, "weight 0 is 3, and the hardware has room for " +
			"INT2, -1 to 1"},
		{"weights that are clipped", requantised(t, own, 1, true, 2), o.Out, ""},
		{"wider codes", requantised(t, own, 1, false, 3), o.Out, "a code is 4, and the hardware has room for " +
			"UINT2, 0 to 3"},
		{"narrower inputs", requantised(t, own, 0, false, 7), o.Out, "it takes UINT7, that of the hardware UINT8"},
		{"a truncated file", broken, o.Out, "the file is damaged"},
		{"constant weights", of("digits-mlp-w2a2"), constant.Out, "was built with constant weights"},
		{"no build", of("digits-mlp-w2a2"), t.TempDir(), "is no folder of hlsgen build"},
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
		if (r != nil) != (tt.want == "") || said != "" && tt.want == "" || !strings.Contains(said, tt.want) {
			t.Errorf("%s: %v\n%s, want %q", tt.name, r, said, tt.want)
		}
	}
	for seed := range uint64(1) {
		l := LoadOptions{Options: Options{Model: retrained(t, read("digits-mlp-w2a2"), seed),
			Out: filepath.Join(t.TempDir(), "weights")}, For: o.Out}
		var d diag.List
		if r, err := Weights(context.Background(), l, &d); r == nil || err != nil {
			t.Errorf("seed %d: %v %v", seed, err, d.Diags)
		}
	}
}

// TestWeightsAXI drives accelerators behind their movers, in Verilator, with weights that are loaded: those of the
// model, those of others that were trained anew, and those of the model again. Results are, byte for byte, those of
// engine eval of that model.
func TestWeightsAXI(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model string
		from  WeightsFrom
		long  bool
	}{
		{"digits-mlp-w2a2", WeightsRuntime, false},
		{"digits-mlp-w2a2", WeightsStream, false},
		{"digits-mlp-w1a1", WeightsRuntime, true},
		{"digits-cnn-w4a4", WeightsRuntime, true},
		{"digits-cnn-w4a4", WeightsStream, true},
		{"digits-mobilenet-w4a4", WeightsStream, true},
	} {
		t.Run(fmt.Sprint(c.model, " ", c.from), func(t *testing.T) {
			t.Parallel()
			if c.long {
				tier.NeedsLong(t)
			}
			tools := tier.Needs(t, "make", "verilator", "g++", "numpy")
			m := models.Find(t, c.model)
			o := loadable(t, m.Path("model.onnx"), c.from)
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

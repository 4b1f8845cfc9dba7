package build

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/source"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/tier"
)

// dynamic is a network of two products as quantize_dynamic writes it.
func dynamic() []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	m := onnxtest.New(13)
	m.Input("x", graph.DTypeFloat32, "batch", 12).Output("y", graph.DTypeFloat32, "batch", 4)
	x := "x"
	for i, n := range [][2]int{{12, 9}, {9, 4}} {
		w := make([]float64, n[0]*n[1])
		for k := range w {
			w[k] = float64(rnd.IntN(255) - 127)
		}
		of := func(name string) string { return fmt.Sprintf("%s%d", name, i) }
		m.Init(of("w"), graph.DTypeInt8, n[:], w...).Init(of("wz"), graph.DTypeInt8, nil, 3)
		m.Init(of("ws"), graph.DTypeFloat32, nil, 0.007)
		m.Node("DynamicQuantizeLinear", x).Out(of("q"), of("s"), of("z"))
		m.Node("MatMulInteger", of("q"), of("w"), of("z"), of("wz")).Out(of("sums"))
		m.Node("Cast", of("sums")).Int("to", int64(graph.DTypeFloat32)).Out(of("real"))
		m.Node("Mul", of("s"), of("ws")).Out(of("scale"))
		m.Node("Mul", of("real"), of("scale")).Out(of("product"))
		if x = of("relu"); i == 1 {
			x = "y"
		}
		m.Node("Relu", of("product")).Out(x)
	}
	return m.Bytes()
}

// TestCalibrate holds that models without quantisers, or with dynamic ones, become such that build, and how they are
// told of.
func TestCalibrate(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	random := &npy.Array{DType: "float32", Shape: []int{40, 12}}
	for range 40 * 12 {
		random.Data = append(random.Data, float64(float32(rnd.NormFloat64())))
	}
	mlp, cnn := models.Find(t, "digits-mlp-w4a4-pot").Dir, models.Find(t, "digits-cnn-w4a4").Dir
	flat, labels := samplefiles.Digits(t, false, 64)
	images, _ := samplefiles.Digits(t, false, 1, 8, 8)
	cases := []struct {
		name, model, data, labels string
		quantisers, least         int // of activations that it gets; how many of 128 samples have to be right
	}{
		{"mlp", samplefiles.WriteFile(t, "m.onnx", samplefiles.Unquantised(t, mlp+"/model.onnx")), flat, labels, 3,
			120},
		{"cnn", samplefiles.WriteFile(t, "m.onnx", samplefiles.Unquantised(t, cnn+"/model.onnx")), images, labels, 5,
			124},
		{"dynamic", samplefiles.WriteFile(t, "m.onnx", dynamic()), samplefiles.Write(t, random), "", 2, 0},
	}
	if !tier.Quick() {
		if shared := tier.Shared(t); shared != "" {
			dir := filepath.Join(shared, "models", "hunt", "mnist_factorio")
			x, err := npy.ReadArrays(filepath.Join(dir, "x0.npz"))
			if err != nil {
				t.Fatal(err)
			}
			cases = append(cases, struct {
				name, model, data, labels string
				quantisers, least         int
			}{"mnist_factorio", filepath.Join(dir, "model.onnx"), samplefiles.Write(t, x["x"]), "", 3, 0})
		}
	}
	before := regexp.MustCompile(`before [0-9.]+ % \((\d+)/(\d+); .*\), after [0-9.]+ % \((\d+)/(\d+); `)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			written := filepath.Join(t.TempDir(), "static.onnx")
			o := Options{Source: options.Source{Model: c.model, Quantisation: options.Quantisation{Calibrate: c.data,
				SaveModel: written}, SampleFiles: options.SampleFiles{LabelsFile: c.labels}},
				Hardware: options.Hardware{Board: "zcu104"}, Verification: options.Verification{Verify: 4,
					NoCSim: true}}
			r, list := told(t, o)
			note := list[slices.IndexFunc(list, func(x diag.Diag) bool { return x.Code == diag.ModelRequantised })]
			if want := fmt.Sprintf("%d of %[1]d quantisers of activations",
				c.quantisers); note.Severity != diag.SeverityNote ||
				!strings.Contains(note.Msg, want) || !strings.Contains(note.Msg, "which changes it") {
				t.Errorf("it is told %v %q, want %q", note.Severity, note.Msg, want)
			}
			if !slices.Equal(r.Verified.Engines, []string{"eval", "cycle"}) {
				t.Errorf("verified by %v", r.Verified.Engines)
			}
			if c.labels == "" {
				if !strings.Contains(note.Msg, "its output differs by ") {
					t.Errorf("no difference is told: %q", note.Msg)
				}
			} else {
				m := before.FindStringSubmatch(note.Msg)
				if m == nil {
					t.Fatalf("no accuracies are told: %q", note.Msg)
				}
				if got := fmt.Sprint(r.Accuracy.Right); m[3] != got || m[4] != "128" || r.Accuracy.Right < c.least {
					t.Errorf("the build has %s right, the note says %q", got, m[0])
				}
			}
			again, _ := told(t, Options{Source: options.Source{Model: written},
				Hardware:     options.Hardware{Board: "zcu104"},
				Verification: options.Verification{Verify: 4, NoCSim: true}})
			if len(again.Imported.Model.Graph.Nodes) != len(r.Imported.Model.Graph.Nodes) {
				t.Errorf("the file that was written has %d layers, the build has %d",
					len(again.Imported.Model.Graph.Nodes), len(r.Imported.Model.Graph.Nodes))
			}
		})
	}
}

// TestVariants holds precisions of an MLP, a CNN and an LSTM against the float model and every engine.
func TestVariants(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	formats := []string{"2", "8"}
	if tier.Long() {
		formats = []string{"2", "3", "4", "6", "8", "e2m1", "e3m2", "e4m3", "e5m2"}
	}
	for name, shape := range map[string][]int{"digits-mlp-w4a4-pot": {64}, "digits-cnn-w4a4": {1, 8, 8},
		"lstm-h16-w8a8-pot": {8, 1, 8}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if len(shape) == 3 && shape[0] == 1 {
				tier.NotQuick(t) // TestCalibrate quantises images
			}
			inputs, labels := samplefiles.Digits(t, name == "lstm-h16-w8a8-pot", shape...)
			var d diag.List
			v, err := source.NewVariantMaker(context.Background(), options.Source{Model: models.Find(t, name).Dir +
				"/model.onnx",
				Quantisation: options.Quantisation{Calibrate: inputs},
				SampleFiles:  options.SampleFiles{LabelsFile: labels}}, &d)
			if err != nil || v == nil {
				t.Fatal(err, d.Diags)
			}
			if !v.Labelled || v.Float.Samples != 128 || v.Float.ShareRight() < 0.95 {
				t.Fatalf("the float model has %v", v.Float)
			}
			for _, w := range formats {
				for _, a := range formats {
					if a != w && tier.Quick() {
						continue
					}
					t.Run("w"+w+"a"+a, func(t *testing.T) { variant(t, v, "w"+w+"a"+a) })
				}
			}
			if name != "lstm-h16-w8a8-pot" {
				for _, p := range []string{"w4a4p8", "w8a4p12", "w8a8p16"} {
					t.Run(p, func(t *testing.T) { variant(t, v, p) })
				}
			}
		})
	}
}

// variant builds a model by a recipe, and has its accumulators audited.
func variant(t *testing.T, v *source.VariantMaker, name string) {
	r, err := frontend.ParseQuantisationRecipe(name)
	if err != nil {
		t.Fatal(err)
	}
	x, err := v.MakeVariant(context.Background(), r)
	if err != nil || x.Source == nil {
		t.Fatal(err, x)
	}
	if twice, err := v.MakeVariant(context.Background(), r); err != nil || twice.Source.SHA256() != x.Source.SHA256() {
		t.Error("twice the same recipe gives two models")
	}
	if x.Model == nil {
		if !strings.Contains(name, "e") {
			t.Fatal(x.Refused)
		}
		t.Skip("minifloats have no layer: " + x.Refused)
	}
	if name == "w8a8" && x.Accuracy.ShareRight() < v.Float.Low {
		t.Errorf("%v, the float model has %v", x.Accuracy, v.Float)
	}
	built(t, Options{Source: options.Source{Model: samplefiles.WriteFile(t, name+".onnx", x.Source.ONNX)},
		Hardware: options.Hardware{Board: "zcu104"},
		Goal:     options.Goal{FPS: 100}, AccBits: options.AskedAccBits{All: r.AccBits},
		Verification: options.Verification{Verify: 3, NoCSim: true}})
}

package source

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/tier"
)

// TestLeast holds that the fewest bits keep the class of the share that was asked for, by the integers of the layers,
// too: of a network without quantisers, and of one with.
func TestLeast(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	mlp := models.Find(t, "digits-mlp-w4a4-pot").Dir + "/model.onnx"
	inputs, _ := samplefiles.Digits(t, false, 64)
	for name, model := range map[string]string{"float": samplefiles.WriteFile(t, "m.onnx", samplefiles.Unquantised(t,
		mlp)), "quantised": mlp} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const keep = 0.97
			var d diag.List
			o := options.Source{Model: model, Quantisation: options.Quantisation{Calibrate: inputs, KeepShare: keep}}
			v, err := NewVariantMaker(context.Background(), o, &d)
			if v == nil || err != nil {
				t.Fatal(err, d.Diags)
			}
			x, err := v.MakeVariant(context.Background(), frontend.QuantisationRecipe{Least: true})
			if err != nil || x.Model == nil {
				t.Fatal(err, x)
			}
			l, n := x.Least, len(v.runs.In)
			if l.Samples != n || l.Same < int(math.Ceil(keep*float64(n))) || x.Accuracy.Samples != n ||
				x.Accuracy.ShareRight() < keep {
				t.Errorf("%+v, by integers %v", l, x.Accuracy)
			}
			if mean, least, most := l.mean(true); least < fewestBits || most > usualBits || mean > 6 {
				t.Errorf("weights of %v", l)
			}
			if slices.ContainsFunc(l.Bits, func(b NodeBits) bool { return b.Node == "" }) || len(l.Bits) < 4 {
				t.Errorf("bits of %v", l.Bits)
			}
			t.Log(l)
		})
	}
}

// TestVaryBindsShapes holds that variants have the shapes of the samples where the file leaves axes open.
func TestVaryBindsShapes(t *testing.T) {
	t.Parallel()
	m, r := onnxtest.New(17).Input("x", graph.DTypeFloat32, "N", "F").Output("y", graph.DTypeFloat32),
		rand.New(rand.NewPCG(3, 4))
	for k, name := range []string{"w1", "w2"} {
		shape := [][]int{{8, 12}, {12, 4}}[k]
		w := make([]float64, graph.ElementCount(shape))
		for i := range w {
			w[i] = r.NormFloat64()
		}
		m.Init(name, graph.DTypeFloat32, shape, w...)
	}
	m.Node("MatMul", "x", "w1").Out("a")
	m.Node("Relu", "a").Out("b")
	m.Node("MatMul", "b", "w2").Out("y")
	x := &npy.Array{DType: "float32", Shape: []int{16, 8}}
	for range 16 * 8 {
		x.Data = append(x.Data, float64(float32(r.NormFloat64())))
	}
	var d diag.List
	v, err := NewVariantMaker(t.Context(), options.Source{Model: samplefiles.WriteFile(t, "m.onnx", m.Bytes()),
		Quantisation: options.Quantisation{Calibrate: samplefiles.Write(t, x)}}, &d)
	if v == nil || err != nil {
		t.Fatal(err, d.Diags)
	}
	if made, err := v.MakeVariant(t.Context(), options.DefaultQuantisationRecipe); err != nil || made.Model == nil {
		t.Errorf("%+v %v", made, err)
	}
}

package compiler

import (
	"context"
	"math"
	"slices"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/diag"
	"hlsgen/internal/models"
)

// TestLeast holds that the fewest bits keep the class of the share that was asked for, by the integers of the layers,
// too: of a network without quantisers, and of one with.
func TestLeast(t *testing.T) {
	t.Parallel()
	mlp := models.Find(t, "digits-mlp-w4a4-pot").Dir + "/model.onnx"
	inputs, _ := digits(t, false, 64)
	for name, model := range map[string]string{"float": kept(t, "m.onnx", unquantised(t, mlp)), "quantised": mlp} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const keep = 0.97
			var d diag.List
			o := Options{Model: model, Calibrate: inputs, Keeps: keep}
			v, err := Vary(context.Background(), o, &d)
			if v == nil || err != nil {
				t.Fatal(err, d.Diags)
			}
			x, err := v.Make(context.Background(), frontend.Recipe{Least: true})
			if err != nil || x.Model == nil {
				t.Fatal(err, x)
			}
			l, n := x.Least, len(v.runs.In)
			if l.Samples != n || l.Same < int(math.Ceil(keep*float64(n))) || x.Accuracy.Samples != n ||
				x.Accuracy.Share() < keep {
				t.Errorf("%+v, by integers %v", l, x.Accuracy)
			}
			if mean, least, most := l.mean(true); least < fewestBits || most > usualBits || mean > 6 {
				t.Errorf("weights of %v", l)
			}
			if slices.ContainsFunc(l.Bits, func(b LeastOne) bool { return b.Node == "" }) || len(l.Bits) < 4 {
				t.Errorf("bits of %v", l.Bits)
			}
			t.Log(l)
		})
	}
}

package sweep

import (
	"context"
	"os"
	"slices"
	"strconv"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/tier"
)

// TestLeastSwept checks that a sweep with the fewest bits has its precision in the tables and writes its model.
func TestLeastSwept(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	o := onPynq(t)
	o.FPS, o.Requantise, o.KeepShare = []float64{1000}, "least", 0.9
	o.Precisions = []frontend.QuantisationRecipe{{Least: true}}
	r := run(t, o)
	if len(r.Points) != 1 || r.Points[0].Precision != "least" || r.Points[0].Status != PointStatusFits {
		t.Fatalf("%+v", r.Points)
	}
	l := r.Precision.Least
	if l == nil || l.Keep != 0.9 || 10*l.Same < 9*l.Samples || len(l.Bits) == 0 {
		t.Errorf("the fewest bits are %+v", l)
	}
	rows := spreadsheet(t, r.Out)
	if len(rows[0]) != len(rows[1]) || rows[1][slices.Index(rows[0], "precision")] != "least" {
		t.Errorf("the table has %q", rows)
	}
	if _, err := os.Stat(r.PathInOutputFolder("least.onnx")); err != nil {
		t.Error(err)
	}
}

// TestPrecisions runs sweeps of the embedded example over formats. The accuracies in the tables must equal those of a
// simulation of the written files.
func TestPrecisions(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	o := onPynq(t)
	o.FPS, o.Requantise = []float64{1000}, "w=2,a=2,4"
	names := []string{"w2a2", "w2a4", "we4m3a8p16"}
	for _, name := range names[:2] {
		r, err := frontend.ParseQuantisationRecipe(name)
		if err != nil {
			t.Fatal(err)
		}
		o.Precisions = append(o.Precisions, r)
	}
	if _, err := frontend.ParseQuantisationRecipe(names[2]); err == nil {
		t.Error("accumulators of minifloats are not asked for in bits")
	}
	r := run(t, o)
	if len(r.Points) != 2 || r.Precision == nil || !r.Precision.Labelled || r.Precision.Float.Samples != 128 {
		t.Fatalf("%+v, %+v", r.Points, r.Precision)
	}
	rows := spreadsheet(t, r.Out)
	column := func(name string) int { return slices.Index(rows[0], name) }
	for i := range r.Points {
		p := &r.Points[i]
		if p.Status != PointStatusFits || p.Precision != names[i] || p.Accuracy == nil {
			t.Fatalf("%+v", p)
		}
		var d diag.List
		labels := "../../internal/examples/digits-mlp-w2a2/"
		s, err := simulate.Run(context.Background(),
			simulate.Options{Source: options.Source{Model: r.PathInOutputFolder(p.Precision + ".onnx"),
				SampleFiles: options.SampleFiles{Data: labels + "inputs.npy", LabelsFile: labels + "labels.npy"}},
				Engine: engines.EngineReference}, &d)
		if err != nil || s == nil {
			t.Fatal(err, d.Diags)
		}
		if *s.Accuracy != *p.Accuracy {
			t.Errorf("%s: the file has %v, the point %v", p.Precision, s.Accuracy, p.Accuracy)
		}
		for name, want := range map[string]string{"precision": p.Precision, "weights": "2",
			"activations": p.Precision[3:], "accuracy": number(round(p.Accuracy.ShareRight())),
			"accuracy_samples": strconv.Itoa(128)} {
			if got := rows[1+i][column(name)]; got != want {
				t.Errorf("%s: column %s is %q, want %q", p.Precision, name, got, want)
			}
		}
	}
	if r.Precision.Least != nil || r.Precision.Bare {
		t.Errorf("%+v", r.Precision)
	}
	if own := r.Points[0].Accuracy; *own != r.Precision.AsIs {
		t.Errorf("in the model's own formats it has %v, the model %v", own, r.Precision.AsIs)
	}
	for _, file := range []string{"accuracy-lut.svg", "accuracy-rate.png", "w2a4.onnx"} {
		if _, err := os.Stat(r.PathInOutputFolder(file)); err != nil {
			t.Error(err)
		}
	}
	before, err := os.ReadFile(r.PathInOutputFolder("sweep.json"))
	if err != nil {
		t.Fatal(err)
	}
	again := run(t, o)
	after, err := os.ReadFile(r.PathInOutputFolder("sweep.json"))
	if err != nil || again.Fresh != 0 || string(before) != string(after) {
		t.Errorf("%d searches were made again (%v)", again.Fresh, err)
	}
}

// TestChosenIsAccurate checks that a fast point of an inaccurate model is not chosen.
func TestChosenIsAccurate(t *testing.T) {
	t.Parallel()
	of := &PrecisionAccuracies{}
	of.Float.Low = 0.9
	point := func(fps float64, right int) PointResult {
		p := PointResult{Status: PointStatusFits, FPS: fps, Precision: "w2a2"}
		p.Accuracy = &of.AsIs
		a := of.AsIs
		a.Right, a.Samples = right, 100
		p.Accuracy = &a
		return p
	}
	for _, c := range []struct {
		right [3]int // correct samples at rates 1, 2, 3
		want  int
	}{{[3]int{95, 91, 40}, 1}, {[3]int{95, 96, 97}, 2}, {[3]int{50, 30, 20}, 0}} {
		points := []PointResult{point(1, c.right[0]), point(2, c.right[1]), point(3, c.right[2])}
		judge(points, of)
		if got := slices.IndexFunc(points, func(p PointResult) bool { return p.Chosen }); got != c.want {
			t.Errorf("%v: point %d is chosen, want %d", c.right, got, c.want)
		}
	}
}

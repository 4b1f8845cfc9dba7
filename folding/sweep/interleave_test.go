package sweep

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/frontend/graph"
	"hlsgen/frontend/operators"
	"hlsgen/internal/build"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

// recurrent returns the options of a sweep of an RNN with 12 time steps, fed from inside the FPGA.
func recurrent(t *testing.T, out string, samples ...int) Options {
	t.Helper()
	const steps, features, hidden = 12, 2, 4
	o := onnxtest.New(14).Opset("qonnx.custom_op.general", 2)
	o.Input("x", graph.DTypeFloat32, steps, 1, features)
	o.Init("scale", graph.DTypeFloat32, nil, 1./16).Init("zero", graph.DTypeFloat32, nil, 0).Init("bits",
		graph.DTypeFloat32, nil, 5)
	o.Node("Quant", "x", "scale", "zero", "bits").Domain("qonnx.custom_op.general").Name("in").Out("q")
	weights := func(name string, shape ...int) {
		v := make([]float64, graph.ElementCount(shape))
		for i := range v {
			v[i] = float64(i*5%13-6) / 8
		}
		o.Init(name, graph.DTypeFloat32, shape, v...)
	}
	weights("W", 1, hidden, features)
	weights("R", 1, hidden, hidden)
	o.Node("RNN", "q", "W", "R").Int("hidden_size", hidden).Name("cells").Out("Y", "H")
	o.Output("Y", graph.DTypeFloat32)
	format := operators.CellQuantiserFormat{Scale: 1. / 16, Bits: 6, Signed: true, Rounding: "ROUND"}
	f := frontend.CellFormatsFile{Flag: frontend.CellFormatsFlag,
		Cells: map[string]operators.CellFormats{"RNN:*": {"output": format, "hidden_acc": format}}}
	dir := t.TempDir()
	model, formats := filepath.Join(dir, "model.onnx"), filepath.Join(dir, "cells.json")
	for path, data := range map[string][]byte{model: o.Bytes(), formats: f.FileContent()} {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Options{Source: options.Source{Model: model, ModelInputs: options.ModelInputs{Cells: formats}},
		Hardware: options.Hardware{IO: dataflow.HostIOStream}, OutputFolder: options.OutputFolder{Out: out,
			Version: "test"}, Boards: []string{"zcu104"}, Samples: samples}
}

// TestInterleave runs sweeps over numbers of samples that take turns. Rates count samples, so that all points are on
// one front; a point does not depend on the other values; the printed commands build it.
func TestInterleave(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	dir := t.TempDir()
	run(t, recurrent(t, dir, 1, 2))
	r := run(t, recurrent(t, dir, 1, 2, 4))
	if r.Total != 3 || r.Fresh != 1 || r.CountedUnit() != "samples" {
		t.Fatalf("%d searches, %d fresh, rates of %s", r.Total, r.Fresh, r.CountedUnit())
	}
	fastest := 0.0
	for i, samples := range []int{1, 2, 4} {
		p := r.Points[i]
		if p.Status != PointStatusFits || p.Samples != samples ||
			p.FPS != folding.SamplesPerSecondForInterval(p.Reached,
				p.Interval, samples) ||
			p.FPS <= fastest || p.Chosen != (samples == 4) {
			t.Errorf("%+v", p)
		}
		fastest = p.FPS
		alone := run(t, recurrent(t, t.TempDir(), samples)).Points[0]
		if alone.ID != p.ID || alone.FPS != p.FPS {
			t.Errorf("alone %s of %v samples/s, with others %s of %v", alone.ID, alone.FPS, p.ID, p.FPS)
		}
		swept := recurrent(t, "")
		b := swept.ofBuild()
		b.Interleave, b.Board, b.FPS, b.Out = samples, "zcu104", p.FPS, filepath.Join(t.TempDir(), "b")
		b.Verify, b.NoCSim = 1, true
		var d diag.List
		built, err := build.Run(t.Context(), b, &d)
		if err != nil || built == nil || built.Design.SamplesPerSecond() != p.FPS ||
			built.Design.Clocks.Interval != p.Interval {
			t.Errorf("%d samples: a build at %v samples/s: %v %v %+v", samples, p.FPS, err, d.Diags, built)
		}
	}
	table, err := os.Open(r.PathInOutputFolder("sweep.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	rows, err := csv.NewReader(table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for c, name := range rows[0] {
		if name == "interleave" && (rows[1][c] != "1" || rows[3][c] != "4") {
			t.Errorf("interleave %s, %s, %s", rows[1][c], rows[2][c], rows[3][c])
		}
	}
	page, err := os.ReadFile(r.PathInOutputFolder(readmeFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--interleave 1,2,4", "--interleave 4", "a frame of 4 samples", "samples/s"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
}

// TestInterleaveGoals asks for one rate, and for one front, for all numbers of samples.
func TestInterleaveGoals(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	o := recurrent(t, t.TempDir(), 1, 4)
	o.FPS = []float64{1e6}
	for i, p := range run(t, o).Points {
		if p.Status != PointStatusFits || p.FPS < 1e6 || p.Interval > float64(p.Samples)*p.Reached ||
			p.Samples != 1+3*i {
			t.Errorf("%+v", p)
		}
	}
	o.Out, o.FPS = t.TempDir(), []float64{1e12}
	want := []string{"1000000000000 frames per second are more than one in a clock of 187.5 MHz",
		"1000000000000 samples per second are more than one frame of 4 in a clock of 187.5 MHz"}
	for i, p := range run(t, o).Points {
		if p.Status != PointStatusUnreachable || !strings.HasPrefix(p.Reason, want[i]) {
			t.Errorf("%s, %q; want %q", p.Status, p.Reason, want[i])
		}
	}
	o.Out, o.FPS, o.Bound = t.TempDir(), []float64{1e6}, true
	for _, p := range run(t, o).Points {
		if p.Status != PointStatusBoundsOnly || p.Bounds.Least <= 0 {
			t.Errorf("%+v", p)
		}
	}
	o.Out, o.Bound, o.FPS, o.Front = t.TempDir(), false, nil, 4
	r := run(t, o)
	for _, p := range r.Points {
		for _, q := range r.Points {
			if len(p.Front) > 0 && p.Front[0] == "LUT" && q.FPS >= p.FPS && q.Resources.LUT < p.Resources.LUT {
				t.Errorf("%v samples/s of %d LUT are on the front, and there are %v of %d", p.FPS, p.Resources.LUT,
					q.FPS, q.Resources.LUT)
			}
		}
	}
	if c := r.ChosenPoint(); c == nil || c.Samples != 4 {
		t.Errorf("%+v is chosen", c)
	}
}

// TestNotInterleaved runs the embedded example, which has no recurrence, and expects one diagnostic.
func TestNotInterleaved(t *testing.T) {
	t.Parallel()
	o := onPynq(t)
	o.Samples = []int{1, 2, 4}
	r, d := told(t, o)
	if r != nil || len(d.Diags) != 1 || d.Diags[0].Code != diag.SamplesNotInterleaved {
		t.Errorf("%+v, %v", r, d.Diags)
	}
}

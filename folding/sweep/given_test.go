package sweep

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"hlsgen/folding"
	"hlsgen/internal/build"
	"hlsgen/internal/check"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/tier"
)

// Helpers for the tests of this package: options, runs of sweeps, and readers of their files.

// small returns the options of a sweep of the embedded example with some twenty searches.
func small(out string) Options {
	return Options{OutputFolder: options.OutputFolder{Out: out, Version: "test"}, Boards: []string{"zcu104", "kv260"},
		Clocks: []float64{100, 200}, FPS: []float64{1e4, 5e5, 1e12},
		Computes: []dataflow.MultiplierKind{dataflow.NoMultiplier,
			dataflow.MultiplierInDSPs}}
}

// half allows half of every resource.
var half, _ = folding.ParseMaxUseFractions("0.5")

// fewLUTs allows too few LUTs to multiply in them where the embedded example is fast, and every DSP slice.
var fewLUTs = folding.MaxUseFractions{LUT: 0.3, LUTRAM: 0.3, FF: 1, BRAM: 1, DSP: 1, Mean: 1}

// run runs a sweep, and fails the test on any diagnostic.
func run(t *testing.T, o Options) *SweepReport {
	t.Helper()
	r, d := told(t, o)
	if r == nil || d.HasErrors() {
		t.Fatal(d.Diags)
	}
	return r
}

// told runs a sweep, and returns its result and diagnostics.
func told(t *testing.T, o Options) (*SweepReport, *diag.List) {
	t.Helper()
	var d diag.List
	r, err := RunSweep(context.Background(), o, &d)
	if err != nil {
		t.Fatal(err, d.Diags)
	}
	return r, &d
}

// onPynq returns the options of a sweep of the embedded example for one board, with a folder of its own.
func onPynq(t *testing.T) Options {
	return Options{OutputFolder: options.OutputFolder{Out: t.TempDir(), Version: "test"}, Boards: []string{"pynq-z1"}}
}

// decode reads a JSON file.
func decode(t *testing.T, path string, to any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// An asked is an entry of a folding file.
type asked struct {
	PE       int
	SIMD     int
	RAMStyle string `json:"ram_style"`
	ResType  string `json:"resType"`
	In       []int  `json:"inFIFODepths"`
	Out      []int  `json:"outFIFODepths"`
}

// layers returns the folding of a point.
func layers(t *testing.T, p *PointResult) map[string]asked { return layersOf(t, p.Folding) }

func layersOf(t *testing.T, file []byte) map[string]asked {
	t.Helper()
	all := map[string]asked{}
	if err := json.Unmarshal(file, &all); err != nil {
		t.Fatal(err)
	}
	delete(all, "Defaults")
	if len(all) == 0 {
		t.Fatalf("no layers in %q", file)
	}
	return all
}

// imported reads a model. It skips the test if the model is a shared one that is missing.
func imported(t testing.TB, name string) *dataflow.Model {
	t.Helper()
	shared := tier.NeedsShared(t)
	var d diag.List
	c, err := check.Run(context.Background(),
		check.Options{Source: options.Source{Model: filepath.Join(shared, "models",
			filepath.FromSlash(name), "model.onnx")}}, &d)
	if err != nil || d.HasErrors() || c.Imported.Model == nil {
		t.Fatal(err, d.Diags)
	}
	return c.Imported.Model
}

// spreadsheet returns the rows of sweep.csv.
func spreadsheet(t *testing.T, dir string) [][]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "sweep.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// one runs a sweep for a single design.
func one(t *testing.T, change func(*Options)) PointResult {
	t.Helper()
	o := onPynq(t)
	change(&o)
	r := run(t, o)
	if len(r.Points) != 1 || r.Points[0].Status != PointStatusFits {
		t.Fatalf("%+v", r.Points)
	}
	return r.Points[0]
}

// collect collects reports, and fails the test on any diagnostic.
func collect(t *testing.T, dir string) *SweepReport {
	t.Helper()
	var d diag.List
	r, err := CollectToolReports(dir, &d)
	if err != nil || r == nil || len(d.Diags) > 0 {
		t.Fatal(err, d.Diags)
	}
	return r
}

// projects writes the project of every design.
func projects(t *testing.T, r *SweepReport, o Options) {
	t.Helper()
	var d diag.List
	if err := r.WriteSlurmJobs(context.Background(), o, &d); err != nil || d.HasErrors() {
		t.Fatal(err, d.Diags)
	}
}

// rebuilt builds the embedded example with a point's folding.
func rebuilt(t *testing.T, p *PointResult) *folding.Design {
	t.Helper()
	dir := t.TempDir()
	o := build.Options{Hardware: options.Hardware{Board: p.Board, ClockMHz: p.ClockMHz},
		Verification: options.Verification{NoCSim: true}}
	o.Folding = filepath.Join(dir, "folding.json")
	if err := os.WriteFile(o.Folding, p.Folding, 0o644); err != nil {
		t.Fatal(err)
	}
	o.Out = filepath.Join(dir, "out")
	var d diag.List
	made, err := build.Run(context.Background(), o, &d)
	if err != nil || d.HasErrors() {
		t.Fatal(err, d.Diags)
	}
	return made.Design
}

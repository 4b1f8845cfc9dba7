package sweep

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/source"
	_ "hlsgen/internal/testsupport/golden" // the flag -update
	"hlsgen/internal/testsupport/schema"
	"hlsgen/internal/testsupport/tier"
)

// content returns every file of a folder except the journal.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range files {
		if f.Name() == journalFile {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name()] = string(b)
	}
	return all
}

// TestRun checks the points against the options, and that the files do not depend on the number of workers.
func TestRun(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	one := t.TempDir()
	o := small(one)
	o.Workers = 1
	r := run(t, o)
	if r.Total != 24 || r.Fresh != 24 || len(r.Points) != 24 || r.ChosenPoint() == nil || len(r.Files) != 12 {
		t.Fatalf("%d searches, %d fresh, %d points, files %v", r.Total, r.Fresh, len(r.Points), r.Files)
	}
	for _, p := range r.Points {
		switch {
		case p.FPSAsked == 1e12 && (p.Status != PointStatusUnreachable || p.Reason == "" || p.Interval != 0):
			t.Errorf("%+v", p)
		case p.FPSAsked == 1e12:
			continue
		case p.Status != PointStatusFits || p.FPS < p.FPSAsked || p.Reached > p.ClockMHz || p.Interval <= 0 ||
			float64(p.Latency) < p.Interval || p.Resources.LUT == 0 ||
			p.Share <= 0 || p.Share > 0.8:
			t.Errorf("%+v", p)
		}
		for name, f := range layers(t, &p) {
			if p.Compute == "dsp" && f.ResType == "lut" {
				t.Errorf("%s multiplies with LUTs in %+v", name, p)
			}
		}
	}
	for i := range r.Points {
		if c := r.ChosenPoint(); r.Points[i].FPS > c.FPS {
			t.Errorf("%v frames per second are chosen, there are %v", c.FPS, r.Points[i].FPS)
		}
	}

	if b, err := os.ReadFile(filepath.Join(one, ChosenFoldingFileName)); err != nil ||
		!reflect.DeepEqual(layersOf(t, b), layers(t, r.ChosenPoint())) {
		t.Errorf("%s: %s, %v", ChosenFoldingFileName, b, err)
	}

	many := t.TempDir()
	o = small(many)
	o.Workers = 8
	run(t, o)
	a, b := content(t, one), content(t, many)
	if len(a) != len(r.Files)+2 { // plus the README and the list of files
		t.Errorf("%d files were written, %v are listed", len(a), r.Files)
	}
	if !reflect.DeepEqual(a, b) {
		t.Error("the files of one and of eight workers differ")
	}
}

// TestFolding checks that a build with a point's folding file gives the point's design: its folds, FIFO depths, clocks
// and resources.
func TestFolding(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	o := small(t.TempDir())
	o.Boards, o.Clocks, o.FPS = o.Boards[:1], o.Clocks[:1], []float64{1e4, 5e5}
	for _, p := range run(t, o).Points {
		m := rebuilt(t, &p)
		if m.Clocks.Interval != p.Interval || m.Clocks.Latency != p.Latency || m.SamplesPerSecond() != p.FPS ||
			m.Estimate.Total != p.Resources {
			t.Errorf("%v clocks, latency %d, %+v; the sweep has %+v", m.Clocks.Interval, m.Clocks.Latency,
				m.Estimate.Total, p)
		}
		if got := folding.FormatFoldingFile(m.Design, true); !reflect.DeepEqual(layersOf(t, got), layers(t, &p)) {
			t.Errorf("%s, want %s", got, p.Folding)
		}
	}
}

// TestResume interrupts a sweep after some searches, cuts the journal's last line, and resumes.
func TestResume(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	whole := t.TempDir()
	run(t, small(whole))

	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	o := small(dir)
	var mu sync.Mutex
	last := 0
	o.Progress = func(stage string, done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if stage == "searching" {
			if last = done; done >= 7 {
				cancel()
			}
			if total != 24 {
				t.Errorf("%d searches", total)
			}
		}
	}
	var d diag.List
	r, err := RunSweep(ctx, o, &d)
	if !errors.Is(err, context.Canceled) || r == nil || r.Kept < 7 || r.Kept == 24 || r.Kept != last {
		t.Fatalf("%v, %+v", err, r)
	}
	if files := content(t, dir); len(files) != 0 {
		t.Errorf("files of an interrupted sweep: %d", len(files))
	}
	path := filepath.Join(dir, journalFile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b[:len(b)-9], 0o644); err != nil {
		t.Fatal(err)
	}
	kept := r.Kept - 1

	o.Progress = nil
	if r = run(t, o); r.Fresh != 24-kept {
		t.Errorf("%d searches were made, %d had been", r.Fresh, kept)
	}
	if !reflect.DeepEqual(content(t, dir), content(t, whole)) {
		t.Error("the files are not those of a sweep in one go")
	}
	if r = run(t, o); r.Fresh != 0 {
		t.Errorf("%d searches were made of a finished sweep", r.Fresh)
	}
	// A larger sweep makes only the new searches; another version of the tool makes all of them.
	o.MaxUses = []folding.MaxUseFractions{{}, half}
	if r = run(t, o); r.Fresh != 24 || len(r.Points) != 48 {
		t.Errorf("%d fresh of %d", r.Fresh, len(r.Points))
	}
	o.Version = "other"
	if r = run(t, o); r.Fresh != 48 {
		t.Errorf("%d fresh with another version", r.Fresh)
	}
	o.Force = true
	if r = run(t, o); r.Fresh != 48 {
		t.Errorf("%d fresh when begun anew", r.Fresh)
	}
}

// line returns a line of a journal.
func line(t *testing.T, v any) string {
	t.Helper()
	b, err := sealed(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

// TestPlace checks which folders a sweep accepts.
func TestPlace(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	model := source.ReadModelFile("", nil).SHA256()
	for _, c := range []struct {
		name, journal, file string
		force               bool
		want                string // text of the diagnostic; empty if the folder is accepted
	}{
		{name: "empty"},
		{name: "strange", file: "thesis.tex", want: "holds no sweep"},
		{name: "strange, forced", file: "thesis.tex", force: true, want: "holds no sweep"},
		{name: "no journal of ours", journal: "{}\n", force: true, want: "holds no sweep"},
		{name: "begun", journal: `{"hlsgen_swe`, want: ""},
		{name: "another model", journal: line(t, header{form, "x.onnx", "0"}),
			want: `the sweep of another model, "x.onnx"`},
		{name: "another model, forced", journal: line(t, header{form, "x.onnx", "0"}), force: true},
		{name: "another model, a form to come", journal: line(t, header{99, "x.onnx", "0"}),
			want: `the sweep of another model, "x.onnx"`},
		{name: "another model, the form before", want: `the sweep of another model, "x.onnx"`,
			journal: `{"hlsgen_sweep":2,"model":"x.onnx","model_sha256":"0"}` + "\n"},
		{name: "a form to come", journal: line(t, header{99, "x.onnx", model})},
		{name: "the form before", journal: `{"hlsgen_sweep":2,"model":"x.onnx","model_sha256":"` + model + `"}` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range map[string]string{journalFile: c.journal, c.file: "x"} {
				if name == "" || text == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			o := small(dir)
			o.Boards, o.Clocks, o.FPS, o.Computes, o.Force = o.Boards[:1], nil, o.FPS[:1], nil, c.force
			r, d := told(t, o)
			if (r == nil) != (c.want != "") {
				t.Fatal(r, d.Diags)
			}
			if c.want != "" && (d.Diags[0].Code != diag.OutputFolderUnusable || !strings.Contains(d.Diags[0].Msg,
				c.want)) {
				t.Errorf("%v", d.Diags)
			}
		})
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	var d diag.List
	o := Options{Boards: []string{"zcu104", "ZCU104", "pynq-z1"}, FPS: []float64{10, 5, 10},
		Memories: []dataflow.Memory{dataflow.MemoryBRAM, dataflow.MemoryLUTRAM}}
	specs := o.plan(&d)
	if len(specs) != 8 || specs[0].ClockMHz != 187.5 || specs[4].ClockMHz != 100 || d.HasErrors() {
		t.Errorf("%d specs, %v", len(specs), d.Diags)
	}
	seen := map[string]bool{}
	for _, s := range specs {
		seen[s.key("model")] = true
	}
	if len(seen) != 8 || seen[specs[0].key("another")] {
		t.Errorf("%d keys", len(seen))
	}
	o.Front = 5
	if specs = o.plan(&d); len(specs) != 4 || specs[0].FPS != 5 || specs[0].Front != 5 {
		t.Errorf("%+v", specs)
	}
	o.Boards = []string{"zcu140"}
	if o.plan(&d); !d.HasErrors() || d.Diags[0].Code != diag.BoardUnknown {
		t.Errorf("%v", d.Diags)
	}
	d = diag.List{}
	o = Options{Boards: []string{"zcu104"}, FPS: make([]float64, 2000), Clocks: make([]float64, 2000)}
	for i := range o.FPS {
		o.FPS[i], o.Clocks[i] = float64(i+1), float64(i+1)
	}
	if o.plan(&d); !d.HasErrors() {
		t.Error("four million points are taken")
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	make := func(status, board string, fps float64, lut, bram int, share float64) PointResult {
		return PointResult{Status: status, Board: board, FPS: fps, Share: share,
			Resources: dataflow.Resources{LUT: lut, BRAM: bram}}
	}
	points := []PointResult{
		make(PointStatusFits, "a", 10, 5, 9, 0.1),
		make(PointStatusFits, "a", 10, 6, 1, 0.2),
		make(PointStatusFits, "a", 9, 6, 1, 0.2),
		make(PointStatusFits, "b", 10, 7, 7, 0.05),
		make(PointStatusBoundsOnly, "b", 99, 1, 1, 0.01),
	}
	judge(points, nil)
	var got []string
	for _, p := range points {
		got = append(got, strings.Join(p.Front, " "))
		if p.Chosen {
			got[len(got)-1] += " chosen"
		}
	}
	if want := []string{"LUT DSP", "RAMB18", "", "LUT RAMB18 DSP chosen", ""}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTable checks that every cell is in its column, and that none is a formula.
func TestTable(t *testing.T) {
	t.Parallel()
	points := []PointResult{
		{Board: "=cmd|' /C calc'!A0", Status: PointStatusRefused, Reason: "a \"reason\", with\nlines"},
		{Board: "b", Status: PointStatusFits, Interval: 8, Latency: 20, Reached: 100, FPS: 12.5e6,
			Resources: dataflow.Resources{LUT: 1, FF: 2, BRAM: 3, URAM: 4, DSP: 5}, Chosen: true},
	}
	b, err := table(points)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatal(err, len(rows))
	}
	at := func(row int, column string) string { return rows[row][slices.Index(rows[0], column)] }
	for _, c := range []struct {
		row          int
		column, want string
	}{
		{1, "board", "'=cmd|' /C calc'!A0"}, {1, "fps", ""}, {1, "lut", ""}, {1, "reason", points[0].Reason},
		{1, "proved", ""},
		{2, "fps", "12500000"}, {2, "latency_us", "0.2"}, {2, "bram18", "3"}, {2, "chosen", "true"},
	} {
		if got := at(c.row, c.column); got != c.want {
			t.Errorf("%s: %q, want %q", c.column, got, c.want)
		}
	}
}

// TestPointsForm checks sweep.json against its schema, for points of every status.
func TestPointsForm(t *testing.T) {
	t.Parallel()
	form := schema.Of(t, "sweep-points", "sweep.json of a sweep", sheet{})
	for _, bound := range []bool{false, true} {
		o := onPynq(t)
		o.FPS, o.Bound = []float64{1000, 1e12}, bound
		text, err := os.ReadFile(run(t, o).PathInOutputFolder("sweep.json"))
		if err != nil {
			t.Fatal(err)
		}
		form.Check(t, text)
	}
}

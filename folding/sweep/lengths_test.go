package sweep

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/build"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/report"
	"hlsgen/internal/testsupport/rnntest"
	"hlsgen/internal/testsupport/tier"
)

// lengths returns the options of a sweep of a network for sequences of 1 to most time steps.
func lengths(t *testing.T, model, out string, most int) Options {
	t.Helper()
	return Options{Source: options.Source{Model: model,
		ModelInputs: options.ModelInputs{Lengths: &frontend.AxisLengthRange{Axis: "T", Min: 1, Max: most}}},
		OutputFolder: options.OutputFolder{Out: out, Version: "test"}, Boards: []string{"zcu104"},
		Intervals: []float64{1000, 4000}}
}

// TestLengths runs sweeps for sequences of different lengths. Figures are those of the longest sequence, with the
// shortest beside them; a journal records the lengths of each search; the printed commands build a point.
func TestLengths(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	var n *rnntest.Network
	for seed := uint64(0); n == nil || n.Front != nil || n.Outputs[0].Of != "sequence" || len(n.Outputs) > 1; seed++ {
		n = rnntest.Draw(rnntest.Seeded(seed), rnntest.Axes{})
	}
	n.Lengths, n.Steps = true, 6
	model, dir := filepath.Join(t.TempDir(), "model.onnx"), t.TempDir()
	if err := os.WriteFile(model, n.ONNX(), 0o644); err != nil {
		t.Fatal(err)
	}
	fixed := lengths(t, model, dir, 0)
	fixed.Lengths, fixed.Dims = nil, map[string]int{"T": 6}
	if r := run(t, fixed); r.Points[0].Sequences != nil {
		t.Errorf("sequences of one length: %+v", r.Points[0].Sequences)
	}
	run(t, lengths(t, model, dir, 4))
	r := run(t, lengths(t, model, dir, 6))
	if r.Total != 2 || r.Fresh != 2 {
		t.Errorf("%d searches, %d fresh: others have other lengths", r.Total, r.Fresh)
	}
	if again := run(t, lengths(t, model, dir, 6)); again.Fresh != 0 {
		t.Errorf("%d fresh searches", again.Fresh)
	}
	for i, p := range r.Points {
		swept := lengths(t, model, "", 6)
		b := swept.ofBuild()
		b.Board, b.Interval, b.Out = "zcu104", p.Asked, filepath.Join(t.TempDir(), "b")
		b.Verify, b.NoCSim = 4, true
		var d diag.List
		built, err := build.Run(t.Context(), b, &d)
		if err != nil || built == nil {
			t.Fatal(err, d.Diags)
		}
		s := p.Sequences
		if p.Status != PointStatusFits || s == nil || *s != *report.NewSequenceRatesReport(built.Design) ||
			s.Longest.Interval != p.Interval || s.Longest.Steps != 6 || s.Shortest.Steps != 1 ||
			p.Interval > float64(p.Asked) {
			t.Errorf("point %d: %+v of %+v", i, s, p)
		}
	}
	file := func(name string) string {
		b, err := os.ReadFile(r.PathInOutputFolder(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	rows, err := csv.NewReader(strings.NewReader(file("sweep.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	row := map[string]string{}
	for c, name := range rows[0] {
		row[name] = rows[1][c]
	}
	s := r.Points[0].Sequences
	if row["steps_min"] != "1" || row["steps_max"] != "6" || row["interval_clocks"] != number(s.Longest.Interval) ||
		row["clocks_per_step"] != number(s.Longest.PerStep) ||
		row["shortest_interval_clocks"] != number(s.Shortest.Interval) {
		t.Errorf("%v, want %+v", row, s)
	}
	var sheet struct{ Points []PointResult }
	if err := json.Unmarshal([]byte(file("sweep.json")), &sheet); err != nil || *sheet.Points[0].Sequences != *s {
		t.Errorf("%v: %+v", err, sheet.Points[0].Sequences)
	}
	for _, want := range []string{"--dim T=1..6", "a sequence of 6 steps, the longest,"} {
		if page := file(readmeFile); !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	o := lengths(t, model, dir, 6)
	var d diag.List
	if err := r.WriteSlurmJobs(t.Context(), o, &d); err != nil || d.HasErrors() {
		t.Fatal(err, d.Diags)
	}
	if got := file("points/" + r.Points[0].ID + "/hls/tb/data/frames.txt"); got != "2\n6\n1\n" {
		t.Errorf("a job's frames are %q", got)
	}
}

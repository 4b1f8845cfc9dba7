package sweep

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/slurmtest"
)

// submit runs the job array of a sweep on the cluster, with stand-ins for the vendor's tools, and waits for its end.
func submit(t *testing.T, c *slurmtest.Cluster, dir string) (output string, ok bool) {
	t.Helper()
	stand, err := filepath.Abs("testdata/stand-in")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), slurmtest.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sbatch", "--wait", "--cpus-per-task=1", "--mem=1", scriptFile)
	cmd.Dir = dir
	cmd.Env = append(slices.Clone(c.Env), "HLSGEN_HLS="+filepath.Join(stand, "vitis_hls"),
		"HLSGEN_VIVADO="+filepath.Join(stand, "vivado"))
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("the job array does not end: %s\n%s", out, c.Try("squeue"))
	}
	return string(out), err == nil
}

// TestSlurm runs a sweep's job array on a real slurmctld and slurmd, with stand-ins for the vendor's tools
// (testdata/stand-in). Every design is synthesised once, a design that fails is synthesised after a second submission,
// and the reports come into the tables.
func TestSlurm(t *testing.T) {
	c := slurmtest.New(t)
	dir := t.TempDir()
	o := small(dir)
	o.Boards, o.Clocks, o.Computes, o.FPS = o.Boards[:1], []float64{200}, nil, []float64{1e4, 2e5, 1e6, 1e12}
	r := run(t, o)
	var d diag.List
	if err := r.WriteSlurmJobs(context.Background(), o, &d); err != nil || d.HasErrors() {
		t.Fatal(err, d.Diags)
	}
	if r.Array != 3 || r.Script != scriptFile {
		t.Fatalf("a job array of %d", r.Array)
	}
	at := func(p *PointResult, name string) string {
		return filepath.Join(dir, pointsFolder, p.ID, filepath.FromSlash(name))
	}
	bad := &r.Points[1]
	if err := os.WriteFile(at(bad, "fail"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, ok := submit(t, c, dir); ok {
		t.Fatalf("a job that fails is not told: %s", out)
	}
	if got := collect(t, dir); got.Collected != 2 || got.Points[1].Report != nil {
		t.Errorf("%d reports; of the design that failed %v", got.Collected, got.Points[1].Report)
	}
	if err := os.Remove(at(bad, "fail")); err != nil {
		t.Fatal(err)
	}
	if out, ok := submit(t, c, dir); !ok {
		log, _ := os.ReadFile(filepath.Join(dir, pointsFolder, "slurm-1.log"))
		t.Fatalf("%s\n%s", out, log)
	}
	got := collect(t, dir)
	if got.Collected != 3 || len(got.Points) != 4 || got.Points[3].Report != nil {
		t.Fatalf("%d reports", got.Collected)
	}
	size := func(p *PointResult, name string) int {
		info, err := os.Stat(at(p, name))
		if err != nil {
			t.Fatal(err)
		}
		return int(info.Size())
	}
	for i := range 3 {
		p := &got.Points[i]
		if runs, err := os.ReadFile(at(p, "runs")); err != nil || string(runs) != "run\n" {
			t.Errorf("point %d was synthesised %d times, %v", i, strings.Count(string(runs), "run"), err)
		}
		h, v := p.Report.HLS, p.Report.Vivado
		if h == nil || v == nil || h.Resources.LUT != size(p, "hls/layers.hpp") ||
			h.Resources.FF != size(p, "hls/top.cpp") || h.Resources.BRAM != 3 || h.PeriodNS != 3.65 ||
			p.Report.Interval != 64 || p.Report.Latency != 100 {
			t.Errorf("point %d: HLS %+v", i, h)
		}
		if v != nil && (v.Resources.FF != 2*v.Resources.LUT || v.Resources.LUT == 0 || v.Resources.BRAM != 3 ||
			v.Resources.DSP != 7 || v.PeriodNS != 4.25) {
			t.Errorf("point %d: Vivado %+v", i, v)
		}
	}
	rows := spreadsheet(t, dir)
	column := slices.Index(rows[0], "hls_lut")
	if column < 0 || rows[1][column] != fmt.Sprint(size(&got.Points[0], "hls/layers.hpp")) || rows[4][column] != "" {
		t.Errorf("sweep.csv: %q", rows)
	}
}

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/slurmtest"
)

// TestSynthOnSlurm has a real slurmctld and slurmd run every layer as a job, with stand-ins for the vendor's tools. A
// layer that fails is named with its log, the same command does the remaining work, and the whole design follows the
// layers.
func TestSynthOnSlurm(t *testing.T) {
	c := slurmtest.New(t)
	b := newBench(t, "hls")
	env := append(slices.Clone(c.Env), "SBATCH_MEM_PER_NODE=1", "PATH="+b.tools+":"+os.Getenv("PATH"), "RAN="+b.ran)
	synth := func(more []string, args ...string) (got said, ran []string) {
		t.Helper()
		return b.hlsgen(t, append(slices.Clone(env), more...),
			append([]string{"synth", built2, "--jobs", "slurm"}, args...)...)
	}
	got, ran := synth([]string{"HLS_FAILS=MVAU_1"})
	if got.code != exitDiagnostics || len(ran) != 7 || slices.Contains(ran, "vivado MVAU_1") {
		t.Errorf("a job that fails: %q, %+v", ran, got)
	}
	expect(t, "stderr", got.stderr, "error[synthesis-failed]: MVAU_1: Vitis HLS has failed\n"+
		"   hls/build.ip/MVAU_1/log\n")
	expect(t, "stdout", got.stdout, "3 synthesised now, 0 unchanged\nfailed       MVAU_1\n")
	if got, ran = synth(nil); got.code != exitOK || !slices.Equal(ran, []string{"hls MVAU_1", "vivado MVAU_1"}) {
		logs, _ := os.ReadFile(filepath.Join(b.dir, built2, "synth/slurm-0.log"))
		t.Errorf("again: %q, %+v\n%s", ran, got, logs)
	}
	if got, ran = synth(nil, "--until", "bitstream"); got.code != exitOK || !slices.Equal(ran,
		[]string{"bitstream model_top"}) {
		t.Errorf("the whole: %q, %+v", ran, got)
	}
	if got, ran = synth(nil); got.code != exitOK || len(ran) > 0 {
		t.Errorf("nothing is left: %q, %+v", ran, got)
	}
	if table := say(b.dir, nil, "collect", built2); !strings.Contains(table.stdout, "\nMVAU_0 ") ||
		strings.Contains(table.stdout, "missing") {
		t.Errorf("%+v", table)
	}
	t.Setenv("SLURM_CONF", filepath.Join(b.dir, "no.conf"))
	if err := os.RemoveAll(b.path("synth/hls/MVAU_0")); err != nil {
		t.Fatal(err)
	}
	if got, _ = b.hlsgen(t, nil, "synth", built2, "--jobs", "slurm"); got.code != exitDiagnostics {
		t.Errorf("without a cluster: %+v", got)
	}
	expect(t, "stderr", got.stderr, "sbatch: ")
}

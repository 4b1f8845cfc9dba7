package sweep

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"hlsgen/internal/diag"
	"hlsgen/internal/tier"
)

// A cluster is a Slurm controller and one node, this machine, with keys and folders of their own.
type cluster struct {
	dir string
	env []string
}

// newCluster starts munged, slurmctld and slurmd, and ends them with the test.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin")
	tier.NeedsServices(t, tier.Services...)
	dir, err := os.MkdirTemp("", "slurm-") // short: a socket's path has 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{dir: dir, env: append(os.Environ(), "SLURM_CONF="+filepath.Join(dir, "slurm.conf"))}
	t.Cleanup(func() { os.RemoveAll(dir) })
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	key := make([]byte, 64)
	rand.Read(key)
	c.write(t, "key", string(key), 0o600)
	c.write(t, "slurm.conf", fmt.Sprintf(`ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
SlurmUser=%[2]s
SlurmdUser=%[2]s
AuthType=auth/munge
AuthInfo=socket=%[3]s/munge.socket
SlurmctldPort=%[4]d
SlurmdPort=%[5]d
SlurmctldPidFile=%[3]s/slurmctld.pid
SlurmdPidFile=%[3]s/slurmd.pid
StateSaveLocation=%[3]s/state
SlurmdSpoolDir=%[3]s/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=%[6]d State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`, host, me.Username, dir, freePort(t), freePort(t), runtime.NumCPU()), 0o644)
	for _, sub := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	c.start(t, "munged", "--force", "--foreground", "--key-file="+in("key"), "--socket="+in("munge.socket"),
		"--pid-file="+in("munged.pid"), "--seed-file="+in("seed"))
	c.wait(t, "munged", func() bool { _, err := os.Stat(in("munge.socket")); return err == nil })
	c.start(t, "slurmctld", "-D")
	c.start(t, "slurmd", "-D")
	c.wait(t, "an idle node", func() bool { return strings.TrimSpace(c.try("sinfo", "-h", "-o", "%T")) == "idle" })
	return c
}

func (c *cluster) write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// start runs a daemon until the test ends. What it said is shown if the test fails.
func (c *cluster) start(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	var said bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = c.env, &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		done := make(chan struct{})
		go func() { cmd.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			cmd.Process.Kill()
			<-done
		}
		if t.Failed() {
			t.Logf("%s:\n%s", name, said.Bytes())
		}
	})
}

// patience is when a cluster that does nothing is given up, on the slowest machine.
const patience = 10 * time.Minute

func (c *cluster) wait(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ready(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no %s within %v", what, patience)
		}
	}
}

// try runs a command of Slurm and gives what it printed.
func (c *cluster) try(name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Env = c.env
	out, _ := cmd.Output()
	return string(out)
}

// submit gives the job array of a sweep to the cluster, with stand-ins for the vendor's tools, and waits for its end.
func (c *cluster) submit(t *testing.T, dir string) (output string, ok bool) {
	t.Helper()
	stand, err := filepath.Abs("testdata/stand-in")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sbatch", "--wait", "--cpus-per-task=1", "--mem=1", scriptFile)
	cmd.Dir = dir
	cmd.Env = append(slices.Clone(c.env), "HLSGEN_HLS="+filepath.Join(stand, "vitis_hls"),
		"HLSGEN_VIVADO="+filepath.Join(stand, "vivado"))
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("the job array does not end: %s\n%s", out, c.try("squeue"))
	}
	return string(out), err == nil
}

// TestSlurm runs a sweep's job array on a real slurmctld and slurmd, with stand-ins for the vendor's tools
// (testdata/stand-in): every design is synthesised once, one that fails is made up for by submitting again, and the
// reports come into the tables.
func TestSlurm(t *testing.T) {
	c := newCluster(t)
	dir := t.TempDir()
	o := small(dir)
	o.Boards, o.Clocks, o.Computes, o.FPS = o.Boards[:1], []float64{200}, nil, []float64{1e4, 2e5, 1e6, 1e12}
	r := run(t, o)
	var d diag.List
	if err := r.Slurm(context.Background(), o, &d); err != nil || d.Failed() {
		t.Fatal(err, d.Diags)
	}
	if r.Array != 3 || r.Script != scriptFile {
		t.Fatalf("a job array of %d", r.Array)
	}
	at := func(p *Point, name string) string {
		return filepath.Join(dir, pointsFolder, p.ID, filepath.FromSlash(name))
	}
	bad := &r.Points[1]
	if err := os.WriteFile(at(bad, "fail"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, ok := c.submit(t, dir); ok {
		t.Fatalf("a job that fails is not told: %s", out)
	}
	if got := collect(t, dir); got.Collected != 2 || got.Points[1].Report != nil {
		t.Errorf("%d reports; of the design that failed %v", got.Collected, got.Points[1].Report)
	}
	if err := os.Remove(at(bad, "fail")); err != nil {
		t.Fatal(err)
	}
	if out, ok := c.submit(t, dir); !ok {
		log, _ := os.ReadFile(filepath.Join(dir, pointsFolder, "slurm-1.log"))
		t.Fatalf("%s\n%s", out, log)
	}
	got := collect(t, dir)
	if got.Collected != 3 || len(got.Points) != 4 || got.Points[3].Report != nil {
		t.Fatalf("%d reports", got.Collected)
	}
	size := func(p *Point, name string) int {
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

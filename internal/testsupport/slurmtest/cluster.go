// Package slurmtest starts a Slurm cluster with a single node, this machine, for tests that submit jobs.
//
// In comes a test; out comes a Slurm that ends with it.
package slurmtest

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"hlsgen/internal/testsupport/tier"
)

// A Cluster is a Slurm cluster that runs for a test: a controller and one node, this machine, with keys and folders of
// its own.
type Cluster struct {
	dir string
	Env []string // environment of commands that talk to the cluster
}

// New starts the daemons munged, slurmctld and slurmd, and stops them at the end of the test.
func New(t testing.TB) *Cluster {
	t.Helper()
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin") // folders with daemons
	tier.NeedsServices(t, tier.Services...)
	dir, err := os.MkdirTemp("", "slurm-") // short, since a socket's path has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{dir: dir, Env: append(os.Environ(), "SLURM_CONF="+filepath.Join(dir, "slurm.conf"))}
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
	c.wait(t, "an idle node", func() bool { return strings.TrimSpace(c.Try("sinfo", "-h", "-o", "%T")) == "idle" })
	return c
}

// write writes a file into the cluster's folder.
func (c *Cluster) write(t testing.TB, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// freePort returns a TCP port that no program of this machine uses.
func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// start runs a daemon until the test ends. It shows the daemon's output if the test fails.
func (c *Cluster) start(t testing.TB, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	var said bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = c.Env, &said, &said
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

// Patience is the time after which a test gives up on an idle cluster, even on the slowest machine.
const Patience = 10 * time.Minute

// wait waits until ready returns true. It ends the test after Patience; what names the event in the message.
func (c *Cluster) wait(t testing.TB, what string, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !ready(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no %s within %v", what, Patience)
		}
	}
}

// Try runs a command of Slurm and returns its standard output, whether it succeeds or fails.
func (c *Cluster) Try(name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Env = c.Env
	out, _ := cmd.Output()
	return string(out)
}

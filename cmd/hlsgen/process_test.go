package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// asHlsgen makes this test's program hlsgen, for tests of a whole process.
const asHlsgen = "TEST_IS_HLSGEN"

// peakFile names a file for the most memory that hlsgen took, in KiB.
const peakFile = "TEST_PEAK_FILE"

func TestMain(m *testing.M) {
	if file := os.Getenv(peakFile); file != "" {
		os.Exit(watch(file))
	}
	if os.Getenv(asHlsgen) != "" {
		debug.SetGCPercent(100) // Go's, which tests raise
		main()
	}
	code := m.Run()
	if ownFolder != "" {
		os.RemoveAll(ownFolder)
	}
	os.Exit(code)
}

// process is hlsgen as a process of its own in a folder, with an empty folder for temporary files.
func process(t *testing.T, dir string, env []string, args ...string) (cmd *exec.Cmd, temporary string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	temporary = t.TempDir()
	cmd = exec.Command(self, args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), asHlsgen+"=1", "TMPDIR="+temporary), env...)
	return cmd, temporary
}

// watch runs hlsgen with the arguments of this process, writes the most memory that it took to a file, and returns its
// exit code. A process counts what the one took that started it, until it had a program of its own. So this small
// process starts it, and not the one that runs the tests.
func watch(file string) int {
	os.Unsetenv(peakFile)
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		err = os.WriteFile(file, fmt.Append(nil, use.Maxrss), 0o666)
	}
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		panic(err)
	}
	return cmd.ProcessState.ExitCode()
}

// peak runs a process of hlsgen, and returns the most memory that it took, in KiB. The error is that of the process.
func peak(t *testing.T, cmd *exec.Cmd) (kib int, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "peak")
	cmd.Env = append(cmd.Env, peakFile+"="+file)
	err = cmd.Run()
	text, missing := os.ReadFile(file)
	if _, bad := fmt.Sscan(string(text), &kib); missing != nil || bad != nil {
		t.Fatal(err, missing, bad)
	}
	return kib, err
}

// TestInterrupted ends a build by a signal while its C++ is compiled: the compilers end with it, and neither they nor
// hlsgen leave a file.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "sh")
	for _, c := range []struct {
		name    string
		signals []os.Signal
		code    int
	}{
		{"interrupt", []os.Signal{os.Interrupt}, exitInterrupted},
		{"termination", []os.Signal{syscall.SIGTERM}, exitInterrupted},
		{"the terminal is closed", []os.Signal{syscall.SIGHUP}, exitInterrupted},
		{"twice", []os.Signal{os.Interrupt, os.Interrupt}, exitInterrupted},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if slices.ContainsFunc(c.signals, signal.Ignored) {
				t.Skip("who runs the tests ignores this signal (nohup), and so does what they start")
			}
			dir := t.TempDir()
			alive := filepath.Join(dir, "alive") // open for writing as long as a compiler, or its child, lives
			slow := filepath.Join(dir, "slow")
			script := "#!/bin/sh\n: > \"$TMPDIR/left.s\"\nsleep 100000 > " + alive + "\n"
			if err := errors.Join(syscall.Mkfifo(alive, 0o600), os.WriteFile(slow, []byte(script), 0o700)); err != nil {
				t.Fatal(err)
			}
			cmd, temporary := process(t, dir, []string{"CXX=" + slow}, "build", "--board", "zcu104", "--verify", "1",
				"--out", "made/out")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pipe, err := os.Open(alive) // waits for a compiler
			if err != nil {
				t.Fatal(err)
			}
			defer pipe.Close()
			if _, err := os.Stat(filepath.Join(dir, "made")); err != nil {
				t.Errorf("the place is not claimed: %v", err)
			}
			for _, s := range c.signals {
				if err := cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
					t.Fatal(err)
				}
			}
			err = cmd.Wait()
			exit := new(exec.ExitError)
			if !errors.As(err, &exit) || exit.ExitCode() != c.code || len(c.signals) == 1 &&
				!strings.HasSuffix(stderr.String(), "hlsgen: interrupted\n") {
				t.Errorf("%v, %s", err, stderr.String())
			}
			if _, err := io.ReadAll(pipe); err != nil { // until the last has ended
				t.Error(err)
			}
			if left := entries(t, temporary); left != "" {
				t.Errorf("temporary files are left: %s", left)
			}
			if left := entries(t, dir); left != "alive slow" && len(c.signals) == 1 {
				t.Errorf("left: %s", left)
			}
		})
	}
}

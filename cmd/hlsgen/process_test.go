package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// asHlsgen makes this test's program hlsgen, for tests of a whole process.
const asHlsgen = "TEST_IS_HLSGEN"

func TestMain(m *testing.M) {
	if os.Getenv(asHlsgen) != "" {
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

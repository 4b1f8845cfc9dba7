package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hlsgen/internal/testsupport/tier"
)

// A terminal is a pseudo-terminal with a program in its foreground.
type terminal struct {
	*os.File // its keyboard and screen
	cmd      *exec.Cmd
	mu       sync.Mutex
	shown    strings.Builder
	news     chan struct{} // something was shown
	over     chan struct{} // nothing more will be
}

// pseudoTerminal is both ends of a pseudo-terminal.
func pseudoTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if errors.Is(err, fs.ErrNotExist) && !tier.Full() {
		t.Skip("this system has no /dev/ptmx")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	n := 0
	raw, err := master.SyscallConn() // Fd would have Close wait for Read
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			if n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); err == nil {
				err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
			}
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

// onTerminal starts a program on a terminal of its own, to which go all of its streams that are not set.
func onTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	master, slave := pseudoTerminal(t)
	x := &terminal{File: master, cmd: cmd, news: make(chan struct{}, 1), over: make(chan struct{})}
	cmd.Stdin, cmd.Stderr = slave, slave
	if cmd.Stdout == nil {
		cmd.Stdout = slave
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	go func() {
		defer close(x.over)
		for b := make([]byte, 4096); ; {
			n, err := master.Read(b) // EIO where the program has ended
			x.mu.Lock()
			x.shown.Write(b[:n])
			x.mu.Unlock()
			select {
			case x.news <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	return x
}

func (x *terminal) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.shown.String()
}

// sees waits until a text was shown.
func (x *terminal) sees(t *testing.T, text string) {
	t.Helper()
	for late := time.After(time.Minute); !strings.Contains(x.text(), text); {
		select {
		case <-x.news:
		case <-x.over:
			if !strings.Contains(x.text(), text) {
				t.Fatalf("it ended without %q: %s", text, x.text())
			}
		case <-late:
			x.cmd.Process.Kill()
			t.Fatalf("it does not show %q: %s", text, x.text())
		}
	}
}

// types has the user press keys.
func (x *terminal) types(t *testing.T, keys string) {
	t.Helper()
	if _, err := x.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// ends waits for the program, and gives its exit code.
func (x *terminal) ends(t *testing.T) int {
	t.Helper()
	late := time.AfterFunc(2*time.Minute, func() { x.cmd.Process.Kill() })
	defer late.Stop()
	if err := x.cmd.Wait(); err != nil && x.cmd.ProcessState == nil {
		t.Fatal(err)
	}
	<-x.over
	return x.cmd.ProcessState.ExitCode()
}

// TestInterruptByDefault checks whether the first Ctrl-C ends only the search or the whole command. That depends on
// --on-interrupt, and on whether standard error is a terminal.
func TestInterruptByDefault(t *testing.T) {
	t.Parallel()
	_, slave := pseudoTerminal(t)
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		action string
		stderr *os.File
		search bool
	}{
		{"", slave, true}, {best, slave, true}, {"stop", slave, false},
		{"", file, false}, {best, file, true}, {"stop", file, false},
	} {
		if got := new(ending).by(c.action, isTerminal(c.stderr)) != nil; got != c.search {
			t.Errorf("--on-interrupt %q, terminal %t: the search is ended %t", c.action, c.stderr == slave, got)
		}
	}
	var nobody *ending
	if nobody.by(best, true) != nil {
		t.Error("there is nobody to interrupt it")
	}
}

// unignored skips a test where who runs the tests has programs ignore a signal (nohup).
func unignored(t *testing.T, signals ...os.Signal) {
	t.Helper()
	if slices.ContainsFunc(signals, signal.Ignored) {
		t.Skip("who runs the tests ignores this signal (nohup), and so does what they start")
	}
}

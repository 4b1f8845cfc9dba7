package templates

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestKilled checks that a program that Command has started ends with the process that started it, however that process
// ends.
func TestKilled(t *testing.T) {
	t.Parallel()
	const mark = "TEST_OF_KILLED"
	if os.Getenv(mark) != "" { // the process that is killed
		c := NewKillableCommand(context.Background(), t.TempDir(), []string{"sleep", "600"})
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("child " + strconv.Itoa(c.Process.Pid) + "\n")
		c.Wait()
		return
	}
	self := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	self.Env = append(os.Environ(), mark+"=1")
	out, err := self.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Start(); err != nil {
		t.Fatal(err)
	}
	child := 0
	for s := bufio.NewScanner(out); child == 0 && s.Scan(); {
		if _, text, ok := strings.Cut(s.Text(), "child "); ok {
			if child, err = strconv.Atoi(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if child == 0 {
		t.Fatal("nothing was started")
	}
	if err := self.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	self.Wait()
	running := func() bool {
		state, err := os.ReadFile("/proc/" + strconv.Itoa(child) + "/stat")
		return err == nil && !strings.Contains(string(state), ") Z ")
	}
	for range 1000 {
		if !running() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	syscall.Kill(child, syscall.SIGKILL)
	t.Fatal("it still runs")
}

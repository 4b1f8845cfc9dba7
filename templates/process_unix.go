//go:build unix

package templates

import (
	"os/exec"
	"syscall"
)

// together puts a program and its children into a process group that is killed as a whole. A compiler's driver would
// not kill the passes that it started.
func together(cmd *exec.Cmd) {
	cmd.SysProcAttr = attributes()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

//go:build unix

package templates

import (
	"os/exec"
	"syscall"
)

// together puts a program and its children into a process group that is ended as one: a compiler's driver does not
// take its passes along.
func together(cmd *exec.Cmd) {
	cmd.SysProcAttr = attributes()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

//go:build !unix

package templates

import "os/exec"

// together does nothing, because this system has no process groups. Only the program itself is killed.
func together(*exec.Cmd) {}

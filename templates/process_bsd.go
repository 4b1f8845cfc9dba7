//go:build unix && !linux

package templates

import "syscall"

// attributes returns the attributes of a program in a process group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

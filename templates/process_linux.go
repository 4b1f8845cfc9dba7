package templates

import "syscall"

// attributes returns the attributes of a program that ends together with the process that started it, even if that is
// killed. The program has a process group of its own.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

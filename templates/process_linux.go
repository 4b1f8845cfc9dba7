package templates

import "syscall"

// attributes makes a program end together with the process that started it, even if that is killed.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

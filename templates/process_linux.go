package templates

import "syscall"

// attributes has a program end with the process that started it, even where that is killed.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

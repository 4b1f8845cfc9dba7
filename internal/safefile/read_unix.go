//go:build unix

package safefile

import (
	"os"
	"syscall"
)

// endless reports whether a file of size 0 has content all the same, now or later. It does not wait. It may read a
// byte, and so move the file's offset.
func endless(f *os.File) bool {
	c, err := f.SyscallConn()
	if err != nil {
		return false
	}
	var n int
	var fault error
	err = c.Read(func(fd uintptr) bool {
		n, fault = syscall.Read(int(fd), make([]byte, 1))
		return true
	})
	return err == nil && (n > 0 || fault == syscall.EAGAIN)
}

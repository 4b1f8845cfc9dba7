//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package owned

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// open opens a file that another process of ours made; nothing else is followed or waited for.
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}

// lock locks an open file until it is closed, also by the end of the process. A file system without locks locks
// nothing.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return &BusyError{}
	case errors.Is(err, unix.ENOLCK), errors.Is(err, errors.ErrUnsupported):
		return nil
	}
	return err
}

// hold locks a folder until the file is closed, also by the end of the process. ok is false where another process holds
// it, it is no folder, or its file system has no locks: nothing is known of it then.
func hold(dir string) (f *os.File, ok bool) {
	f, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, false
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, false
	}
	return f, true
}

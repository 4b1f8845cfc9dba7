//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package outputdir

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// open opens a file for reading and writing that another process of hlsgen made. It follows no link and waits for
// nothing.
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}

// ours reports whether a file belongs to the effective user of this process.
func ours(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Geteuid()
}

// changeable reports whether this process may add entries to a folder and remove them.
func changeable(dir string) bool {
	return unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS) == nil
}

// lock locks an open file until it is closed, which the end of the process does at the latest. The error is a
// *PlaceBusyError if another process holds it. On a file system without locks it does nothing.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return &PlaceBusyError{}
	case errors.Is(err, unix.ENOLCK), errors.Is(err, errors.ErrUnsupported):
		return nil
	}
	return err
}

// hold locks a folder until the returned file is closed, which the end of the process does at the latest. ok is false
// if another process holds it, it is no folder, or its file system has no locks.
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

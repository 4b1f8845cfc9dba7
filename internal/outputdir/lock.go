package outputdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// attempts limits how often a lock is tried while other processes take and release it. After that it counts as busy.
const attempts = 100

// A PlaceBusyError states that another process of hlsgen is writing to a place.
type PlaceBusyError struct{}

func (*PlaceBusyError) Error() string { return "is being written by another hlsgen" }

// A HiddenPathOccupiedError states that a hidden path, which the user never named, is occupied by something that hlsgen
// may not use, and why.
type HiddenPathOccupiedError struct{ Path, Why string }

func (e *HiddenPathOccupiedError) Error() string {
	return fmt.Sprintf("%q is in the way: %s", e.Path, e.Why)
}

// theirs is the text that says why a file of another user is not used: that user could change it at any time.
const theirs = "it belongs to another user"

// A PathLock is a file that one process holds, from acquire or LockPath until RemoveAndUnlock.
type PathLock struct{ file *os.File }

// RemoveAndUnlock removes the lock's file and then gives up the lock. In this order, every file that exists is locked
// by its process.
func (l *PathLock) RemoveAndUnlock() {
	os.Remove(l.file.Name())
	l.file.Close()
}

// acquire makes an empty file, open for reading and writing, that no other process can acquire before it is released.
// It replaces a file of an ended process. The error is a *PlaceBusyError if another process holds it, or a
// *HiddenPathOccupiedError.
func acquire(path string) (*PathLock, error) {
	for range attempts {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		made := err == nil
		if errors.Is(err, fs.ErrExist) {
			f, err = open(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue // just released
			}
			if err != nil {
				return nil, &HiddenPathOccupiedError{path, cause(err).Error()}
			}
		}
		if err != nil {
			return nil, err
		}
		if info, err := f.Stat(); !made && err == nil && !ours(info) {
			f.Close()
			return nil, &HiddenPathOccupiedError{path, theirs}
		}
		if err := lock(f); err != nil {
			f.Close()
			return nil, err
		}
		switch {
		case !current(f, path): // locked too late: the file was released or taken over
			f.Close()
		case made:
			return &PathLock{f}, nil
		default: // an ended process left it
			(&PathLock{f}).RemoveAndUnlock()
		}
	}
	return nil, &PlaceBusyError{}
}

// current reports whether an open file is still the file at path, neither removed nor replaced.
func current(f *os.File, path string) bool {
	a, err := f.Stat()
	b, err2 := os.Lstat(path)
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// LockPath locks a path by a hidden file beside it, without changing what is at the path. The error is a
// *PlaceBusyError if another process holds the lock, or a *HiddenPathOccupiedError.
func LockPath(path string) (*PathLock, error) {
	l, err := acquire(hidden(path))
	return l, cause(err)
}

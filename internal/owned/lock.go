package owned

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// attempts is how often a lock is tried for that others take and give back at the same time.
const attempts = 100

// A BusyError says that another process writes to a place.
type BusyError struct{}

func (*BusyError) Error() string { return "is being written by another hlsgen" }

// A WayError says that something at a hidden path, which the user never named, stands in the way.
type WayError struct{ Path, Why string }

func (e *WayError) Error() string { return fmt.Sprintf("%q is in the way: %s", e.Path, e.Why) }

// theirs is why what another user has made is not used: whoever has it could change it at any time.
const theirs = "it belongs to another user"

// A Lock is a file that one process has at a time.
type Lock struct{ file *os.File }

// Release removes the file and gives the lock back, in this order: who finds a file locks one that is in use.
func (l *Lock) Release() {
	os.Remove(l.file.Name())
	l.file.Close()
}

// acquire makes a file, empty, that no other process acquires until it is released. One that an ended process left is
// taken over. The error is a *BusyError where another process has it.
func acquire(path string) (*Lock, error) {
	for range attempts {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		made := err == nil
		if errors.Is(err, fs.ErrExist) {
			f, err = open(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue // just given back
			}
			if err != nil {
				return nil, &WayError{path, cause(err).Error()}
			}
		}
		if err != nil {
			return nil, err
		}
		if info, err := f.Stat(); !made && err == nil && !ours(info) {
			f.Close()
			return nil, &WayError{path, theirs}
		}
		if err := lock(f); err != nil {
			f.Close()
			return nil, err
		}
		switch {
		case !current(f, path): // locked too late: it was given back, or taken over
			f.Close()
		case made:
			return &Lock{f}, nil
		default: // an ended process left it
			(&Lock{f}).Release()
		}
	}
	return nil, &BusyError{}
}

// current reports whether an open file is the one at a path.
func current(f *os.File, path string) bool {
	a, err := f.Stat()
	b, err2 := os.Lstat(path)
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// Take locks something at a path without changing it. The error is a *BusyError where another process has the lock.
func Take(path string) (*Lock, error) {
	l, err := acquire(hidden(path))
	return l, cause(err)
}

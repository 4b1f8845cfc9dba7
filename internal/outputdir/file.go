package outputdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile writes a file at a hidden path beside its own and then renames it, so that an interrupted run leaves no
// incomplete file. It replaces a regular file or a symbolic link, nothing else. An error names the file.
func WriteFile(path string, b []byte) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Release()
	if _, err := f.WriteAt(b, 0); err != nil {
		return err
	}
	return f.Put()
}

// A Draft is a file that only this process writes, at a hidden path beside its own. Put moves it to its place; Release
// drops it. Errors name the path.
type Draft struct {
	path string
	lock *Lock
}

// Create begins a Draft of the file at path, where only a regular file, a symbolic link or nothing may be. The error is
// a *BusyError if another process writes it.
func Create(path string) (*Draft, error) {
	f := &Draft{path: path}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		err = errors.New("something other than a file has that name")
	}
	if err == nil {
		f.lock, err = acquire(hidden(path))
	}
	return f, f.named(err)
}

// ExtraFile makes a further hidden file beside f, for parts of its content; number tells several apart. It is only ever
// released, never put.
func (f *Draft) ExtraFile(number int) (*Draft, error) {
	lock, err := acquire(fmt.Sprintf("%s.%d", hidden(f.path), number))
	return &Draft{f.path, lock}, f.named(err)
}

func (f *Draft) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", filepath.Base(f.path), cause(err))
}

// Write appends to what Write has written before.
func (f *Draft) Write(b []byte) (int, error) {
	n, err := f.lock.file.Write(b)
	return n, f.named(err)
}

// WriteAt writes b at an offset in bytes, independently of Write.
func (f *Draft) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.lock.file.WriteAt(b, at)
	return n, f.named(err)
}

// ReadAt reads, from an offset in bytes, what has been written. Unlike the other errors, its error names the hidden
// path.
func (f *Draft) ReadAt(b []byte, at int64) (int, error) { return f.lock.file.ReadAt(b, at) }

// Put moves the file to its own path and closes it. Release then does nothing.
func (f *Draft) Put() error {
	file := f.lock.file
	err := file.Chmod(0o644)
	if err == nil {
		err = os.Rename(file.Name(), f.path)
	}
	if err != nil {
		return f.named(err)
	}
	f.lock = nil
	return f.named(file.Close())
}

// Release closes and removes a file, unless Put has put it in its place.
func (f *Draft) Release() {
	if f.lock != nil {
		f.lock.Release()
		f.lock = nil
	}
}

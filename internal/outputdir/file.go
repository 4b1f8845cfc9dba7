package outputdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFileAtomically writes a file at a hidden path beside its own and then renames it, so that an interrupted run
// leaves no incomplete file. It replaces a regular file or a symbolic link, nothing else. An error names the file, and
// wraps a *PlaceBusyError if another process writes it.
func WriteFileAtomically(path string, b []byte) error {
	f, err := CreateDraft(path)
	if err != nil {
		return err
	}
	defer f.RemoveUnlessRenamed()
	if _, err := f.WriteAt(b, 0); err != nil {
		return err
	}
	return f.RenameIntoPlace()
}

// A DraftFile is a file that only this process writes, at a hidden path beside its own. RenameIntoPlace moves it to its
// own path; RemoveUnlessRenamed drops it. Errors name that path.
type DraftFile struct {
	path string
	lock *PathLock
}

// CreateDraft begins a DraftFile of the file at path, where only a regular file, a symbolic link or nothing may be. The
// error wraps a *PlaceBusyError if another process writes it, or a *HiddenPathOccupiedError.
func CreateDraft(path string) (*DraftFile, error) {
	f := &DraftFile{path: path}
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

// CreateHiddenExtra makes a further hidden file beside f, for parts of its content; number tells several apart. Only
// RemoveUnlessRenamed may end it, never RenameIntoPlace.
func (f *DraftFile) CreateHiddenExtra(number int) (*DraftFile, error) {
	lock, err := acquire(fmt.Sprintf("%s.%d", hidden(f.path), number))
	return &DraftFile{f.path, lock}, f.named(err)
}

// named returns an error that wraps the cause of err and begins with the file's base name, or nil if err is nil.
func (f *DraftFile) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", filepath.Base(f.path), cause(err))
}

// Write appends to what Write has written before.
func (f *DraftFile) Write(b []byte) (int, error) {
	n, err := f.lock.file.Write(b)
	return n, f.named(err)
}

// WriteAt writes b at an offset in bytes, independently of Write.
func (f *DraftFile) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.lock.file.WriteAt(b, at)
	return n, f.named(err)
}

// ReadAt reads bytes that were written, from an offset in bytes on. Unlike the other errors, its error names the hidden
// path.
func (f *DraftFile) ReadAt(b []byte, at int64) (int, error) { return f.lock.file.ReadAt(b, at) }

// RenameIntoPlace moves the file to its own path and closes it. RemoveUnlessRenamed then does nothing.
func (f *DraftFile) RenameIntoPlace() error {
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

// RemoveUnlessRenamed closes and removes the hidden file, unless RenameIntoPlace has moved it to its own path.
func (f *DraftFile) RemoveUnlessRenamed() {
	if f.lock != nil {
		f.lock.RemoveAndUnlock()
		f.lock = nil
	}
}

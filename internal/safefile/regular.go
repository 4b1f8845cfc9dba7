// Package safefile reads files that users name. They must be regular files of limited size. A pipe would block, a
// device never ends, and a file that the system generates while it is read has no size to check.
//
// json.go words the errors of parsing JSON.
//
// In comes a path, or a folder whose paths stay below it (folder.go); out come bytes.
package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A FileRefusedError states why this package does not read a file. File is its base name, and Reason a clause whose
// subject is the file.
type FileRefusedError struct{ File, Reason string }

// Error returns the file's name and the reason as one sentence.
func (e *FileRefusedError) Error() string { return e.File + " " + e.Reason }

// Is reports whether target is a *FileRefusedError without a file and with the same reason. So errors.Is recognises
// ErrEmptyFile for any file.
func (e *FileRefusedError) Is(target error) bool {
	t, ok := target.(*FileRefusedError)
	return ok && t.File == "" && t.Reason == e.Reason
}

// ErrEmptyFile matches, with errors.Is, the error of ReadAll and ReadRegularFile for a file without bytes.
var ErrEmptyFile error = &FileRefusedError{Reason: "is empty"}

// IsReadFailure reports whether an error wraps a *FileRefusedError or an *fs.PathError. Then the file could not be
// read; otherwise its content is wrong.
func IsReadFailure(err error) bool {
	var ours *FileRefusedError
	var system *fs.PathError
	return errors.As(err, &ours) || errors.As(err, &system)
}

// A RegularFile is an open regular file. Size is its size in bytes when it was opened; base is its name for messages.
type RegularFile struct {
	*os.File
	Size int64
	base string
}

// MaxSettingsFileBytes is the largest size of a file with settings of layers, such as a folding file, in bytes.
const MaxSettingsFileBytes = 64 << 20

// OpenRegularFile opens a regular file of at most most bytes, which the caller closes. It does not wait for a pipe. The
// error is the operating system's, or a *FileRefusedError if the file is larger or is no regular file.
func OpenRegularFile(path string, most int64) (*RegularFile, error) {
	if err := allowed(path, os.Stat, most); err != nil { // before opening, which would move a tape
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // in case it has just become a pipe
	if err != nil {
		return nil, err
	}
	var size int64
	err = allowed(path, func(string) (fs.FileInfo, error) {
		info, err := f.Stat()
		if err == nil {
			size = info.Size()
		}
		return info, err
	}, most)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &RegularFile{f, size, filepath.Base(path)}, nil
}

// allowed returns the error because of which the file at a path must not be read, or nil. stat describes the file; most
// limits its bytes. In an *fs.PathError of stat it sets Op to "open".
func allowed(path string, stat func(string) (fs.FileInfo, error), most int64) error {
	info, err := stat(path)
	if e, ok := err.(*fs.PathError); ok {
		e.Op = "open" // the operation's name for users
	}
	if err != nil {
		return err
	}
	base := filepath.Base(path)
	kinds := []struct {
		is   fs.FileMode
		what string
	}{{fs.ModeDir, "a folder"}, {fs.ModeNamedPipe, "a pipe"}, {fs.ModeSocket, "a socket"}, {fs.ModeDevice, "a device"}}
	for _, k := range kinds {
		if info.Mode()&k.is != 0 {
			return &FileRefusedError{base, "is no regular file but " + k.what}
		}
	}
	switch {
	case !info.Mode().IsRegular():
		return &FileRefusedError{base, "is no regular file"}
	case info.Size() > most:
		return &FileRefusedError{base, fmt.Sprintf("has %d bytes; at most %d are read", info.Size(), most)}
	}
	return nil
}

// ReadAll returns the file's first Size bytes. A *FileRefusedError reports a file that now ends earlier, that the
// system generates while it is read, or that is empty (ErrEmptyFile).
func (f *RegularFile) ReadAll() ([]byte, error) {
	switch {
	case f.Size == 0 && endless(f.File):
		return nil, &FileRefusedError{f.base, "is a file of the system, which has no size before it is read"}
	case f.Size == 0:
		return nil, &FileRefusedError{f.base, ErrEmptyFile.(*FileRefusedError).Reason}
	}
	b := make([]byte, f.Size)
	_, err := io.ReadFull(io.NewSectionReader(f, 0, f.Size), b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, &FileRefusedError{f.base, fmt.Sprintf("ends before its stated size of %d bytes", f.Size)}
	}
	return b, err
}

// ReadRegularFile returns the content of a regular file of at most most bytes. Its errors are those of OpenRegularFile
// and RegularFile.ReadAll.
func ReadRegularFile(path string, most int64) ([]byte, error) {
	f, err := OpenRegularFile(path, most)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadAll()
}

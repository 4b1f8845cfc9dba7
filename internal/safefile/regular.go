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

// An Error states why a file is not read.
type Error struct{ File, Reason string }

func (e *Error) Error() string { return e.File + " " + e.Reason }

// Is reports whether target is an *Error without a file and with the same reason. So errors.Is recognises ErrEmpty for
// any file.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.File == "" && t.Reason == e.Reason
}

// ErrEmpty matches, with errors.Is, the error of All and ReadFile for a file without bytes.
var ErrEmpty error = &Error{Reason: "is empty"}

// Unreadable reports whether an error wraps an *Error or an *fs.PathError. Then the file could not be read; otherwise
// its content is wrong.
func Unreadable(err error) bool {
	var ours *Error
	var system *fs.PathError
	return errors.As(err, &ours) || errors.As(err, &system)
}

// A File is an open regular file. Size is its size in bytes when it was opened; base is its name for messages.
type File struct {
	*os.File
	Size int64
	base string
}

// MaxSettings is the largest size of a file with settings of layers, such as a folding file, in bytes.
const MaxSettings = 64 << 20

// Open opens a regular file of at most most bytes. The error is the operating system's, or an *Error if the file is
// larger or is no regular file.
func Open(path string, most int64) (*File, error) {
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
	return &File{f, size, filepath.Base(path)}, nil
}

// allowed returns the error because of which the file at a path must not be read, or nil. stat describes the file; most
// limits its bytes.
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
			return &Error{base, "is no regular file but " + k.what}
		}
	}
	switch {
	case !info.Mode().IsRegular():
		return &Error{base, "is no regular file"}
	case info.Size() > most:
		return &Error{base, fmt.Sprintf("has %d bytes; at most %d are read", info.Size(), most)}
	}
	return nil
}

// All returns the file's first Size bytes. An *Error reports a file that now ends earlier, that the system generates
// while it is read, or that is empty (ErrEmpty).
func (f *File) All() ([]byte, error) {
	switch {
	case f.Size == 0 && endless(f.File):
		return nil, &Error{f.base, "is a file of the system, which has no size before it is read"}
	case f.Size == 0:
		return nil, &Error{f.base, ErrEmpty.(*Error).Reason}
	}
	b := make([]byte, f.Size)
	_, err := io.ReadFull(io.NewSectionReader(f, 0, f.Size), b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, &Error{f.base, fmt.Sprintf("ends before its stated size of %d bytes", f.Size)}
	}
	return b, err
}

// ReadFile returns the content of a regular file of at most most bytes. Its errors are those of Open and All.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := Open(path, most)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.All()
}

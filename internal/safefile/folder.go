package safefile

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"
)

// A FolderFS is a folder as an fs.FS of regular files. Its value is the folder's path. Paths cannot leave the folder,
// whatever links they go through.
type FolderFS string

// below opens the folder as an os.Root, which paths cannot leave, calls do with it and closes it. The error is that of
// opening, or that of do.
func (f FolderFS) below(do func(*os.Root) error) error {
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root)
}

// stat describes the file at a path below root, which is the opened folder. It returns an error if that is no regular
// file, or lies outside of the folder.
func (f FolderFS) stat(root *os.Root, name string) (info fs.FileInfo, err error) {
	return info, allowed(name, func(string) (fs.FileInfo, error) {
		if info, err = root.Stat(name); err == nil {
			return info, nil
		}
		if _, outside := os.Stat(filepath.Join(string(f), filepath.FromSlash(name))); outside == nil {
			return nil, &FileRefusedError{name, "is a link, or behind one, that leads out of the folder"}
		}
		return nil, err
	}, math.MaxInt64)
}

// Stat describes a regular file. It returns an error for anything else, such as a folder, and for a path that leaves
// the folder.
func (f FolderFS) Stat(name string) (info fs.FileInfo, err error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	err = f.below(func(root *os.Root) error {
		info, err = f.stat(root, name)
		return err
	})
	return info, err
}

// Open opens a regular file. It returns an error for anything else, and for a path that leaves the folder. It never
// waits, for example for a pipe.
func (f FolderFS) Open(name string) (file fs.File, err error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	err = f.below(func(root *os.Root) error {
		if _, err := f.stat(root, name); err != nil {
			return err
		}
		opened, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // in case it has just become a pipe
		if err != nil {
			return err
		}
		if err := allowed(name, func(string) (fs.FileInfo, error) { return opened.Stat() }, math.MaxInt64); err != nil {
			opened.Close()
			return err
		}
		file = opened
		return nil
	})
	return file, err
}

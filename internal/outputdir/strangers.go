package outputdir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A FileTypeConflictError states that a stranger cannot be kept: a file stands where a folder must be, or the other way
// round.
type FileTypeConflictError struct{ Path string }

func (e *FileTypeConflictError) Error() string {
	return fmt.Sprintf("holds %q, which cannot be kept, as this build has another kind of file there", e.Path)
}

// carry makes the stranger at a path below the folder from appear below the folder to as well. It makes a hard link if
// possible, or else a copy; for a path that ends in a slash it makes a folder. It may replace a file. The error is a
// *FileTypeConflictError if a folder is in the way, or a file where a folder must be.
func carry(from, to, path string) error {
	src, dst := filepath.Join(from, filepath.FromSlash(path)), filepath.Join(to, filepath.FromSlash(path))
	parents := filepath.Dir(dst)
	if strings.HasSuffix(path, "/") {
		parents = dst
	}
	if err := os.MkdirAll(parents, 0o755); err != nil {
		return &FileTypeConflictError{path}
	}
	if parents == dst {
		return nil
	}
	if info, err := os.Lstat(dst); err == nil && info.IsDir() {
		return &FileTypeConflictError{path}
	}
	if err := os.Remove(dst); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if os.Link(src, dst) == nil {
		return nil
	}
	return copied(src, dst)
}

// copied copies a file or a symbolic link from src to dst, which must not exist.
func copied(src, dst string) error {
	info, err := os.Lstat(src)
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(src)
		if err != nil {
			return err
		}
		return os.Symlink(target, dst)
	case !info.Mode().IsRegular():
		return &FileTypeConflictError{filepath.Base(src)}
	}
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), os.Chtimes(dst, info.ModTime(), info.ModTime()))
}

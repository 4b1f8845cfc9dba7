package owned

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile writes beside a path and renames, so that an interrupted run leaves no half file. It replaces regular files
// and symbolic links only. An error names the file.
func WriteFile(path string, b []byte) error {
	if err := writeFile(path, b); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), cause(err))
	}
	return nil
}

func writeFile(path string, b []byte) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return errors.New("something other than a file has that name")
	}
	lock, err := acquire(hidden(path))
	if err != nil {
		return err
	}
	f := lock.file
	_, err = f.Write(b)
	if err = errors.Join(err, f.Chmod(0o644)); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		lock.Release()
		return err
	}
	return f.Close()
}

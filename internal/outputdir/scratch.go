package outputdir

import (
	"fmt"
	"os"
	"path/filepath"
)

// MakeTemporaryFolder makes a folder in the system's temporary folder and returns its path. pattern is as in
// os.MkdirTemp. The error tells the user to set TMPDIR.
func MakeTemporaryFolder(pattern string) (string, error) {
	dir, err := os.MkdirTemp("", pattern)
	if err != nil {
		err = fmt.Errorf("%q can hold no temporary files, set TMPDIR to a folder that can: %w", os.TempDir(),
			cause(err))
	}
	return dir, err
}

// MakeScratchFolder makes a temporary folder for this process, with kind in its name, and returns a function that
// removes it. First it removes folders of the same kind that ended processes left.
func MakeScratchFolder(kind string) (dir string, release func() error, err error) {
	sweep(kind)
	for range attempts {
		dir, err := MakeTemporaryFolder(fmt.Sprintf("%s.%d.", kind, os.Getpid()))
		if err != nil {
			return "", nil, err
		}
		held, _ := hold(dir)
		if held != nil && !current(held, dir) { // another process mistook it for an abandoned one
			held.Close()
			continue
		}
		return dir, func() error {
			err := os.RemoveAll(dir)
			if held != nil {
				held.Close()
			}
			return err
		}, nil
	}
	return "", nil, &PlaceBusyError{}
}

// RemoveOwnScratchFolders removes this process's folders of a kind, for a process that ends without calling their
// release functions.
func RemoveOwnScratchFolders(kind string) (err error) {
	for _, dir := range scratch(fmt.Sprintf("%s.%d.", kind, os.Getpid())) {
		if e := os.RemoveAll(dir); e != nil {
			err = e
		}
	}
	return err
}

// sweep removes the folders of a kind whose processes have ended. It leaves a folder that cannot be removed to the next
// sweep, since a process that the ended one started may still write to it.
func sweep(kind string) {
	for _, dir := range scratch(kind + ".") {
		if info, err := os.Lstat(dir); err != nil || !ours(info) {
			continue
		}
		if held, ok := hold(dir); ok {
			os.RemoveAll(dir)
			held.Close()
		}
	}
}

// scratch returns the paths of the temporary folders of hlsgen whose names begin with a prefix.
func scratch(prefix string) []string {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*")) // our patterns are never malformed
	return dirs
}

// Package regular reads files that users name: regular ones, of a bounded size. A pipe would block, and a device
// never end.
//
// In comes a path; out come bytes. It sees nothing of this module.
package regular

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ReadFile is the content of a regular file of at most so many bytes. The error is the operating system's, or says
// that the file is another thing, or larger.
func ReadFile(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path) // before it is opened: a pipe blocks there
	if e, ok := err.(*os.PathError); ok {
		e.Op = "open" // as users call it
	}
	if err != nil {
		return nil, err
	}
	large := fmt.Errorf("%s has more than %d bytes", filepath.Base(path), most)
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", filepath.Base(path))
	case info.Size() > most:
		return nil, large
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = large // than it said
	}
	return b, err
}

package templates

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A GeneratedFile is one file of a generated project. Path is relative, with slashes.
type GeneratedFile struct {
	Path string
	Data []byte
}

// kernel reports whether the file is the C++ kernel of a kind of layers.
func (f GeneratedFile) kernel() bool { return path.Dir(f.Path) == "hls/include/hlsgen" }

// process reports whether the file belongs to one process: the header with its config and declaration, or its
// function.
func (f GeneratedFile) process() bool { return path.Dir(f.Path) == "hls/layers" }

// JoinProcessFiles returns the contents of all processes' files with an extension, one after the other: ".hpp" for the
// declarations, ".cpp" for the functions.
func (f ProjectFiles) JoinProcessFiles(ext string) []byte {
	var all []byte
	for _, file := range f {
		if file.process() && path.Ext(file.Path) == ext {
			all = append(append(all, file.Data...), '\n')
		}
	}
	return all
}

// ProjectFiles are the files of a generated project, sorted by path.
type ProjectFiles []GeneratedFile

// ContentsOf returns the contents of the file at path, or nil if there is none. The files must be sorted by path.
func (f ProjectFiles) ContentsOf(path string) []byte {
	if i, ok := slices.BinarySearchFunc(f, path, func(a GeneratedFile, p string) int {
		return strings.Compare(a.Path,
			p)
	}); ok {
		return f[i].Data
	}
	return nil
}

// WriteBelow creates the files below dir. It overwrites existing files, and makes folders as needed. A path that leaves
// dir is an error; earlier files are written nevertheless.
func (f ProjectFiles) WriteBelow(dir string) error { return f.write(context.Background(), dir) }

// write does what WriteBelow does, until ctx ends.
func (f ProjectFiles) write(ctx context.Context, dir string) error {
	for _, file := range f {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !filepath.IsLocal(filepath.FromSlash(file.Path)) {
			return fmt.Errorf("write project: path %q leaves the folder", file.Path)
		}
		name := filepath.Join(dir, filepath.FromSlash(file.Path))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, file.Data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// add appends a file.
func (f *ProjectFiles) add(path string, data []byte) { *f = append(*f, GeneratedFile{path, data}) }

// sort sorts the files by path. Two files with one path are an error, which only a defect of this package causes.
func (f ProjectFiles) sort() error {
	slices.SortFunc(f, func(a, b GeneratedFile) int { return strings.Compare(a.Path, b.Path) })
	for i := 1; i < len(f); i++ {
		if f[i].Path == f[i-1].Path {
			return fmt.Errorf("two generated files are called %s", f[i].Path)
		}
	}
	return nil
}

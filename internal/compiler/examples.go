package compiler

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"hlsgen/internal/diag"
	"hlsgen/internal/examples"
	"hlsgen/internal/outputdir"
)

// WriteExamples writes a folder per embedded example to dir and returns the folders. If one of them exists, it adds an
// error to d and writes none.
func WriteExamples(dir string, d *diag.List) (written []string, err error) {
	for _, e := range examples.All {
		folder := filepath.Join(dir, e.Name)
		written = append(written, folder)
		if _, err := os.Lstat(folder); err == nil {
			d.Fail(diag.OutputExists, "", folder+" exists", "give another folder")
		}
	}
	if d.Failed() {
		return nil, nil
	}
	for i, e := range examples.All {
		sub, err := fs.Sub(examples.Files, e.Name)
		if err != nil {
			return nil, err
		}
		files := map[string][]byte{}
		err = fs.WalkDir(sub, ".", func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				files[path], err = fs.ReadFile(sub, path)
			}
			return err
		})
		if err == nil {
			const page = "README.md"
			files[page], err = exampleReadme(e, append(slices.Sorted(maps.Keys(files)), page))
		}
		if err == nil {
			err = writeExample(written[i], files)
		}
		if err != nil {
			for _, folder := range written[:i] {
				os.RemoveAll(folder)
			}
			return nil, err
		}
	}
	return written, nil
}

// writeExample writes the folder of an example. After an error it leaves no partial folder.
func writeExample(dir string, files map[string][]byte) error {
	full, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	place, err := outputdir.Claim(full, nil)
	if err == nil {
		_, err = place.Put(files, outputdir.ReplaceNothing)
		err = errors.Join(err, place.Release())
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", dir, err)
	}
	return nil
}

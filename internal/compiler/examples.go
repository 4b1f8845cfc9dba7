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
	"hlsgen/templates"
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

// exampleFiles describes the files of an example.
var exampleFiles = []templates.ReadmeEntry{
	described("this page", "README.md"),
	described("the network, in QONNX form", "model.onnx"),
	described("the same network in QuantizeLinear form", "qcdq.onnx"),
	described("samples", "inputs.npy"),
	described("the class of each sample, -1 for an edge case", "labels.npy"),
	described("what Brevitas computes of the samples", "outputs.npy"),
}

// exampleReadme returns the README.md of an example's folder.
func exampleReadme(e examples.Example, paths []string) ([]byte, error) {
	about := "An example that hlsgen carries: " + e.Doc + "."
	return templates.Readme{Title: e.Name, About: about, Files: exampleFiles, Steps: []templates.ReadmeStep{
		{Title: "Try it",
			Text: "What becomes of its nodes; the model on its samples, compared with Brevitas; an accelerator.",
			Commands: []string{"hlsgen check model.onnx",
				"hlsgen simulate model.onnx --input inputs.npy --compare outputs.npy",
				"hlsgen build model.onnx --board zcu104"}},
	}}.README(paths)
}

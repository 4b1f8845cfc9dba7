package examples

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"hlsgen/internal/diag"
	"hlsgen/internal/outputdir"
	"hlsgen/templates"
)

// WriteAll writes a folder per embedded example to dir and returns the folders. If one of them exists, it adds an error
// to d, writes none and returns nil. If a folder cannot be written, it removes those before and returns an error.
func WriteAll(dir string, d *diag.List) (written []string, err error) {
	for _, e := range NamesAndDocs {
		folder := filepath.Join(dir, e.Name)
		written = append(written, folder)
		if _, err := os.Lstat(folder); err == nil {
			d.AddError(diag.OutputFolderUnusable, "", folder+" exists", "give another folder")
		}
	}
	if d.HasErrors() {
		return nil, nil
	}
	for i, e := range NamesAndDocs {
		sub, err := fs.Sub(EmbeddedFiles, e.Name)
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
	place, err := outputdir.ClaimFolder(full, nil)
	if err == nil {
		_, err = place.ReplaceContents(files, outputdir.ReplaceNothing)
		err = errors.Join(err, place.ReleaseClaim())
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", dir, err)
	}
	return nil
}

// exampleFiles describes the files of an example.
var exampleFiles = []templates.ReadmeEntry{
	{Patterns: []string{"README.md"}, What: "this page"},
	{Patterns: []string{"model.onnx"}, What: "the network, in QONNX form"},
	{Patterns: []string{"qcdq.onnx"}, What: "the same network in QuantizeLinear form"},
	{Patterns: []string{"inputs.npy"}, What: "samples"},
	{Patterns: []string{"labels.npy"}, What: "the class of each sample, -1 for an edge case"},
	{Patterns: []string{"outputs.npy"}, What: "what Brevitas computes of the samples"},
}

// exampleReadme returns the README.md of an example's folder.
func exampleReadme(e NameAndDoc, paths []string) ([]byte, error) {
	about := "An example that hlsgen carries: " + e.Doc + "."
	return templates.ReadmeContents{Title: e.Name, About: about, Files: exampleFiles, Steps: []templates.ReadmeStep{
		{Title: "Try it",
			Text: "What becomes of its nodes; the model on its samples, compared with Brevitas; an accelerator.",
			Commands: []string{"hlsgen check model.onnx",
				"hlsgen simulate model.onnx --input inputs.npy --compare outputs.npy",
				"hlsgen build model.onnx --board zcu104"}},
	}}.RenderReadme(paths)
}

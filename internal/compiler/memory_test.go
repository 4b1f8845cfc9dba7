package compiler

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"hlsgen/hlslib/layertest"
	"hlsgen/internal/tier"
	"hlsgen/templates"
)

// TestMemories builds networks of every family and walks the folders that are written: each memory that the estimate
// prices is bound in the C++ as it is priced.
func TestMemories(t *testing.T) {
	t.Parallel()
	models := map[string]string{}
	for seed := range uint64(4) {
		for name, onnx := range map[string][]byte{"a network": randomNetwork(seed), "images": randomImages(seed)} {
			models[fmt.Sprintf("%s %d", name, seed)] = kept(t, "drawn.onnx", onnx)
		}
	}
	if shared := tier.Shared(t); shared != "" {
		for _, name := range []string{
			"digits-cnn-w4a4", "digits-resnet-w4a4", "digits-mobilenet-w4a4", "digits-conv1d-w4a4",
			"lstm-h16-w8a8-pot", "bilstm-h32-w4a4",
		} {
			models[name] = filepath.Join(shared, "models", "brevitas", name, "model.onnx")
		}
	}
	for name, model := range models {
		for _, board := range []string{"pynq-z1", "vck190"} { // no UltraRAM, and UltraRAM for tables
			t.Run(name+" "+board, func(t *testing.T) {
				t.Parallel()
				r, _ := told(t, Options{Model: model, Board: board, NoCSim: true, Verify: 1})
				layertest.CheckMemories(t, r.Design.Design, readFiles(t, r.Out))
			})
		}
	}
}

// readFiles is what a build has written.
func readFiles(t *testing.T, dir string) (files templates.Files) {
	t.Helper()
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		name, _ := filepath.Rel(dir, file)
		files = append(files, templates.File{Path: filepath.ToSlash(name), Data: data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

package compiler

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"hlsgen/hlslib/layertest"
	"hlsgen/internal/models"
	"hlsgen/internal/tier"
	"hlsgen/templates"
)

// TestMemories builds networks of every family and walks the folders that are written: each memory that the estimate
// prices is bound in the C++ as it is priced.
func TestMemories(t *testing.T) {
	t.Parallel()
	nets := map[string]string{}
	for seed := range uint64(4) {
		for name, onnx := range map[string][]byte{"a network": randomNetwork(seed), "images": randomImages(seed)} {
			nets[fmt.Sprintf("%s %d", name, seed)] = kept(t, "drawn.onnx", onnx)
		}
	}
	for _, m := range models.Own(t) {
		if m.Info.Refused == "" && !tier.Quick() {
			nets[m.Name] = m.Path(m.Files[0])
		}
	}
	for name, model := range nets {
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

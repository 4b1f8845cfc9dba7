package compiler

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"hlsgen/hlslib/layertest"
	"hlsgen/internal/diag"
	"hlsgen/internal/models"
	"hlsgen/internal/tier"
	"hlsgen/templates"
)

// TestMemories builds networks of every family and walks the folders that are written: each memory that the estimate
// prices is bound in the C++ as it is priced.
func TestMemories(t *testing.T) {
	t.Parallel()
	nets, dir := map[string]string{}, t.TempDir()
	for seed := range uint64(4) {
		for name, onnx := range map[string][]byte{"a network": randomNetwork(seed), "images": randomImages(seed)} {
			file := filepath.Join(dir, fmt.Sprintf("%d%s.onnx", seed, name[2:4]))
			if err := os.WriteFile(file, onnx, 0o666); err != nil {
				t.Fatal(err)
			}
			nets[fmt.Sprintf("%s %d", name, seed)] = file
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
				var d diag.List
				out := filepath.Join(t.TempDir(), "out")
				o := Options{Model: model, Board: board, Out: out, NoCSim: true, Verify: 1}
				r, err := Run(context.Background(), o, &d)
				if err != nil || r == nil {
					t.Fatalf("%v %v", err, d.Diags)
				}
				layertest.CheckMemories(t, r.Design.Design, readFiles(t, out))
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

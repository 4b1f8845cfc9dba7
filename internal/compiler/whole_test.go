package compiler

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"hlsgen/frontend"
	"hlsgen/frontend/convert"
	"hlsgen/frontend/onnxio/onnxtest"
	"hlsgen/internal/diag"
	"hlsgen/internal/models"
	"hlsgen/internal/tier"
)

// TestExternalModels holds that a model whose tensors are in one file or in many is the model with them in its own, to
// the byte: of that the name and the design follow. All models are those that can be written again.
func TestExternalModels(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	var files []string
	for _, m := range models.Own(t) {
		files = append(files, m.Path(m.Files[0]))
	}
	if shared := tier.Shared(t); tier.Long() && shared != "" {
		err := filepath.WalkDir(filepath.Join(shared, "models"), func(path string, e fs.DirEntry, err error) error {
			if strings.HasSuffix(path, ".onnx") && err == nil && !e.IsDir() {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	written := 0
	for _, file := range files {
		onnx, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r := convert.Run("model.onnx", onnx, convert.Options{Clean: true}, new(diag.List))
		if r == nil {
			continue
		}
		written++
		for _, one := range []bool{true, false} {
			scatteredAlike(t, file, r.ONNX, one)
		}
	}
	if t.Logf("%d of %d models", written, len(files)); written < min(12, len(files)) {
		t.Errorf("%d models were written again", written)
	}
}

// scatteredAlike holds that a model opened from several files is the whole one.
func scatteredAlike(t *testing.T, what string, whole []byte, one bool) {
	t.Helper()
	dir := t.TempDir()
	file, parts := onnxtest.Scatter(whole, one)
	parts["model.onnx"] = file
	for name, data := range parts {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, data, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	alone := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(alone, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	var d diag.List
	got, want := Open(filepath.Join(dir, "model.onnx"), &d), Open(alone, &d)
	if got == nil || want == nil || !bytes.Equal(got.ONNX, want.ONNX) || got.Sum() != want.Sum() ||
		got.Name != want.Name || got.File != want.File || len(d.Diags) > 0 {
		t.Errorf("%s, one file %v: another model: %v", what, one, d.Diags)
	}
}

// TestImportFolder holds that Import, ImportReference and Quantise read a model with the folder of its file.
func TestImportFolder(t *testing.T) {
	t.Parallel()
	whole := Open("", new(diag.List)).ONNX
	file, parts := onnxtest.Scatter(whole, false)
	folder := fstest.MapFS{}
	for name, data := range parts {
		folder[name] = &fstest.MapFile{Data: data}
	}
	var d diag.List
	want, err := frontend.Import("model.onnx", whole, frontend.Options{}, &d)
	got, err2 := frontend.Import("model.onnx", file, frontend.Options{Folder: folder}, &d)
	if err := errors.Join(err, err2); err != nil || d.Failed() {
		t.Fatal(err, d.Diags)
	}
	if got.Model.Graph.String() != want.Model.Graph.String() {
		t.Error("another graph")
	}
	if im := frontend.ImportReference("model.onnx", file, frontend.Options{Folder: folder}, &d); im.Model == nil {
		t.Error(d.Diags)
	}
	if q := frontend.Quantise("model.onnx", file, frontend.Options{Folder: folder}, true, &d); q == nil {
		t.Error(d.Diags)
	}
	if frontend.ImportReference("model.onnx", file, frontend.Options{}, &d); !d.Failed() ||
		d.Diags[0].Code != diag.ExternalData {
		t.Errorf("without its folder: %v", d.Diags)
	}
}

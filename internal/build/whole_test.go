package build

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"hlsgen/frontend"
	"hlsgen/frontend/convert"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/source"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

// TestExternalModels holds that a model whose tensors are in one file or in many is the model with them in its own, to
// the byte, and gives the same design. All models are those that can be written again.
func TestExternalModels(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	var files []string
	for _, m := range models.InRepository(t) {
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
	var designs atomic.Int32
	for _, file := range files {
		onnx, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r := convert.ConvertModel("model.onnx", onnx, convert.Options{Clean: true}, new(diag.List))
		if r == nil {
			continue
		}
		written++
		for _, one := range []bool{true, false} {
			scatteredAlike(t, file, r.ONNX, one)
		}
		if designed(file, len(r.ONNX)) {
			t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				designs.Add(sameDesign(t, r.ONNX))
			})
		}
	}
	t.Cleanup(func() { t.Logf("%d designs", designs.Load()) })
	if t.Logf("%d of %d models", written, len(files)); written < min(12, len(files)) {
		t.Errorf("%d models were written again", written)
	}
}

// largestDesigned is the bytes of the largest model that is built, for the sake of time.
const largestDesigned = 1 << 23

// designed reports whether a model of a file is built: of the repository's, one of each class of networks.
func designed(file string, size int) bool {
	if tier.Long() {
		return size <= largestDesigned
	}
	return slices.Contains([]string{"digits-mlp-w1a1", "digits-conv1d-w4a4", "lstm-h16-w8a8-pot"},
		filepath.Base(filepath.Dir(file)))
}

// sameDesign holds that a model gives the same files, to the byte, whether its tensors are in its own file, in another
// or in many, or the same diagnostics. It returns how many designs there are: 1, or 0 of what is not mapped.
func sameDesign(t *testing.T, whole []byte) (designs int32) {
	t.Helper()
	var want string
	for i, scatter := range []func() ([]byte, map[string][]byte){
		func() ([]byte, map[string][]byte) { return whole, map[string][]byte{} },
		func() ([]byte, map[string][]byte) { return onnxtest.ExternaliseTensors(whole, true) },
		func() ([]byte, map[string][]byte) { return onnxtest.ExternaliseTensors(whole, false) },
	} {
		dir := t.TempDir()
		file, parts := scatter()
		saved(t, dir, file, parts)
		out := filepath.Join(dir, "out")
		var d diag.List
		r, err := Run(t.Context(), Options{Source: options.Source{Model: filepath.Join(dir, "model.onnx")},
			Hardware: options.Hardware{Board: "alveo-u250"}, Verification: options.Verification{Verify: 1,
				NoCSim: true},
			OutputFolder: options.OutputFolder{Out: out}}, &d)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(d.Diags)
		if r != nil && !d.HasErrors() {
			designs = 1
			got += digest(t, out)
		}
		if got = strings.ReplaceAll(got, dir, ""); i > 0 && got != want {
			t.Errorf("form %d: another design: %s, want %s", i, got, want)
		}
		want = got
	}
	return designs
}

// saved puts a model with its parts in a folder.
func saved(t *testing.T, dir string, file []byte, parts map[string][]byte) {
	t.Helper()
	parts["model.onnx"] = file
	for name, data := range parts {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, data, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
}

// scatteredAlike holds that a model opened from several files is the whole one.
func scatteredAlike(t *testing.T, what string, whole []byte, one bool) {
	t.Helper()
	dir := t.TempDir()
	file, parts := onnxtest.ExternaliseTensors(whole, one)
	saved(t, dir, file, parts)
	alone := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(alone, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	var d diag.List
	got, want := source.ReadModelFile(filepath.Join(dir, "model.onnx"), &d), source.ReadModelFile(alone, &d)
	if got == nil || want == nil || !bytes.Equal(got.ONNX, want.ONNX) || got.SHA256() != want.SHA256() ||
		got.Name != want.Name || got.File != want.File || len(d.Diags) > 0 {
		t.Errorf("%s, one file %v: another model: %v", what, one, d.Diags)
	}
}

// TestImportFolder holds that Import, ImportReference and Quantise read a model with the folder of its file.
func TestImportFolder(t *testing.T) {
	t.Parallel()
	whole := source.ReadModelFile("", new(diag.List)).ONNX
	file, parts := onnxtest.ExternaliseTensors(whole, false)
	folder := fstest.MapFS{}
	for name, data := range parts {
		folder[name] = &fstest.MapFile{Data: data}
	}
	var d diag.List
	want, err := frontend.Import("model.onnx", whole, frontend.Options{}, &d)
	got, err2 := frontend.Import("model.onnx", file, frontend.Options{Folder: folder}, &d)
	if err := errors.Join(err, err2); err != nil || d.HasErrors() {
		t.Fatal(err, d.Diags)
	}
	if got.Model.Graph.String() != want.Model.Graph.String() {
		t.Error("another graph")
	}
	if im := frontend.ImportForReference("model.onnx", file, frontend.Options{Folder: folder}, &d); im.Model == nil {
		t.Error(d.Diags)
	}
	if q := frontend.NewQuantisationSession("model.onnx", file, frontend.Options{Folder: folder}, true, &d); q == nil {
		t.Error(d.Diags)
	}
	if frontend.ImportForReference("model.onnx", file, frontend.Options{}, &d); !d.HasErrors() ||
		d.Diags[0].Code != diag.ExternalTensorUnreadable {
		t.Errorf("without its folder: %v", d.Diags)
	}
}

package main

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/examples"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

// hostileData are models that keep the tensor w of 8 x 4 float32s where it is not to be read from.
var hostileData = []struct {
	name, location string
	more           []string
	make           func(path string) error // of what is at the location; nil: nothing is
	want           string
}{
	{"absolute path", "/etc/passwd", nil, nil, "is an absolute path"},
	{"a step upwards", "../w", nil, holds(make([]byte, 128)), "has a step upwards"},
	{"a link that leaves", "w", nil, link("../outside/w"), "leads out of the folder"},
	{"a link that leaves in the middle", "sub/w", nil,
		func(path string) error { return os.Symlink("../outside", filepath.Dir(path)) }, "leads out of the folder"},
	{"an absolute link", "w", nil, link("/dev/zero"), "leads out of the folder"},
	{"missing", "w", nil, nil, "no such file"},
	{"short", "w", nil, holds(make([]byte, 127)), "which has 127 bytes"},
	{"negative offset", "w", []string{"offset", "-1"}, holds(make([]byte, 128)), "no number of bytes"},
	{"negative length", "w", []string{"length", "-128"}, holds(make([]byte, 128)), "no number of bytes"},
	{"beyond the end", "w", []string{"offset", "4096", "length", "128"}, holds(make([]byte, 128)), "has 128 bytes"},
	{"not a number", "w", []string{"length", "many"}, holds(make([]byte, 128)), "no number of bytes"},
	{"a folder", "w", nil, func(path string) error { return os.Mkdir(path, 0o777) }, "is no regular file but a folder"},
	{"a pipe", "w", nil, func(path string) error { return syscall.Mkfifo(path, 0o666) }, "no regular file but a pipe"},
	{"a link to a pipe", "w", nil, func(path string) error {
		return errors.Join(syscall.Mkfifo(path+"ipe", 0o666), os.Symlink("wipe", path))
	}, "no regular file but a pipe"},
	{"an empty location", "", nil, nil, "no location says in which"},
	{"sparse and short of what is told", "w", []string{"offset", "1099511627776", "length", "1099511627776"},
		sparse(2 << 40), "takes 128 bytes, and 1099511627776"},
}

// TestHostileData checks that such a model is refused at once, with the name of the tensor and little memory.
func TestHostileData(t *testing.T) {
	t.Parallel()
	for _, x := range hostileData {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			h := hostileModel(8)
			h.Node("MatMul", "q", "w").Out("y")
			h.External("w", x.location, x.more...)
			model := filepath.Join(dir, "model")
			err := errors.Join(os.MkdirAll(model, 0o777), os.Mkdir(filepath.Join(dir, "outside"), 0o777),
				os.WriteFile(filepath.Join(dir, "outside", "w"), make([]byte, 128), 0o666),
				os.WriteFile(filepath.Join(model, "m.onnx"), h.Bytes(), 0o666))
			if x.make != nil {
				err = errors.Join(err, x.make(filepath.Join(model, x.location)))
			}
			if err != nil {
				t.Fatal(err)
			}
			text := unharmed(t, model, exitDiagnostics, false, "check", "m.onnx")
			if !strings.Contains(text, x.want) || !strings.Contains(text, `tensor "w": `) {
				t.Errorf("%s, want %q in it", text, x.want)
			}
		})
	}
}

// TestTerabytes checks that two tensors of a terabyte take no memory, whether their file has as many bytes or not.
func TestTerabytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := onnxtest.New(13).Input("x", graph.DTypeFloat32, 1, 1<<19).Output("y", graph.DTypeFloat32, 1, 1<<19)
	for _, name := range []string{"v", "w"} {
		m.Init(name, graph.DTypeFloat32, []int{0}).External(name, "w.bin", "length", "1099511627776")
	}
	for _, w := range m.Proto.Graph.Initializer {
		w.Dims = []int64{1 << 19, 1 << 19}
	}
	m.Node("MatMul", "x", "v").Out("u")
	m.Node("MatMul", "u", "w").Out("y")
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "m.onnx"), m.Bytes(), 0o666),
		sparse(2<<40)(filepath.Join(dir, "w.bin"))); err != nil {
		t.Fatal(err)
	}
	if text := unharmed(t, dir, exitDiagnostics, true, "check", "m.onnx"); !strings.Contains(text, `tensor "v": `) {
		t.Error(text)
	}
}

// TestExternalData checks that every command reads a model in several files. Its output and files are those for the
// same model in one file, byte for byte.
func TestExternalData(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	model, err := examples.EmbeddedFiles.ReadFile(iris)
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := examples.EmbeddedFiles.ReadFile(irisInputs)
	if err != nil {
		t.Fatal(err)
	}
	forms := []map[string][]byte{{"iris.onnx": model}}
	for _, one := range []bool{true, false} {
		file, files := onnxtest.ExternaliseTensors(model, one)
		files["iris.onnx"] = file
		forms = append(forms, files)
	}
	commands := []string{
		"check iris.onnx", "stats iris.onnx", "convert iris.onnx --clean", "simulate iris.onnx --input x.npy",
		"build iris.onnx --board zcu104 --no-csim --backend rtl --weights runtime --out built",
		"weights iris.onnx --for built --out loaded",
	}
	var want []said
	var written map[string]string
	for i, files := range forms {
		dir := t.TempDir()
		files["x.npy"] = inputs
		for name, data := range files {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, data, 0o666)); err != nil {
				t.Fatal(err)
			}
		}
		for k, command := range commands {
			got := say(dir, nil, strings.Fields(command)...)
			if i == 0 {
				want = append(want, got)
			}
			if got.code != exitOK || got != want[k] {
				t.Errorf("form %d: %s: %+v, want %+v", i, command, got, want[k])
			}
		}
		found := tree(t, dir)
		for name := range files {
			delete(found, "/"+name)
		}
		if written == nil {
			written = found
		}
		if !reflect.DeepEqual(found, written) {
			t.Errorf("form %d: other files are written: %v", i, slices.Sorted(maps.Keys(found)))
		}
	}
}

// TestStreamedModel checks that a model on standard input has no folder. It is read if it needs no other file, and
// refused otherwise.
func TestStreamedModel(t *testing.T) {
	t.Parallel()
	model, err := examples.EmbeddedFiles.ReadFile(iris)
	if err != nil {
		t.Fatal(err)
	}
	file, _ := onnxtest.ExternaliseTensors(model, true)
	for _, x := range []struct {
		data []byte
		want string
	}{{model, ""}, {file, "the model came without a folder"}} {
		dir := t.TempDir()
		path := filepath.Join(dir, "m")
		if err := os.WriteFile(path, x.data, 0o666); err != nil {
			t.Fatal(err)
		}
		in, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		cmd, _ := process(t, dir, nil, "check", "/dev/stdin")
		cmd.Stdin = in
		out, err := cmd.CombinedOutput()
		if (err == nil) != (x.want == "") || !strings.Contains(string(out), x.want) {
			t.Errorf("%v: %s, want %q", err, out, x.want)
		}
	}
}

// tree is all files below a folder, by path.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	if err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = string(b)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return files
}

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/examples"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

// TestOddFiles checks the messages about names and contents of files that have another meaning elsewhere.
func TestOddFiles(t *testing.T) {
	t.Parallel()
	model, err := examples.EmbeddedFiles.ReadFile(iris)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, ".onnx"), model, 0o666),
		os.WriteFile(filepath.Join(dir, "m.onnx"), model, 0o666), os.Mkdir(filepath.Join(dir, "d"), 0o777),
		os.WriteFile(filepath.Join(dir, "d", "manifest.json"), []byte("[]"), 0o666),
		os.WriteFile(filepath.Join(dir, "d", "weights.json"), []byte("[]"), 0o666),
		os.WriteFile(filepath.Join(dir, "d", "sweep.json"), []byte("[]"), 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, says string }{
		{"check .onnx", "nothing is left of this name"},
		{"build .onnx --board zcu104 --no-csim", "nothing is left of this name"},
		{"convert .onnx --clean --out x.onnx", "nothing is left of this name"},
		{"check -", "not from standard input"},
		{"check -- -", "not from standard input"},
		{"synth d", "manifest.json: it holds JSON of another form: an array"},
		{"collect d", "it holds JSON of another form: an array"},
		{"weights m.onnx --for d", "it holds JSON of another form: an array"},
		{"build m.onnx --board zcu104 --no-csim --out d --force", "does not list files that hlsgen wrote"},
		{"build m.onnx --board zcu104 --no-csim --latencies d/manifest.json", "of another form: an array"},
		{"build m.onnx --board zcu104 --no-csim --lstm-config d/manifest.json", "of another form: an array"},
	} {
		text := unharmed(t, dir, exitDiagnostics, false, strings.Fields(c.args)...)
		if !strings.Contains(text, c.says) {
			t.Errorf("%s: %s, want %q", c.args, text, c.says)
		}
	}
}

// TestModules checks that check names the modules of nodes and layers if the exporter's metadata name them. Without
// such metadata there is no column for them.
func TestModules(t *testing.T) {
	t.Parallel()
	model, err := examples.EmbeddedFiles.ReadFile(iris)
	if err != nil {
		t.Fatal(err)
	}
	m, dir := onnxtest.Of(model), t.TempDir()
	for _, n := range m.Proto.Graph.Node {
		if n.GetOpType() == "MatMul" {
			n.MetadataProps = onnxtest.Props("namespace", ": Net/head.fc: QuantLinear/mm: aten.mm.default")
		}
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "plain.onnx"), model, 0o666),
		os.WriteFile(filepath.Join(dir, "m.onnx"), m.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	for args, has := range map[string]bool{"check m.onnx": true, "check m.onnx --json": true,
		"check plain.onnx": false} {
		got := say(dir, nil, strings.Fields(args)...)
		if strings.Contains(got.stdout, "module") != has || strings.Contains(got.stdout, "head.fc") != has {
			t.Errorf("%s: %s", args, got.stdout)
		}
		layers := got.stdout[max(0, strings.Index(got.stdout, `"layers"`)):]
		if strings.HasSuffix(args, "--json") && !strings.Contains(layers, `"head.fc"`) {
			t.Errorf("layers have no modules: %s", layers)
		}
	}
}

// TestNoTemporaryFolder checks that the message names a missing TMPDIR.
func TestNoTemporaryFolder(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "g++")
	cmd, temporary := process(t, t.TempDir(), nil, "build", "--board", "zcu104", "--verify", "1", "--out", "d")
	cmd.Env = append(cmd.Env, "TMPDIR="+filepath.Join(temporary, "none"))
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != exitDiagnostics || !strings.Contains(string(out), "none") ||
		!strings.Contains(string(out), "can hold no temporary files, set TMPDIR to a folder that can: no such file") {
		t.Errorf("%v: %s", err, out)
	}
}

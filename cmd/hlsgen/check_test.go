package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/testsupport/onnxtest"
)

func TestCheckJSON(t *testing.T) {
	t.Parallel()
	dir := filesIn(t, map[string]string{"broken.onnx": "x"})
	got := say(dir, nil, "check", iris, "--json")
	var c checked
	if err := json.Unmarshal([]byte(got.stdout), &c); err != nil || got.code != exitOK || got.stderr != "" {
		t.Fatalf("%v, %+v", err, got)
	}
	if !c.OK || c.Example || len(c.Nodes) < 5 || len(c.Layers) != 2 || c.Layers[0].Acc == nil ||
		c.Layers[0].Acc.Exact < 1 || c.Diagnostics == nil {
		t.Errorf("%s", got.stdout)
	}
	got = say(dir, nil, "check", "broken.onnx", "--json")
	var broken checked
	if err := json.Unmarshal([]byte(got.stdout), &broken); err != nil || got.code != exitDiagnostics ||
		got.stderr != "" || len(broken.Diagnostics) == 0 {
		t.Errorf("%v, %+v", err, got)
	}
}

// TestHostileNames checks that the terminal gets no name of a model unescaped.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	evil := "\x1b]0;owned\x07\u202e\n" + strings.Repeat("long", 100)
	m := onnxtest.New(13)
	m.Input("x", graph.DTypeFloat32, 1, 4).Output("y", graph.DTypeFloat32, 1, 4)
	m.Node(evil, "x").Name(evil).Out("y")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "evil.onnx"), string(m.Bytes()))
	got := say(dir, nil, "check", "evil.onnx")
	if got.code != exitDiagnostics {
		t.Errorf("exit code %d", got.code)
	}
	for _, s := range []string{got.stdout, got.stderr} {
		if strings.ContainsAny(s, "\x1b\x07\u202e") {
			t.Errorf("%q", s)
		}
	}
	for line := range strings.Lines(got.stdout) {
		if len(line) > 250 {
			t.Errorf("a line of %d bytes: %q", len(line), line)
		}
	}
}

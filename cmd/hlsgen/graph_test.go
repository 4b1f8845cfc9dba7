package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/frontend/graph"
	"hlsgen/internal/testsupport/onnxtest"
	"hlsgen/internal/testsupport/tier"
)

// TestGraph draws a model, a built folder, and a model that does not map. What cannot be drawn or written is refused.
func TestGraph(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	m := onnxtest.New(13)
	m.Input("x", graph.DTypeFloat32, 1, 4).Output("y", graph.DTypeFloat32, 1, 4)
	m.Node("Teleport", "x").Name("beam").Out("y")
	dir := filesIn(t, map[string]string{"odd.onnx": string(m.Bytes()), "broken.onnx": "x", "empty/x": ""})
	got := say(dir, nil, strings.Fields("build "+iris+" --board pynq-z1 --no-csim --verify 1 --out built")...)
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	for _, c := range []struct {
		args   string
		code   int
		file   string // that is written
		holds  string // in it
		stderr string
	}{
		{"graph", exitOK, "digits-mlp-w2a2.svg", ">MVAU_3, host suffix<", ""},
		{"graph " + iris + " --out iris.dot", exitOK, "iris.dot", `\nMatMul\nMVAU_0`, ""},
		{"graph built", exitOK, "built.svg", ">MVAU_0<", ""},
		{"graph built --out d.onnx", exitOK, "d.onnx", "ram_style", ""},
		{"graph built --out d.PNG", exitOK, "d.PNG", "PNG", ""},
		{"graph odd.onnx", exitOK, "odd.svg", ">not mapped<", "Teleport"},
		{"graph built --out d.onnx", exitDiagnostics, "", "", "--force"},
		{"graph built --out d.onnx --force", exitOK, "d.onnx", "ram_style", ""},
		{"graph built --out d.pdf", exitUsage, "", "", ".svg, .png, .dot, .onnx"},
		{"graph empty", exitDiagnostics, "", "", "no reports of a build"},
		{"graph broken.onnx", exitDiagnostics, "", "", "broken.onnx"},
		{"graph " + iris + " --dim T=3 --out t.svg", exitDiagnostics, "", "", "no input has a dynamic axis"},
	} {
		got := say(dir, nil, strings.Fields(c.args)...)
		if got.code != c.code || !strings.Contains(got.stderr, c.stderr) {
			t.Errorf("%s: %+v", c.args, got)
		}
		if c.file == "" {
			continue
		}
		if data, err := os.ReadFile(filepath.Join(dir, c.file)); err != nil || !bytes.Contains(data, []byte(c.holds)) {
			t.Errorf("%s: %v, %s does not hold %q", c.args, err, c.file, c.holds)
		}
	}
}

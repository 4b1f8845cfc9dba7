package doctest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hlsgen/internal/examples"
	"hlsgen/internal/testsupport/tier"
)

// TestOutside makes a Go module from the blocks of docs/library.md that show unit tests in other people's modules,
// beside a link to this repository, and runs its tests: they must only need packages that other modules can import.
func TestOutside(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "bash")
	root, dir := tier.Root(t), t.TempDir()
	const name = "docs/library.md"
	page, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	var code, commands string
	for _, b := range blocks(t, name, string(page)) {
		switch b.info {
		case "go outside":
			code += b.text
		case "sh outside":
			commands += b.text
		}
	}
	onnx, err := examples.EmbeddedFiles.ReadFile(examples.IrisName + "/model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum")) // those of our modules, so that nothing is downloaded
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(root, filepath.Join(dir, "hlsgen")); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(dir, "mine")
	files := map[string]string{"mine_test.go": code, "model.onnx": string(onnx), "go.sum": string(sums)}
	for name, text := range files {
		if err := os.MkdirAll(mine, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(mine, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	// With -trimpath the folder is no part of what is compiled, so that it is in the cache.
	cmd := exec.Command("bash", "-ec", commands)
	cmd.Dir = mine
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath", "GOWORK=off", "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !regexp.MustCompile(`\n *mine_test\.go:\d+: [2-9] streams, a frame in \d+ clocks\n`).Match(out) {
		t.Errorf("it compared nothing:\n%s", out)
	}
	_, body, _ := strings.Cut(code, "\nfunc ")
	if n := strings.Count(body, "\n"); n > 30 {
		t.Errorf("it takes %d lines", n)
	}
}

package hlslib_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/hlslib"
)

// TestHeld checks that every folder of a kind has a test that checks its layers against the contract.
func TestHeld(t *testing.T) {
	t.Parallel()
	held := 0
	headers, err := filepath.Glob("*/*.hpp")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string // a folder may have several headers
	for _, header := range headers {
		folders = append(folders, filepath.Dir(header))
	}
	for _, dir := range slices.Compact(folders) {
		if dir == "core" {
			continue
		}
		tests, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(tests, func(file string) bool {
			text, err := os.ReadFile(file)
			return err == nil && bytes.Contains(text, []byte("layertest.Check(t, "))
		}) {
			t.Errorf("no test of hlslib/%s holds the layer against the contract", dir)
		}
		held++
	}
	if held != len(hlslib.LayerKinds) {
		t.Errorf("%d folders of layers, %d rows", held, len(hlslib.LayerKinds))
	}
}

// TestKinds checks that every kind has a row of its own.
func TestKinds(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range hlslib.LayerKinds {
		if seen[k.Name] || k.Name == "" || k.Doc == "" || k.Decode == nil {
			t.Errorf("row %+v", k)
		}
		seen[k.Name] = true
		if op, err := k.Decode([]byte(k.Example)); k.Example != "" && (err != nil || op.Kind() != k.Name) {
			t.Errorf("%s: its example: %v, %v", k.Name, op, err)
		}
	}
}

package tier

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Shared returns the absolute path of the folder of shared models, which lies outside the repository. It returns ""
// if HLSGEN_SHARED is not set, and in the quick tier. A relative HLSGEN_SHARED counts from the module's root. The
// test fails if HLSGEN_SHARED names no folder.
func Shared(t testing.TB) string {
	t.Helper()
	return now().folder(t)
}

// folder returns the folder of shared models that the facts of r name, or "". It does the work of Shared.
func (r run) folder(t testing.TB) string {
	t.Helper()
	if r.short || r.shared == "" {
		return ""
	}
	dir := r.shared
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(Root(t), dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Fatalf("HLSGEN_SHARED=%s names no folder", r.shared)
	}
	return dir
}

// NeedsShared returns the folder of shared models, as Shared does. It skips the test if there is none.
func NeedsShared(t testing.TB) string {
	t.Helper()
	dir := Shared(t)
	if dir == "" {
		t.Skip("it reads shared models: HLSGEN_SHARED is to name their folder, and the quick tier has none")
	}
	return dir
}

// Root returns the folder of the module that is tested: the nearest folder above the working directory that has a
// go.mod.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := above()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// above returns the nearest folder above the working directory that has a go.mod.
func above() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = up
	}
}
